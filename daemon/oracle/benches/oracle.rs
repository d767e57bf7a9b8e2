//! What it costs to solve the game, to ask for a value, and to judge a game's plies.

#![allow(missing_docs)] // the harness makes the rest

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use modiar_oracle::{Layout, Table, solve};
use modiar_rules::{Pit, Position};
use std::sync::LazyLock;

static TABLE: LazyLock<Table> = LazyLock::new(solve);

fn main() {
    LazyLock::force(&TABLE);
    divan::main();
}

/// Numbers that look like chance.
fn dice(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

/// The game solved from nothing.
#[divan::bench(sample_count = 10)]
fn solving() -> Table {
    solve()
}

/// A million layouts of games, in no order.
fn layouts() -> Vec<Layout> {
    let mut seed = 1;
    let mut layouts: Vec<Layout> =
        games(60_000, &mut seed).iter().flatten().map(|(position, _)| Layout::of(position)).collect();
    for at in (1..layouts.len()).rev() {
        layouts.swap(at, dice(&mut seed) % (at + 1));
    }
    layouts.truncate(1_000_000);
    layouts
}

/// A value, each layout being known before the answer to the last.
#[divan::bench]
fn independent_probes(bencher: Bencher<'_, '_>) {
    let layouts = layouts();
    bencher.counter(ItemsCount::new(layouts.len())).bench_local(|| {
        layouts.iter().filter_map(|layout| TABLE.bounds(*layout)).map(|bounds| i64::from(bounds.lo)).sum::<i64>()
    });
}

/// A value, each layout depending on the answer to the last.
#[divan::bench]
fn dependent_probes(bencher: Bencher<'_, '_>) {
    let layouts = layouts();
    bencher.counter(ItemsCount::new(layouts.len())).bench_local(|| {
        let mut at = 0;
        for _ in 0..layouts.len() {
            let lo = TABLE.bounds(layouts[at]).map_or(0, |bounds| usize::from(bounds.lo.unsigned_abs()));
            at = (at + 7919 + lo) % layouts.len();
        }
        black_box(at)
    });
}

/// Random games: each position and the pit that was played in it.
fn games(count: usize, seed: &mut u64) -> Vec<Vec<(Position, Pit)>> {
    let game = |_| {
        let (mut position, mut plies) = (Position::START, Vec::new());
        while plies.len() < 200 && !position.legal().is_empty() {
            let pits: Vec<Pit> = position.legal().into_iter().collect();
            let pit = pits[dice(seed) % pits.len()];
            plies.push((position, pit));
            position.play_unchecked(pit);
        }
        plies
    };
    (0..count).map(game).collect()
}

/// The plies of random games, judged: value before and after, loss and best pits.
#[divan::bench]
fn judged_plies(bencher: Bencher<'_, '_>) {
    let games = games(50_000, &mut 1);
    bencher.counter(ItemsCount::new(games.iter().map(Vec::len).sum::<usize>())).bench_local(|| {
        let judged = games.iter().flatten().filter_map(|(position, pit)| TABLE.judge(position, *pit));
        judged.map(|judgement| i64::from(judgement.loss())).sum::<i64>()
    });
}
