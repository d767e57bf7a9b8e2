//! Every client library held to the same vectors, messages and bots, each by its driver: a small program in its language that
//! answers questions, a JSON object a line (clients/README.md).
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod driver;
mod messages;
mod odd;
mod rules;
mod sdk;

use modiar_conformance::Verdict;
use modiar_conformance::bot::{Check, Kit, checks};
use sdk::Sdk;
use std::time::Duration;

/// Builds a library and looks at all of it.
#[track_caller]
fn hold(sdk: &Sdk) {
    if !sdk.is_built() {
        return;
    }
    let mut driver = driver::Driver::start(sdk.driver());
    let mut found = messages::named(sdk);
    found.extend(sdk.tests());
    sdk.shown();
    found.extend(rules::found(&mut driver));
    found.extend(messages::found(&mut driver));
    found.extend(odd::found(&sdk.greedy()));
    found.extend(unready(sdk.greedy()));
    assert!(found.is_empty(), "clients/{}: {} to mend:\n{}", sdk.folder, found.len(), found.join("\n"));
}

/// What `modiar check bot` has to say of a bot of the library.
fn unready(command: Vec<String>) -> Vec<String> {
    let command = command.into_iter().chain(["--games".to_owned(), "2".to_owned()]).map(Into::into).collect();
    let all: Vec<&'static Check> = checks().collect();
    let (mut found, mut skipped) = (Vec::new(), Vec::new());
    let kit = Kit { command, patience: Duration::from_secs(15), at_once: 4 };
    let started = kit.run(&all, |report| match &report.verdict {
        Verdict::Ok => {}
        Verdict::Failed(_) => found.push(report.to_string()),
        Verdict::Skipped(_) => skipped.push(report.about.name),
    });
    started.unwrap();
    // Its hello allows one game at a time.
    assert!(skipped.iter().all(|name| *name == "games-at-once"), "{skipped:?}");
    found
}

#[test]
fn the_c_library_holds() {
    hold(&sdk::C);
}

#[test]
fn the_go_library_holds() {
    hold(&sdk::GO);
}

#[test]
fn the_java_library_holds() {
    hold(&sdk::JAVA);
}

#[test]
fn the_javascript_library_holds() {
    hold(&sdk::JAVASCRIPT);
}

#[test]
fn the_python_library_holds() {
    hold(&sdk::PYTHON);
}

#[test]
fn the_rust_library_holds() {
    hold(&sdk::RUST);
}
