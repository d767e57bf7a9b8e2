//! What the tests share: the table, solved once, and the layouts of real games.

#![allow(dead_code, clippy::unwrap_used)] // not every test needs all of it

use modiar_oracle::{LAYOUTS, Layer, Layout, Table, solve};
use modiar_rules::Position;
use std::sync::LazyLock;

static TABLE: LazyLock<Table> = LazyLock::new(solve);

pub fn table() -> &'static Table {
    &TABLE
}

/// The layouts that games lead to after their first ply.
pub fn reachable() -> impl Iterator<Item = Layout> {
    static SEEN: LazyLock<Vec<bool>> = LazyLock::new(explore);
    Layer::all().flat_map(|layer| layer.layouts()).zip(SEEN.iter()).filter(|(_, seen)| **seen).map(|(layout, _)| layout)
}

fn explore() -> Vec<bool> {
    let mut seen = vec![false; LAYOUTS];
    let first = Position::START.legal().into_iter().map(|pit| Layout::of(&Position::START.play(pit).unwrap().position));
    let mut open: Vec<Layout> = first.collect();
    while let Some(layout) = open.pop() {
        if !std::mem::replace(&mut seen[layout.number().unwrap()], true) {
            open.extend(layout.steps().map(|step| step.next));
        }
    }
    seen
}
