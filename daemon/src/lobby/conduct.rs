//! How a bot behaves: whether it shows up for its games, plays them in time, and stays.

use crate::clock::{Micros, Moment};

/// Pauses that a bot has to take, one after the other (`forfeit.penalty`), in seconds.
const PAUSES: [u64; 5] = [10, 30, 120, 600, 3600];
/// Games over which misconduct is held against a bot (`forfeit.second`).
const WINDOW: u32 = 20;
/// From so many losses on time within the [`WINDOW`] on each brings a pause (`ladder.conduct-flags`).
const FLAGS: u32 = 3;
/// So many connections in a row that came to nothing bring a pause (`ladder.conduct-crashes`).
const CRASHES: u32 = 10;
/// That pause.
const BENCH: Micros = Micros(600_000_000);
/// A connection shorter than this may have come to nothing.
const SHORT: Micros = Micros(10_000_000);

/// How a bot has behaved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conduct {
    level: u8,
    until: Moment,
    why: Why,
    /// The last games, newest first: a set bit is a no-show.
    absent: u32,
    /// The same: a set bit is a loss on time.
    flagged: u32,
    /// Connections in a row that came to nothing.
    crashes: u32,
}

/// What a pause is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Why {
    /// It did not show up for a game.
    #[default]
    Absent,
    /// It loses on time too often.
    Flagged,
    /// Its connections come to nothing.
    Crashes,
}

impl Why {
    /// What the bot's author reads.
    #[must_use]
    pub fn told(self) -> String {
        match self {
            Self::Absent => {
                "the bot made no legal first move in time in a game that it had sought; seek only when it is free to play".into()
            }
            Self::Flagged => format!(
                "the bot has lost {FLAGS} or more of its last {WINDOW} games on time; have it look at remaining_ms"
            ),
            Self::Crashes => format!(
                "{CRASHES} connections of the bot in a row ended within {} s without a bye or a move; see why it ends",
                SHORT.ms() / 1000
            ),
        }
    }
}

/// What a connection of a bot was.
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    /// How long it lasted.
    pub lasted: Micros,
    /// Whether the bot said bye, made a move, or was sent away.
    pub fruitful: bool,
}

/// One that nothing is held against.
pub const FRUITFUL: Stay = Stay { lasted: Micros(0), fruitful: true };

impl Conduct {
    /// The end of a pause that holds at `now`, and what it is for.
    #[must_use]
    pub fn paused(&self, now: Moment) -> Option<(Moment, Why)> {
        (self.until > now).then_some((self.until, self.why))
    }

    /// Whether its next no-show is a forfeit.
    #[must_use]
    pub const fn must_show(&self) -> bool {
        self.absent != 0
    }

    /// A game it played to its end.
    pub const fn showed_up(&mut self) {
        self.level = self.level.saturating_sub(1);
        self.remember(false, false);
    }

    /// A game it lost on time; whether that brings a pause.
    pub fn flagged(&mut self, now: Moment) -> bool {
        self.remember(false, true);
        let many = self.flagged.count_ones() >= FLAGS;
        if many {
            self.pause(now, Why::Flagged);
        }
        many
    }

    /// A game it did not show up for: that brings a pause.
    pub fn stayed_away(&mut self, now: Moment) {
        self.remember(true, false);
        self.pause(now, Why::Absent);
    }

    /// A connection of it has ended; whether that brings a pause.
    pub fn left(&mut self, stay: Stay, now: Moment) -> bool {
        // What happens during a pause adds nothing.
        if self.until > now {
            return false;
        }
        self.crashes = if stay.fruitful || stay.lasted > SHORT { 0 } else { self.crashes + 1 };
        let many = self.crashes >= CRASHES;
        if many {
            self.crashes = 0;
            self.pause_until(now + BENCH, Why::Crashes);
        }
        many
    }

    /// A step of the pauses. What a bot does while one holds is of games that began before it, and adds nothing.
    fn pause(&mut self, now: Moment, why: Why) {
        if self.until > now {
            return;
        }
        let most = PAUSES.len() - 1;
        let level = if (self.level as usize) < most { self.level as usize } else { most };
        self.level = self.level.saturating_add(1);
        self.pause_until(now + Micros(PAUSES[level] * 1_000_000), why);
    }

