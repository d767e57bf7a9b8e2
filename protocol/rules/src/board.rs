//! The six pits and the seeds in them, packed into one word.

use core::fmt;

use crate::{Pit, Side};

/// `0x01` in the byte of each pit: a factor that repeats a byte in all six.
pub(crate) const EACH: u64 = 0x0101_0101_0101;

/// Bits of the six pits in a packed word.
pub(crate) const PITS: u64 = EACH * 0xFF;

/// Seeds in the six pits: one byte a pit, pit 0 in the lowest, so that a sowing is one addition.
///
/// Any six bytes make a board; that the seeds are lawful in number is [`Position`](crate::Position)'s
/// to hold. Above 42 in total the sums here and the sowing are unspecified, but still never panic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Board(pub(crate) u64);

impl Board {
    /// Seven seeds in each pit (rules.board.start).
    pub(crate) const START: Self = Self(EACH * 7);

    /// The board with the given seeds in pits 0 to 5.
    #[must_use]
    pub const fn from_pits([a, b, c, d, e, f]: [u8; 6]) -> Self {
        Self(u64::from_le_bytes([a, b, c, d, e, f, 0, 0]))
    }

    /// The seeds in pits 0 to 5.
    #[must_use]
    pub const fn pits(self) -> [u8; 6] {
        let [a, b, c, d, e, f, ..] = self.0.to_le_bytes();
        [a, b, c, d, e, f]
    }

    /// The seeds in `pit`.
    #[must_use]
    pub const fn seeds(self, pit: Pit) -> u8 {
        let [seeds, ..] = (self.0 >> (8 * pit.index())).to_le_bytes();
        seeds
    }

    /// The seeds in `side`'s three pits together.
    #[must_use]
    pub const fn row(self, side: Side) -> u8 {
        Self(self.0 & row_mask(side)).total()
    }

    /// The seeds in all six pits together.
    #[must_use]
    pub const fn total(self) -> u8 {
        // The byte of pit 5 in the product is the sum of the six.
        let [.., sum, _, _] = self.0.wrapping_mul(EACH).to_le_bytes();
        sum
    }

    /// The board turned by half: what was South's row is North's. Play is the same from either end.
    #[inline]
    #[must_use]
    pub const fn turned(self) -> Self {
        Self((self.0 << 24 | self.0 >> 24) & PITS)
    }

    /// For each pit the seeds in it and in all pits before it, pit 0 first.
    #[inline]
    #[must_use]
    pub const fn sums(self) -> [u8; 6] {
        Self(self.0.wrapping_mul(EACH)).pits()
    }

    /// Whether `side`'s row holds no seed at all; a singleton is a seed.
    pub(crate) const fn is_row_empty(self, side: Side) -> bool {
        self.0 & row_mask(side) == 0
    }
}

/// The bytes of `side`'s row.
pub(crate) const fn row_mask(side: Side) -> u64 {
    match side {
        Side::South => 0x0000_00FF_FFFF,
        Side::North => 0xFFFF_FF00_0000,
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Board").field(&self.pits()).finish()
    }
}
