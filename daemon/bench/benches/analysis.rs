//! What the analysis of finished games costs, a ply: `cargo bench -p modiar-bench --bench analysis`.
#![allow(clippy::unwrap_used)] // what is measured is known to be good

mod games;

use divan::Bencher;
use divan::counter::ItemsCount;
use modiar::analysis::{Analyzer, Fold, Report, judge, page, text};
use modiar_oracle::{Table, solve};
use modiar_protocol::Record;
use std::sync::LazyLock;
use std::thread;

/// Plies of one measurement.
const PLIES: usize = 1_000_000;

static TABLE: LazyLock<Table> = LazyLock::new(solve);
static RECORDS: LazyLock<Vec<Record>> = LazyLock::new(|| games::records(PLIES).collect());

fn main() {
    LazyLock::force(&TABLE);
    divan::main();
}

fn plies() -> ItemsCount {
    ItemsCount::new(RECORDS.iter().map(|record| record.moves.len()).sum::<usize>())
}

/// Every ply judged: value before and after, loss, best pits, outcomes, turning points; by so many threads.
#[divan::bench(args = [1, 2], sample_count = 10)]
fn judged_in_memory(bencher: Bencher<'_, '_>, threads: usize) {
    let chunk = RECORDS.len().div_ceil(threads);
    let losses = |records: &[Record]| -> u64 {
        let games = records.iter().map(|record| judge(&TABLE, record).unwrap());
        games.map(|game| game.plies.iter().map(|ply| u64::from(ply.loss())).sum::<u64>()).sum()
    };
    bencher.counter(plies()).bench_local(|| {
        thread::scope(|scope| {
            let threads: Vec<_> = RECORDS.chunks(chunk).map(|records| scope.spawn(move || losses(records))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>()
        })
    });
}

/// The same, and folded.
#[divan::bench(sample_count = 10)]
fn folded_in_memory(bencher: Bencher<'_, '_>) {
    bencher.counter(plies()).bench_local(|| {
        let mut fold = Fold::default();
        for record in RECORDS.iter() {
            fold.add(record.seq, record, &judge(&TABLE, record).unwrap());
        }
        fold
    });
}

/// From lines of JSON to the fold, by so many threads.
#[divan::bench(args = [1, 2], sample_count = 10)]
fn from_lines(bencher: Bencher<'_, '_>, threads: usize) {
    let lines: Vec<String> = RECORDS.iter().map(|record| record.to_line().unwrap()).collect();
    bencher.counter(plies()).bench_local(|| {
        let mut analyzer = Analyzer::with_threads(&TABLE, threads);
        for (line, place) in lines.iter().zip(1..) {
            analyzer.take(place, line.as_bytes()).unwrap();
        }
        analyzer.finish().unwrap()
    });
}

/// The report of a fold, as text and as a page.
#[divan::bench(sample_count = 10)]
fn report(bencher: Bencher<'_, '_>) {
    let mut fold = Fold::default();
    for record in RECORDS.iter() {
        fold.add(record.seq, record, &judge(&TABLE, record).unwrap());
    }
    bencher.bench_local(|| {
        let report = Report::new(&fold, &TABLE);
        (text(&report), page(&report, "a benchmark").unwrap())
    });
}
