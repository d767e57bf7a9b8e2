//! Looks some plies ahead and plays the legal pit of the highest worth; of equal ones, the lowest (`bots.minimax`).
//! `--depth N` says how many plies.

mod common;

use common::Options;
use modiar_client::{DEPTH, Turn, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    let options = match Options::read(&["--depth"]) {
        Ok(options) => options,
        Err(status) => return status,
    };
    let depth = options.value("--depth").unwrap_or(DEPTH);
    run(|turn: &Turn| turn.position.minimax(depth).unwrap_or(turn.legal[0]), &options.pool, options.games)
}
