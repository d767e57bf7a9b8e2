//! The oracle's table as a daemon makes and keeps it, and the openings that it gives to pools.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_conformance::Peer;
use modiar_oracle::{Table, balanced_openings};
use modiar_rules::parse_moves;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};
use support::Daemon;

const CONFIG: &str = "[[pool]]\nname = \"level\"\nbase_ms = 60000\nrated = false\nopenings = \"balanced\"\n";

/// Waits until `done` gives something, for the table is made beside all else.
fn wait<T>(mut done: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(outcome) = done() {
            return outcome;
        }
        assert!(Instant::now() < deadline, "the table does not stand");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Seeks so many games on both sides; what each reads as its games start.
fn seek(bots: &mut [Peer; 2], games: u64) -> [Value; 2] {
    for bot in &mut *bots {
        bot.send(&json!({"type": "seek", "pool": "level", "games": games})).unwrap();
        bot.expect("seeking").unwrap();
    }
    bots.each_mut().map(|bot| bot.expect("started").unwrap())
}

/// `session.pairs`: two games from one balanced opening, sides swapped; the next pair of games has another one.
#[test]
fn a_pair_of_games_starts_from_one_balanced_opening() {
    let daemon = Daemon::start_with(CONFIG, &[]);
    let table = wait(|| Table::read(&daemon.data().join("oracle.table")).ok());
    let balanced: HashSet<_> = balanced_openings(&table).into_iter().map(|opening| opening.moves).collect();
    let mut bots = [daemon.guest(json!({})).0, daemon.guest(json!({})).0];
    let mut openings = HashSet::new();
    while openings.len() < 4 {
        let first = seek(&mut bots, 2);
        let second = next_game(&mut bots, &first);
        for pair in [&first, &second] {
            assert_eq!(pair[0]["opening"], pair[1]["opening"]);
        }
        assert_eq!(first[0]["opening"], second[0]["opening"]);
        assert_eq!(first[0]["side"], second[1]["side"]);
        assert_ne!(first[0]["side"], second[0]["side"]);
        end(&mut bots, &second);
        for bot in &mut bots {
            assert_eq!(bot.expect("seek_ended").unwrap()["reason"], "done");
        }
        let moves = first[0]["opening"].as_str().unwrap().to_owned();
        // Until the table is read games start from the start position.
        if !moves.is_empty() {
            assert_eq!((first[0]["ply"].as_u64(), first[0]["side_to_move"].as_str()), (Some(9), Some("south")));
            assert!(balanced.contains(&parse_moves(&moves).unwrap()), "{moves}");
            assert!(openings.insert(moves), "an opening came again");
        }
    }
    let (status, report) = daemon.run(&["games", "verify", "--data", daemon.data().to_str().unwrap()]);
    assert!(status.success(), "{report}");
}

/// Ends a game by its first mover; both read that.
fn end(bots: &mut [Peer; 2], started: &[Value; 2]) {
    let south = usize::from(started[1]["side"] == "south");
    bots[south].expect("turn").unwrap();
    bots[south].send(&json!({"type": "resign", "game": started[0]["game"]})).unwrap();
    for bot in bots {
        assert_eq!(bot.expect("ended").unwrap()["termination"], "resignation");
    }
}

fn next_game(bots: &mut [Peer; 2], first: &[Value; 2]) -> [Value; 2] {
    end(bots, first);
    bots.each_mut().map(|bot| bot.expect("started").unwrap())
}

/// A first start makes the table beside all else, a later one reads it, and one that is damaged is made anew.
#[test]
fn the_table_is_made_once() {
    let daemon = Daemon::start_with(CONFIG, &[]);
    let path = daemon.data().join("oracle.table");
    let data = daemon.kill();
    // Not a byte of it is another test's: the file is written anew.
    fs::remove_file(&path).unwrap();
    fs::write(&path, "modiar-oracle 1\n").unwrap();
    let daemon = Daemon::start_in(data, CONFIG, &[]);
    wait(|| Table::read(&path).ok());
    let made = fs::metadata(&path).unwrap().modified().unwrap();
    let (_, log, data) = daemon.stop();
    assert!(log.contains("the oracle's table is made anew") && log.contains("its checksum does not hold"), "{log}");
    let daemon = Daemon::start_in(data, CONFIG, &[]);
    let mut bots = [daemon.guest(json!({})).0, daemon.guest(json!({})).0];
    wait(|| {
        let started = seek(&mut bots, 1);
        end(&mut bots, &started);
        for bot in &mut bots {
            bot.expect("seek_ended").unwrap();
        }
        (started[0]["opening"] != "").then_some(())
    });
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), made, "it was read, not made again");
}
