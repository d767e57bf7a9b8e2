//! Plays the legal pit that captures most on this ply; of equal ones, the lowest (`bots.greedy`).

mod common;

use common::Options;
use modiar_client::{Turn, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    let options = match Options::read(&[]) {
        Ok(options) => options,
        Err(status) => return status,
    };
    run(|turn: &Turn| turn.position.greedy().unwrap_or(turn.legal[0]), &options.pool, options.games)
}
