//! What came from which address of late: wrong tokens and registrations (`limits.failed-logins`, `limits.registrations`).
//!
//! Pure, and bounded: an address has so many moments as it may have attempts, and there are so many addresses.

use crate::clock::{Micros, Moment};
use crate::net::Origin;
use modiar_protocol::limits::ADDRESSES_REMEMBERED;
use std::collections::{HashMap, VecDeque};

/// A minute, and an hour.
const MINUTE: Micros = Micros(60_000_000);
const HOUR: Micros = Micros(3_600_000_000);

/// The attempts of all addresses.
#[derive(Debug)]
pub(super) struct Attempts {
    /// Hellos with a wrong token.
    pub(super) failed_logins: Window,
    /// Registrations that were begun and have not failed.
    pub(super) registrations: Window,
}

impl Default for Attempts {
    fn default() -> Self {
        Self { failed_logins: Window::new(MINUTE), registrations: Window::new(HOUR) }
    }
}

/// When something came from each address within a time that goes with the clock.
#[derive(Debug)]
pub(super) struct Window {
    length: Micros,
    came: HashMap<Origin, VecDeque<Moment>>,
}

impl Window {
    fn new(length: Micros) -> Self {
        Self { length, came: HashMap::new() }
    }

    /// Whether `most` came from there already.
    pub(super) fn is_full(&mut self, origin: Origin, most: u64, now: Moment) -> bool {
        let Some(came) = self.came.get_mut(&origin) else { return false };
        while came.front().is_some_and(|first| now.since(*first) >= self.length) {
            came.pop_front();
        }
        came.len() as u64 >= most
    }

    /// One came from there.
    pub(super) fn note(&mut self, origin: Origin, now: Moment) {
        if self.came.len() >= ADDRESSES_REMEMBERED && !self.came.contains_key(&origin) {
            self.make_room(now);
        }
        self.came.entry(origin).or_default().push_back(now);
    }

    /// The newest from there does not count.
    pub(super) fn take_back(&mut self, origin: Origin) {
        if let Some(came) = self.came.get_mut(&origin) {
            came.pop_back();
        }
    }

    /// Forgets the addresses from which nothing has come within the time, and where that is not enough an eighth of them, those
    /// from which nothing came longest: so they are seldom looked through.
    fn make_room(&mut self, now: Moment) {
        let length = self.length;
        self.came.retain(|_, came| came.back().is_some_and(|last| now.since(*last) < length));
        if self.came.len() >= ADDRESSES_REMEMBERED {
            let mut last: Vec<Moment> = self.came.values().filter_map(|came| came.back().copied()).collect();
            let (_, until, _) = last.select_nth_unstable(ADDRESSES_REMEMBERED / 8);
            let until = *until;
            self.came.retain(|_, came| came.back().is_some_and(|last| *last > until));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn origin(number: usize) -> Origin {
        Origin::V4(Ipv4Addr::from_bits(u32::try_from(number).unwrap()))
    }

    #[test]
    fn so_many_come_within_the_time_and_no_more() {
        let mut window = Window::new(Micros(100));
        let (one, other) = (origin(1), origin(2));
        for at in [0, 10, 20] {
            assert!(!window.is_full(one, 3, Moment(at)));
            window.note(one, Moment(at));
        }
        assert!(window.is_full(one, 3, Moment(99)) && !window.is_full(other, 3, Moment(99)));
        assert!(!window.is_full(one, 4, Moment(99)), "the host may have said so since");
        assert!(!window.is_full(one, 3, Moment(100)), "the first has left the window");
        window.note(one, Moment(100));
        assert!(window.is_full(one, 3, Moment(100)));
        window.take_back(one);
        assert!(!window.is_full(one, 3, Moment(100)));
    }

    #[test]
    fn the_addresses_are_bounded_and_the_quietest_are_forgotten() {
        let mut window = Window::new(Micros(1_000_000));
        for number in 0..=ADDRESSES_REMEMBERED {
            window.note(origin(number), Moment(number as u64));
        }
        assert!(window.came.len() < ADDRESSES_REMEMBERED);
        let now = Moment(ADDRESSES_REMEMBERED as u64);
        assert!(!window.is_full(origin(0), 1, now) && window.is_full(origin(ADDRESSES_REMEMBERED), 1, now));
        // Where the time has passed for all of them nobody else is.
        let later = now + Micros(1_000_000);
        (0..ADDRESSES_REMEMBERED).for_each(|number| window.note(origin(10_000 + number), later));
        assert!(window.came.len() <= ADDRESSES_REMEMBERED);
        assert!(window.is_full(origin(10_000), 1, later));
    }
}
