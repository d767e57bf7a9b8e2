//! The six pits, and sets of them.

use core::fmt;
use core::iter::FusedIterator;

use crate::Side;

/// One of the six pits, numbered absolutely in sowing order: 0 1 2 are South's, 3 4 5 North's, and
/// after 5 comes 0 (rules.board.pits).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pit(u8);

impl Pit {
    /// All pits in sowing order, beginning with South's left one.
    pub const ALL: [Self; 6] = [Self(0), Self(1), Self(2), Self(3), Self(4), Self(5)];

    /// The pit numbered `index`, or nothing above 5.
    #[must_use]
    pub const fn new(index: u8) -> Option<Self> {
        if index < 6 { Some(Self(index)) } else { None }
    }

    /// The number of the pit, 0 to 5.
    #[must_use]
    pub const fn index(self) -> u8 {
        self.0
    }

    /// The side in whose row the pit lies.
    #[must_use]
    pub const fn owner(self) -> Side {
        if self.0 < 3 { Side::South } else { Side::North }
    }

    /// The three pits of a row in sowing order.
    pub(crate) const fn row(side: Side) -> [Self; 3] {
        match side {
            Side::South => [Self(0), Self(1), Self(2)],
            Side::North => [Self(3), Self(4), Self(5)],
        }
    }
}

/// The digit of the pit (rules.text.game).
impl fmt::Display for Pit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A set of pits: a bit for each, the lowest for pit 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PitSet(u8);

impl PitSet {
    /// No pit at all.
    pub const EMPTY: Self = Self(0);

    /// Whether `pit` is in the set.
    #[must_use]
    pub const fn contains(self, pit: Pit) -> bool {
        self.0 >> pit.0 & 1 == 1
    }

    /// Whether no pit is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many pits are in the set, 0 to 6.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The lowest pit of the set.
    #[must_use]
    pub fn first(self) -> Option<Pit> {
        Pit::ALL.get(self.0.trailing_zeros() as usize).copied()
    }

    /// Adds `pit`; a pit that is in the set already changes nothing.
    pub const fn insert(&mut self, pit: Pit) {
        self.0 |= 1 << pit.0;
    }

    /// The pits of the set in ascending order.
    #[must_use]
    pub const fn iter(self) -> Pits {
        Pits(self)
    }
}

impl FromIterator<Pit> for PitSet {
    #[inline]
    fn from_iter<I: IntoIterator<Item = Pit>>(pits: I) -> Self {
        let mut set = Self::EMPTY;
        pits.into_iter().for_each(|pit| set.insert(pit));
        set
    }
}

impl IntoIterator for PitSet {
    type Item = Pit;
    type IntoIter = Pits;

    fn into_iter(self) -> Pits {
        self.iter()
    }
}

/// The pits ascending, with a space between: `0 2`. The empty set is the empty text.
impl fmt::Display for PitSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, pit) in self.iter().enumerate() {
            let gap = if nth == 0 { "" } else { " " };
            write!(f, "{gap}{pit}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for PitSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PitSet({self})")
    }
}

/// The pits of a [`PitSet`], ascending.
#[derive(Clone, Debug)]
pub struct Pits(PitSet);

impl Iterator for Pits {
    type Item = Pit;

    fn next(&mut self) -> Option<Pit> {
        let first = self.0.first()?;
        self.0.0 &= self.0.0 - 1; // clears the lowest bit
        Some(first)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl ExactSizeIterator for Pits {}
impl FusedIterator for Pits {}
