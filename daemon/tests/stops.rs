//! Bots that come back, and bots that are away, while the daemon stands still: it is none of their time.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use modiar_conformance::Peer;
use modiar_protocol::limits::MISSED_WINDOW;
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};
use support::Daemon;
use support::returning::{Pair, Returning};
use support::watch::micros;

const POOLS: &str = "[[pool]]\nname = \"short\"\nbase_ms = 2000\n";
const BASE: Duration = Duration::from_secs(2);
/// How long the daemon stands still: twice what a side has.
const STOP: Duration = Duration::from_secs(4);
/// What a machine may be late by.
const SLACK: Duration = Duration::from_millis(700);

/// Two guests in a game, South with its second turn to answer.
fn at_second_turn(daemon: &Daemon) -> Pair {
    let mut pair = Pair::between(Returning::guest(daemon), Returning::guest(daemon), "short");
    pair.play("24");
    pair.south.peer.expect("turn").unwrap();
    pair
}

/// South has its second turn, the daemon stands still, and South has connected anew and said hello; its connection
/// of before, which has ended where it `leaves`.
fn back_in_a_stop(daemon: &Daemon, leaves: bool) -> (Pair, Peer, Instant) {
    loop {
        let mut pair = at_second_turn(daemon);
        let began = Instant::now();
        if leaves {
            pair.south.peer = daemon.connect();
        }
        sleep(Duration::from_millis(50));
        daemon.freeze();
        if began.elapsed() < BASE / 2 {
            let before = std::mem::replace(&mut pair.south.peer, daemon.connect());
            let hello = pair.south.hello();
            pair.south.peer.send(&hello).unwrap();
            return (pair, before, began);
        }
        daemon.thaw(); // a slow machine: once more
    }
}

/// North gives up: what South's second turn was charged, and what was taken off.
fn second_turn(daemon: &Daemon, pair: &mut Pair) -> (Duration, Value) {
    let turn = pair.north.peer.skip_to("turn").unwrap();
    assert_eq!(turn["ply"], 4, "{turn}");
    pair.north.peer.send(&json!({"type": "resign", "game": pair.id})).unwrap();
    pair.north.peer.skip_to("ended").unwrap();
    let record = daemon.record(&pair.id);
    (micros(&record["elapsed_us"][2]), record)
}

/// `clock.own-clamp`, `clock.own-several`: a move right behind the hello of a return waits as one on a connection of before.
#[test]
fn a_move_behind_the_hello_of_a_return_is_not_charged_for_a_stop() {
    let daemon = Daemon::start_with(POOLS, &[]);
    for leaves in [true, false] {
        let (mut pair, _before, began) = back_in_a_stop(&daemon, leaves);
        pair.south.peer.send(&json!({"type": "move", "game": pair.id, "pit": 0, "ply": 3})).unwrap();
        let thought = began.elapsed();
        sleep(STOP);
        daemon.thaw();
        let (elapsed, record) = second_turn(&daemon, &mut pair);
        assert!(elapsed <= thought + SLACK, "left: {leaves}, thought {thought:?}: {record}");
    }
}

/// However many wait to be accepted: of 128 and more tokio lets others have a turn in between.
#[test]
fn a_crowd_that_comes_in_a_stop_makes_nobody_late() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let mut pair = at_second_turn(&daemon);
    let began = Instant::now();
    daemon.freeze();
    let crowd = Vec::from_iter((0..200).map(|_| daemon.connect()));
    pair.south.peer = daemon.connect();
    let hello = pair.south.hello();
    pair.south.peer.send(&hello).unwrap();
    pair.south.peer.send(&json!({"type": "move", "game": pair.id, "pit": 0, "ply": 3})).unwrap();
    let thought = began.elapsed();
    sleep(STOP);
    daemon.thaw();
    let (elapsed, record) = second_turn(&daemon, &mut pair);
    assert!(elapsed <= thought + SLACK, "thought {thought:?}: {record}");
    drop(crowd);
}

/// `clock.return`, `clock.flag-away`: so is one that answers the turn that a return tells.
#[test]
fn who_comes_back_in_a_stop_answers_as_if_there_had_been_none() {
    let daemon = Daemon::start_with(POOLS, &[]);
    for leaves in [true, false] {
        let (mut pair, _before, began) = back_in_a_stop(&daemon, leaves);
        let thought = began.elapsed();
        sleep(STOP);
        daemon.thaw();
        let turn = pair.south.peer.skip_to("turn").unwrap();
        assert!(turn["remaining_ms"]["south"].as_u64() >= Some(500), "{turn}");
        pair.south.peer.send(&json!({"type": "move", "game": pair.id, "pit": 0})).unwrap();
        let (elapsed, record) = second_turn(&daemon, &mut pair);
        assert!(elapsed <= thought + SLACK, "left: {leaves}, thought {thought:?}: {record}");
    }
}

/// `clock.flag-away`: each late check waits, not the first alone.
#[test]
fn every_late_check_of_an_absent_bot_waits_as_long_again() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let mut pair = at_second_turn(&daemon);
    let began = Instant::now();
    pair.south.peer = daemon.connect();
    for _ in 0..2 {
        daemon.freeze();
        sleep(STOP);
        daemon.thaw();
        // Within the time that the first late check gives.
        sleep(Duration::from_millis(500));
    }
    let late = began.elapsed();
    let ended = pair.north.peer.skip_to("ended").unwrap();
    assert_eq!(ended["termination"], "time_forfeit");
    let elapsed = micros(&daemon.record(&pair.id)["unfinished_turn"]["elapsed_us"]);
    assert!(elapsed > late + STOP / 2, "it fell at {elapsed:?}, after stops until {late:?}");
}

/// `session.missed`: an end that its bot's link broke upon is not read, though the daemon saw that after a stop of more than the
/// window.
#[test]
fn what_a_link_broke_upon_is_unread_over_a_stop() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let mut pair = Pair::between(Returning::guest(&daemon), Returning::guest(&daemon), "short");
    pair.south.peer.expect("turn").unwrap();
    pair.south.peer.send(&json!({"type": "resign", "game": pair.id})).unwrap();
    pair.south.peer.expect("ended").unwrap();
    daemon.freeze();
    pair.north.peer = daemon.connect();
    sleep(MISSED_WINDOW + Duration::from_secs(1));
    daemon.thaw();
    assert_eq!(pair.north.missed(&daemon, &pair.id)["termination"], "resignation");
}

/// `session.hello-deadline`: what the daemon stood still is none of it, be it that more than one line is needed.
#[test]
fn a_handshake_goes_on_after_a_stop() {
    let daemon = Daemon::start_with("[limits]\nhandshake_ms = 1500\n", &[]);
    let mut peer = daemon.connect();
    // The daemon has accepted it.
    sleep(Duration::from_millis(100));
    daemon.freeze();
    peer.send(&json!({"type": "hello", "protocol": 1, "name": "of three words"})).unwrap();
    sleep(STOP);
    daemon.thaw();
    assert_eq!(peer.expect("error").unwrap()["code"], "bad_name");
    sleep(Duration::from_millis(200));
    peer.send(&json!({"type": "hello", "protocol": 1})).unwrap();
    peer.expect("welcome").unwrap();
}
