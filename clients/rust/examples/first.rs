//! Plays one game in practice, always the first legal pit.

use modiar_client::{Turn, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    run(|turn: &Turn| turn.legal[0], "practice", 1)
}
