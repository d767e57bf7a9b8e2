//! Plays any number of games at once on tokio, always the first legal pit: `--games N`, `--pool P`, `--at-once N`.

mod common;

use common::Options;
use modiar_client::{Settings, Turn, aio};
use std::future::ready;
use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = match Options::read(&["--at-once"]) {
        Ok(options) => options,
        Err(status) => return status,
    };
    let settings = Settings::new().games(options.value("--at-once").unwrap_or(1));
    aio::run_with(settings, |turn: &Turn| ready(turn.legal[0]), &options.pool, options.games).await
}
