//! The load: thousands of bots on one thread, which play canned moves.

use crate::bot::{Bot, Heard, Id, hear};
use crate::histogram::Histogram;
use crate::stamp;
use crate::timer::Timer;
use anyhow::{Context as _, bail};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Connections that are made together: no more than wait for the server to accept them.
const TOGETHER: usize = 1000;
/// Sockets that are looked at before the time is.
const EVENTS: usize = 1024;
/// One read takes at most so many bytes.
const READ_BYTES: usize = 64 * 1024;
/// The longest that anything but the measuring itself may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// No bot's place.
const TIMER: Token = Token(usize::MAX);
/// Plies that are due within this time are sent together.
const SHORTEST_NAP: Duration = Duration::from_micros(50);

const HELLO: &[u8] = b"{\"type\":\"hello\",\"protocol\":1}\n";

/// What the bots play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Play {
    /// Games of the daemon that never end.
    Endless,
    /// Whole games of the daemon, one after the other.
    Whole,
    /// Turns of the relay.
    Relay,
}

/// What was counted since it was last cleared.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Moves sent.
    pub plies: u64,
    /// Both sides' ends of games.
    pub ends: u64,
    /// From sending a move to reading the opponent's turn.
    pub turns: Histogram,
}

/// The bots and their games.
#[derive(Debug)]
pub struct Fleet {
    play: Play,
    poll: Poll,
    events: Events,
    buffer: Box<[u8]>,
    bots: Vec<Bot>,
    began: Instant,
    /// The same moment by the clock of the kernel's stamps.
    began_at: Duration,
    /// Whether what is read has stamps.
    stamped: bool,
    /// When the last move of each game was sent, in nanoseconds since `began`; 0: none, or its answer was read.
    sent: Vec<u64>,
    /// Where in `sent` the next game stands.
    next_game: usize,
    /// Games of which one side has read `started`.
    half_started: HashMap<Id, usize>,
    /// The games that were started, for whom wants to watch them.
    pub ids: Vec<Id>,
    welcomed: usize,
    seated: usize,
    /// Bots that have a turn and wait to be let go.
    held: VecDeque<usize>,
    holding: bool,
    pub tally: Tally,
}

impl Fleet {
    /// Without a bot.
    pub fn new(play: Play) -> anyhow::Result<Self> {
        Ok(Self {
            play,
            poll: Poll::new()?,
            events: Events::with_capacity(EVENTS),
            buffer: vec![0; READ_BYTES].into(),
            bots: Vec::new(),
            began: Instant::now(),
            began_at: stamp::now(),
            stamped: false,
            sent: Vec::new(),
            next_game: 0,
            half_started: HashMap::new(),
            ids: Vec::new(),
            welcomed: 0,
            seated: 0,
            held: VecDeque::new(),
            holding: true,
            tally: Tally::default(),
        })
    }

    /// Connects so many bots, some at a time, and waits until all are welcome.
    pub fn connect(&mut self, server: SocketAddr, bots: usize) -> anyhow::Result<()> {
        while self.bots.len() < bots {
            let together = TOGETHER.min(bots - self.bots.len());
            self.connect_at_once(server, together)?;
        }
        Ok(())
    }

    /// Connects so many bots at once, and waits until all are welcome.
    pub fn connect_at_once(&mut self, server: SocketAddr, bots: usize) -> anyhow::Result<()> {
        for _ in 0..bots {
            let mut stream = TcpStream::connect(server).context("no more connections: see `ulimit -n`")?;
            // Until it is writable it is not connected: only then it says hello.
            let interest = if self.play == Play::Relay { Interest::READABLE } else { Interest::WRITABLE };
            self.poll.registry().register(&mut stream, Token(self.bots.len()), interest)?;
            self.bots.push(Bot::new(stream));
        }
        let all = self.bots.len();
        self.run_until(|fleet| fleet.welcomed == all)
    }

    /// Seats the bots at games, and waits until all games have started; nobody plays yet.
    pub fn start_games(&mut self) -> anyhow::Result<()> {
        let bots = self.bots.len();
        // More places than games, so that the last reader of an end does not find the next game in its place.
        self.sent = vec![0; 2 * bots];
        if self.play == Play::Relay {
            for bot in 0..bots {
                self.bots[bot].game = bot / 2;
                self.bots[bot].ply = 1 + bot % 2;
            }
            self.held.extend((0..bots).step_by(2));
            self.seated = bots;
            return Ok(());
        }
        for bot in 0..bots {
            self.seek(bot)?;
        }
        self.run_until(|fleet| fleet.seated == bots && fleet.held.len() == bots / 2)
    }

