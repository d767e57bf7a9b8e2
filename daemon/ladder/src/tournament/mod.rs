//! Tournaments: who meets whom, and how they stand (`ladder.tournament`). Players are places in a list, chance is a seed: all
//! that is told follows from the plan and the results so far, in whatever order those came within a round.
//!
//! ```text
//! new ─▶ due ─▶ report | give_up ─▶ due … ─▶ is_over, standings
//! ```

mod circle;
mod encounter;
mod knockout;
mod matching;
mod seeding;
mod standings;
mod state;
mod swiss;

pub use encounter::{Encounter, Game, MatchNumber, TIE_PAIRS};
pub use standings::{Standing, Tally};
pub use state::{Due, NotDue, Tournament};

use std::fmt;

/// A player: its place in the plan's list, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Player(pub usize);

/// Who meets whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Everybody meets everybody (`ladder.tournament-round-robin`).
    RoundRobin {
        /// How often.
        cycles: usize,
    },
    /// Who stands alike meets, and nobody meets the same again as long as that can be (`ladder.tournament-swiss`).
    Swiss {
        /// Rounds; `None` for as many as [`swiss_rounds`] says.
        rounds: Option<usize>,
    },
    /// Who loses is out (`ladder.tournament-knockout`).
    Knockout,
    /// One meets each of the others (`ladder.tournament-gauntlet`).
    Gauntlet {
        /// Who.
        challenger: Player,
        /// How often it meets each.
        cycles: usize,
    },
}

/// What a tournament follows from, but for its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Who meets whom.
    pub format: Format,
    /// The players' ratings at the start, by which they are seeded.
    pub ratings: Vec<f64>,
    /// Pairs of games in each match, one at least.
    pub pairs: usize,
    /// Where chance starts: it seeds players of one rating, and says who is South first.
    pub seed: u64,
}

/// The rounds of a Swiss for so many players where none are said: two more than it takes to have one who won all.
#[must_use]
pub fn swiss_rounds(players: usize) -> usize {
    usize::try_from(players.max(1).next_power_of_two().ilog2()).unwrap_or(0) + 2
}

/// Points in quarters, so that each sum is exact: a win is 1 point, a draw a half, and tie-breaks have quarters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Points(pub u64);

impl Points {
    /// None.
    pub const NONE: Self = Self(0);
    /// A draw's.
    pub const DRAW: Self = Self(2);
    /// A win's.
    pub const WIN: Self = Self(4);

    /// So many times these.
    #[must_use]
    pub const fn times(self, times: usize) -> Self {
        Self(self.0 * times as u64)
    }

    /// These for each of `others`, which are points too.
    #[must_use]
    pub const fn product(self, others: Self) -> Self {
        Self(self.0 * others.0 / 4)
    }
}

impl std::ops::Add for Points {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl std::ops::AddAssign for Points {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl std::iter::Sum for Points {
    fn sum<I: Iterator<Item = Self>>(points: I) -> Self {
        Self(points.map(|points| points.0).sum())
    }
}

/// `2`, `1.5`, `0.25`.
impl fmt::Display for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = ["", ".25", ".5", ".75"][(self.0 % 4) as usize & 3];
        f.pad(&format!("{}{rest}", self.0 / 4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_show_as_people_write_them() {
        let half = Points::DRAW;
        assert_eq!(
            [half, Points::WIN + half, half.product(half)].map(|points| points.to_string()),
            ["0.5", "1.5", "0.25"]
        );
        assert_eq!(format!("{:>4}", Points::WIN.times(3)), "   3");
    }

    #[test]
    fn a_swiss_has_two_rounds_more_than_a_sole_winner_takes() {
        assert_eq!([1, 2, 5, 8, 9, 64].map(swiss_rounds), [2, 3, 5, 5, 6, 8]);
    }
}
