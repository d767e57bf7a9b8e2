//! Plays any legal pit, each as likely as any other (`bots.random`). `--seed N` makes the same choices again.

mod common;

use common::Options;
use modiar_client::{Turn, run};
use std::hash::{BuildHasher as _, RandomState};
use std::process::ExitCode;

/// A small generator of numbers, splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `most`, which is small.
    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most as u64).unwrap_or_default()
    }
}

fn main() -> ExitCode {
    let options = match Options::read(&["--seed"]) {
        Ok(options) => options,
        Err(status) => return status,
    };
    let mut random = Random(options.value("--seed").unwrap_or_else(|| RandomState::new().hash_one(0)));
    run(|turn: &Turn| turn.legal[random.below(turn.legal.len())], &options.pool, options.games)
}
