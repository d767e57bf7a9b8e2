//! What the parts of a ply cost: `cargo bench -p modiar-bench`.
#![allow(clippy::unwrap_used)] // what is measured is known to be good

mod parts;

use divan::{Bencher, black_box};
use modiar_protocol::Lines;
use modiar_rules::{Position, perft};
use parts::{MOVE, PARTS};

/// Done so often in one measurement, lest the measuring itself be measured.
const TIMES: usize = 100;

fn main() {
    divan::main();
}

#[divan::bench(args = PARTS.map(|(name, _)| name))]
fn part(bencher: Bencher<'_, '_>, name: &str) {
    let (_, part) = PARTS.into_iter().find(|(known, _)| *known == name).unwrap();
    bencher.counter(TIMES).bench(|| part(TIMES));
}

#[divan::bench]
fn cut_a_line_of_two_reads(bencher: Bencher<'_, '_>) {
    let mut lines = Lines::default();
    let (head, tail) = MOVE.split_at(40);
    bencher.bench_local(|| {
        assert!(lines.next(&mut black_box(head)).is_none());
        lines.next(&mut black_box(tail)).unwrap().unwrap().len()
    });
}

#[divan::bench]
fn perft_10(bencher: Bencher<'_, '_>) {
    bencher.bench(|| perft(black_box(&Position::START), 10));
}
