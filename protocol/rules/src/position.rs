//! A lawful position: which moves are legal in it, and what becomes of it.

use core::error::Error;
use core::fmt;

use crate::{Board, BySide, Illegal, Pit, PitSet, Setup, SetupError, Side};

/// A position with 42 seeds (rules.board.conserved), in 16 bytes.
///
/// The side to move is not stored: the ply tells it, so that the two cannot disagree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Position {
    board: Board,
    captured: BySide<u8>,
    /// The ply to be played, never 0.
    ply: u32,
}

impl Position {
    /// Seven seeds in each pit, nothing captured, South to play ply 1 (rules.board.start).
    pub const START: Self = Self { board: Board::START, captured: BySide::new(0, 0), ply: 1 };

    /// The seeds on the board.
    #[must_use]
    pub const fn board(&self) -> Board {
        self.board
    }

    /// The seeds in pits 0 to 5.
    #[must_use]
    pub const fn pits(&self) -> [u8; 6] {
        self.board.pits()
    }

    /// The seeds that each side has captured; they never come back.
    #[must_use]
    pub const fn captured(&self) -> BySide<u8> {
        self.captured
    }

    /// The side to move.
    #[must_use]
    pub const fn side(&self) -> Side {
        Side::on_ply(self.ply)
    }

    /// The ply to be played; the first is 1.
    #[must_use]
    pub const fn ply(&self) -> u32 {
        self.ply
    }

    /// What each side has if the game ends here: its captures and the seeds in its own row
    /// (rules.end.scoop). Always 42 together.
    #[must_use]
    pub fn scoop(&self) -> BySide<u8> {
        BySide::from_fn(|side| self.captured[side] + self.board.row(side))
    }

    /// The pits that may be played now. Where there is none, the game is over (rules.end.immobile).
    #[must_use]
    pub fn legal(&self) -> PitSet {
        self.board.legal_unless(self.side(), |pit| self.slams(pit))
    }

    /// Whether `pit` may be played now; `Ok` for exactly the pits of [`legal`](Self::legal).
    ///
    /// # Errors
    ///
    /// The rule that the move breaks.
    pub fn check(&self, pit: Pit) -> Result<(), Illegal> {
        if pit.owner() != self.side() {
            return Err(Illegal::OpponentPit);
        }
        match self.board.seeds(pit) {
            0 => Err(Illegal::EmptyPit),
            1 => Err(Illegal::Singleton),
            _ if self.legal().contains(pit) => Ok(()),
            _ if self.slams(pit) => Err(Illegal::GrandSlam),
            _ => Err(Illegal::NotFeeding),
        }
    }

    /// Plays `pit` if that is legal: the door for moves from outside.
    ///
    /// # Errors
    ///
    /// The rule that the move breaks, and the position as it was.
    pub fn play(mut self, pit: Pit) -> Result<Played, PlayError> {
        match self.check(pit) {
            Ok(()) => {
                let taken = self.play_unchecked(pit);
                Ok(Played { position: self, taken })
            }
            Err(reason) => Err(PlayError { position: self, pit, reason }),
        }
    }

    /// Plays `pit` without asking whether that is legal, and gives the number of seeds taken: the door
    /// for moves that come from [`legal`](Self::legal).
    ///
    /// An illegal pit does not panic. What stands then still holds 42 seeds and has the other side to
    /// move, but no game leads there.
    pub fn play_unchecked(&mut self, pit: Pit) -> u8 {
        // On the first ply of the game the capture is forfeited and the seeds stay (rules.capture.first-ply).
        let (board, taken) = if self.is_first_ply() { (self.board.sow(pit).board, 0) } else { self.board.play(pit) };
        let mover = self.side();
        self.captured[mover] += taken;
        self.board = board;
        // A count at its very end swings between its last two values: the sides still alternate.
        self.ply = self.ply.checked_add(1).unwrap_or(u32::MAX - 1);
        taken
    }

    /// Whether playing `pit` would be a grand slam; never where nothing is captured.
    fn slams(&self, pit: Pit) -> bool {
        !self.is_first_ply() && self.board.slams(pit)
    }

    const fn is_first_ply(&self) -> bool {
        self.ply == 1
    }
}

/// The start.
impl Default for Position {
    fn default() -> Self {
        Self::START
    }
}

impl TryFrom<Setup> for Position {
    type Error = SetupError;

    fn try_from(setup: Setup) -> Result<Self, SetupError> {
        setup.validate()?;
        let Setup { pits, captured, ply, .. } = setup;
        Ok(Self { board: Board::from_pits(pits), captured, ply })
    }
}

impl From<Position> for Setup {
    fn from(position: Position) -> Self {
        Self { pits: position.pits(), captured: position.captured, side: position.side(), ply: position.ply }
    }
}

/// The text of a position, `7.7.7-7.7.7 0-0 s 1` (rules.text.position).
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Setup::from(*self).fmt(f)
    }
}

/// What a legal move leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Played {
    /// The position after it.
    pub position: Position,
    /// Seeds captured by it, 0 to 42.
    pub taken: u8,
}

/// A move that was not played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlayError {
    /// The position as it was.
    pub position: Position,
    /// The pit that was to be played.
    pub pit: Pit,
    /// The rule that forbids it.
    pub reason: Illegal,
}

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, pit, reason } = self;
        write!(f, "pit {pit} in {position}: {reason}; legal: {}", position.legal())
    }
}

impl Error for PlayError {}
