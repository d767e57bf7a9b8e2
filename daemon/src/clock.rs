//! The clock of a game: whole microseconds of one monotonic clock, no wall clock, no floats (`spec/clock.md`).
//!
//! Pure: a moment and the server's own delay come in as values through [`Arrival`], so that tests feed both.

use modiar_protocol::TimeControl;
use modiar_rules::{BySide, Side};
use std::ops::{Add, AddAssign};

/// A length of time in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Micros(pub u64);

/// A moment of the monotonic clock, in microseconds since the process began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub u64);

impl Micros {
    /// From milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms.saturating_mul(1000))
    }

    /// Whole milliseconds, rounded down: what the wire shows (`clock.wire-rounding`).
    #[must_use]
    pub const fn ms(self) -> u64 {
        self.0 / 1000
    }

    /// What is left after `other`, never below nothing.
    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Micros {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Micros {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl From<std::time::Duration> for Micros {
    fn from(duration: std::time::Duration) -> Self {
        Self(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }
}

impl Moment {
    /// The time from `earlier` to this moment; nothing if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Micros {
        Micros(self.0.saturating_sub(earlier.0))
    }

    /// The moment so long before this one, or the first there is.
    #[must_use]
    pub const fn earlier(self, span: Micros) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Add<Micros> for Moment {
    type Output = Self;

    fn add(self, span: Micros) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

/// How a line reached the server. What a client says of time is not among it (`clock.no-claims`).
pub trait Arrival {
    /// R: when the read that completed the line returned.
    fn received(&self) -> Moment;

    /// The part of the time from `turn` to [`Self::received`] in which the line already lay in the server's machine
    /// (`clock.own`). Asked only where something may be charged.
    fn own(&self, turn: Moment) -> Micros;
}

/// A pool's time control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// What each side starts with.
    pub base: Micros,
    /// What a legal move brings.
    pub increment: Micros,
    /// What is never charged, of each move.
    pub grace: Micros,
    /// Most that one move may be charged.
    pub per_move: Option<Micros>,
}

impl Control {
    /// What a turn of this length costs, own delay already off.
    #[must_use]
    pub fn charge(&self, elapsed: Micros, own: Micros) -> Charge {
        Charge { elapsed, own, charged: elapsed.less(self.grace) }
    }
}

impl From<TimeControl> for Control {
    fn from(time: TimeControl) -> Self {
        Self {
            base: Micros::from_ms(time.base_ms),
            increment: Micros::from_ms(time.increment_ms),
            grace: Micros::from_ms(time.grace_ms),
            per_move: time.move_ms.map(Micros::from_ms),
        }
    }
}

/// The arithmetic of one turn, as it stands in the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charge {
    /// From the turn's writing to the move's arrival, the server's own delay taken off.
    pub elapsed: Micros,
    /// What was taken off.
    pub own: Micros,
    /// What the clock lost: `elapsed` less the grace.
    pub charged: Micros,
}

/// Both sides' time, and since when the running turn runs: nothing before it is written (`clock.restart`), and where its
/// ply is not safe yet (`clock.journal-full`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    control: Control,
    remaining: BySide<Micros>,
    since: Option<Moment>,
    /// Up to when what had waited for the server is taken off the running turn already.
    excused: Option<Moment>,
}

impl Clock {
    /// Both sides at their base; the clock stands.
    #[must_use]
    pub fn new(control: Control) -> Self {
        Self { control, remaining: BySide::new(control.base, control.base), since: None, excused: None }
    }

    /// What each side has left.
    #[must_use]
    pub const fn remaining(&self) -> BySide<Micros> {
        self.remaining
    }

    /// Whether the clock stands.
    #[must_use]
    pub const fn stands(&self) -> bool {
        self.since.is_none()
    }

    /// The running turn has not been written: it costs nothing until it is.
    pub const fn stand(&mut self) {
        (self.since, self.excused) = (None, None);
    }

    /// The running turn was written at `written` (`clock.start`).
    pub const fn turn_written(&mut self, written: Moment) {
        (self.since, self.excused) = (Some(written), None);
    }

    /// Who is to move is back by this arrival, for the first time in its turn: what that had waited for the server is none of
    /// it (`clock.return`).
    pub fn excuse(&mut self, hello: &dyn Arrival) {
        if self.excused.is_none() {
            let own = self.charge(hello).own;
            self.since = self.since.map(|since| since + own);
            self.excused = Some(hello.received());
        }
    }

    /// What an arrival costs the side to move (`clock.elapsed`, `clock.charged`).
    #[must_use]
    pub fn charge(&self, arrival: &dyn Arrival) -> Charge {
        let Some(since) = self.since else { return Charge::default() };
        let waited = arrival.received().since(since);
        let own = if waited <= self.control.grace {
            Micros(0)
        } else {
            arrival.own(since.max(self.excused.unwrap_or(since))).min(waited)
        };
        self.control.charge(waited.less(own), own)
    }

    /// What the running turn has cost by `now`, nothing having arrived.
    #[must_use]
    pub fn running_charge(&self, now: Moment) -> Charge {
        let Some(since) = self.since else { return Charge::default() };
        self.control.charge(now.since(since), Micros(0))
    }

    /// What `side` may be charged for this turn before it has lost on time.
    #[must_use]
    pub fn allowance(&self, side: Side) -> Micros {
        let remaining = self.remaining[side];
        self.control.per_move.map_or(remaining, |most| most.min(remaining))
    }

    /// The last moment at which an arrival without own delay is charged no more than `allowance`; `None` while the clock
    /// stands.
    #[must_use]
    pub fn deadline(&self, allowance: Micros) -> Option<Moment> {
        Some(self.since? + self.control.grace + allowance)
    }

    /// Books a legal move of `side`: the charge off, the increment on (`clock.increment`).
    pub fn settle(&mut self, side: Side, charge: Charge) {
        self.remaining[side] = self.remaining[side].less(charge.charged) + self.control.increment;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Read {
        received: u64,
        own: u64,
    }

    impl Arrival for Read {
        fn received(&self) -> Moment {
            Moment(self.received)
        }

        fn own(&self, _turn: Moment) -> Micros {
            Micros(self.own)
        }
    }

    /// `clock.early`, `clock.own-clamp`, `clock.own-grace`, `clock.elapsed`, `clock.charged`, `clock.flag`, `clock.increment`
    #[test]
    fn the_vectors_of_the_clock_hold() {
        let vectors = include_str!("../../spec/vectors/clock.jsonl").lines();
        let mut cases = 0;
        for case in vectors.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
            let figure = |name: &str| case[name].as_u64().unwrap();
            let micros = |name| Micros(figure(name));
            let control = Control {
                base: micros("remaining_us"),
                increment: micros("increment_us"),
                grace: micros("grace_us"),
                per_move: case.get("move_us").map(|limit| Micros(limit.as_u64().unwrap())),
            };
            let mut clock = Clock::new(control);
            clock.turn_written(Moment(figure("written_us")));
            let charge = clock.charge(&Read { received: figure("received_us"), own: figure("own_us") });
            assert_eq!((charge.elapsed, charge.charged), (micros("elapsed_us"), micros("charged_us")), "{case}");
            let lost = charge.charged > clock.allowance(Side::South);
            assert_eq!(lost, case["after_us"].is_null(), "{case}");
            if !lost {
                clock.settle(Side::South, charge);
                assert_eq!(clock.remaining().south, micros("after_us"), "{case}");
            }
            cases += 1;
        }
        assert!(cases > 30, "only {cases} cases were read");
    }

    #[test]
    fn one_move_may_have_its_own_limit() {
        let control =
            Control { base: Micros(10_000), increment: Micros(0), grace: Micros(0), per_move: Some(Micros(300)) };
        let mut clock = Clock::new(control);
        assert_eq!(clock.allowance(Side::North), Micros(300));
        assert_eq!(clock.deadline(Micros(300)), None, "it stands");
        clock.turn_written(Moment(7));
        assert_eq!(clock.deadline(clock.allowance(Side::North)), Some(Moment(307)));
    }

    /// `clock.return`: what a hello waited is taken off once, whoever comes back again, and not again of the move behind it.
    #[test]
    fn what_a_hello_waited_is_taken_off_once() {
        /// Waited since `came`.
        struct Waited {
            came: u64,
            received: u64,
        }

        impl Arrival for Waited {
            fn received(&self) -> Moment {
                Moment(self.received)
            }

            fn own(&self, turn: Moment) -> Micros {
                self.received().since(turn.max(Moment(self.came)))
            }
        }

        let control = Control { base: Micros(9000), increment: Micros(0), grace: Micros(0), per_move: None };
        let mut clock = Clock::new(control);
        clock.turn_written(Moment(1000));
        for _ in 0..3 {
            clock.excuse(&Waited { came: 4000, received: 7000 });
        }
        let same_read = clock.charge(&Waited { came: 4000, received: 7000 });
        assert_eq!((same_read.elapsed, same_read.own), (Micros(3000), Micros(0)));
        let later = clock.charge(&Waited { came: 4000, received: 7500 });
        assert_eq!((later.elapsed, later.own), (Micros(3000), Micros(500)));
        clock.excuse(&Waited { came: 7000, received: 9000 });
        assert_eq!(clock.running_charge(Moment(9000)).elapsed, Micros(5000), "the second return is not excused");
        clock.turn_written(Moment(20_000));
        clock.excuse(&Waited { came: 21_000, received: 22_000 });
        assert_eq!(clock.running_charge(Moment(22_000)).elapsed, Micros(1000));
    }

    /// `clock.early`
    #[test]
    fn an_arrival_before_the_writing_costs_nothing() {
        let control = Control { base: Micros(0), increment: Micros(0), grace: Micros(0), per_move: None };
        let mut clock = Clock::new(control);
        clock.turn_written(Moment(500));
        assert_eq!(clock.charge(&Read { received: 400, own: 0 }), Charge::default());
    }

    fn control() -> impl Strategy<Value = Control> {
        let micros = |most: u64| (0..most).prop_map(Micros);
        let per_move = proptest::option::of(micros(5_000_000));
        (micros(100_000_000), micros(5_000_000), micros(200_000), per_move)
            .prop_map(|(base, increment, grace, per_move)| Control { base, increment, grace, per_move })
    }

    proptest! {
        /// `clock.elapsed`, `clock.charged`: what a move costs is never more than it took, and less own delay only raises it.
        #[test]
        fn a_charge_is_what_was_not_ours(
            control in control(), written in 0u64..9_000_000, received in 0u64..20_000_000, own in 0u64..20_000_000,
        ) {
            let mut clock = Clock::new(control);
            clock.turn_written(Moment(written));
            let charge = clock.charge(&Read { received, own });
            let waited = received.saturating_sub(written);
            prop_assert_eq!(charge.elapsed.0 + charge.own.0, waited);
            prop_assert_eq!(charge.charged, charge.elapsed.less(control.grace));
            prop_assert!(waited > control.grace.0 || charge.charged == Micros(0));
            let less_ours = clock.charge(&Read { received, own: own / 2 });
            prop_assert!(less_ours.charged >= charge.charged);
        }

        /// `clock.flag`: the deadline is the last moment at which nothing is lost, and a flag looked at says the same.
        #[test]
        fn the_deadline_is_the_last_moment(control in control(), written in 0u64..9_000_000) {
            let mut clock = Clock::new(control);
            clock.turn_written(Moment(written));
            let allowance = clock.allowance(Side::South);
            let deadline = clock.deadline(allowance).unwrap();
            let late = deadline + Micros(1);
            let charged = |at: Moment| clock.charge(&Read { received: at.0, own: 0 }).charged;
            prop_assert!(charged(deadline) <= allowance);
            prop_assert!(charged(late) > allowance);
            prop_assert!(clock.running_charge(deadline).charged <= allowance);
            prop_assert!(clock.running_charge(late).charged > allowance);
        }

        /// `record.identity`: base + n·increment − Σ charged is what remains, of both sides.
        #[test]
        fn what_remains_adds_up(control in control(), thoughts in proptest::collection::vec(0u64..3_000_000, 0..40)) {
            let mut clock = Clock::new(control);
            let mut expected = BySide::new(control.base.0, control.base.0);
            let mut side = Side::South;
            for thought in thoughts {
                clock.turn_written(Moment(5));
                let charge = clock.charge(&Read { received: 5 + thought, own: 0 });
                if charge.charged > clock.allowance(side) {
                    break;
                }
                clock.settle(side, charge);
                expected[side] = expected[side] - charge.charged.0 + control.increment.0;
                prop_assert_eq!(clock.remaining().map(|left| left.0), expected);
                side = side.other();
            }
        }
    }
}
