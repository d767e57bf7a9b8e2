//! Whether the daemon keeps up: from how often its delays were too long lately.

use crate::clock::{Micros, Moment};
use crate::metrics::Counted;
use std::collections::VecDeque;

/// Over which time delays are looked at.
const WINDOW: Micros = Micros(10_000_000);
/// Nothing is said of fewer delays.
const ENOUGH: u64 = 100;
/// How long it must have been calm before games start again.
const CALM: Micros = Micros(5_000_000);
/// Counts nearer together than this are one.
const STEP: Micros = Micros(50_000);

/// The daemon is overloaded when of the last 10 s the 99th percentile of own delay or of the loop's lag is above the
/// limit, until both have been below half of it for 5 s. Below 100 delays nothing is known, which is calm.
#[derive(Clone, Debug, Default)]
pub struct Load {
    own: Window,
    lag: Window,
    overloaded: bool,
    calm_since: Option<Moment>,
}

impl Load {
    /// Whether it is overloaded at `now`, so much having been counted since the process began.
    pub fn look(&mut self, own: Counted, lag: Counted, now: Moment) -> bool {
        let lately = [self.own.lately(own, now), self.lag.lately(lag, now)];
        if lately.iter().any(|counted| is_frequent(counted.above, counted.all)) {
            (self.overloaded, self.calm_since) = (true, None);
        } else if lately.iter().any(|counted| is_frequent(counted.above_half, counted.all)) {
            self.calm_since = None;
        } else {
            let since = *self.calm_since.get_or_insert(now);
            self.overloaded &= now.since(since) < CALM;
        }
        self.overloaded
    }
}

/// More than one in a hundred: the 99th percentile lies among them.
const fn is_frequent(some: u64, all: u64) -> bool {
    all >= ENOUGH && some * 100 > all
}

/// What had been counted at moments of the window's time; the first may be a little older.
#[derive(Clone, Debug, Default)]
struct Window(VecDeque<(Moment, Counted)>);

impl Window {
    /// What was counted within the window.
    fn lately(&mut self, counted: Counted, now: Moment) -> Counted {
        while self.0.get(1).is_some_and(|(at, _)| now.since(*at) >= WINDOW) {
            self.0.pop_front();
        }
        if self.0.back().is_none_or(|(at, _)| now.since(*at) >= STEP) {
            self.0.push_back((now, counted));
        }
        let first = self.0.front().map_or(counted, |(_, first)| *first);
        Counted {
            all: counted.all - first.all,
            above: counted.above.saturating_sub(first.above),
            above_half: counted.above_half.saturating_sub(first.above_half),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A daemon in virtual time: ten looks a second.
    #[derive(Default)]
    struct Daemon {
        load: Load,
        tenths: u64,
        own: Counted,
        lag: Counted,
    }

    impl Daemon {
        /// For so many tenths of a second, in each so many moves, of these so many above the limit and above its half;
        /// the tenth in which the verdict first was `wanted`, counted from 1.
        fn run(&mut self, tenths: u64, moves: Counted, wanted: bool) -> Option<u64> {
            self.run_both(tenths, moves, Counted::default(), wanted)
        }

        fn run_both(&mut self, tenths: u64, moves: Counted, naps: Counted, wanted: bool) -> Option<u64> {
            let mut first = None;
            for tenth in 1..=tenths {
                self.tenths += 1;
                for (sum, more) in [(&mut self.own, moves), (&mut self.lag, naps)] {
                    sum.all += more.all;
                    sum.above += more.above;
                    sum.above_half += more.above_half;
                }
                if self.load.look(self.own, self.lag, Moment(self.tenths * 100_000)) == wanted {
                    first = first.or(Some(tenth));
                }
            }
            first
        }
    }

    const fn of(all: u64, above: u64, above_half: u64) -> Counted {
        Counted { all, above, above_half }
    }

    const FINE: Counted = of(100, 0, 0);

    #[test]
    fn one_in_a_hundred_is_borne_and_one_more_is_not() {
        let mut daemon = Daemon::default();
        assert_eq!(daemon.run(200, of(100, 1, 1), true), None);
        assert_eq!(daemon.run(1, of(100, 2, 2), true), Some(1));
    }

    #[test]
    fn below_a_hundred_delays_nothing_is_known() {
        let mut daemon = Daemon::default();
        daemon.run(1, of(0, 0, 0), true);
        assert_eq!(daemon.run(99, of(1, 1, 1), true), None, "99 delays");
        assert_eq!(daemon.run(1, of(1, 1, 1), true), Some(1), "the hundredth");
    }

    /// The bad second leaves the window after 10 s; 5 s of calm follow.
    #[test]
    fn it_recovers_after_five_calm_seconds() {
        let mut daemon = Daemon::default();
        daemon.run(10, FINE, true);
        assert_eq!(daemon.run(10, of(100, 50, 50), true), Some(1));
        let recovered = daemon.run(300, FINE, false).unwrap();
        assert!((145..=151).contains(&recovered), "{recovered} tenths");
    }

    /// Below the limit is not enough: it must be half of it.
    #[test]
    fn what_lies_between_keeps_it_as_it_is() {
        let mut daemon = Daemon::default();
        assert_eq!(daemon.run(300, of(100, 0, 50), true), None, "it does not begin");
        daemon.run(10, of(100, 50, 50), true);
        assert_eq!(daemon.run(600, of(100, 0, 50), false), None, "nor end");
        assert!(daemon.run(200, FINE, false).is_some());
    }

    #[test]
    fn a_lagging_loop_is_overload_too() {
        let mut daemon = Daemon::default();
        daemon.run_both(10, FINE, of(10, 0, 0), true);
        assert_eq!(daemon.run_both(20, FINE, of(10, 1, 1), true), Some(2), "2 of 110");
    }

    /// While no games start no moves come: silence is calm, or it would never end.
    #[test]
    fn silence_ends_it() {
        let mut daemon = Daemon::default();
        daemon.run(10, of(100, 100, 100), true);
        assert!(daemon.run(151, of(0, 0, 0), false).is_some());
    }

    /// A stop of the process long ago counts no longer, however few looks there were since.
    #[test]
    fn the_window_forgets() {
        let mut window = Window::default();
        window.lately(of(0, 0, 0), Moment(0));
        assert_eq!(window.lately(of(5, 5, 5), Moment(1_000_000)), of(5, 5, 5));
        assert_eq!(window.lately(of(6, 5, 5), Moment(30_000_000)), of(1, 0, 0));
        assert_eq!(window.lately(of(7, 5, 5), Moment(60_000_000)), of(1, 0, 0));
    }
}
