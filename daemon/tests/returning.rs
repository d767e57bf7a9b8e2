//! Bots whose link breaks: what they missed, and who they are when they come back.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_conformance::Peer;
use modiar_protocol::limits::{GUESTS_KEPT, MISSED_WINDOW};
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;
use support::Daemon;
use support::process::reset_at_close;
use support::returning::{Pair, Returning};

/// Plies that lead round; after 21 of them the first position stands for the third time.
const LOOP: &str = "240315042315042315042";
const CONFIG: &str = "[[pool]]\nname = \"blitz\"\nbase_ms = 60000\nrated = false\nopenings = \"start\"\n";

/// Ends the connection with a reset, whatever is unread.
fn reset(bot: &Returning) {
    socket2::SockRef::from(bot.peer.stream()).set_linger(Some(Duration::ZERO)).unwrap();
    bot.peer.stream().shutdown(std::net::Shutdown::Both).unwrap();
}

/// `session.missed`, `forfeit.once`
#[test]
fn an_ended_that_was_not_read_is_told_in_the_next_welcome() {
    let daemon = Daemon::start_with(CONFIG, &[]);
    let mut pair = Pair::start(&daemon, "blitz");
    for _ in 0..2 {
        pair.play(&LOOP[..20]);
        pair.south.peer.expect("turn").unwrap();
        // It is gone before, or while, its end is on its way.
        reset(&pair.north);
        pair.answer(&LOOP[20..]);
        let ended = pair.south.peer.expect("ended").unwrap();
        assert_eq!(pair.north.missed(&daemon, &pair.id), ended);
        pair = Pair::between(pair.south, pair.north, "blitz");
    }
    // Here it had come and was not read.
    pair.play(LOOP);
    let ended = pair.south.peer.expect("ended").unwrap();
    assert_eq!(daemon.record(&pair.id)["termination"], ended["termination"]);
    reset(&pair.north);
    let welcome = pair.north.come_back(&daemon);
    assert!(welcome["missed"].as_array().unwrap().contains(&ended), "{welcome}");
    assert_eq!(daemon.export().lines().count(), 3);
}

/// `session.missed`: what lies long in the server's own hands, for its bot's system takes no more, is not lost by a kill.
#[test]
fn an_ended_that_a_full_system_never_took_is_told_after_a_kill() {
    let daemon = Daemon::start_with(CONFIG, &[]);
    let token = daemon.register("slow");
    let mut slow = daemon.connect_narrow();
    slow.send(&json!({"type": "hello", "protocol": 1, "name": "slow", "token": token})).unwrap();
    slow.expect("welcome").unwrap();
    let mut other = Returning::registered(&daemon, "other");
    slow.send(&json!({"type": "challenge", "opponent": "other", "pool": "blitz"})).unwrap();
    let challenge = other.peer.expect("challenged").unwrap()["challenge"].clone();
    other.peer.send(&json!({"type": "accept", "challenge": challenge})).unwrap();
    let game = slow.skip_to("started").unwrap()["game"].clone();
    for _ in 0..60 {
        slow.send(&json!({"type": "ping", "ref": "x".repeat(60)})).unwrap();
        thread::sleep(Duration::from_millis(51)); // as fast as it may speak
    }
    other.peer.send(&json!({"type": "resign", "game": game})).unwrap();
    other.peer.skip_to("ended").unwrap();
    thread::sleep(MISSED_WINDOW + Duration::from_secs(1));
    let daemon = Daemon::start_in(daemon.kill(), CONFIG, &[]);
    let mut slow = daemon.connect();
    slow.send(&json!({"type": "hello", "protocol": 1, "name": "slow", "token": token})).unwrap();
    let welcome = slow.expect("welcome").unwrap();
    let missed: Vec<&Value> = welcome["missed"].as_array().unwrap().iter().map(|ended| &ended["game"]).collect();
    assert_eq!(missed, [&game], "{welcome}");
    // The other one's system took it.
    assert_eq!(other.come_back(&daemon)["missed"], json!([]));
}

