//! Every check of `modiar check server`, the transcripts of spec/transcripts among them, against a real daemon.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_conformance::Verdict;
use modiar_conformance::server::{Check, Kit, checks};
use std::time::Duration;
use support::process::wait_until;
use support::{Daemon, HOUSE_BOTS};

/// Ends of a game that no default pool has, beside a pool that has them.
const OTHER_ENDS: [&str; 2] = ["ended-quiet-plies", "ended-majority"];
const OTHER_POOLS: &str = "[[pool]]\nname = \"quiet\"\nbase_ms = 60000\nquiet_plies = 4\nopenings = \"start\"\n\
    [[pool]]\nname = \"majority\"\nbase_ms = 60000\nmajority = true\nopenings = \"start\"\n";

/// What is told of those that are not all right.
fn told(daemon: &Daemon, checks: &[&'static Check]) -> Vec<String> {
    let kit = Kit { address: daemon.bots.to_string(), patience: Duration::from_secs(20), at_once: 12 };
    let mut told = Vec::new();
    kit.run(checks, |report| {
        if report.verdict != Verdict::Ok {
            told.push(report.to_string());
        }
    })
    .unwrap();
    told
}

#[test]
fn the_daemon_passes_every_check() {
    let (others, usual): (Vec<_>, Vec<_>) = checks().partition(|check| OTHER_ENDS.contains(&check.about.name));
    assert!(usual.iter().filter(|check| check.is_transcript()).count() >= 40);
    let found = told(&Daemon::start(), &usual);
    assert!(found.is_empty(), "{}", found.join("\n"));
    let found = told(&Daemon::start_with(OTHER_POOLS, &[]), &others);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// What the server cannot be asked is skipped, with the reason.
#[test]
fn what_a_host_has_set_otherwise_is_skipped() {
    let only = |names: &[&str]| checks().filter(|check| names.contains(&check.about.name)).collect::<Vec<_>>();
    let all = ["move-then-fin", "full-game"];
    for found in told(&Daemon::start_with("guests = false", &[]), &only(&all)) {
        assert!(found.contains("lets no guests in"), "{found}");
    }
    let house = Daemon::start_with("registration = true", &[HOUSE_BOTS]);
    let found = told(&house, &only(&["registration-closed", "full-game"]));
    assert!(found.len() == 1 && found[0].contains("register themselves"), "{found:?}");
    // They come in a moment after the start.
    wait_until("house bots are found", || told(&house, &only(&["seek"])).concat().contains("has house bots"));
    let found = told(&Daemon::start_with(OTHER_POOLS, &[]), &only(&["full-game", "unseek-all", "pits-late"]));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().all(|told| told.starts_with("skipped")), "{found:?}");
}
