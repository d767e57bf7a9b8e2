//! Perfect play, judged by where games end.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod common;

use common::{reachable, table};
use modiar_oracle::{Layer, Layout, Step};
use modiar_rules::{Board, BySide, EndRules, Pit, Position, SEEDS, Setup, Side};
use std::collections::HashMap;

/// The moves with which the mover keeps an exact value and nobody takes a seed.
fn keeping(layout: Layout) -> impl Iterator<Item = Step> {
    let value = table().bounds(layout).unwrap();
    let keeps = move |step: &Step| step.taken == 0 && table().bounds(step.next).unwrap().after(0) == value;
    layout.steps().filter(move |step| value.is_exact() && keeps(step))
}

/// The layouts of games from which both sides can keep their value for ever.
fn circles() -> Vec<Layout> {
    let mut open: HashMap<Layout, Vec<Layout>> =
        reachable().map(|layout| (layout, keeping(layout).map(|step| step.next).collect())).collect();
    loop {
        let before = open.len();
        let known: std::collections::HashSet<Layout> = open.keys().copied().collect();
        open.retain(|_, next| next.iter().any(|next| known.contains(next)));
        if open.len() == before {
            return open.into_keys().collect();
        }
    }
}

#[test]
fn perfect_play_never_falls_below_its_value_where_endless_play_is_near() {
    let circles = circles();
    assert_eq!(circles.len(), 28_830);
    let open =
        Layer::all().flat_map(|layer| layer.layouts()).filter(|layout| !table().bounds(*layout).unwrap().is_exact());
    for layout in circles.into_iter().chain(open) {
        for perfect in Side::ALL {
            play(layout, perfect);
        }
    }
}

/// A game from here to its end between perfect play and one that repeats wherever it can.
fn play(layout: Layout, perfect: Side) {
    // The seeds taken before are nobody's matter; South moves.
    let captured = BySide::new(SEEDS - layout.seeds(), 0);
    let setup = Setup { pits: layout.board().pits(), captured, side: Side::South, ply: 3 };
    let mut position = Position::try_from(setup).unwrap();
    let (mut stood, mut quiet, mut surest) = (HashMap::from([((position.board(), position.side()), 1)]), 0, i16::MIN);
    while !position.legal().is_empty() && quiet < EndRules::default().quiet_plies {
        let pit = if position.side() == perfect {
            let sure = i16::from(table().value(&position).unwrap().lo);
            surest = surest.max(lead(position.captured(), perfect) + sure);
            table().perfect(&position).unwrap()
        } else {
            repeating(&position, &stood)
        };
        quiet = if position.play_unchecked(pit) > 0 { 0 } else { quiet + 1 };
        let times = stood.entry((position.board(), position.side())).or_insert(0);
        *times += 1;
        if *times == EndRules::default().repetition {
            break;
        }
    }
    assert!(lead(position.scoop(), perfect) >= surest, "{layout:?}, {perfect}");
}

fn lead(seeds: BySide<u8>, side: Side) -> i16 {
    i16::from(seeds[side]) - i16::from(seeds[side.other()])
}

/// The pit that leads to what stood most often; of equals the best.
fn repeating(position: &Position, stood: &HashMap<(Board, Side), u16>) -> Pit {
    let moves = table().moves(position).unwrap();
    let how_often = |pit| {
        let next = position.play(pit).unwrap().position;
        stood.get(&(next.board(), next.side())).copied().unwrap_or(0)
    };
    moves.iter().max_by_key(|valued| (how_often(valued.pit), valued.bounds.lo)).unwrap().pit
}
