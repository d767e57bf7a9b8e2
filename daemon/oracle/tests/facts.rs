//! What three independent solvers agree on.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod common;

use common::{reachable, table};
use modiar_oracle::{Bounds, LAYOUTS, Layer, Layout};
use modiar_rules::{Pit, Position};
use std::collections::HashSet;

#[test]
fn from_the_start_the_side_to_move_loses_by_two() {
    let moves = table().moves(&Position::START).unwrap();
    let worth: Vec<_> = moves.iter().map(|valued| (valued.pit.index(), valued.bounds)).collect();
    assert_eq!(worth, [(0, Bounds::exact(-18)), (1, Bounds::exact(-4)), (2, Bounds::exact(-2))]);
    assert_eq!(table().value(&Position::START), Some(Bounds::exact(-2)));
}

/// The bounds of how many layouts differ, by the seeds in play.
#[test]
fn endless_play_decides_few_layouts() {
    assert_eq!(LAYOUTS, 6_540_556);
    let open = |layout: &Layout| !table().bounds(*layout).unwrap().is_exact();
    for layer in Layer::all() {
        let wanted = match layer.seeds() {
            36 => 219,
            38 => 113,
            40 => 142,
            42 => 2_832,
            _ => 0,
        };
        assert_eq!(layer.layouts().filter(open).count(), wanted, "{} seeds", layer.seeds());
    }
    assert_eq!(reachable().filter(open).count(), 711);
}

/// Positions after so many plies from the start that lead to 21 : 21.
#[test]
fn level_openings_are_few() {
    let level = |plies| lines(Position::START, plies).into_iter().filter(is_level).collect::<HashSet<_>>().len();
    assert_eq!([2, 3, 4, 5, 6, 8].map(level), [2, 5, 9, 28, 71, 361]);
}

fn lines(position: Position, plies: u32) -> Vec<Position> {
    if plies == 0 {
        return vec![position];
    }
    let after = |pit: Pit| position.play(pit).unwrap().position;
    position.legal().into_iter().flat_map(|pit| lines(after(pit), plies - 1)).collect()
}

fn is_level(position: &Position) -> bool {
    let (side, captured) = (position.side(), position.captured());
    let lead = captured[side].cast_signed() - captured[side.other()].cast_signed();
    table().value(position) == Some(Bounds::exact(-lead))
}
