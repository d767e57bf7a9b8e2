//! The two players, and values that each of them has one of.

use core::fmt;
use core::ops::{Index, IndexMut};

/// A player, named by the row he owns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// Owner of pits 0 1 2; plays the odd plies.
    South,
    /// Owner of pits 3 4 5; plays the even plies.
    North,
}

impl Side {
    /// Both sides, South first.
    pub const ALL: [Self; 2] = [Self::South, Self::North];

    /// The opponent.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::South => Self::North,
            Self::North => Self::South,
        }
    }

    /// The side that plays `ply`: South the odd ones, beginning with 1, North the even ones
    /// (rules.turn.south-first).
    #[must_use]
    pub const fn on_ply(ply: u32) -> Self {
        if ply % 2 == 1 { Self::South } else { Self::North }
    }
}

/// `south` or `north`, as on the wire.
impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::South => "south",
            Self::North => "north",
        })
    }
}

/// One `T` for each side, so that no bare pair leaves open which half is whose.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct BySide<T> {
    /// South's.
    pub south: T,
    /// North's.
    pub north: T,
}

impl<T> BySide<T> {
    /// Pairs South's value with North's.
    pub const fn new(south: T, north: T) -> Self {
        Self { south, north }
    }

    /// Asks `f` for South's value, then for North's.
    pub fn from_fn(mut f: impl FnMut(Side) -> T) -> Self {
        Self { south: f(Side::South), north: f(Side::North) }
    }

    /// Applies `f` to South's value, then to North's.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> BySide<U> {
        BySide { south: f(self.south), north: f(self.north) }
    }
}

impl<T> Index<Side> for BySide<T> {
    type Output = T;

    fn index(&self, side: Side) -> &T {
        match side {
            Side::South => &self.south,
            Side::North => &self.north,
        }
    }
}

impl<T> IndexMut<Side> for BySide<T> {
    fn index_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::South => &mut self.south,
            Side::North => &mut self.north,
        }
    }
}
