//! How a game ends, and which endings apply.

use core::fmt;

/// The endings that a pool may choose; `0` or `false` switches one off.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EndRules {
    /// The game ends when the same pits with the same side to move stand for this time
    /// (rules.endless.repetition). The start position is one standing, so that 1 would end every game
    /// before its first ply: it is taken at its word here, and a configuration had better refuse it.
    pub repetition: u16,
    /// The game ends after this many plies in a row without a capture (rules.endless.quiet-plies).
    /// A capture forfeited on the first ply is none.
    pub quiet_plies: u16,
    /// The game ends when a side has captured more than half of the seeds, 22 (rules.end.majority).
    pub majority: bool,
}

/// The third standing, 200 quiet plies, no end at a majority (rules.end.no-early-end).
impl Default for EndRules {
    fn default() -> Self {
        Self { repetition: 3, quiet_plies: 200, majority: false }
    }
}

/// Why a game is over. Each side then takes the seeds in its own row, whichever it was
/// (rules.end.scoop).
///
/// Where several fall on one ply the first in the order of the variants is told (rules.end.rank).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ending {
    /// A side has captured more than half of the seeds, where [`EndRules::majority`] is on.
    Majority,
    /// The side to move has no legal move (rules.end.immobile).
    Immobile,
    /// The position stood as often as [`EndRules::repetition`] says.
    Repetition,
    /// No capture for as many plies as [`EndRules::quiet_plies`] says.
    QuietPlies,
}

/// The name on the wire: `majority`, `immobile`, `repetition`, `quiet_plies`.
impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Majority => "majority",
            Self::Immobile => "immobile",
            Self::Repetition => "repetition",
            Self::QuietPlies => "quiet_plies",
        })
    }
}
