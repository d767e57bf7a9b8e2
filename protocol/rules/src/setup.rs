//! A position as anybody may write it down, before it is known to be lawful.

use core::error::Error;
use core::fmt;
use core::str::FromStr;

use crate::{BySide, Position, SEEDS, Side, TextError};

/// The loose form of a [`Position`]: any numbers at all. `Position::try_from` makes it strict.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Setup {
    /// Seeds in pits 0 to 5.
    pub pits: [u8; 6],
    /// Seeds that each side has captured.
    pub captured: BySide<u8>,
    /// The side to move.
    pub side: Side,
    /// The ply to be played; the first is 1.
    pub ply: u32,
}

impl Setup {
    /// Seeds on the board and captured together.
    fn seeds(&self) -> u16 {
        let Self { pits, captured, .. } = self;
        pits.iter().chain([&captured.south, &captured.north]).copied().map(u16::from).sum()
    }

    /// What keeps this from being a position; of several faults the first in the order of
    /// [`SetupError`]'s variants.
    pub(crate) fn validate(&self) -> Result<(), SetupError> {
        let (seeds, Self { side, ply, .. }) = (self.seeds(), *self);
        if seeds != u16::from(SEEDS) {
            Err(SetupError::Seeds { found: seeds })
        } else if ply == 0 {
            Err(SetupError::PlyZero)
        } else if side != Side::on_ply(ply) {
            Err(SetupError::Turn { side, ply })
        } else {
            Ok(())
        }
    }
}

/// Why a [`Setup`] is no [`Position`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetupError {
    /// Seeds on the board and captured do not make 42 together.
    Seeds {
        /// What they make.
        found: u16,
    },
    /// The ply is 0; the first is 1.
    PlyZero,
    /// The side to move does not play that ply.
    Turn {
        /// The side said to move.
        side: Side,
        /// The ply said to be played.
        ply: u32,
    },
}

impl SetupError {
    /// The id of the clause in `spec/rules.md`.
    #[must_use]
    pub const fn clause(self) -> &'static str {
        match self {
            Self::Seeds { .. } => "rules.board.conserved",
            Self::PlyZero => "rules.text.position",
            Self::Turn { .. } => "rules.turn.south-first",
        }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seeds { found } => {
                write!(f, "{found} seeds: those on the board and captured must make {SEEDS}")
            }
            Self::PlyZero => f.write_str("ply 0: number plies from 1"),
            Self::Turn { side, ply } => {
                write!(f, "{side} does not play ply {ply}: south plays the odd plies, north the even")
            }
        }
    }
}

impl Error for SetupError {}

/// Why a text is no [`Position`]: it is none of a setup, or the setup is not lawful.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PositionError {
    /// The text is malformed.
    Text(TextError),
    /// The text is well formed, and what it says is not lawful.
    Setup(SetupError),
}

impl PositionError {
    /// The id of the clause in `spec/rules.md`.
    #[must_use]
    pub const fn clause(self) -> &'static str {
        match self {
            Self::Text(error) => error.clause(),
            Self::Setup(error) => error.clause(),
        }
    }
}

impl From<TextError> for PositionError {
    fn from(error: TextError) -> Self {
        Self::Text(error)
    }
}

impl From<SetupError> for PositionError {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}

impl fmt::Display for PositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(error) => error.fmt(f),
            Self::Setup(error) => error.fmt(f),
        }
    }
}

impl Error for PositionError {}

impl FromStr for Position {
    type Err = PositionError;

    fn from_str(text: &str) -> Result<Self, PositionError> {
        Ok(Self::try_from(text.parse::<Setup>()?)?)
    }
}
