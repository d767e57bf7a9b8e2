//! Whole evenings of the core, in virtual time and from one seed each: bots of every temper, delays, lost links, stops
//! and kills of the server, a full disk. After each event everything that must hold is checked.
//!
//! ```text
//! MODIAR_SIM_SEED=17 cargo test -p modiar --test simulation -- --nocapture    # one seed, told as it happens
//! MODIAR_SIM_SEEDS=5000000 cargo test -p modiar --test simulation             # more of them
//! ```
//!
//! A seed that found a fault is kept in `seeds.txt`, with what it found.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod bots;
mod dice;
mod disk;
mod network;
mod seeks;
mod server;
mod table;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use world::World;

/// Seeds of an ordinary run.
const SEEDS: u64 = 100_000;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is a number, not '{text}'")))
}

/// What goes wrong with a seed, if anything.
fn fault(seed: u64, tracing: bool) -> Option<String> {
    catch_unwind(AssertUnwindSafe(|| World::new(seed, tracing).run())).unwrap_or_else(|_| Err("a panic".into())).err()
}

fn again(seed: u64, fault: &str) -> String {
    format!("seed {seed}: {fault}\n  MODIAR_SIM_SEED={seed} cargo test -p modiar --test simulation -- --nocapture")
}

/// The seeds `0..count` on all processors; the lowest that were found to fail.
fn faults(count: u64) -> Vec<String> {
    let next = AtomicU64::new(0);
    let failed = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let mut faults: Vec<(u64, String)> = std::thread::scope(|scope| {
        let work = || {
            let mut found = Vec::new();
            while failed.load(Ordering::Relaxed) < 3 {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= count {
                    break;
                }
                if let Some(fault) = fault(seed, false) {
                    failed.fetch_add(1, Ordering::Relaxed);
                    found.push((seed, fault));
                }
            }
            found
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    faults.sort();
    faults.iter().map(|(seed, fault)| again(*seed, fault)).collect()
}

#[test]
fn every_seed_keeps_what_must_hold() {
    if let Some(seed) = number("MODIAR_SIM_SEED") {
        let fault = fault(seed, true);
        assert!(fault.is_none(), "{}", again(seed, &fault.unwrap_or_default()));
        return;
    }
    let (count, began) = (number("MODIAR_SIM_SEEDS").unwrap_or(SEEDS), Instant::now());
    let faults = faults(count);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    println!("{count} seeds in {:?}", began.elapsed());
}

/// Each line of `seeds.txt` is a seed and what it once found.
#[test]
fn kept_seeds_stay_good() {
    for line in include_str!("seeds.txt").lines().filter(|line| !line.starts_with('#')) {
        let seed = line.split_whitespace().next().and_then(|seed| seed.parse().ok());
        let seed = seed.unwrap_or_else(|| panic!("a line of seeds.txt begins with a seed: '{line}'"));
        let fault = fault(seed, false);
        assert!(fault.is_none(), "{line}\n{}", again(seed, &fault.unwrap_or_default()));
    }
}