/// `session.resume-ending`, `session.missed`: in whatever moment after its last word a bot comes back, the welcome tells of the
/// game, and of each that it lists `started` follows, then its `ended`.
#[test]
fn a_bot_that_comes_back_as_its_game_ends_is_told_of_it() {
    let daemon = Daemon::start_with(CONFIG, &[]);
    let mut pair = Pair::start(&daemon, "blitz");
    for round in 0..25 {
        pair.south.peer.expect("turn").unwrap();
        pair.south.peer.send(&json!({"type": "resign", "game": pair.id})).unwrap();
        thread::sleep(Duration::from_micros(600 * round));
        reset(&pair.north);
        let ended = pair.north.missed(&daemon, &pair.id);
        let told = pair.south.peer.expect("ended").unwrap();
        assert_eq!((&ended, ended["termination"].as_str()), (&told, Some("resignation")));
        pair = Pair::between(pair.south, pair.north, "blitz");
    }
}

/// `session.missed`: a welcome can be lost as an `ended` can; what is sent along with hello does not show that it was read.
#[test]
fn a_missed_that_was_not_read_is_told_again() {
    let daemon = Daemon::start_with(CONFIG, &[]);
    let mut pair = Pair::start(&daemon, "blitz");
    pair.play(&LOOP[..20]);
    reset(&pair.north);
    pair.south.peer.expect("turn").unwrap();
    pair.answer(&LOOP[20..]);
    let ended = pair.south.peer.expect("ended").unwrap();
    for _ in 0..3 {
        assert_eq!(pair.north.come_back(&daemon)["missed"], json!([ended]));
        reset(&pair.north);
    }
    let mut hasty = daemon.connect();
    hasty.send_bytes(format!("{}\n{{\"type\":\"ping\"}}\n", pair.north.hello()).as_bytes()).unwrap();
    assert_eq!(hasty.expect("welcome").unwrap()["missed"], json!([ended]));
    hasty.expect("pong").unwrap();
    assert_eq!(pair.north.come_back(&daemon)["missed"], json!([ended]));
    pair.north.peer.send(&json!({"type": "ping"})).unwrap();
    pair.north.peer.expect("pong").unwrap();
    assert_eq!(pair.north.come_back(&daemon)["missed"], json!([]));
}

/// `session.resume`, `session.newest-wins`
#[test]
fn a_game_goes_on_on_another_connection() {
    let daemon = Daemon::start_with(CONFIG, &[]);
    let mut pair = Pair::start(&daemon, "blitz");
    pair.play(&LOOP[..6]);
    let turn = pair.south.peer.expect("turn").unwrap();
    let mut old: Peer = std::mem::replace(&mut pair.south.peer, daemon.connect());
    let started = pair.south.resume(&daemon, &pair.id);
    assert_eq!(
        (started["moves"].as_str(), started["remaining_ms"].clone()),
        (Some(&LOOP[..6]), turn["remaining_ms"].clone())
    );
    assert_eq!(pair.south.peer.expect("turn").unwrap(), turn);
    assert_eq!(old.expect("goodbye").unwrap()["reason"], "replaced");
    old.expect_close().unwrap();
    pair.answer(&LOOP[6..]);
    assert_eq!(pair.ended()["termination"], "repetition");
}

/// `clock.wire-running`, `session.resume`: who comes back in its own turn reads what it has left by then, and a spectator too.
#[test]
fn the_clock_of_a_turn_that_runs_is_told_as_it_is() {
    let daemon = Daemon::start_with(CONFIG, &[]);
    let mut pair = Pair::start(&daemon, "blitz");
    let turn = pair.south.peer.expect("turn").unwrap();
    assert_eq!(turn["remaining_ms"], json!({"south": 60_000, "north": 60_000}));
    reset(&pair.south);
    // What the kernel says of the wait of its hello comes in ticks of some ms, and is off its turn (`clock.return`).
    thread::sleep(Duration::from_millis(620));
    let started = pair.south.resume(&daemon, &pair.id);
    let again = pair.south.peer.expect("turn").unwrap();
    let (mut watcher, _) = daemon.guest(json!({}));
    watcher.send(&json!({"type": "watch", "game": pair.id})).unwrap();
    for told in [started, again, watcher.expect("started").unwrap()] {
        let left = told["remaining_ms"]["south"].as_u64().unwrap();
        // The grace is never charged.
        assert!((50_000..=59_450).contains(&left) && told["remaining_ms"]["north"] == 60_000, "{told}");
    }
}

