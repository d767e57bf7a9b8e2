//! The same game solved in the plainest way: every layout may be worth anything at first, and its bounds are computed from
//! those of its moves over and over until nothing changes. Moves and layouts come from the rules' positions, not from the
//! crate under test.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod common;

use common::table;
use modiar_oracle::{LAYOUTS, Layout};
use modiar_rules::{BySide, Position, SEEDS, Setup, Side};
use std::collections::HashMap;

type Pits = [u8; 6];
/// By the mover's pits, then the opponent's: margins in seeds.
type Values = HashMap<Pits, (i8, i8)>;

#[test]
fn a_plain_iteration_agrees_on_every_bound() {
    let mut values = Values::default();
    for seeds in (0..=SEEDS).step_by(2) {
        iterate(seeds, &mut values);
    }
    assert_eq!(values.len(), LAYOUTS);
    for (pits, value) in values {
        let bounds = table().bounds(Layout::from_pits(pits)).unwrap();
        assert_eq!((bounds.lo, bounds.hi), value, "{pits:?}");
    }
}

/// Where a move leads: out of the layer with a margin that is known, or to another layout of it, by its place.
enum Way {
    Known(i8, i8),
    Within(usize),
}

fn iterate(seeds: u8, values: &mut Values) {
    let layer = layouts(seeds);
    let places: HashMap<Pits, usize> = layer.iter().copied().zip(0..).collect();
    let ways: Vec<Vec<Way>> = layer.iter().map(|pits| ways(*pits, values, &places)).collect();
    let most = seeds.cast_signed();
    let mut bounds = vec![(-most, most); layer.len()];
    loop {
        let mut changed = false;
        for (place, ways) in ways.iter().enumerate() {
            let worth = ways.iter().map(|way| match way {
                Way::Known(lo, hi) => (*lo, *hi),
                Way::Within(next) => (-bounds[*next].1, -bounds[*next].0),
            });
            let best = worth.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1))).unwrap();
            changed |= std::mem::replace(&mut bounds[place], best) != best;
        }
        if !changed {
            break;
        }
    }
    values.extend(layer.into_iter().zip(bounds));
}

fn ways(pits: Pits, values: &Values, places: &HashMap<Pits, usize>) -> Vec<Way> {
    let seeds: u8 = pits.iter().sum();
    // Captured seeds count for nothing here; ply 3 is South's and not the first.
    let setup = Setup { pits, captured: BySide::new(SEEDS - seeds, 0), side: Side::South, ply: 3 };
    let position = Position::try_from(setup).unwrap();
    if position.legal().is_empty() {
        let margin = pits[..3].iter().sum::<u8>().cast_signed() - pits[3..].iter().sum::<u8>().cast_signed();
        return vec![Way::Known(margin, margin)];
    }
    let way = |pit| {
        let played = position.play(pit).unwrap();
        let [a, b, c, d, e, f] = played.position.pits();
        let (next, taken) = ([d, e, f, a, b, c], played.taken.cast_signed());
        if taken == 0 {
            return Way::Within(places[&next]);
        }
        let (lo, hi) = values[&next];
        Way::Known(taken - hi, taken - lo)
    };
    position.legal().into_iter().map(way).collect()
}

/// All layouts of so many seeds.
fn layouts(seeds: u8) -> Vec<Pits> {
    let mut all = Vec::new();
    fill([0; 6], 0, seeds, &mut all);
    all
}

fn fill(mut pits: Pits, pit: usize, left: u8, all: &mut Vec<Pits>) {
    if pit == 5 {
        pits[5] = left;
        return all.push(pits);
    }
    for seeds in 0..=left {
        pits[pit] = seeds;
        fill(pits, pit + 1, left - seeds, all);
    }
}
