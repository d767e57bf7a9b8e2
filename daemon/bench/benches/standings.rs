//! What the standings of a warm daemon cost, with 10,000 bots in the pool: `cargo bench -p modiar-bench --bench standings`.
#![allow(clippy::unwrap_used)] // what is measured is known to be good

use divan::{Bencher, black_box};
use modiar::dice::Dice;
use modiar::ladder::{Ratings, Row, Standing};
use modiar_ladder::Rating;
use modiar_protocol::BotName;

/// Bots in the pool.
const BOTS: usize = 10_000;
/// Bots whose standings one commit changes.
const CHANGED: usize = 1_000;

fn main() {
    divan::main();
}

fn rows(count: usize, dice: &mut Dice) -> Vec<Row> {
    (0..count)
        .map(|number| {
            let rating = Rating { rating: 800.0 + 1600.0 * dice.unit(), ..Rating::default() };
            let standing = Standing { rating, ..Standing::default() };
            Row { pool: "blitz".to_owned(), bot: BotName::new(&format!("bot-{number}")).unwrap(), standing }
        })
        .collect()
}

fn ladder() -> Ratings {
    let ratings = Ratings::default();
    ratings.replace(rows(BOTS, &mut Dice::new(1)));
    ratings
}

#[divan::bench(args = [0, 5_000, 9_900])]
fn a_page_of_100(bencher: Bencher<'_, '_>, from: usize) {
    let ratings = ladder();
    bencher.bench(|| ratings.page("blitz", black_box(from), 100));
}

#[divan::bench]
fn all_of_10_000(bencher: Bencher<'_, '_>) {
    let ratings = ladder();
    bencher.bench(|| ratings.page("blitz", 0, black_box(BOTS)));
}

#[divan::bench]
fn a_commit_of_1_000(bencher: Bencher<'_, '_>) {
    let (ratings, mut dice) = (ladder(), Dice::new(2));
    bencher.with_inputs(|| rows(CHANGED, &mut dice)).bench_local_values(|rows| ratings.put(rows));
}
