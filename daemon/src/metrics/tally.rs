//! How often a delay was too long, for [`crate::lobby::Load`] to judge.

use crate::clock::Micros;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts delays above a limit, and above half of it.
#[derive(Debug)]
pub struct Tally {
    limit: Micros,
    all: AtomicU64,
    above: AtomicU64,
    above_half: AtomicU64,
}

/// What a [`Tally`] has counted since the process began, or within a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// All delays.
    pub all: u64,
    /// Those above the limit.
    pub above: u64,
    /// Those above half of it.
    pub above_half: u64,
}

impl Tally {
    pub(super) const fn new(limit: Micros) -> Self {
        Self { limit, all: AtomicU64::new(0), above: AtomicU64::new(0), above_half: AtomicU64::new(0) }
    }

    /// Takes a delay.
    pub(super) fn take(&self, delay: Micros) {
        self.all.fetch_add(1, Ordering::Relaxed);
        if delay.0 > self.limit.0 / 2 {
            self.above_half.fetch_add(1, Ordering::Relaxed);
            if delay > self.limit {
                self.above.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// What was counted so far.
    #[must_use]
    pub fn counted(&self) -> Counted {
        // The parts before the whole, so that they are never more than it.
        let above = self.above.load(Ordering::Relaxed);
        let above_half = self.above_half.load(Ordering::Relaxed);
        Counted { all: self.all.load(Ordering::Relaxed), above, above_half }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exactly_the_limit_is_not_above_it() {
        let tally = Tally::new(Micros(50_000));
        for delay in [0, 25_000, 25_001, 50_000, 50_001] {
            tally.take(Micros(delay));
        }
        assert_eq!(tally.counted(), Counted { all: 5, above: 1, above_half: 3 });
    }
}
