//! How much a connection may say (`session.rate`, `session.flood`).

use crate::clock::{Micros, Moment};
use crate::config::Limits;
use modiar_protocol::limits::FLOOD_WINDOW;
use std::collections::VecDeque;

/// What a message over the rate leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateVerdict {
    /// Within the rate.
    Free,
    /// Not acted on.
    Limited,
    /// The connection ends.
    Flood,
}

/// A bucket that holds time: a message takes its share out, and it fills as time passes.
#[derive(Clone, Debug)]
pub struct Rate {
    /// Microseconds in which one message's worth of rate comes back.
    per_message: u64,
    full: u64,
    bucket: u64,
    filled: Moment,
    /// When messages were limited, within the window.
    limited: VecDeque<Moment>,
    /// So many of them end the connection.
    flood: u64,
}

impl Rate {
    /// A full bucket.
    #[must_use]
    pub const fn new(now: Moment, limits: &Limits) -> Self {
        let per_message = 1_000_000 / limits.messages_per_second;
        let full = per_message * limits.message_burst;
        Self { per_message, full, bucket: full, filled: now, limited: VecDeque::new(), flood: limits.flood_messages }
    }

    /// How many messages there may be a second, and at once.
    #[must_use]
    pub const fn allowed(&self) -> (u64, u64) {
        (1_000_000 / self.per_message, self.full / self.per_message)
    }

    /// How many over the rate end the connection.
    #[must_use]
    pub const fn flood(&self) -> u64 {
        self.flood
    }

    /// Whether the rate is used up; nothing is taken.
    pub fn is_spent(&mut self, now: Moment) -> bool {
        self.fill(now);
        self.bucket < self.per_message
    }

    /// The server stood still so long: what was sent meanwhile is heard all at once, and is no burst of the client's.
    pub fn make_up(&mut self, stopped: Micros, now: Moment) {
        self.fill(now);
        self.bucket = self.bucket.min(self.full).saturating_add(stopped.0);
    }

    fn fill(&mut self, now: Moment) {
        let Micros(passed) = now.since(self.filled);
        // What was made up for may stand above the brim.
        self.bucket = self.bucket.saturating_add(passed).min(self.full.max(self.bucket));
        self.filled = self.filled.max(now);
    }

    /// Counts one message.
    pub fn count(&mut self, now: Moment) -> RateVerdict {
        if !self.is_spent(now) {
            self.bucket -= self.per_message;
            return RateVerdict::Free;
        }
        while self.limited.front().is_some_and(|first| now.since(*first) > FLOOD_WINDOW.into()) {
            self.limited.pop_front();
        }
        self.limited.push_back(now);
        if self.limited.len() as u64 >= self.flood { RateVerdict::Flood } else { RateVerdict::Limited }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use modiar_protocol::limits::{FLOOD_MESSAGES, MESSAGE_BURST, MESSAGES_PER_SECOND};

    const PER_MESSAGE: u64 = 1_000_000 / MESSAGES_PER_SECOND as u64;

    fn count(rate: &mut Rate, messages: u32, now: Moment) -> Vec<RateVerdict> {
        (0..messages).map(|_| rate.count(now)).collect()
    }

    #[test]
    fn a_burst_then_the_rate() {
        let mut rate = Rate::new(Moment(0), &Limits::default());
        assert!(count(&mut rate, MESSAGE_BURST, Moment(0)).iter().all(|verdict| *verdict == RateVerdict::Free));
        assert_eq!(rate.count(Moment(0)), RateVerdict::Limited);
        assert_eq!(rate.count(Moment(PER_MESSAGE - 1)), RateVerdict::Limited);
        assert_eq!(rate.count(Moment(PER_MESSAGE)), RateVerdict::Free);
        assert_eq!(rate.count(Moment(PER_MESSAGE)), RateVerdict::Limited);
    }

    #[test]
    fn what_was_sent_while_the_server_stood_still_is_no_burst() {
        let mut rate = Rate::new(Moment(0), &Limits::default());
        let (stop, now) = (100 * PER_MESSAGE, Moment(200 * PER_MESSAGE));
        rate.make_up(Micros(stop), now);
        let heard = count(&mut rate, MESSAGE_BURST + 100, now + Micros(1));
        assert!(heard.iter().all(|verdict| *verdict == RateVerdict::Free));
        assert_eq!(rate.count(now + Micros(1)), RateVerdict::Limited);
        // Once: two stops are no more than the longer one for who said nothing.
        rate.make_up(Micros(stop), now);
        rate.make_up(Micros(PER_MESSAGE), now + Micros(MESSAGE_BURST.into()));
        assert!(rate.bucket <= rate.full + PER_MESSAGE);
    }

    #[test]
    fn the_hundredth_limited_message_is_a_flood_and_not_the_one_before() {
        let mut rate = Rate::new(Moment(0), &Limits::default());
        count(&mut rate, MESSAGE_BURST, Moment(0));
        let limited = count(&mut rate, FLOOD_MESSAGES, Moment(1));
        assert_eq!(limited[98], RateVerdict::Limited);
        assert_eq!(limited[99], RateVerdict::Flood);
    }

    #[test]
    fn limited_messages_are_forgotten_after_the_window() {
        let mut rate = Rate::new(Moment(0), &Limits::default());
        count(&mut rate, MESSAGE_BURST, Moment(0));
        count(&mut rate, FLOOD_MESSAGES - 1, Moment(0));
        let later = Moment(0) + Micros::from(FLOOD_WINDOW) + Micros(1);
        assert_eq!(count(&mut rate, MESSAGE_BURST, later).last(), Some(&RateVerdict::Free));
        assert_eq!(rate.count(later), RateVerdict::Limited);
    }
}
