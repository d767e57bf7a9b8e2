//! Sums over plies: of one game, and of many.

use super::JudgedPly;
use super::estimate::{Estimate, mean_of_clusters};

/// A part of a game, by the seeds in play before a ply.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// 42 to 32 seeds.
    Opening,
    /// 30 to 18 seeds.
    Middle,
    /// 16 seeds and fewer.
    End,
}

impl Phase {
    /// All of them, in the order of play.
    pub const ALL: [Self; 3] = [Self::Opening, Self::Middle, Self::End];

    /// The phase with so many seeds in play.
    #[must_use]
    pub const fn of(seeds: u8) -> Self {
        match seeds {
            32.. => Self::Opening,
            18..32 => Self::Middle,
            ..18 => Self::End,
        }
    }

    /// `opening`, `middle` or `end`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }

    /// Its seeds in play, for people.
    #[must_use]
    pub const fn seeds(self) -> &'static str {
        match self {
            Self::Opening => "42 to 32 seeds in play",
            Self::Middle => "30 to 18 seeds in play",
            Self::End => "16 seeds in play and fewer",
        }
    }
}

/// Where one class of thinking time ends and the next begins, in microseconds.
pub const TIME_BOUNDS_US: [u64; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
/// Classes of thinking time.
pub(super) const TIMES: usize = TIME_BOUNDS_US.len() + 1;

/// The class of a thinking time.
pub(super) fn time_class(elapsed_us: u64) -> usize {
    TIME_BOUNDS_US.partition_point(|bound| *bound <= elapsed_us)
}

/// Plies in one game.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sum {
    plies: u64,
    choices: u64,
    best: u64,
    loss: u64,
}

impl Sum {
    pub(super) fn add(&mut self, ply: &JudgedPly) {
        let (choice, loss) = (u64::from(ply.judgement.choices > 1), u64::from(ply.loss()));
        self.plies += 1;
        self.choices += choice;
        self.best += if loss == 0 { choice } else { 0 };
        self.loss += loss;
    }

    pub(super) const fn merge(&mut self, other: Self) {
        self.plies += other.plies;
        self.choices += other.choices;
        self.best += other.best;
        self.loss += other.loss;
    }
}

/// Plies of many games. A game counts as one cluster, for the plies of one game are not independent.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Cell {
    /// Games with a ply here.
    pub games: u64,
    /// Plies.
    pub plies: u64,
    /// Of these, with more than one legal pit.
    pub choices: u64,
    /// Of these, without loss.
    pub best: u64,
    /// Seeds lost.
    pub loss: u64,
    /// Sums over games of loss², loss · plies and plies².
    squares: [u64; 3],
}

impl Cell {
    pub(super) fn add(&mut self, sum: Sum) {
        if sum.plies > 0 {
            self.games += 1;
            self.plies += sum.plies;
            self.choices += sum.choices;
            self.best += sum.best;
            self.loss += sum.loss;
            let squares = [sum.loss * sum.loss, sum.loss * sum.plies, sum.plies * sum.plies];
            add_all(&mut self.squares, &squares);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.games += other.games;
        self.plies += other.plies;
        self.choices += other.choices;
        self.best += other.best;
        self.loss += other.loss;
        add_all(&mut self.squares, &other.squares);
    }

    /// The mean loss a ply, with its 95 % interval over games.
    pub(super) fn accuracy(&self) -> Option<Estimate> {
        mean_of_clusters(self.games, self.loss, self.plies, self.squares)
    }
}

/// Adds place by place.
pub(super) fn add_all(sums: &mut [u64], others: &[u64]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum += other;
    }
}
