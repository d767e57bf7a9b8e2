//! The checks of servers are checked: through a proxy that breaks one thing each check fails by its own fault, and through one
//! that breaks nothing none does.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod support;

use modiar_conformance::Verdict;
use modiar_conformance::server::{Check, Kit, checks};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;
use support::Daemon;
use support::proxy::{Break, proxy};

/// The checks whose fault is tried, alone, and what is broken for them.
const FAULTS: [(&str, Break); 36] = [
    ("silent-connection", Break::Swallow { asked: "one bad line", line: "handshake" }),
    ("slow-hello", Break::Swallow { asked: "{", line: "welcome" }),
    ("fin-in-every-state", Break::KeepOpen),
    ("reset-in-every-state", Break::Swallow { asked: "", line: "cancelled" }),
    ("newest-connection", Break::Swallow { asked: "", line: "replaced" }),
    ("missed-once", Break::Change { asked: "resume", from: "\"missed\":[{", to: "\"missed\":[],\"gone\":[{" }),
    ("move-then-fin", Break::Forget { asked: "\"type\":\"move\"" }),
    ("move-then-reset", Break::Forget { asked: "\"type\":\"move\"" }),
    ("tail-dropped", Break::Complete),
    ("every-split", Break::EachPacket { asked: "é" }),
    ("hundred-lines", Break::Forget { asked: "\"ref\":99" }),
    ("many-connections", Break::Most(100)),
    ("http-request", Break::Swallow { asked: "GET", line: "goodbye" }),
    ("ssh-banner", Break::Swallow { asked: "OpenSSH", line: "goodbye" }),
    ("tls-hello", Break::Swallow { asked: "\u{7}\u{7}\u{7}", line: "goodbye" }),
    ("random-bytes", Break::Swallow { asked: "", line: "goodbye" }),
    ("lines-utf8", Break::Change { asked: "", from: "bad_utf8", to: "bad_line" }),
    ("lines-json", Break::Change { asked: "//", from: "bad_json", to: "bad_line" }),
    ("lines-fields", Break::Change { asked: "", from: "\"field\":\"games\"", to: "\"field\":\"pool\"" }),
    ("lines-accepted", Break::Rewrite { from: "1e400", to: "1e4OO" }),
    ("longest-line", Break::Swallow { asked: "filler", line: "line_too_long" }),
    ("endless-line", Break::Swallow { asked: "xxxxxxxxxxxxxxxxxxxxxxxxxxxx", line: "\"line_too_long\",\"message" }),
    ("pits-in-time", Break::Change { asked: "", from: "rules.slam.banned", to: "rules.feed.must" }),
    ("pits-late", Break::Change { asked: "late: ", from: "bad_field", to: "bad_line" }),
    ("pits-not-my-turn", Break::Change { asked: "out of turn", from: "not_your_turn", to: "stale_ply" }),
    ("pits-before-a-game", Break::Change { asked: "before: ", from: "wrong_game", to: "game_over" }),
    ("pits-after-the-end", Break::Change { asked: "after: ", from: "game_over", to: "wrong_game" }),
    ("pits-of-others", Break::Change { asked: "others: ", from: "wrong_game", to: "game_over" }),
    ("replay-in-order", Break::Change { asked: "again: ", from: "game_over", to: "wrong_game" }),
    ("replay-shuffled", Break::Change { asked: "mixed: ", from: "wrong_game", to: "game_over" }),
    ("ended-immobile", Break::Twice("\"termination\":\"immobile\"")),
    ("ended-repetition", Break::Twice("\"termination\":\"repetition\"")),
    ("ended-resignation", Break::Twice("\"termination\":\"resignation\"")),
    ("ended-illegal-move", Break::Twice("\"legal\":[3,4,5]")),
    ("ended-time-forfeit", Break::Twice("\"termination\":\"time_forfeit\"")),
    ("ended-aborted", Break::Twice("\"termination\":\"aborted\"")),
];
/// The same where no server with the usual pools can be at fault.
const OTHER_FAULTS: [(&str, Break); 2] = [
    ("ended-quiet-plies", Break::Twice("\"termination\":\"quiet_plies\"")),
    ("ended-majority", Break::Twice("\"termination\":\"majority\"")),
];
const OTHER_POOLS: &str = "[[pool]]\nname = \"quiet\"\nbase_ms = 60000\nquiet_plies = 4\n\
    [[pool]]\nname = \"majority\"\nbase_ms = 60000\nmajority = true\n";
/// A proxy keeps more than a slow reader's system does, whatever it breaks.
const SLOW_READER: (&str, Break) = ("slow-reader", Break::Hoard);

/// What fails of these checks, in front of the daemon with this broken.
fn failed(daemon: &Daemon, broken: Break, checks: &[&'static Check]) -> Vec<(&'static str, String)> {
    let kit = Kit { address: proxy(daemon.bots, broken).to_string(), patience: Duration::from_secs(5), at_once: 8 };
    let mut failed = Vec::new();
    kit.run(checks, |report| match &report.verdict {
        Verdict::Ok => {}
        Verdict::Failed(_) => failed.push((report.about.name, report.to_string())),
        Verdict::Skipped(why) => panic!("{}: {why}", report.about.name),
    })
    .unwrap();
    failed
}

fn scripts<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'static Check> {
    let find = |name| checks().find(|check| check.about.name == name).unwrap_or_else(|| panic!("no check {name}"));
    names.into_iter().map(find).collect()
}

fn names(faults: &[(&'static str, Break)]) -> Vec<&'static str> {
    faults.iter().map(|(name, _)| *name).collect()
}

#[test]
fn each_script_has_its_fault() {
    let scripts: BTreeSet<_> = checks().filter(|check| !check.is_transcript()).map(|check| check.about.name).collect();
    let faults = names(&[&FAULTS[..], &OTHER_FAULTS, &[SLOW_READER]].concat());
    assert_eq!((faults.len(), BTreeSet::from_iter(faults)), (scripts.len(), scripts));
}

#[test]
fn a_proxy_that_breaks_nothing_fails_no_check() {
    for (config, faults) in [("", &FAULTS[..]), (OTHER_POOLS, &OTHER_FAULTS)] {
        let failed = failed(&Daemon::start_with(config, &[]), Break::Nothing, &scripts(names(faults)));
        assert!(failed.is_empty(), "{failed:#?}");
    }
}

#[test]
fn every_fault_is_found_by_its_check() {
    all_are_found("", [&FAULTS[..], &[SLOW_READER]].concat());
    all_are_found(OTHER_POOLS, OTHER_FAULTS.to_vec());
}

fn all_are_found(config: &str, faults: Vec<(&'static str, Break)>) {
    let daemon = Daemon::start_with(config, &[]);
    let (faults, wrong) = (Mutex::new(VecDeque::from(faults)), Mutex::new(Vec::new()));
    let next = || faults.lock().unwrap().pop_front();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some((name, broken)) = next() {
                    if failed(&daemon, broken, &scripts([name])).len() != 1 {
                        wrong.lock().unwrap().push(name);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "their faults are not found: {wrong:?}");
}