    /// Lets all play as fast as they are answered, for this time.
    pub fn play_for(&mut self, time: Duration) -> anyhow::Result<()> {
        self.holding = false;
        while let Some(bot) = self.held.pop_front() {
            self.send_move(bot)?;
        }
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            self.turn_once(left)?;
        }
        Ok(())
    }

    /// Lets them play so many plies a second together, for this time. Between them the thread sleeps: spinning it would
    /// take from the server the processor that is to be measured.
    pub fn play_paced(&mut self, time: Duration, plies_per_s: u32) -> anyhow::Result<()> {
        self.holding = true;
        self.bots.iter().try_for_each(|bot| stamp::ask(&bot.stream))?;
        self.stamped = true;
        let (start, interval) = (Instant::now(), Duration::from_secs(1) / plies_per_s.max(1));
        let timer = Timer::start(interval.max(SHORTEST_NAP))?;
        self.poll.registry().register(&mut timer.source(), TIMER, Interest::READABLE)?;
        let mut due = start;
        while start.elapsed() < time {
            self.turn_once(Duration::from_millis(100))?;
            timer.clear();
            let now = Instant::now();
            while due <= now {
                // Where every game waits for the server, the ply is left out: the tally tells.
                if let Some(bot) = self.held.pop_front() {
                    self.send_move(bot)?;
                }
                due += interval;
            }
        }
        self.poll.registry().deregister(&mut timer.source())?;
        Ok(())
    }

    fn run_until(&mut self, done: impl Fn(&Self) -> bool) -> anyhow::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !done(self) {
            if Instant::now() > deadline {
                bail!(
                    "after {} s only {} of {} bots are welcome and {} in a game",
                    PATIENCE.as_secs(),
                    self.welcomed,
                    self.bots.len(),
                    self.seated
                );
            }
            self.turn_once(Duration::from_millis(100))?;
        }
        Ok(())
    }

    /// One look at the sockets, and all that came on them.
    fn turn_once(&mut self, wait: Duration) -> anyhow::Result<()> {
        if let Err(error) = self.poll.poll(&mut self.events, Some(wait)) {
            if error.kind() == std::io::ErrorKind::Interrupted {
                return Ok(());
            }
            return Err(error.into());
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let events = std::mem::replace(&mut self.events, Events::with_capacity(0));
        let mut outcome = Ok(());
        for event in events.iter().filter(|event| event.token() != TIMER) {
            let Token(bot) = event.token();
            outcome = if event.is_writable() { self.connected(bot) } else { self.read(bot, &mut buffer) };
            if outcome.is_err() {
                break;
            }
        }
        self.events = events;
        self.buffer = buffer;
        outcome
    }

    fn connected(&mut self, bot: usize) -> anyhow::Result<()> {
        let Bot { stream, .. } = &mut self.bots[bot];
        if let Some(error) = stream.take_error()? {
            return Err(error).context("a bot could not connect");
        }
        stream.set_nodelay(true)?;
        self.poll.registry().reregister(stream, Token(bot), Interest::READABLE)?;
        self.bots[bot].say(HELLO)?;
        Ok(())
    }

    /// Reads once; only a read that filled the buffer may have left something.
    fn read(&mut self, bot: usize, buffer: &mut [u8]) -> anyhow::Result<()> {
        loop {
            let (length, came) = self.bots[bot].read(buffer, self.stamped)?;
            let now = came.map_or_else(|| self.now(), |came| nanos(came.saturating_sub(self.began_at)));
            let mut rest = &buffer[..length];
            while let Some(at) = memchr::memchr(b'\n', rest) {
                let (line, tail) = (&rest[..at], &rest[at + 1..]);
                rest = tail;
                if self.bots[bot].partial.is_empty() {
                    self.take(bot, line, now)?;
                } else {
                    let mut whole = std::mem::take(&mut self.bots[bot].partial);
                    whole.extend_from_slice(line);
                    self.take(bot, &whole, now)?;
                }
            }
            self.bots[bot].partial.extend_from_slice(rest);
            if length < buffer.len() {
                return Ok(());
            }
        }
    }

    fn take(&mut self, bot: usize, line: &[u8], now: u64) -> anyhow::Result<()> {
        match hear(line) {
            Heard::Turn => {
                let sent = std::mem::take(&mut self.sent[self.bots[bot].game]);
                if sent > 0 {
                    self.tally.turns.count(now - sent);
                }
                if self.holding {
                    self.held.push_back(bot);
                } else {
                    self.send_move(bot)?;
                }
            }
            Heard::Started { game, south } => self.sit(bot, &game, south),
            Heard::Ended => self.tally.ends += 1,
            Heard::Welcome => self.welcomed += 1,
            Heard::Other => {}
            Heard::Bad(line) => bail!("a bot was told {}", String::from_utf8_lossy(line)),
        }
        Ok(())
    }

    fn sit(&mut self, bot: usize, id: &Id, south: bool) {
        let game = self.half_started.remove(id).unwrap_or_else(|| {
            let game = self.next_game;
            self.next_game = (game + 1) % self.sent.len();
            self.sent[game] = 0;
            self.half_started.insert(*id, game);
            if self.ids.len() < self.bots.len() / 2 {
                self.ids.push(*id);
            }
            game
        });
        self.bots[bot].sit(game, id, south);
        self.seated += 1;
    }

    fn send_move(&mut self, bot: usize) -> anyhow::Result<()> {
        let game = self.bots[bot].game;
        self.sent[game] = self.now();
        self.tally.plies += 1;
        self.bots[bot].play().context("a move could not be sent")
    }

    fn seek(&mut self, bot: usize) -> anyhow::Result<()> {
        // The seek of whole games stands: after each the next begins.
        let line: &[u8] = match self.play {
            Play::Whole => b"{\"type\":\"seek\",\"pool\":\"whole\",\"games\":0}\n",
            _ => b"{\"type\":\"seek\",\"pool\":\"endless\"}\n",
        };
        self.bots[bot].say(line).context("a seek could not be sent")
    }

    fn now(&self) -> u64 {
        nanos(self.began.elapsed())
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
