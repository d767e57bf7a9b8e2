//! Sowing and capture: the arithmetic of one move, without asking who may make it.
//!
//! Both work on all pits at once in the packed word of a [`Board`]; `tests/laws.rs` compares them with
//! a seed-by-seed implementation on every layout there is.

use crate::board::{EACH, PITS, row_mask};
use crate::{Board, Pit, SEEDS, Side};

/// The bits that are clear in 0, 2, 4 and 6, and in no other number.
const NOT_CAPTURABLE: u64 = EACH * 0xF9;

/// Added to a byte up to 128, it sets the top bit exactly if the byte was not zero.
const NONZERO: u64 = EACH * 0x7F;

/// The top bit of each pit's byte.
const TOP: u64 = EACH * 0x80;

/// What `SOWN[origin][seeds]` adds to the pits once the origin has been emptied.
static SOWN: [[u64; SEEDS as usize + 1]; 6] = sown();

/// Drops the seeds of every possible hand one by one: the first into the origin itself
/// (rules.sow.origin-first), each next one pit further, none left out (rules.sow.every-pit).
const fn sown() -> [[u64; SEEDS as usize + 1]; 6] {
    let mut table = [[0; SEEDS as usize + 1]; 6];
    let mut origin = 0;
    while origin < 6 {
        let mut seeds = 1;
        while seeds <= SEEDS as usize {
            let last = (origin + seeds - 1) % 6;
            table[origin][seeds] = table[origin][seeds - 1] + (1 << (8 * last));
            seeds += 1;
        }
        origin += 1;
    }
    table
}

/// A board after the last seed of a sowing and before any capture.
#[derive(Clone, Copy)]
pub(crate) struct Sown {
    pub(crate) board: Board,
    /// The pit that took the last seed, 0 to 5: the turn ends there (rules.sow.single-lap).
    last: u8,
}

impl Board {
    /// The board after a move of `pit` on any ply but the first, and the seeds taken. Whether it may be played
    /// is not asked.
    #[inline]
    #[must_use]
    pub fn play(self, pit: Pit) -> (Self, u8) {
        self.sow(pit).capture()
    }

    /// Sows the seeds of `origin`. From an empty pit nothing moves.
    #[inline]
    pub(crate) fn sow(self, origin: Pit) -> Sown {
        let seeds = self.seeds(origin).min(SEEDS);
        let lifted = self.0 & !(0xFF << (8 * origin.index()));
        let dropped = SOWN[usize::from(origin.index())][usize::from(seeds)];
        Sown { board: Self(lifted.wrapping_add(dropped)), last: (origin.index() + seeds + 5) % 6 }
    }

    /// The top bit in the byte of each pit that holds 2, 4 or 6 seeds (rules.capture.even).
    const fn capturable(self) -> u64 {
        let held = self.0.wrapping_add(NONZERO);
        let spared = (self.0 & NOT_CAPTURABLE).wrapping_add(NONZERO);
        held & !spared & TOP
    }
}

impl Sown {
    /// Takes the last pit if it holds 2, 4 or 6, whosever it is (rules.capture.either-side), and with
    /// it the unbroken chain of such pits before it (rules.capture.chain). Gives the board without
    /// them, and the number of seeds taken.
    ///
    /// The ring is turned so that the last pit lies in the highest byte and the chain runs downwards:
    /// its length is then a count of leading zeros. The chain is counted round the ring, not along the
    /// sown path; the two never differ, because a path that leaves a pit out left one seed in its
    /// origin, and one seed ends a chain.
    #[inline]
    pub(crate) const fn capture(self) -> (Board, u8) {
        let turn = 8 * (5 - self.last);
        let downwards = rotate_up(self.board.capturable(), turn);
        let breaks = (downwards ^ TOP) << 16 | 0x8000; // a sentinel below pit six
        let chain = !(u64::MAX >> breaks.leading_zeros()) >> 16;
        let taken = self.board.0 & rotate_up(chain, (48 - turn) % 48);
        (Board(self.board.0 & !taken), Board(taken).total())
    }

    /// Whether the move captures all that `side`'s row holds, something at least (rules.slam.banned).
    /// Seeds that the same chain takes from the other row change nothing (rules.slam.own-row).
    #[inline]
    pub(crate) const fn slams(self, side: Side) -> bool {
        let row = self.board.0 & row_mask(side);
        let at_risk = row != 0 && row & NOT_CAPTURABLE == 0; // most moves stop here
        at_risk && self.capture().0.is_row_empty(side)
    }
}

/// Turns the ring of six bytes upwards by `bits`, 0 to 47.
const fn rotate_up(ring: u64, bits: u8) -> u64 {
    (ring << bits | ring >> (48 - bits)) & PITS
}
