//! The house bots of a running daemon: who meets them, what is charged to them, and what becomes of their games at a stop.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_conformance::Peer;
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;
use support::returning::Returning;
use support::watch::micros;
use support::{Daemon, HOUSE_BOTS};
use tempfile::TempDir;

/// A pool in which whoever plays at all has time enough.
const PATIENT: &str = "[[pool]]\nname = \"patient\"\nbase_ms = 3600000\nrated = false\nopenings = \"start\"\n";

fn start(config: &str) -> Daemon {
    Daemon::start_with(config, &[HOUSE_BOTS])
}

fn start_in(data: TempDir, config: &str) -> Daemon {
    Daemon::start_in(data, config, &[HOUSE_BOTS])
}

fn is_house(player: &Value) -> bool {
    player["name"].as_str().unwrap().starts_with("house-") && player["guest"] == false
}

/// The house bot's side in a game that just started.
fn house_side(started: &Value) -> &'static str {
    let sides = ["south", "north"].map(|side| is_house(&started[side]));
    assert_eq!(sides.iter().filter(|house| **house).count(), 1, "{started}");
    if sides[0] { "south" } else { "north" }
}

fn answer(turn: &Value) -> Value {
    json!({"type": "move", "game": turn["game"], "pit": turn["legal"][0], "ply": turn["ply"]})
}

/// Plays what there is to play until so many games have ended: their ends.
fn play(bot: &mut Peer, games: usize) -> Vec<Value> {
    let mut ends = Vec::new();
    while ends.len() < games {
        let message = bot.read().unwrap();
        match message["type"].as_str().unwrap() {
            "turn" => bot.send(&answer(&message)).unwrap(),
            "ended" => ends.push(message),
            "error" | "goodbye" => panic!("{message}"),
            _ => {}
        }
    }
    ends
}

/// Challenges a house bot, which sits down when the oracle's table stands; what the bot reads as the game starts.
fn challenge(bot: &mut Peer, opponent: &str, pool: &str, games: u64) -> Value {
    let message = json!({"type": "challenge", "opponent": opponent, "pool": pool, "side": "south", "games": games});
    loop {
        bot.send(&message).unwrap();
        let answer = bot.read().unwrap();
        if answer["type"] == "challenge_sent" {
            return bot.expect("started").unwrap();
        }
        assert_eq!(answer["code"], "unknown_bot", "{answer}");
        // Within the rate.
        thread::sleep(Duration::from_millis(60));
    }
}

fn assert_verified(daemon: &Daemon) {
    let (status, report) = daemon.run(&["games", "verify", "--data", daemon.data().to_str().unwrap()]);
    assert!(status.success(), "{report}");
}

/// `session.house`: who finds no other opponent is given a house bot, with the default configuration too. The record names
/// its build, and it is no guest.
#[test]
fn a_lone_bot_is_given_a_house_bot_and_plays_to_the_end() {
    let daemon = start("");
    let (mut guest, name) = daemon.guest(json!({}));
    guest.send(&json!({"type": "seek", "pool": "blitz"})).unwrap();
    let started = guest.skip_to("started").unwrap();
    let house = house_side(&started);
    assert!(started[house]["version"].as_str().unwrap().starts_with("brain 1"), "{started}");
    let ended = play(&mut guest, 1).remove(0);
    assert!(["immobile", "repetition", "quiet_plies"].map(Value::from).contains(&ended["termination"]), "{ended}");
    guest.expect("seek_ended").unwrap();
    let record = daemon.record(started["game"].as_str().unwrap());
    assert_eq!((&record[house], record["rated"].as_bool()), (&record_of(&started[house]), Some(false)));
    assert!(["south", "north"].iter().any(|side| record[side]["name"] == name), "{record}");
    assert_verified(&daemon);
}

/// A player of `started` as its record has it.
fn record_of(player: &Value) -> Value {
    let (name, version, rating) = (&player["name"], &player["version"], &player["rating"]);
    json!({"name": name, "guest": false, "version": version, "rating": rating, "rd": 30.0, "volatility": 0.06})
}

