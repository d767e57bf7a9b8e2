//! A proxy between bots and a server, which breaks one thing.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What is broken. `asked` is what the bot must have said on the connection for it.
#[derive(Clone, Copy, Debug)]
pub enum Break {
    Nothing,
    /// Lines of the server with this are not passed on, nor is its close.
    Swallow {
        asked: &'static str,
        line: &'static str,
    },
    /// This part of the server's lines becomes that.
    Change {
        asked: &'static str,
        from: &'static str,
        to: &'static str,
    },
    /// This part of the bot's bytes becomes that.
    Rewrite {
        from: &'static str,
        to: &'static str,
    },
    /// The server's lines with this come twice.
    Twice(&'static str),
    /// A packet of the bot with this is not passed on where the end comes right behind it or it holds many lines.
    Forget {
        asked: &'static str,
    },
    /// Half a line gets its newline at the end of the connection.
    Complete,
    /// A packet is taken for a line, once this was said.
    EachPacket {
        asked: &'static str,
    },
    /// The bot's end is not passed on.
    KeepOpen,
    /// So many connections in all, and no more.
    Most(usize),
    /// The server's lines are kept, however many, until the bot takes them.
    Hoard,
}

/// One connection on its way.
struct Way {
    broken: Break,
    said: Mutex<Vec<u8>>,
    swallows: AtomicBool,
}

impl Way {
    fn was_asked(&self, asked: &str) -> bool {
        asked.is_empty() || contains(&self.said.lock().unwrap(), asked)
    }
}

fn contains(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

/// Listens before this server; where.
pub fn proxy(server: SocketAddr, broken: Break) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let open = Arc::new(AtomicUsize::new(0));
        for bot in listener.incoming().flatten() {
            let number = open.fetch_add(1, Ordering::Relaxed);
            if matches!(broken, Break::Most(most) if number >= most) {
                continue;
            }
            let Ok(upstream) = TcpStream::connect(server) else { continue };
            bot.set_nodelay(true).unwrap();
            upstream.set_nodelay(true).unwrap();
            let way = Arc::new(Way { broken, said: Mutex::default(), swallows: AtomicBool::new(false) });
            let (back, from, to) = (Arc::clone(&way), upstream.try_clone().unwrap(), bot.try_clone().unwrap());
            thread::spawn(move || from_server(&back, from, to));
            thread::spawn(move || from_bot(&way, bot, upstream));
        }
    });
    address
}

fn from_bot(way: &Way, mut bot: TcpStream, mut server: TcpStream) {
    let (mut bytes, mut at_start) = (vec![0; 1 << 16], true);
    let end = loop {
        let count = match bot.read(&mut bytes) {
            Ok(0) => break Shutdown::Write,
            Ok(count) => count,
            Err(_) => break Shutdown::Both,
        };
        let packet = &bytes[..count];
        way.said.lock().unwrap().extend_from_slice(packet);
        at_start = packet.ends_with(b"\n");
        let Some(packet) = passed_on(way, &bot, packet) else { continue };
        if server.write_all(&packet).is_err() {
            break Shutdown::Both;
        }
    };
    match way.broken {
        Break::KeepOpen => return,
        Break::Complete if !at_start => drop(server.write_all(b"\n")),
        _ => {}
    }
    if end == Shutdown::Both {
        super::process::reset_at_close(&server);
    }
    let _ = server.shutdown(end);
}

/// The packet as the server gets it.
fn passed_on(way: &Way, bot: &TcpStream, packet: &[u8]) -> Option<Vec<u8>> {
    let mut packet = packet.to_vec();
    match way.broken {
        Break::Forget { asked } if contains(&packet, asked) => {
            let many = packet.iter().filter(|byte| **byte == b'\n').count() > 50;
            thread::sleep(Duration::from_millis(50));
            bot.set_nonblocking(true).unwrap();
            let ends = match bot.peek(&mut [0]) {
                Ok(count) => count == 0,
                Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
            };
            bot.set_nonblocking(false).unwrap();
            return (!many && !ends).then_some(packet);
        }
        Break::Rewrite { from, to } if contains(&packet, from) => {
            packet = String::from_utf8_lossy(&packet).replace(from, to).into_bytes();
        }
        Break::EachPacket { asked } if way.was_asked(asked) && !packet.ends_with(b"\n") => packet.push(b'\n'),
        _ => {}
    }
    Some(packet)
}

fn from_server(way: &Way, server: TcpStream, mut bot: TcpStream) {
    if matches!(way.broken, Break::Hoard) {
        return hoard(server, bot);
    }
    let mut lines = BufReader::new(server);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        if bot.write_all(&told(way, &line)).is_err() {
            break;
        }
        line.clear();
    }
    if !way.swallows.load(Ordering::Relaxed) {
        let _ = bot.shutdown(Shutdown::Write);
    }
}

/// Takes all that the server says, and gives it to the bot when it may.
fn hoard(mut server: TcpStream, mut bot: TcpStream) {
    let (kept, given) = channel::<Vec<u8>>();
    thread::spawn(move || {
        given.iter().all(|bytes| bot.write_all(&bytes).is_ok());
        let _ = bot.shutdown(Shutdown::Write);
    });
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = server.read(&mut bytes) {
        if kept.send(bytes[..count].to_vec()).is_err() {
            break;
        }
    }
}

/// The line as the bot gets it.
fn told(way: &Way, line: &[u8]) -> Vec<u8> {
    match way.broken {
        Break::Swallow { asked, line: part } if contains(line, part) && way.was_asked(asked) => {
            way.swallows.store(true, Ordering::Relaxed);
            Vec::new()
        }
        Break::Change { asked, from, to } if contains(line, from) && way.was_asked(asked) => {
            String::from_utf8_lossy(line).replace(from, to).into_bytes()
        }
        Break::Twice(part) if contains(line, part) => line.repeat(2),
        _ => line.to_vec(),
    }
}
