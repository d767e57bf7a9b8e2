//! A machine on which everybody waits for a processor: what the daemon waits is its own delay, and no bot pays for it.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};
use std::thread::{available_parallelism, scope, sleep};
use std::time::{Duration, Instant};
use support::Daemon;
use support::watch::{Sent, Start, TICK, micros};

/// Nothing covers a delay here: there is no grace, and a move may not take long.
const POOL: &str = "[[pool]]\nname = \"bare\"\nbase_ms = 600000\nmove_ms = 200\ngrace_ms = 0\n";
/// How long a bot thinks.
const THOUGHT: Duration = Duration::from_millis(20);
/// Games that are played at once.
const GAMES: usize = 8;
/// Processes for each processor, that want all of it.
const LOOPS: usize = 32;
/// Plies that lead round; after 21 of them the first position stands for the third time.
const LOOP: &str = "240315042315042315042";

/// Processes that compute without end; killed when dropped, and gone soon after a test that could not do so.
struct BusyLoops(Vec<Child>);

impl BusyLoops {
    fn start(count: usize) -> Self {
        let busy = || Command::new("sh").args(["-c", "while kill -0 $PPID; do :; done"]).stderr(Stdio::null()).spawn();
        Self((0..count).map(|_| busy().unwrap()).collect())
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        // One that has ended already is no longer busy.
        for child in &mut self.0 {
            let _ = child.kill();
        }
        for child in &mut self.0 {
            let _ = child.wait();
        }
    }
}

/// A game by the test's own watch: when each turn began, and when its move was sent.
struct Watched {
    id: String,
    turns: Vec<(Start, Sent)>,
}

/// Plays one game to its end, whatever that is.
fn play(daemon: &Daemon) -> Watched {
    let opened = Instant::now();
    let mut game = daemon.game_between("bare", json!({"updates": true}), json!({"updates": true}));
    game.south.expect("turn").unwrap();
    // Nothing tells a bot by when the first turn of a game has begun.
    let mut start = Start { before: opened, after: opened + Duration::from_secs(3600) };
    let mut turns = Vec::new();
    for pit in LOOP.bytes().map(|digit| digit - b'0') {
        sleep(THOUGHT);
        let message = game.r#move(pit);
        let (mover, other) =
            if pit < 3 { (&mut game.south, &mut game.north) } else { (&mut game.north, &mut game.south) };
        let sent = Sent::now(mover, &message);
        if mover.read().unwrap()["type"] == "ended" {
            // Its flag fell, and perhaps before it was sent.
            turns.push((start, Sent { before: start.before, ..sent }));
            break;
        }
        turns.push((start, sent));
        start = Start { before: sent.before, after: Instant::now() };
        other.expect("moved").unwrap();
        if other.read().unwrap()["type"] == "ended" {
            break;
        }
    }
    Watched { id: game.id, turns }
}

/// What each turn of a record took and the daemon's own delay in it, the one that brought no move included.
fn charged(record: &Value) -> Vec<(Duration, Duration)> {
    let times = |key: &str| Vec::from_iter(record[key].as_array().unwrap().iter().map(micros));
    let mut turns = Vec::from_iter(times("elapsed_us").into_iter().zip(times("own_us")));
    if let Some(turn) = record.get("unfinished_turn") {
        turns.push((micros(&turn["elapsed_us"]), micros(&turn["own_us"])));
    }
    turns
}

/// 64 busy loops on 2 processors, and a daemon that has less weight than any of them, so that it waits under every
/// scheduler: each turn costs what the bot took by its own watch (`clock.own`), the one in which a flag fell too
/// (`clock.flag-confirmed`). A bot that is itself kept from running is late by its own watch as well.
#[test]
fn no_bot_is_charged_for_a_busy_machine() {
    let daemon = Daemon::start_nice(POOL);
    let loops = BusyLoops::start(LOOPS * available_parallelism().unwrap().get());
    let games = scope(|scope| {
        let games = [(); GAMES].map(|()| scope.spawn(|| play(&daemon)));
        games.map(|game| game.join().unwrap())
    });
    drop(loops);
    let export = daemon.export();
    assert_eq!(export.lines().count(), GAMES);
    let mut refunded = 0;
    for record in export.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let game = games.iter().find(|game| record["game"] == game.id).unwrap();
        let charged = charged(&record);
        assert_eq!(charged.len(), game.turns.len(), "{record}");
        for ((elapsed, own), (start, sent)) in charged.into_iter().zip(&game.turns) {
            sent.assert_elapsed(elapsed, *start, TICK);
            refunded += u32::from(elapsed + own > sent.after - start.before + TICK);
        }
    }
    assert!(refunded > 0, "every turn would have been right without a refund: the daemon did not wait");
}
