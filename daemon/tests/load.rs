//! A thousand games of random bots, and whether what was stored is what was played and what was told.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

#[path = "load/naive.rs"]
mod naive;
mod support;

use modiar_conformance::Peer;
use naive::Board;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use support::Daemon;

const GAMES: i64 = 1000;
const BOTS: u64 = 128;

/// What one side of a game was told.
struct Told {
    started: Value,
    turns: Vec<Value>,
    moved: Vec<Value>,
    ended: Option<Value>,
}

/// A bot that plays a random legal pit and keeps all it is told.
struct Bot {
    peer: Peer,
    updates: bool,
    dice: u64,
    told: Vec<Told>,
}

impl Bot {
    /// Seeks one game after the other as long as there are tickets; a game takes two.
    fn play(mut self, tickets: &AtomicI64) -> Vec<Told> {
        while tickets.fetch_sub(1, Ordering::Relaxed) > 0 {
            self.peer.send(&json!({"type": "seek", "pool": "practice"})).unwrap();
            while self.hear() {}
        }
        // `moved` comes to who wanted it and to nobody else (`session.updates`).
        for game in &self.told {
            let plies = game.ended.as_ref().unwrap()["ply"].as_u64().unwrap();
            assert_eq!(game.moved.len() as u64, if self.updates { plies } else { 0 });
        }
        self.told
    }

    /// Hears one message; false after the end of the seek.
    fn hear(&mut self) -> bool {
        let message = self.peer.read().unwrap();
        match message["type"].as_str().unwrap() {
            "seeking" => {}
            "started" => {
                self.told.push(Told { started: message, turns: Vec::new(), moved: Vec::new(), ended: None });
            }
            "turn" => {
                let answer = json!({"type": "move", "game": message["game"], "pit": self.choose(&message["legal"])});
                self.told.last_mut().unwrap().turns.push(message);
                self.peer.send(&answer).unwrap();
            }
            "moved" => self.told.last_mut().unwrap().moved.push(message),
            "ended" => assert!(self.told.last_mut().unwrap().ended.replace(message).is_none(), "ended twice"),
            "seek_ended" => return false,
            _ => panic!("not awaited: {message}"),
        }
        true
    }

    fn choose(&mut self, legal: &Value) -> Value {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let legal = legal.as_array().unwrap();
        legal[usize::try_from(self.dice >> 33).unwrap() % legal.len()].clone()
    }
}

/// Both sides of every game, South first.
fn play_all(daemon: &Daemon) -> HashMap<String, [Told; 2]> {
    let tickets = Arc::new(AtomicI64::new(2 * GAMES));
    let bots: Vec<_> = (0..BOTS)
        .map(|dice| {
            let updates = dice % 2 == 0;
            let (peer, _) = daemon.guest(json!({"updates": updates}));
            let tickets = Arc::clone(&tickets);
            thread::spawn(move || Bot { peer, updates, dice, told: Vec::new() }.play(&tickets))
        })
        .collect();
    let mut games: HashMap<String, Vec<Told>> = HashMap::new();
    for told in bots.into_iter().flat_map(|bot| bot.join().unwrap()) {
        games.entry(told.started["game"].as_str().unwrap().to_owned()).or_default().push(told);
    }
    let both = |(id, mut sides): (String, Vec<Told>)| {
        sides.sort_by_key(|told| told.started["side"] == "north");
        (id, sides.try_into().ok().expect("two sides a game"))
    };
    games.into_iter().map(both).collect()
}

/// A record is refereed by the naive rules and compared with what both sides were told, ply by ply.
fn check(record: &Value, [south, north]: &[Told; 2]) {
    let moves: Vec<usize> = record["moves"].as_str().unwrap().bytes().map(|digit| usize::from(digit - b'0')).collect();
    let mut board = Board::start();
    let mut remaining = [record["time"]["base_ms"].as_u64().unwrap() * 1000; 2];
    let mut last = Value::Null;
    for (at, pit) in moves.iter().enumerate() {
        assert_eq!(board.ending(&record["rules"]), None, "{record}");
        let legal = board.legal();
        assert!(legal.contains(pit), "ply {}: {record}", board.ply);
        let (mover, ply) = (board.mover(), board.ply);
        let turn = &[south, north][mover].turns[at / 2];
        let expected = json!({"type": "turn", "game": record["game"], "ply": ply, "side": Board::name(mover),
            "pits": board.pits, "captured": sides(board.captured), "legal": legal,
            "remaining_ms": sides(remaining.map(|us| us / 1000))});
        assert_eq!(*turn, with(expected, "last", &last), "{record}");

        let taken = board.play(*pit);
        let elapsed = charge(record, at, &mut remaining[mover]);
        last =
            json!({"ply": ply, "side": Board::name(mover), "pit": pit, "taken": taken, "elapsed_ms": elapsed / 1000});
        for moved in [south, north].into_iter().filter_map(|told| told.moved.get(at)) {
            assert_eq!(moved["remaining_ms"], sides(remaining.map(|us| us / 1000)), "{record}");
            assert_eq!((&moved["pits"], &moved["captured"]), (&json!(board.pits), &sides(board.captured)));
            for key in ["ply", "side", "pit", "taken", "elapsed_ms"] {
                assert_eq!(moved[key], last[key], "{key} of {moved}");
            }
        }
    }
    assert_eq!(record["remaining_us"], sides(remaining), "{record}");
    check_end(record, &board, [south, north]);
}

