//! A test's own watch: between which moments a turn began and a line was sent, and what may be charged by that.
//!
//! A turn begins between the moment before its opponent's move was sent and the moment after the opponent read that it
//! stands. Nothing here knows how fast this machine is.

use modiar_conformance::Peer;
use serde_json::Value;
use std::time::{Duration, Instant};

/// By how much the kernel's age of the last data may be wrong (spec/clock.md, what may remain).
pub const TICK: Duration = Duration::from_millis(10);

/// Between which two moments the running turn's W lies.
#[derive(Clone, Copy)]
pub struct Start {
    pub before: Instant,
    pub after: Instant,
}

/// A line that was sent between two moments.
#[derive(Clone, Copy)]
pub struct Sent {
    pub before: Instant,
    pub after: Instant,
}

impl Sent {
    pub fn now(peer: &mut Peer, message: &Value) -> Self {
        let before = Instant::now();
        peer.send(message).unwrap();
        Self { before, after: Instant::now() }
    }

    /// Asserts that a turn begun at `start` and ended by this line is charged what `clock.elapsed` says, or more or
    /// less by `error`.
    #[track_caller]
    pub fn assert_elapsed(self, elapsed: Duration, start: Start, error: Duration) {
        let most = self.after - start.before + error;
        let least = self.before.saturating_duration_since(start.after).saturating_sub(error);
        assert!((least..=most).contains(&elapsed), "{elapsed:?} is not within {least:?} and {most:?}");
    }
}

/// A length of time as a record has it.
pub fn micros(value: &Value) -> Duration {
    Duration::from_micros(value.as_u64().unwrap_or_else(|| panic!("no time: {value}")))
}
