//! Connections: what lies in the kernel, how a read sees it, and the server's own delay as `net::arrival` measures it.

use modiar::clock::{Arrival, Micros, Moment};
use modiar::session::Session;
use modiar_protocol::Incoming;
use std::collections::VecDeque;

/// What the kernel's ticks may hide of a delay, either way.
pub const TICK: u64 = 4_000;
/// A beat that comes later than this after the one before shows a stop.
const LATE: u64 = 15_000;
const BEAT: u64 = 10_000;
/// The longest time in which a server that runs does not come to read.
pub const WAKE: u64 = 2_000;

/// What a bot sends.
#[derive(Clone, Debug)]
pub enum Line {
    Message(Box<Incoming>),
    Empty,
    Bad,
    /// The end of the stream.
    End,
}

/// A connection, both ends of it.
pub struct Connection {
    pub bot: usize,
    /// The server's side of it; none once its task has ended.
    pub session: Option<Session>,
    pub entered: bool,
    /// The server said goodbye.
    pub closing: bool,
    /// Whether the bot still holds it.
    pub held: bool,
    /// What arrived and was not read.
    pub kernel: VecDeque<(Moment, Line)>,
    pub read_due: bool,
    pub previous_read: Moment,
    /// No line overtakes another.
    pub last_sent: Moment,
    pub last_told: Moment,
}

impl Connection {
    pub fn is_live(&self) -> bool {
        self.session.is_some() && !self.closing
    }
}

/// The stretches in which the server did not run.
#[derive(Default)]
pub struct Stops {
    pub until: Moment,
    shown: Vec<(Moment, Moment)>,
}

impl Stops {
    pub fn stop(&mut self, now: Moment, length: Micros) {
        let last_beat = Moment(now.0 / BEAT * BEAT);
        self.until = now + length;
        if self.until.since(last_beat) > Micros(LATE) {
            self.shown.push((last_beat + Micros(BEAT), self.until));
        }
    }

    pub fn within(&self, from: Moment, to: Moment) -> Micros {
        let parts = self.shown.iter().map(|(start, end)| (*end).min(to).since((*start).max(from)));
        parts.fold(Micros(0), |sum, part| sum + part)
    }
}

/// One line of a read.
#[derive(Clone, Copy)]
pub struct LineRead {
    pub received: Moment,
    pub previous: Moment,
    /// When this line really arrived.
    pub arrived: Moment,
    /// What the kernel tells about the newest line of the read, ticks and all.
    pub delay: Micros,
    pub last: bool,
    /// What the heartbeat shows from the later of the turn and the read before.
    pub stopped: Micros,
}

impl LineRead {
    /// How far the measured charge may lie above the true one.
    pub fn slack(&self) -> u64 {
        if self.last { TICK + 1 } else { TICK + LATE + 2 * WAKE }
    }
}

impl Arrival for LineRead {
    fn received(&self) -> Moment {
        self.received
    }

    fn own(&self, turn: Moment) -> Micros {
        let most = self.received.since(turn.max(self.previous));
        let stopped = if self.last { Micros(0) } else { self.stopped };
        self.delay.max(stopped).min(most)
    }
}