/// The clock of one ply: what was charged follows from what elapsed (`record.clock`), and comes off
/// (`record.identity`).
fn charge(record: &Value, at: usize, remaining: &mut u64) -> u64 {
    let [elapsed, charged] = ["elapsed_us", "charged_us"].map(|column| record[column][at].as_u64().unwrap());
    let time = |name: &str| record["time"][name].as_u64().unwrap() * 1000;
    assert_eq!(charged, elapsed.saturating_sub(time("grace_ms")), "ply {}: {record}", at + 1);
    *remaining = *remaining + time("increment_ms") - charged;
    elapsed
}

fn check_end(record: &Value, board: &Board, told: [&Told; 2]) {
    let (score, result) = board.outcome();
    assert_eq!(record["termination"], board.ending(&record["rules"]).unwrap(), "{record}");
    assert_eq!((&record["score"], &record["result"]), (&score, &json!(result)), "{record}");
    assert_eq!(record["pits"], json!(board.pits), "{record}");
    let ended = json!({"type": "ended", "game": record["game"], "result": result, "score": score,
        "termination": record["termination"], "pits": board.pits, "ply": board.ply - 1});
    for (side, told) in told.into_iter().enumerate() {
        assert_eq!(*told.ended.as_ref().unwrap(), ended, "{record}");
        assert_eq!(told.started["side"], Board::name(side));
        for name in ["south", "north"] {
            assert_eq!(told.started[name]["name"], record[name]["name"], "{record}");
        }
    }
}

fn sides([south, north]: [u64; 2]) -> Value {
    json!({"south": south, "north": north})
}

fn with(mut object: Value, key: &str, value: &Value) -> Value {
    if !value.is_null() {
        object[key] = value.clone();
    }
    object
}

/// `text` with the digit at `at` replaced by the next one below `base`.
fn altered(text: &str, at: usize, base: u8) -> String {
    let digit = (text.as_bytes()[at] - b'0' + 1) % base + b'0';
    format!("{}{}{}", &text[..at], char::from(digit), &text[at + 1..])
}

/// The place behind `key` in a record's line.
fn behind(line: &str, key: &str) -> usize {
    line.find(key).unwrap_or_else(|| panic!("no {key} in {line}")) + key.len()
}

/// What `modiar games verify` says of an export whose records went through `alter`; it must have found something.
fn findings(daemon: &Daemon, export: &str, alter: impl Fn(usize, &str) -> Option<String>) -> String {
    let mut copy = String::new();
    for (at, line) in export.lines().enumerate() {
        writeln!(copy, "{}", alter(at, line).as_deref().unwrap_or(line)).unwrap();
    }
    let path = daemon.data().join("../altered.jsonl");
    let (status, report) = verify(daemon, &path, &copy);
    assert_eq!(status, Some(1), "{report}");
    report
}

fn verify(daemon: &Daemon, path: &Path, records: &str) -> (Option<i32>, String) {
    std::fs::write(path, records).unwrap();
    let (status, report) = daemon.run(&["games", "verify", path.to_str().unwrap()]);
    (status.code(), report)
}

/// One altered digit is found, and named by its game, and by its ply where it is one ply's.
fn check_alterations(daemon: &Daemon, export: &str) {
    let lines: Vec<&str> = export.lines().collect();
    let id = |at: usize| {
        let from = behind(lines[at], "\"game\":\"");
        &lines[at][from..from + 33]
    };
    let only = |wanted: usize, key: &'static str, base: u8| {
        move |at: usize, line: &str| (at == wanted).then(|| altered(line, behind(line, key), base))
    };
    // The third step from pit p is p + 3, a pit of the other row: it is never legal, so that the ply is known.
    let thrice = |at: usize, line: &str| {
        let place = behind(line, "\"moves\":\"") + 4;
        (at == 500).then(|| (0..3).fold(line.to_owned(), |line, _| altered(&line, place, 6)))
    };
    let report = findings(daemon, export, thrice);
    assert!(report.contains(&format!("game {} ply 5: pit", id(500))), "{report}");
    let report = findings(daemon, export, only(501, "\"charged_us\":[", 10));
    assert!(report.contains(&format!("game {} ply 1: ", id(501))), "{report}");
    let report = findings(daemon, export, only(502, "\"score\":{\"south\":", 10));
    assert!(report.contains(&format!("game {}: the score is", id(502))), "{report}");

    // Any pit for any other. Should another line lead to the same end, the link from the next record is broken still.
    let anywhere = |at: usize, line: &str| {
        let from = behind(line, "\"moves\":\"");
        let plies = line[from..].find('"').unwrap();
        at.is_multiple_of(10).then(|| altered(line, from + at / 10 % plies, 6))
    };
    let report = findings(daemon, export, anywhere);
    for at in (0..lines.len()).step_by(10) {
        let link = format!("game {}: the record before it", id(at + 1));
        assert!(report.contains(&format!("game {}", id(at))) || report.contains(&link), "{}: {report}", id(at));
    }
}

/// What was played is what was told and what is stored (`record.replay`, `record.identity`, `record.clock`,
/// `record.seq`, `forfeit.once`, `transport.game-order`), and `games verify` finds what was altered.
#[test]
fn a_thousand_games_are_stored_as_they_were_played_and_told() {
    let daemon = Daemon::start();
    let told = play_all(&daemon);
    assert_eq!(told.len(), usize::try_from(GAMES).unwrap());
    let export = daemon.export();
    let records: Vec<Value> = export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), told.len());
    for (at, record) in records.iter().enumerate() {
        assert_eq!(record["seq"], at + 1);
        check(record, &told[record["game"].as_str().unwrap()]);
    }
    let (status, report) = verify(&daemon, &daemon.data().join("../export.jsonl"), &export);
    assert_eq!(status, Some(0), "{report}");
    let (status, report) = daemon.run(&["games", "verify", "--data", daemon.data().to_str().unwrap()]);
    assert!(status.success(), "{report}");
    check_alterations(&daemon, &export);
}
