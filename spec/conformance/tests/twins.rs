//! The checks of bots are checked: a good bot passes all, and one with a fault fails the check of that fault alone.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

use modiar_conformance::Verdict;
use modiar_conformance::bot::{Check, Kit, checks};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

/// Most of a check is waiting: with so many at once of so many twins, two cores are busy, and no more.
const CHECKS_AT_ONCE: usize = 8;
const TWINS_AT_ONCE: usize = 6;

/// The checks that the twin with these arguments fails, with what is told of them.
fn failed(arguments: &[&str]) -> Vec<(&'static str, String)> {
    let command = [env!("CARGO_BIN_EXE_twin")].iter().chain(arguments).map(Into::into).collect();
    let all: Vec<&'static Check> = checks().collect();
    let kit = Kit { command, patience: Duration::from_secs(3), at_once: CHECKS_AT_ONCE };
    let mut failed = Vec::new();
    kit.run(&all, |report| match &report.verdict {
        Verdict::Ok => {}
        Verdict::Failed(_) => failed.push((report.about.name, report.to_string())),
        Verdict::Skipped(why) if arguments.contains(&"--games") => assert!(why.contains("--games 2"), "{why}"),
        Verdict::Skipped(why) => panic!("{}: {why}", report.about.name),
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
fn a_good_bot_of_one_game_fails_no_check() {
    let failed = failed(&["--games", "1"]);
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_fault_is_found_by_its_own_check_alone() {
    let (faults, wrong) = (Mutex::new(checks().collect::<VecDeque<_>>()), Mutex::new(Vec::new()));
    let next = || faults.lock().unwrap().pop_front();
    thread::scope(|scope| {
        for _ in 0..TWINS_AT_ONCE {
            scope.spawn(|| {
                while let Some(Check { about, .. }) = next() {
                    let name = about.name;
                    let (own, others): (Vec<_>, Vec<_>) =
                        failed(&["--fault", name]).into_iter().partition(|(failed, _)| *failed == name);
                    if own.len() != 1 || !others.is_empty() {
                        let told: String = others.into_iter().map(|(_, told)| told + "\n").collect();
                        wrong.lock().unwrap().push(format!("{name}: {} of its own, others:\n{told}", own.len()));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
