//! Writes records of random games, of so many plies together: `records PLIES > games.jsonl`.
#![allow(clippy::unwrap_used)] // what is written is known to be good

#[path = "../benches/games/mod.rs"]
mod games;

use std::io::{BufWriter, Write as _, stdout};

fn main() {
    let plies = std::env::args().nth(1).and_then(|plies| plies.parse().ok()).unwrap_or(1_000_000);
    let mut out = BufWriter::new(stdout().lock());
    for record in games::records(plies) {
        writeln!(out, "{}", record.to_line().unwrap()).unwrap();
    }
    out.flush().unwrap();
}
