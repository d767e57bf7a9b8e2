//! The daemon killed without warning at random moments, under the load of a hundred bots, and whether anything that it
//! had told anybody was lost, changed or done twice.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

#[path = "crash/bot.rs"]
mod bot;
#[path = "crash/ledger.rs"]
mod ledger;
mod support;

use bot::{Bot, Round};
use ledger::{Ledger, Tally};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use support::{Daemon, MODIAR};

const REGISTERED: u64 = 80;
const GUESTS: u64 = 20;
/// Rounds of an ordinary run; `MODIAR_CRASH_ROUNDS` asks for more.
const ROUNDS: u64 = 12;
/// A daemon lives so long at most, in milliseconds.
const LIFE: u64 = 1200;
/// Nobody runs out of time, who is registered is rated, and quiet games end soon.
const CONFIG: &str = "[[pool]]\nname = \"crash\"\nbase_ms = 60000\nincrement_ms = 1000\nquiet_plies = 40\n";
const QUIET: &[(&str, &str)] = &[("RUST_LOG", "warn")];

/// `session.kill`, `session.kill-final`, `session.resume`, `session.missed`, `session.guest-resume`, `forfeit.durable`,
/// `forfeit.once`, `ladder.transaction`, `ladder.rebuild`: what a bot read is stored as it read it, its rating included, and what it
/// was told of a running game stands; the stored ratings are those that the stored games lead to, to the bit.
#[test]
fn nothing_that_was_told_is_lost_when_the_daemon_is_killed() {
    let rounds = std::env::var("MODIAR_CRASH_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let mut daemon = Daemon::start_with(CONFIG, QUIET);
    let address = daemon.bots;
    let round = Arc::new(Round::new(address));
    let bots: Vec<_> = (0..REGISTERED + GUESTS)
        .map(|number| {
            let token = (number < REGISTERED).then(|| daemon.register(&Bot::name(number)));
            let (bot, round) = (Bot::new(number, token), Arc::clone(&round));
            thread::spawn(move || bot.play(&round))
        })
        .collect();
    let mut dice = bot::Dice(20_261_130);
    for _ in 0..rounds {
        // The random moment of the crash, not a wait for something.
        thread::sleep(Duration::from_millis(dice.below(LIFE)));
        let data = daemon.kill();
        daemon = Daemon::start_at(&address.to_string(), data, CONFIG, QUIET);
    }
    round.finish();
    let ledgers: Vec<Ledger> = bots.into_iter().map(|bot| bot.join().unwrap()).collect();
    let mut tally = compare(&daemon, ledgers);
    let (status, log, folder) = daemon.stop();
    assert!(status.success() && !log.contains("ERROR"), "{log}");
    rebuild(&folder.path().join("data"), &mut tally);
    println!("rounds={rounds} {tally}");
    assert!(tally.is_good(), "{tally}: {:#?}", tally.faults);
    assert!(tally.acked >= 10 * rounds && tally.resumed >= 25 * rounds, "too little happened: {tally}");
    assert!(tally.rated >= 4 * rounds, "too little was rated: {tally}");
}

/// The ladder made anew from the stored games is the one that is there.
fn rebuild(data: &Path, tally: &mut Tally) {
    let rebuilt = Command::new(MODIAR).args(["standings", "--rebuild", "--data"]).arg(data).output().unwrap();
    if !rebuilt.status.success() {
        tally.misrated = rebuilt.stdout.iter().filter(|byte| **byte == b'\n').count() as u64;
        tally.faults.push(format!("{rebuilt:?}"));
    }
}

/// What the bots wrote down against what the store has.
fn compare(daemon: &Daemon, ledgers: Vec<Ledger>) -> Tally {
    let mut records: HashMap<String, Value> = HashMap::new();
    let mut tally = Tally::default();
    for line in daemon.export().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        if records.insert(record["game"].as_str().unwrap().to_owned(), record).is_some() {
            tally.double += 1;
        }
    }
    for ledger in ledgers {
        ledger.settle(&records, &mut tally);
    }
    let (status, report) = daemon.run(&["games", "verify", "--data", daemon.data().to_str().unwrap()]);
    if !status.success() {
        tally.replay_bad = report.lines().count() as u64 - 1;
        tally.faults.push(report);
    }
    tally
}