/// `session.house`: a challenge is accepted, and the series goes on with the sides swapped.
#[test]
fn a_house_bot_accepts_a_challenge() {
    let daemon = start("");
    let (mut guest, _) = daemon.guest(json!({}));
    let first = challenge(&mut guest, "House-Level3", "practice", 2);
    assert_eq!(first["north"]["name"], "house-level3", "{first}");
    play(&mut guest, 1);
    let second = guest.expect("started").unwrap();
    assert_eq!(second["south"]["name"], "house-level3", "{second}");
    play(&mut guest, 1);
    assert_verified(&daemon);
}

/// `session.house`: all of them wait in every pool, and two of them never meet.
#[test]
fn house_bots_never_meet() {
    let daemon = start("");
    let (mut guest, _) = daemon.guest(json!({}));
    challenge(&mut guest, "house-perfect", "practice", 1);
    guest.expect("turn").unwrap();
    let (mut scout, _) = daemon.guest(json!({}));
    for pool in ["bullet", "blitz", "practice"] {
        loop {
            scout.send(&json!({"type": "seek", "pool": pool})).unwrap();
            let seeking = scout.expect("seeking").unwrap();
            scout.send(&json!({"type": "unseek", "pool": pool})).unwrap();
            scout.expect("seek_ended").unwrap();
            assert_eq!(seeking["waiting"], 1, "those of the house are none who wait");
            if seeking["reason"].as_str().unwrap().contains("a house bot sits down with you") {
                break;
            }
            thread::sleep(Duration::from_millis(120));
        }
    }
    let values = daemon.metrics();
    assert_eq!(values["modiar_games_running"], 1.0, "the guest's");
    // They are no connections of the outside (daemon/METRICS.md).
    assert_eq!(values["modiar_connections"], 2.0);
    assert_eq!(daemon.export(), "");
}

/// A guest that challenges a house bot so often and has read that all the games started, and the turns that it has not
/// answered yet.
fn start_games(daemon: &Daemon, games: usize) -> (Peer, Vec<Value>) {
    let (mut guest, _) = daemon.guest(json!({"games": games}));
    let message = json!({"type": "challenge", "opponent": "house-random", "pool": "patient"});
    (0..games).for_each(|_| guest.send(&message).unwrap());
    let (mut started, mut turns) = (0, Vec::new());
    while started < games {
        let message = guest.read().unwrap();
        match message["type"].as_str().unwrap() {
            "started" => {
                house_side(&message);
                started += 1;
            }
            "turn" => turns.push(message),
            _ => {}
        }
    }
    (guest, turns)
}

/// `limits.house`: a house bot plays any number of games at once, and all of them come to their end.
#[test]
fn a_thousand_games_at_once_against_house_bots() {
    const GUESTS: usize = 16;
    const EACH: usize = 64;
    let daemon = start(&format!("[limits]\nmessages_per_second = 1000\nmessage_burst = 1000\n{PATIENT}"));
    let (mut scout, _) = daemon.guest(json!({}));
    let game = challenge(&mut scout, "house-random", "patient", 1)["game"].clone();
    scout.send(&json!({"type": "resign", "game": game})).unwrap();
    scout.skip_to("ended").unwrap();
    let guests: Vec<_> = (0..GUESTS).map(|_| start_games(&daemon, EACH)).collect();
    assert_eq!(daemon.metrics()["modiar_games_running"], (GUESTS * EACH) as f64);
    thread::scope(|scope| {
        for (mut guest, turns) in guests {
            scope.spawn(move || {
                turns.iter().for_each(|turn| guest.send(&answer(turn)).unwrap());
                for ended in play(&mut guest, EACH) {
                    assert_ne!(ended["termination"], "time_forfeit", "{ended}");
                }
            });
        }
    });
    assert_eq!(daemon.wait_for_metric("modiar_games_running", 0.0)["modiar_slow_readers_total"], 0.0);
    assert_verified(&daemon);
}

