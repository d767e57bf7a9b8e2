//! The attack: peers that keep to no manners, beside games whose pace must not suffer.

use socket2::{Domain, Socket, Type};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// How often every foe is looked at.
const BEAT: Duration = Duration::from_millis(10);
/// Connections a beat that say nothing; 200 a second.
const FLOOD_PER_BEAT: usize = 2;
/// How many of them stay open.
const FLOOD_KEPT: usize = 400;
/// Games that one slow reader watches.
const WATCHED: usize = 8;
/// What one who never reads lets the kernel keep, in bytes; it takes its own least instead.
const RECEIVE_BYTES: usize = 1024;

/// One way to be a nuisance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Watches games and never reads.
    SlowReader,
    /// Takes a seat at games, neither plays nor reads.
    Frozen,
    /// Sends a byte a second.
    Dripper,
    /// Sends ten pings every fifty milliseconds, ten times the rate, and never reads.
    Pinger,
}

impl Manner {
    /// The crowd: how many of each, and after how many beats each begins anew.
    const ALL: [(Self, usize, usize); 4] =
        [(Self::SlowReader, 16, 1000), (Self::Frozen, 32, 200), (Self::Dripper, 100, 600), (Self::Pinger, 16, 100)];
}

/// What the attack did, so that it can be seen that there was one.
#[derive(Debug, Default)]
pub struct Deeds {
    /// Connections made.
    pub connects: AtomicU64,
    /// Writes of whole or partial lines.
    pub writes: AtomicU64,
    /// Connections that the server had closed.
    pub closed: AtomicU64,
}

struct Foe {
    manner: Manner,
    /// Beats between its beginnings.
    period: usize,
    /// Its place among its like: they do not all begin at the same beat.
    place: usize,
    stream: Option<TcpStream>,
}

/// Attacks `server`, whose games have these ids, until `stop`: slow and frozen peers, and with `floods` those who send and
/// connect too much, whose own work takes its share of the machine.
pub fn attack(server: SocketAddr, games: &[String], floods: bool, stop: &AtomicBool, deeds: &Deeds) {
    let manners = Manner::ALL.into_iter().filter(|(manner, ..)| floods || *manner != Manner::Pinger);
    let crowd = |(manner, count, period)| (0..count).map(move |place| Foe { manner, period, place, stream: None });
    let mut foes: Vec<Foe> = manners.flat_map(crowd).collect();
    let mut flood = VecDeque::with_capacity(FLOOD_KEPT);
    let mut beat = 0usize;
    while !stop.load(Ordering::Relaxed) {
        for foe in &mut foes {
            foe.beat(beat, server, games, deeds);
        }
        for _ in 0..if floods { FLOOD_PER_BEAT } else { 0 } {
            if flood.len() == FLOOD_KEPT {
                flood.pop_front();
            }
            flood.extend(connect(server, deeds));
        }
        beat += 1;
        sleep(BEAT);
    }
}

impl Foe {
    fn beat(&mut self, beat: usize, server: SocketAddr, games: &[String], deeds: &Deeds) {
        if self.stream.is_none() || (beat + self.place).is_multiple_of(self.period) {
            self.stream = connect(server, deeds);
            let greeting = self.greeting(games);
            self.say(greeting.as_bytes(), deeds);
        }
        match self.manner {
            // Whoever writes learns that it was closed.
            Manner::SlowReader if beat.is_multiple_of(10) => self.say(b"\n", deeds),
            Manner::Dripper if (beat + self.place).is_multiple_of(100) => self.say(b"{", deeds),
            Manner::Pinger if beat.is_multiple_of(5) => self.say(&b"{\"type\":\"ping\"}\n".repeat(10), deeds),
            _ => {}
        }
    }

    fn greeting(&self, games: &[String]) -> String {
        let hello = "{\"type\":\"hello\",\"protocol\":1}\n";
        match self.manner {
            Manner::SlowReader => {
                let watched = games.iter().cycle().skip(self.place * WATCHED).take(WATCHED.min(games.len()));
                watched.fold(hello.to_owned(), |mut lines, game| {
                    // Writing to memory cannot fail.
                    let _ = writeln!(lines, r#"{{"type":"watch","game":"{game}"}}"#);
                    lines
                })
            }
            Manner::Frozen => format!("{hello}{}\n", r#"{"type":"seek","pool":"short"}"#),
            Manner::Pinger => hello.to_owned(),
            Manner::Dripper => String::new(),
        }
    }

    fn say(&mut self, bytes: &[u8], deeds: &Deeds) {
        let Some(stream) = &mut self.stream else { return };
        match stream.write(bytes) {
            Ok(_) => deeds.writes.fetch_add(1, Ordering::Relaxed),
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(_) => {
                self.stream = None;
                deeds.closed.fetch_add(1, Ordering::Relaxed)
            }
        };
    }
}

/// A connection that takes little and waits for nothing; none where the server does not take it.
fn connect(server: SocketAddr, deeds: &Deeds) -> Option<TcpStream> {
    let socket = Socket::new(Domain::for_address(server), Type::STREAM, None).ok()?;
    socket.set_recv_buffer_size(RECEIVE_BYTES).ok()?;
    socket.connect_timeout(&server.into(), Duration::from_millis(100)).ok()?;
    socket.set_nonblocking(true).ok()?;
    deeds.connects.fetch_add(1, Ordering::Relaxed);
    Some(socket.into())
}
