//! What it costs to pair ten thousand bots that wait: `cargo bench -p modiar-ladder`.

#![allow(missing_docs, clippy::cast_possible_truncation)] // the harness makes the rest; the numbers are small

use modiar_ladder::pairing::{Meeting, Waiting, pair};

const BOTS: u64 = 10_000;

fn main() {
    divan::main();
}

/// So many bots of ratings all over the range, a thousand owners, that have waited up to five seconds.
fn waiting(owners: Option<usize>) -> Vec<Waiting> {
    let bot = |number: u64| Waiting {
        rating: (number * 7919 % 3001) as f64,
        rd: (number * 31 % 300) as f64,
        waited_ms: number * 37 % 5000,
        owner: owners.map(|owners| number as usize % owners),
    };
    (0..BOTS).map(bot).collect()
}

#[divan::bench(args = [None, Some(1000), Some(1)])]
fn ten_thousand(bencher: divan::Bencher<'_, '_>, owners: Option<usize>) {
    let waiting = waiting(owners);
    bencher.bench(|| pair(&waiting, &[1500.0; 11], true, |_, _| Meeting::Fresh, |_, _| Meeting::Never));
}

/// The worst: nobody may meet anybody, and all are asked.
#[divan::bench]
fn ten_thousand_who_may_not_meet(bencher: divan::Bencher<'_, '_>) {
    let waiting = waiting(None);
    bencher.bench(|| pair(&waiting, &[], true, |_, _| Meeting::Never, |_, _| Meeting::Never));
}
