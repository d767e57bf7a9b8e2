//! The checks of bots are checked: a good bot passes all, and one with a fault fails the check of that fault alone.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

use modiar_conformance::bot::{Check, Kit, Verdict, checks};
use std::time::Duration;

/// Most of a check is waiting: so many at once keep two cores busy.
const AT_ONCE: usize = 24;

/// The checks that the twin with these arguments fails, with what is told of them.
fn failed(arguments: &[&str]) -> Vec<(&'static str, String)> {
    let command = [env!("CARGO_BIN_EXE_twin")].iter().chain(arguments).map(Into::into).collect();
    let all: Vec<&'static Check> = checks().collect();
    let kit = Kit { command, patience: Duration::from_secs(3), at_once: AT_ONCE };
    let mut failed = Vec::new();
    kit.run(&all, |report| match &report.verdict {
        Verdict::Ok => {}
        Verdict::Failed(_) => failed.push((report.check.name, report.to_string())),
        Verdict::Skipped(why) => panic!("{}: {why}", report.check.name),
    })
    .unwrap();
    failed
}

#[test]
fn a_good_bot_passes_every_check() {
    let failed = failed(&[]);
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_fault_is_found_by_its_own_check_alone() {
    let mut wrong = Vec::new();
    for check in checks() {
        let failed = failed(&["--fault", check.name]);
        let names: Vec<&str> = failed.iter().map(|(name, _)| *name).collect();
        if names != [check.name] {
            let others: Vec<_> = failed.into_iter().filter(|(name, _)| *name != check.name).map(|(_, told)| told).collect();
            wrong.push(format!("twin {}: {names:?}\n{}", check.name, others.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
