//! The solver: layer by layer, from the empty board to all 42 seeds.
//!
//! A move that captures leads to a layer that is solved. Those that capture nothing stay in the layer and may lead round
//! for ever, so a layer is solved backwards, from what is certain: for each margin from the best to the worst, which
//! layouts reach it? The mover reaches it by one move; the opponent has it to suffer only when no move of his avoids it.
//! What is then still open can be kept going for ever.

use crate::index::Layer;
use crate::layer;
use crate::table::Table;
use std::num::NonZero;
use std::thread::available_parallelism;

/// Solves the game, on all processors.
#[must_use]
pub fn solve() -> Table {
    let threads = available_parallelism().map_or(1, NonZero::get);
    let mut table = Table::unsolved();
    for layer in Layer::all() {
        layer::solve(layer, &mut table, threads);
    }
    table
}
