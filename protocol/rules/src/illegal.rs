//! Why a move is refused.

use core::error::Error;
use core::fmt;

/// The rule that a refused move breaks: the first that applies, in the order of the variants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Illegal {
    /// The pit lies in the opponent's row.
    OpponentPit,
    /// The pit holds no seed.
    EmptyPit,
    /// The pit holds one seed.
    Singleton,
    /// The opponent's row is empty, another legal move passes seeds into it, and this one does not.
    NotFeeding,
    /// The move would capture all seeds of the opponent's row.
    GrandSlam,
}

impl Illegal {
    /// The id of the clause in `spec/rules.md`.
    #[must_use]
    pub const fn clause(self) -> &'static str {
        match self {
            Self::OpponentPit => "rules.move.own-row",
            Self::EmptyPit => "rules.move.empty-pit",
            Self::Singleton => "rules.move.singleton",
            Self::NotFeeding => "rules.feed.must",
            Self::GrandSlam => "rules.slam.banned",
        }
    }
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::OpponentPit => "the pit is in the opponent's row: choose a pit of your own",
            Self::EmptyPit => "the pit is empty: choose one that holds at least 2 seeds",
            Self::Singleton => "the pit holds 1 seed: choose one that holds at least 2",
            Self::NotFeeding => "the opponent's row is empty: choose a move that passes seeds into it",
            Self::GrandSlam => "the move would capture all seeds of the opponent's row: choose another",
        })
    }
}

impl Error for Illegal {}
