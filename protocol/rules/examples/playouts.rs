//! Random games from the start, on one thread: `cargo run --release -p modiar-rules --example playouts`.
//!
//! Prints the plies a second, the figure that engines care for, and the mean length of a game.

#![allow(clippy::print_stdout)] // the figures are what it is for

use std::time::Instant;

use modiar_rules::{Pit, PitSet, Position};

const GAMES: u32 = 2_000_000;

fn main() {
    let mut random = 0x9E37_79B9_7F4A_7C15;
    let started = Instant::now();
    let plies: u64 = (0..GAMES).map(|_| playout(&mut random)).sum();
    let seconds = started.elapsed().as_secs_f64();
    println!("{:.1} million plies/s", plies as f64 / seconds / 1e6);
    println!("{:.1} plies a game", plies as f64 / f64::from(GAMES));
}

/// Plays a random game until a side cannot move, and counts its plies.
fn playout(random: &mut u64) -> u64 {
    let mut position = Position::START;
    let mut plies = 0;
    while let Some(pit) = pick(position.legal(), random) {
        position.play_unchecked(pit);
        plies += 1;
    }
    plies
}

/// One of the pits, all equally likely to within 2⁻³².
fn pick(pits: PitSet, random: &mut u64) -> Option<Pit> {
    // xorshift64: enough for a mean, and it costs nothing beside the rules.
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    let nth = ((*random >> 32) * pits.len() as u64) >> 32;
    pits.iter().nth(nth as usize)
}
