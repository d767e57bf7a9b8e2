//! The values of all layouts.

use crate::index::LAYOUTS;
use crate::{Bounds, Layout};
use modiar_rules::SEEDS;

/// No progress can be forced.
pub(crate) const ENDLESS: u8 = u8::MAX;

/// Marks a value whose upper bound is another.
const OPEN: u8 = 0x80;
/// Pairs of seeds in the game: added to a margin in pairs it is no less than 0.
const PAIRS: i8 = SEEDS.cast_signed() / 2;

/// The exact value of every layout. Bounds that differ are few: a byte a layout holds the lower one, a list the others.
#[derive(PartialEq, Eq)]
pub struct Table {
    /// By number: the lower bound in pairs of seeds, plus [`PAIRS`]; with [`OPEN`] where the bounds differ.
    pub(crate) values: Vec<u8>,
    /// By number: the plies until a capture, the end, or a better value, if the mover makes for that and the opponent holds
    /// out; [`ENDLESS`] where the mover is sure of nothing.
    pub(crate) progress: Vec<u8>,
    /// The upper bounds that differ, in pairs of seeds, in the order of the numbers.
    pub(crate) open: Vec<(u32, i8)>,
}

impl Table {
    pub(crate) fn unsolved() -> Self {
        Self { values: Vec::with_capacity(LAYOUTS), progress: Vec::with_capacity(LAYOUTS), open: Vec::new() }
    }

    /// Adds the next layer: by rank the bounds, in pairs of seeds, and the progress.
    pub(crate) fn append(&mut self, lo: &[i8], hi: &[i8], progress: &[u8]) {
        let first = self.values.len();
        self.values
            .extend(lo.iter().zip(hi).map(|(lo, hi)| (lo + PAIRS).cast_unsigned() | if lo == hi { 0 } else { OPEN }));
        self.progress.extend_from_slice(progress);
        let differ = (first..).zip(lo.iter().zip(hi)).filter(|(_, (lo, hi))| lo != hi);
        self.open.extend(differ.map(|(number, (_, hi))| (u32::try_from(number).unwrap_or(u32::MAX), *hi)));
    }

    /// What a layout is worth to the side to move, on any ply but the first of a game; nothing where its seeds are odd in
    /// number, for no game leads there.
    #[inline]
    #[must_use]
    pub fn bounds(&self, layout: Layout) -> Option<Bounds> {
        let (lo, hi) = self.pairs(layout.number()?);
        Some(Bounds { lo: 2 * lo, hi: 2 * hi })
    }

    /// The bounds of the layout of this number, in pairs of seeds.
    #[inline]
    pub(crate) fn pairs(&self, number: usize) -> (i8, i8) {
        let value = self.values[number];
        let lo = (value & !OPEN).cast_signed() - PAIRS;
        (lo, if value & OPEN == 0 { lo } else { self.upper(number) })
    }

    #[cold]
    fn upper(&self, number: usize) -> i8 {
        let at = self.open.partition_point(|(other, _)| (*other as usize) < number);
        self.open[at].1
    }

    /// See the field of this name.
    pub(crate) fn progress(&self, layout: Layout) -> Option<u8> {
        self.progress.get(layout.number()?).copied()
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("layouts", &self.values.len()).finish_non_exhaustive()
    }
}