    /// None gets shorter by another.
    fn pause_until(&mut self, until: Moment, why: Why) {
        if until > self.until {
            (self.until, self.why) = (until, why);
        }
    }

    const fn remember(&mut self, absent: bool, flagged: bool) {
        let window = (1 << WINDOW) - 1;
        self.absent = (self.absent << 1 | absent as u32) & window;
        self.flagged = (self.flagged << 1 | flagged as u32) & window;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_a_played_game_takes_one_step_back() {
        let mut conduct = Conduct::default();
        let pause = |conduct: &mut Conduct| {
            let now = conduct.until;
            conduct.stayed_away(now);
            conduct.until.since(now).0 / 1_000_000
        };
        assert_eq!([pause(&mut conduct), pause(&mut conduct), pause(&mut conduct)], [10, 30, 120]);
        conduct.showed_up();
        assert_eq!(pause(&mut conduct), 120);
        assert_eq!([pause(&mut conduct), pause(&mut conduct), pause(&mut conduct)], [600, 3600, 3600]);
    }

    #[test]
    fn a_no_show_is_held_against_a_bot_for_twenty_games() {
        let mut conduct = Conduct::default();
        conduct.stayed_away(Moment(0));
        for _ in 0..WINDOW - 1 {
            conduct.showed_up();
            assert!(conduct.must_show());
        }
        conduct.showed_up();
        assert!(!conduct.must_show());
    }

    #[test]
    fn a_slip_in_many_games_is_one_and_no_pause_gets_shorter_by_another() {
        let crash = Stay { lasted: Micros(1), fruitful: false };
        let mut conduct = Conduct::default();
        (0..8).for_each(|_| conduct.stayed_away(Moment(0)));
        assert_eq!(conduct.paused(Moment(0)), Some((Moment(10_000_000), Why::Absent)));
        // Nothing that happens during a pause adds to it.
        assert!(!(0..30).any(|_| conduct.left(crash, Moment(1))));
        let after = conduct.until;
        assert!((0..10).any(|_| conduct.left(crash, after)));
        let bench = Some((after + BENCH, Why::Crashes));
        assert!(!(0..30).any(|_| conduct.left(crash, after + Micros(1))));
        conduct.stayed_away(after + Micros(1));
        assert_eq!(conduct.paused(after + Micros(1)), bench);
    }

    #[test]
    fn a_pause_ends() {
        let mut conduct = Conduct::default();
        conduct.stayed_away(Moment(0));
        assert_eq!(conduct.paused(Moment(9_999_999)), Some((Moment(10_000_000), Why::Absent)));
        assert_eq!(conduct.paused(Moment(10_000_000)), None);
    }

    #[test]
    fn a_flag_now_and_then_is_borne_and_the_third_of_twenty_games_is_not() {
        let mut conduct = Conduct::default();
        for _ in 0..10 {
            assert!(!conduct.flagged(Moment(0)));
            (0..9).for_each(|_| conduct.showed_up());
        }
        (0..20).for_each(|_| conduct.showed_up());
        assert_eq!([1, 2, 3].map(|_| conduct.flagged(Moment(0))), [false, false, true]);
        assert!(conduct.flagged(Moment(10_000_000)));
        let paused = conduct.paused(Moment(10_000_000));
        assert_eq!(paused, Some((Moment(40_000_000), Why::Flagged)), "the second pause");
    }

    #[test]
    fn ten_connections_in_a_row_that_came_to_nothing_are_benched() {
        let stay = |lasted, fruitful| Stay { lasted: Micros(lasted), fruitful };
        for saved in [stay(1, true), stay(10_000_001, false)] {
            let mut conduct = Conduct::default();
            (0..9).for_each(|_| assert!(!conduct.left(stay(10_000_000, false), Moment(0))));
            assert!(!conduct.left(saved, Moment(0)));
            (0..9).for_each(|_| assert!(!conduct.left(stay(1, false), Moment(0))));
            assert!(conduct.left(stay(1, false), Moment(0)));
            assert_eq!(conduct.paused(Moment(599_999_999)), Some((Moment(600_000_000), Why::Crashes)));
        }
    }
}
