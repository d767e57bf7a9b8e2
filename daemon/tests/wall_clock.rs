//! No wall clock in a decision: where the sources ask for it, and what for.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use support::returning::{Pair, Returning};
use support::{Daemon, have, project};
use tempfile::TempDir;

/// Every place that asks what time it is for people, and how often it does: records, texts, and where chance starts.
const PLACES: [(&str, usize); 10] = [
    ("cli/serve.rs", 1),       // where the dice of the lobby start
    ("lobby/hall.rs", 2),      // until_ms of penalties and of the drain
    ("referee/finish.rs", 1),  // when a game ended
    ("referee/table.rs", 1),   // when it started
    ("session/client.rs", 1),  // pong
    ("store/accounts.rs", 1),  // when a bot was registered
    ("store/sqlite.rs", 1),    // when a season began, and when ratings were given up
    ("metrics/mod.rs", 1),     // since when the process runs, for a monitor
    ("tournament/desk.rs", 2), // when a tournament was added, and whether the time has come that a host named
    ("time.rs", 2),            // Unix milliseconds, for all of these
];

fn count(folder: &Path, top: &Path, found: &mut BTreeMap<String, usize>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            count(&path, top, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let asks =
                ["SystemTime", "Timestamp::now", "Zoned::now", "unix_ms()"].map(|word| text.matches(word).count());
            if asks.iter().sum::<usize>() > 0 {
                found.insert(path.strip_prefix(top).unwrap().to_str().unwrap().to_owned(), asks.iter().sum());
            }
        }
    }
}

/// Whoever adds a place says here what for; a clock set forward by ten years must change nothing but texts
/// (`clock.monotonic`).
#[test]
fn the_wall_clock_is_asked_for_texts_only() {
    let (source, mut found) = (project().join("daemon/src"), BTreeMap::new());
    count(&source, &source, &mut found);
    let expected: BTreeMap<String, usize> = PLACES.iter().map(|(path, asks)| ((*path).to_owned(), *asks)).collect();
    assert_eq!(found, expected);
}

const CONFIG: &str = "[[pool]]\nname = \"blitz\"\nbase_ms = 60000\nincrement_ms = 1000\ngrace_ms = 10000\n";

/// A wall clock that jumps by hours and years between three starts changes no clock of a game, no token and no limit;
/// the archive's days do not go back (`clock.monotonic`, `record.archive`).
#[test]
fn a_wrong_wall_clock_changes_nothing_but_texts() {
    if !have("faketime") {
        return;
    }
    let mut data = TempDir::new().unwrap();
    let mut bots = None;
    for (round, shift) in ["+1h", "+10y", "-10y", "-1h"].into_iter().enumerate() {
        let daemon = Daemon::start_with_wrong_clock(shift, data, CONFIG);
        let mut pair = match bots.take() {
            None => Pair::start(&daemon, "blitz"),
            Some(Pair { mut south, mut north, .. }) => {
                // The tokens of both hold: the registered bot's, and the guest's for the game it is in.
                south.come_back(&daemon);
                north.come_back(&daemon);
                Pair::between(south, north, "blitz")
            }
        };
        pair.play("2403");
        // The last ply stands once South has read its turn.
        pair.south.peer.expect("turn").unwrap();
        let data_of_killed = daemon.kill();
        let daemon = Daemon::start_with_wrong_clock(shift, data_of_killed, CONFIG);
        // Games of the starts before may be told as missed once more.
        assert_eq!(pair.north.come_back(&daemon)["games"], json!([pair.id]));
        pair.north.peer.expect("started").unwrap();
        assert_eq!(pair.south.come_back(&daemon)["games"], json!([pair.id]));
        let started = pair.south.peer.expect("started").unwrap();
        assert_eq!(started["remaining_ms"], json!({"south": 62_000, "north": 62_000}), "{shift}: {started}");
        pair.south.peer.expect("turn").unwrap();
        let resign = json!({"type": "resign", "game": pair.id});
        pair.south.peer.send(&resign).unwrap();
        assert_eq!(pair.ended()["termination"], "resignation");
        let (verified, told) = daemon.run(&["games", "verify", "--data", daemon.data().to_str().unwrap()]);
        assert!(verified.success(), "{shift}: {told}");
        pair.north = Returning::registered(&daemon, &format!("coin-{round}"));
        bots = Some(pair);
        data = daemon.stop().2;
    }
    assert_eq!(days(&data.path().join("data/archive")), [1, 2, 3, 4]);
}

/// The places of the archive's records, in the order of its files.
fn days(archive: &Path) -> Vec<u64> {
    let mut files: Vec<_> = fs::read_dir(archive).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let text: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap()).collect()
}
