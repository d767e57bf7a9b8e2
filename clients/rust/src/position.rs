//! The rules helper: what may be played in a position, what comes of it, and what it is worth.

use crate::IllegalMove;
use modiar_rules::{BySide, Pit, PositionError, Setup, SetupError, Side};
use std::fmt;
use std::str::FromStr;

/// How far [`Position::minimax`] of the reference bots looks, in plies (`bots.minimax`).
pub const DEPTH: u32 = 6;

/// A lawful position: 42 seeds on the board and captured, and the ply to be played. It never changes; a move makes
/// another one. Its text is `7.7.7-7.7.7 0-0 s 1` (`rules.text.position`).
///
/// ```
/// use modiar_client::{Pit, Position};
///
/// let start = Position::START;
/// let (after, taken) = start.play(start.legal()[2])?;
/// assert_eq!((after.to_string().as_str(), taken), ("8.8.2-8.8.8 0-0 n 2", 0));
/// assert_eq!(after.clause(Pit::ALL[0]), Some("rules.move.own-row"));
/// # Ok::<(), modiar_client::IllegalMove>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Position(modiar_rules::Position);

impl Position {
    /// Seven seeds in each pit, nothing captured, South to play ply 1.
    pub const START: Self = Self(modiar_rules::Position::START);

    /// The seeds in pits 0 to 5: 0 1 2 are South's, 3 4 5 North's.
    #[must_use]
    pub const fn pits(self) -> [u8; 6] {
        self.0.pits()
    }

    /// The seeds that each side has captured.
    #[must_use]
    pub const fn captured(self) -> BySide<u8> {
        self.0.captured()
    }

    /// The side to move.
    #[must_use]
    pub const fn side(self) -> Side {
        self.0.side()
    }

    /// The ply to be played; the first is 1.
    #[must_use]
    pub const fn ply(self) -> u32 {
        self.0.ply()
    }

    /// The pits that may be played, ascending; none where the game is over.
    #[must_use]
    pub fn legal(self) -> Vec<Pit> {
        self.0.legal().iter().collect()
    }

    /// The clause of spec/rules.md that `pit` would break; nothing where it may be played.
    #[must_use]
    pub fn clause(self, pit: Pit) -> Option<&'static str> {
        self.0.check(pit).err().map(modiar_rules::Illegal::clause)
    }

    /// The position after `pit`, and how many seeds it captures.
    ///
    /// # Errors
    /// The clause that forbids it.
    pub fn play(self, pit: Pit) -> Result<(Self, u8), IllegalMove> {
        match self.0.play(pit) {
            Ok(played) => Ok((Self(played.position), played.taken)),
            Err(refused) => Err(IllegalMove { pit, clause: refused.reason.clause() }),
        }
    }

    /// What each side has if the game ends here: its captures, and the seeds in its own row.
    #[must_use]
    pub fn score(self) -> BySide<u8> {
        self.0.scoop()
    }

    /// What the position is worth to the side to move, in seeds, looking `depth` plies ahead (`bots.worth`).
    #[must_use]
    pub fn value(self, depth: u32) -> i32 {
        let legal = self.0.legal();
        if legal.is_empty() {
            return self.lead(self.score());
        }
        let ahead = |pit| depth.checked_sub(1).map(|depth| -self.after(pit).0.value(depth));
        legal.iter().filter_map(ahead).max().unwrap_or_else(|| self.lead(self.captured()))
    }

    /// The legal pit that captures most on this ply, of equal ones the lowest (`bots.greedy`); none where the game is over.
    #[must_use]
    pub fn greedy(self) -> Option<Pit> {
        self.best(|pit| i32::from(self.after(pit).1))
    }

    /// The legal pit of the highest worth, looking `depth` plies ahead, of equal ones the lowest (`bots.minimax`); none where
    /// the game is over. A depth of 0 is taken as 1.
    #[must_use]
    pub fn minimax(self, depth: u32) -> Option<Pit> {
        self.best(|pit| -self.after(pit).0.value(depth.saturating_sub(1)))
    }

    /// Plays a pit that is known to be legal.
    fn after(self, pit: Pit) -> (Self, u8) {
        let mut after = self.0;
        let taken = after.play_unchecked(pit);
        (Self(after), taken)
    }

    /// How much more the side to move has.
    fn lead(self, seeds: BySide<u8>) -> i32 {
        i32::from(seeds[self.side()]) - i32::from(seeds[self.side().other()])
    }

    fn best(self, worth: impl Fn(Pit) -> i32) -> Option<Pit> {
        // Of equal ones `max_by_key` takes the last.
        self.legal().into_iter().rev().max_by_key(|pit| worth(*pit))
    }
}

impl From<modiar_rules::Position> for Position {
    fn from(position: modiar_rules::Position) -> Self {
        Self(position)
    }
}

impl From<Position> for modiar_rules::Position {
    fn from(position: Position) -> Self {
        position.0
    }
}

impl TryFrom<Setup> for Position {
    type Error = SetupError;

    fn try_from(setup: Setup) -> Result<Self, SetupError> {
        modiar_rules::Position::try_from(setup).map(Self)
    }
}

impl FromStr for Position {
    type Err = PositionError;

    fn from_str(text: &str) -> Result<Self, PositionError> {
        text.parse().map(Self)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