/// `session.replaced-lines`: a move and half a line are read, then the bot says hello elsewhere. The move counts; what
/// comes after that is not read, not even the rest of the line.
#[test]
fn a_replaced_connection_is_heard_up_to_the_new_hello() {
    let daemon = Daemon::start_with(CONFIG, &[]);
    let mut pair = Pair::start(&daemon, "blitz");
    pair.play(&LOOP[..2]);
    pair.south.peer.expect("turn").unwrap();
    let r#move = json!({"type": "move", "game": pair.id, "pit": 0});
    let resign = json!({"type": "resign", "game": pair.id}).to_string();
    let (half, rest) = resign.split_at(resign.len() / 2);
    pair.south.peer.send_bytes(format!("{move}\n{{\"type\":\"ping\"}}\n{half}").as_bytes()).unwrap();
    pair.south.peer.expect("pong").unwrap();
    let mut old = std::mem::replace(&mut pair.south.peer, daemon.connect());
    assert_eq!(pair.south.resume(&daemon, &pair.id)["moves"], LOOP[..3]);
    assert_eq!(old.expect("goodbye").unwrap()["reason"], "replaced");
    old.send_bytes(format!("{rest}\n{resign}\n").as_bytes()).unwrap();
    old.expect_close().unwrap();
    pair.play(&LOOP[3..]);
    assert_eq!(pair.ended()["termination"], "repetition");
}

/// `session.guest-resume`, `session.guest-name-held`
#[test]
fn a_guest_is_itself_by_its_token_alone() {
    let daemon = Daemon::start_with(CONFIG, &[]);
    let mut guest = Returning::guest(&daemon);
    let hello = json!({"type": "hello", "protocol": 1, "name": guest.name});
    let refused = |hello: &serde_json::Value| {
        let mut peer = daemon.connect();
        peer.send(hello).unwrap();
        peer.expect("error").unwrap()["code"].clone()
    };
    assert_eq!(refused(&hello), "name_taken");
    let mut wrong = hello;
    wrong["resume"] = json!("modiar-wrong");
    assert_eq!(refused(&wrong), "name_taken");
    assert_eq!(refused(&json!({"type": "hello", "protocol": 1, "resume": "modiar-wrong"})), "auth_failed");
    guest.come_back(&daemon);
    guest.peer.send(&json!({"type": "bye"})).unwrap();
    guest.peer.expect("goodbye").unwrap();
    guest.come_back(&daemon);
}

/// `session.guest-resume`: however many come and go, a bounded number is remembered, and the first are forgotten first.
#[test]
fn of_many_guests_that_left_the_first_are_forgotten() {
    let daemon = Daemon::start();
    let hello = |resume: Option<&Value>| {
        let mut peer = daemon.connect();
        peer.send(&json!({"type": "hello", "protocol": 1, "resume": resume})).unwrap();
        let answer = peer.read().unwrap();
        reset_at_close(peer.stream());
        answer
    };
    let tokens: Vec<Value> = (0..=GUESTS_KEPT).map(|_| hello(None)["resume"].take()).collect();
    daemon.wait_for_metric("modiar_connections", 0.0);
    assert_eq!(hello(Some(&tokens[0]))["code"], "auth_failed");
    for token in [&tokens[GUESTS_KEPT / 2], &tokens[GUESTS_KEPT]] {
        assert_eq!(hello(Some(token))["type"], "welcome");
    }
}

/// The refusal of a damaged journal says to move it away: what ended last is told all the same, for the database has it.
#[test]
fn without_the_journal_what_ended_last_is_told() {
    let daemon = Daemon::start_with(CONFIG, &[]);
    let mut pair = Pair::start(&daemon, "blitz");
    pair.south.peer.expect("turn").unwrap();
    pair.north.peer.send(&json!({"type": "resign", "game": pair.id})).unwrap();
    pair.north.peer.expect("ended").unwrap();
    let folder = daemon.kill();
    std::fs::rename(folder.path().join("data/journal"), folder.path().join("journal-before")).unwrap();
    let daemon = Daemon::start_in(folder, CONFIG, &[]);
    assert_eq!(pair.south.missed(&daemon, &pair.id)["termination"], "resignation");
}
