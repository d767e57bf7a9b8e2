//! A board as the side to move sees it.

use modiar_rules::{Board, Pit, Position, Side};

/// The seeds in the six pits with the mover's row first: pits 0 to 2 are the mover's, 3 to 5 the opponent's. What South
/// may play in it, North may play in the board [turned](Board::turned), so that one layout stands for both.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Layout(Board);

/// A legal move of a layout, on any ply but the first of a game.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The pit, 0 to 2.
    pub pit: Pit,
    /// Seeds taken by it.
    pub taken: u8,
    /// What the opponent then sees.
    pub next: Layout,
}

impl Layout {
    /// The layout of these pits, the mover's first.
    #[must_use]
    pub const fn from_pits(pits: [u8; 6]) -> Self {
        Self(Board::from_pits(pits))
    }

    /// What the side to move in `position` sees.
    #[must_use]
    pub fn of(position: &Position) -> Self {
        match position.side() {
            Side::South => Self(position.board()),
            Side::North => Self(position.board().turned()),
        }
    }

    /// Its board, the mover sitting at South's side.
    #[must_use]
    pub const fn board(self) -> Board {
        self.0
    }

    /// The seeds in play.
    #[must_use]
    pub const fn seeds(self) -> u8 {
        self.0.total()
    }

    /// What may be played in it, in the order of the pits.
    #[inline]
    pub fn steps(self) -> impl Iterator<Item = Step> {
        self.0.legal(Side::South).into_iter().map(move |pit| {
            let (board, taken) = self.0.play(pit);
            Step { pit, taken, next: Self(board.turned()) }
        })
    }

    /// The mover's margin in seeds if each side takes what its own row holds (rules.end.scoop).
    #[must_use]
    pub const fn scoop(self) -> i8 {
        self.0.row(Side::South).cast_signed() - self.0.row(Side::North).cast_signed()
    }
}
