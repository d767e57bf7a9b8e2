//! One layer: its moves, and its solution from them, backwards. All margins here are in pairs of seeds: they are even, and
//! a byte holds them.

use crate::Step;
use crate::index::Layer;
use crate::table::{ENDLESS, Table};
use std::panic::resume_unwind;
use std::thread;

/// No margin yet.
const OPEN: i8 = i8::MIN;

/// Solves a layer and adds it to the table, which holds those below it.
pub(crate) fn solve(layer: Layer, table: &mut Table, threads: usize) {
    let ways = draw(layer, threads);
    let (mut solution, back) = thread::scope(|scope| {
        let back = scope.spawn(|| Back::of(&ways));
        (Solution::begin(layer, &ways, table), back.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    drop(ways);
    let most = layer.seeds().cast_signed() / 2;
    for margin in (-most..=most).rev() {
        solution.spread(margin, &back);
    }
    let Solution { mut lo, mut hi, progress, .. } = solution;
    // What is still open can be kept going for ever.
    lo.iter_mut().filter(|lo| **lo == OPEN).for_each(|lo| *lo = -most);
    hi.iter_mut().filter(|hi| **hi == OPEN).for_each(|hi| *hi = most);
    table.append(&lo, &hi, &progress);
}

/// The moves of a layout.
type Ways = [Way; 3];

/// Where a move leads: to a rank of its layer, or out of it to a number, with the pairs of seeds taken.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Way(u32);

impl Way {
    const NONE: Self = Self(u32::MAX);
    /// The place of the pairs, above every number.
    const PAIRS: u32 = 23;

    #[allow(clippy::cast_possible_truncation, reason = "there are fewer than 2^23 layouts")]
    fn of(step: Step) -> Self {
        if step.taken == 0 {
            return Self(step.next.rank());
        }
        step.next.number().map_or(Self::NONE, |number| Self(u32::from(step.taken / 2) << Self::PAIRS | number as u32))
    }

    /// The rank, where it stays in the layer.
    fn rank(self) -> Option<u32> {
        (self.0 >> Self::PAIRS == 0).then_some(self.0)
    }

    /// The number and the pairs taken, where it leaves the layer.
    #[allow(clippy::cast_possible_truncation, reason = "no more than 21 pairs")]
    fn exit(self) -> Option<(usize, i8)> {
        let (pairs, number) = ((self.0 >> Self::PAIRS) as u8, self.0 as usize & ((1 << Self::PAIRS) - 1));
        (self != Self::NONE && pairs > 0).then_some((number, pairs.cast_signed()))
    }
}

/// From where a way leads to a rank, without a capture.
struct Back {
    /// Those of rank `r` are `sources[starts[r]..starts[r + 1]]`.
    starts: Vec<u32>,
    sources: Vec<u32>,
}

impl Back {
    fn of(ways: &[Ways]) -> Self {
        let all = || {
            let each = (0u32..).zip(ways);
            each.flat_map(|(from, ways)| ways.iter().filter_map(|way| way.rank()).map(move |to| (from, to as usize)))
        };
        let mut starts = vec![0u32; ways.len() + 1];
        for (_, to) in all() {
            starts[to] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut sources = vec![0; sum as usize];
        for (from, to) in all() {
            let start = &mut starts[to];
            *start -= 1;
            sources[*start as usize] = from;
        }
        Self { starts, sources }
    }

    /// The ranks from which a way leads to one of these.
    fn to<'a>(&'a self, ranks: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        let bounds = |rank: &u32| self.starts[*rank as usize] as usize..self.starts[*rank as usize + 1] as usize;
        ranks.iter().flat_map(move |rank| self.sources[bounds(rank)].iter().copied())
    }
}

/// The moves of all layouts of a layer, by rank. Of the layers below it nothing need be known.
fn draw(layer: Layer, threads: usize) -> Vec<Ways> {
    let mut ways = vec![[Way::NONE; 3]; layer.len()];
    let share = layer.len().div_ceil(threads);
    thread::scope(|scope| {
        for (nth, ways) in ways.chunks_mut(share).enumerate() {
            scope.spawn(move || {
                for (layout, ways) in layer.layouts_from(nth * share).zip(ways) {
                    layout.steps().zip(ways).for_each(|(step, way)| *way = Way::of(step));
                }
            });
        }
    });
    ways
}

/// What is known of a layer on the way, by rank. What is read by chance stands apart, so that the processor's caches hold it.
struct Solution {
    layer: Layer,
    /// The bounds, where they are certain.
    lo: Vec<i8>,
    hi: Vec<i8>,
    /// The best of the moves that leave the layer, as `hi` counts.
    exit: Vec<i8>,
    /// Moves that stay in the layer and are not decided, as `hi` counts.
    undecided: Vec<u8>,
    progress: Vec<u8>,
    /// By margin, the worst first: layouts where it is certain, and has not been spread.
    certain: Vec<Certain>,
}

/// Layouts where one margin is certain.
#[derive(Clone, Default)]
struct Certain {
    /// Where the side to move reaches it.
    reached: Vec<u32>,
    /// Where the side to move cannot keep the other from it.
    suffered: Vec<u32>,
}

impl Solution {
    /// What moves that leave the layer, or the end of the game, make certain.
    fn begin(layer: Layer, ways: &[Ways], table: &Table) -> Self {
        let size = layer.len();
        let mut certain = vec![Certain::default(); usize::from(layer.seeds()) + 1];
        let (mut exit, mut hi, mut undecided) = (vec![OPEN; size], vec![OPEN; size], vec![0; size]);
        for ((rank, ways), layout) in (0u32..).zip(ways).zip(layer.layouts_from(0)) {
            let at = rank as usize;
            let mut surest = OPEN;
            if ways[0] == Way::NONE {
                // The game is over.
                (surest, exit[at]) = (layout.scoop() / 2, layout.scoop() / 2);
            }
            for way in ways {
                undecided[at] += u8::from(way.rank().is_some());
                if let Some((number, pairs)) = way.exit() {
                    let (low, high) = table.pairs(number);
                    surest = surest.max(pairs - high);
                    exit[at] = exit[at].max(pairs - low);
                }
            }
            if surest != OPEN {
                certain[place(layer, surest)].reached.push(rank);
            }
            if undecided[at] == 0 {
                hi[at] = exit[at];
                certain[place(layer, -exit[at])].suffered.push(rank);
            }
        }
        Self { layer, lo: vec![OPEN; size], hi, exit, undecided, progress: vec![ENDLESS; size], certain }
    }

    /// Spreads the certainty of a margin backwards, a ply at a time.
    fn spread(&mut self, margin: i8, back: &Back) {
        let Self { layer, lo, hi, exit, undecided, progress, certain } = self;
        let mut reach = |rank: u32| {
            let lo = &mut lo[rank as usize];
            let is_news = *lo == OPEN;
            *lo = if is_news { margin } else { *lo };
            is_news
        };
        let Certain { reached, mut suffered } = std::mem::take(&mut certain[place(*layer, margin)]);
        let mut reached = sift(reached.into_iter(), &mut reach);
        for plies in 0.. {
            reached.iter().for_each(|rank| progress[*rank as usize] = plies);
            // What the opponent reaches is one way less to keep him from it.
            let cornered = sift(back.to(&reached), |rank| {
                undecided[rank as usize] -= 1;
                undecided[rank as usize] == 0
            });
            reached = sift(back.to(&suffered), &mut reach);
            suffered.clear();
            for rank in cornered {
                let best = exit[rank as usize].max(-margin);
                hi[rank as usize] = best;
                if best == -margin {
                    suffered.push(rank);
                } else {
                    certain[place(*layer, -best)].suffered.push(rank);
                }
            }
            if reached.is_empty() && suffered.is_empty() {
                return;
            }
        }
    }
}

/// Those that are news. No branch hangs on what that is: the processor need not wait for one answer to ask the next.
fn sift(ranks: impl Iterator<Item = u32>, mut is_news: impl FnMut(u32) -> bool) -> Vec<u32> {
    let mut news = Vec::new();
    for rank in ranks {
        news.push(rank);
        news.truncate(news.len() - usize::from(!is_news(rank)));
    }
    news
}

/// Where a margin stands among those of a layer.
#[allow(clippy::cast_sign_loss, reason = "no margin is larger than all the seeds in play")]
const fn place(layer: Layer, margin: i8) -> usize {
    (layer.seeds().cast_signed() / 2 + margin) as usize
}
