//! No wall clock in a decision: where the sources ask for it, and what for.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use support::project;

/// Every place that asks what time it is for people, and how often it does: records, texts, and where chance starts.
const PLACES: [(&str, usize); 8] = [
    ("cli/serve.rs", 1),      // where the dice of the lobby start
    ("lobby/hall.rs", 2),     // until_ms of penalties and of the drain
    ("referee/finish.rs", 1), // when a game ended
    ("referee/table.rs", 1),  // when it started
    ("session/client.rs", 1), // pong
    ("store/accounts.rs", 1), // when a bot was registered
    ("metrics/mod.rs", 1),    // since when the process runs, for a monitor
    ("time.rs", 2),           // Unix milliseconds, for all of these
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