/// `clock.own-memory`: what a house bot waits while the server stands still is none of its time, in whichever of many games
/// it was to move.
#[test]
fn a_stop_of_the_process_costs_a_house_bot_nothing() {
    const GAMES: usize = 64;
    const STOP: Duration = Duration::from_secs(2);
    let daemon = start(PATIENT);
    let (mut guest, name) = daemon.guest(json!({"games": GAMES}));
    // Of so many at once most are the first of a pair, whose second follows.
    guest.send(&json!({"type": "seek", "pool": "patient", "games": 2 * GAMES})).unwrap();
    for _ in 0..3 {
        let turns: Vec<Value> = (0..GAMES).map(|_| guest.skip_to("turn").unwrap()).collect();
        let answers: String = turns.iter().map(|turn| format!("{}\n", answer(turn))).collect();
        // The daemon stands still in the midst of these: house bots have turns then that they have not seen.
        guest.send_bytes(answers.as_bytes()).unwrap();
        daemon.signal(libc::SIGSTOP);
        thread::sleep(STOP);
        daemon.thaw();
    }
    play(&mut guest, 2 * GAMES);
    for record in daemon.export().lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let house = usize::from(record["south"]["name"] == *name);
        for elapsed in record["elapsed_us"].as_array().unwrap().iter().skip(house).step_by(2) {
            assert!(micros(elapsed) < STOP / 2, "{record}");
        }
    }
}

/// A guest with its second turn in a game against a house bot.
fn at_second_turn(daemon: &Daemon) -> (Returning, String, Value) {
    let mut guest = Returning::guest(daemon);
    let game = challenge(&mut guest.peer, "house-level5", "practice", 1)["game"].as_str().unwrap().to_owned();
    let turn = guest.peer.expect("turn").unwrap();
    guest.peer.send(&answer(&turn)).unwrap();
    let turn = guest.peer.expect("turn").unwrap();
    (guest, game, turn)
}

/// `session.kill`: the house bot comes back to its game as any bot does, also where it was to move.
#[test]
fn a_killed_daemon_goes_on_with_the_games_of_its_house_bots() {
    for moves_last in [false, true] {
        let daemon = start("");
        let (mut guest, game, turn) = at_second_turn(&daemon);
        if moves_last {
            guest.peer.send(&answer(&turn)).unwrap();
        }
        let daemon = start_in(daemon.kill(), "");
        guest.resume(&daemon, &game);
        let ended = play(&mut guest.peer, 1).remove(0);
        assert_ne!(ended["result"], "none", "{ended}");
        assert_verified(&daemon);
    }
}

/// `session.house-left-out`: nobody would come back to the game, and nobody wins it by that.
#[test]
fn a_start_without_house_bots_aborts_the_games_that_they_played() {
    let daemon = start("");
    let (mut guest, game, _) = at_second_turn(&daemon);
    let daemon = Daemon::start_in(daemon.kill(), "", &[]);
    let ended = guest.missed(&daemon, &game);
    assert_eq!((&ended["termination"], &ended["result"]), (&json!("aborted"), &json!("none")), "{ended}");
    assert_verified(&daemon);
}

/// `session.drain`, `session.drain-suspend`: as between any two bots.
#[test]
fn a_stop_lets_the_game_of_a_house_bot_end_or_suspends_it() {
    for ends in [true, false] {
        let daemon = start("");
        let (mut guest, game, turn) = at_second_turn(&daemon);
        daemon.signal(libc::SIGTERM);
        guest.peer.expect("notice").unwrap();
        let wanted = json!({"type": "challenge", "opponent": "house-level5", "pool": "blitz"});
        guest.peer.send(&wanted).unwrap();
        assert_eq!(guest.peer.expect("error").unwrap()["code"], "draining");
        if ends {
            guest.peer.send(&answer(&turn)).unwrap();
            play(&mut guest.peer, 1);
        } else {
            daemon.signal(libc::SIGTERM);
        }
        assert_eq!(guest.peer.skip_to("goodbye").unwrap()["reason"], "draining");
        let (status, log, data) = daemon.wait();
        assert!(status.success() && !log.contains("left behind"), "{log}");
        if !ends {
            let daemon = start_in(data, "");
            guest.resume(&daemon, &game);
            play(&mut guest.peer, 1);
        }
    }
}
