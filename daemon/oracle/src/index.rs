//! Every layout has a number, and every number a layout: first those without seeds, then those of two seeds, of four, and so
//! on to 42. Odd totals never stand on the board, for 2, 4 or 6 seeds leave it at a time.

use crate::Layout;
use modiar_rules::SEEDS;

/// Numbers of seeds that can be in play: 0, 2, … 42.
pub const LAYERS: usize = SEEDS as usize / 2 + 1;

/// How many layouts there are: six pits with an even total of at most 42 seeds.
pub const LAYOUTS: usize = OFFSETS[LAYERS];

/// The number of the first layout of each layer, and at the end how many there are.
const OFFSETS: [usize; LAYERS + 1] = {
    let mut offsets = [0; LAYERS + 1];
    let mut layer = 0;
    while layer < LAYERS {
        offsets[layer + 1] = offsets[layer] + choose(2 * layer + 5, 5);
        layer += 1;
    }
    offsets
};

/// `RANKS[k][s]`: how many ways there are to fill pits 0 to `k` with fewer than `s` seeds together. Padded to a power of
/// two, so that no index needs a check.
#[allow(clippy::cast_possible_truncation, reason = "there are fewer than 2^23 layouts")]
static RANKS: [[u32; 64]; 5] = {
    let mut ranks = [[0; 64]; 5];
    let mut k = 0;
    while k < 5 {
        let mut seeds = 1;
        while seeds <= SEEDS as usize {
            ranks[k][seeds] = choose(seeds + k, k + 1) as u32;
            seeds += 1;
        }
        k += 1;
    }
    ranks
};

/// n over k.
const fn choose(n: usize, k: usize) -> usize {
    let (mut product, mut i) = (1, 0);
    while i < k {
        product = product * (n - i) / (i + 1);
        i += 1;
    }
    product
}

/// The layouts with one number of seeds in play.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Layer(usize);

impl Layer {
    /// All of them, from no seed to 42.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..LAYERS).map(Self)
    }

    /// The layer of `seeds` seeds, where there can be so many.
    #[must_use]
    pub const fn of(seeds: u8) -> Option<Self> {
        if seeds.is_multiple_of(2) && seeds <= SEEDS { Some(Self(seeds as usize / 2)) } else { None }
    }

    /// The seeds in play.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "at most 42")]
    pub const fn seeds(self) -> u8 {
        2 * self.0 as u8
    }

    /// How many layouts it has.
    #[must_use]
    pub const fn len(self) -> usize {
        OFFSETS[self.0 + 1] - OFFSETS[self.0]
    }

    /// Whether it has none: never.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The number of its first layout among all.
    #[must_use]
    pub const fn offset(self) -> usize {
        OFFSETS[self.0]
    }

    /// Its layouts, in the order of their ranks.
    pub fn layouts(self) -> impl Iterator<Item = Layout> {
        self.layouts_from(0)
    }

    /// Those of this rank and higher.
    pub(crate) fn layouts_from(self, rank: usize) -> impl Iterator<Item = Layout> {
        let first = (rank < self.len()).then(|| self.unrank(rank));
        std::iter::successors(first, |pits| successor(*pits)).map(Layout::from_pits)
    }

    /// The pits of the layout of this rank.
    fn unrank(self, rank: usize) -> [u8; 6] {
        let (mut rest, mut total, mut pits) = (rank, self.seeds(), [0; 6]);
        for k in (0..5).rev() {
            let fits = (0..=total).rev().find(|&seeds| RANKS[k][usize::from(seeds)] as usize <= rest);
            let sum = fits.unwrap_or(0);
            rest -= RANKS[k][usize::from(sum)] as usize;
            pits[k + 1] = total - sum;
            total = sum;
        }
        pits[0] = total;
        pits
    }
}

/// The pits of the layout after this one in its layer: one seed more below the first pit that can give one.
fn successor(mut pits: [u8; 6]) -> Option<[u8; 6]> {
    let giver = (1..6).find(|&pit| pits[pit] > 0)?;
    let lowest = std::mem::take(&mut pits[0]);
    pits[giver] -= 1;
    pits[giver - 1] += lowest + 1;
    Some(pits)
}

impl Layout {
    /// Its rank within its layer.
    #[inline]
    #[must_use]
    pub fn rank(self) -> u32 {
        let sums = self.board().sums();
        (0..5).map(|k| RANKS[k][usize::from(sums[k] & 63)]).sum()
    }

    /// Its number among all layouts; none where its seeds are odd or above 42.
    #[must_use]
    pub fn number(self) -> Option<usize> {
        Layer::of(self.seeds()).map(|layer| layer.offset() + self.rank() as usize)
    }
}
