//! The adapter for agents in `clients/mcp`: its own tests, by the official client, at daemons that they start.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod support;

use std::path::PathBuf;
use std::process::Command;
use support::programs::Program;
use support::{MODIAR, project};

/// The Python that has the protocol: that of `target/python`, as `.ci/run` makes it, or the system's.
fn python() -> Option<PathBuf> {
    let own = project().join("target/python/bin/python3");
    let python = if own.exists() { own } else { "python3".into() };
    let found = Command::new(&python).args(["-c", "import mcp"]).output().is_ok_and(|output| output.status.success());
    let required = std::env::var_os("MODIAR_REQUIRE_ALL").is_some();
    assert!(found || !required, "{} lacks mcp; .ci/run installs it", python.display());
    if !found {
        eprintln!("SKIPPED: {} lacks mcp", python.display());
    }
    found.then_some(python)
}

#[track_caller]
fn passes(file: &str) {
    let Some(python) = python() else { return };
    let mut command = Command::new(python);
    command.args(["-m", "unittest", "discover", "-s", "clients/mcp/tests", "-p", file]);
    command.current_dir(project()).env("MODIAR", MODIAR);
    let outcome = Program::start(command).finish();
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(outcome.stderr.ends_with("OK\n") && !outcome.stderr.contains("Ran 0 tests"), "{outcome:?}");
}

#[test]
fn an_agent_plays_games() {
    passes("test_games.py");
}

#[test]
fn the_program_of_an_agent_begins_and_ends_well() {
    passes("test_program.py");
}

#[test]
fn the_page_of_the_adapter_shows_what_runs() {
    passes("test_readme.py");
}
