//! Tokens that are guessed, and floods of all that costs something: the daemon stays up, and others' games go on.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_conformance::{Peer, PeerError};
use serde_json::{Value, json};
use support::Daemon;
use support::process::wait_until;
use support::returning::{Pair, Returning};

/// Plies that lead round; after 21 of them the first position stands for the third time.
const LOOP: &str = "240315042315042315042";

fn value(daemon: &Daemon, metric: &str) -> f64 {
    let metrics = daemon.get("/metrics").body;
    let line = metrics.lines().find_map(|line| line.strip_prefix(metric)).unwrap_or_else(|| panic!("{metric}"));
    line.trim().parse().unwrap()
}

fn login(peer: &mut Peer, name: &str, token: &str) -> Value {
    peer.send(&json!({"type": "hello", "protocol": 1, "name": name, "token": token})).unwrap();
    peer.read().unwrap()
}

/// A token that is none.
fn guess(number: u64) -> String {
    format!("modiar-{number:064x}")
}

/// `limits.failed-logins`: guesses tell nothing of what names there are, and lock nobody
/// out, at their own address neither.
#[test]
fn who_guesses_tokens_learns_nothing_and_locks_nobody_out() {
    let daemon = Daemon::start();
    let token = daemon.register("dice");
    let mut answers = Vec::new();
    for number in 0..30 {
        let known = login(&mut daemon.connect_from("127.0.0.9"), "dice", &guess(number));
        let unknown = login(&mut daemon.connect_from("127.0.0.9"), "nobody", &guess(number));
        // The twenty-first, and not the one before.
        assert_eq!(known, unknown);
        answers.push(known["code"].as_str().unwrap().to_owned());
    }
    assert!(answers[..10].iter().all(|code| code == "auth_failed"), "{answers:?}");
    assert!(answers[10..].iter().all(|code| code == "rate_limited"), "{answers:?}");
    for here in ["127.0.0.9", "127.0.0.1"] {
        assert_eq!(login(&mut daemon.connect_from(here), "dice", &token)["type"], "welcome", "{here}");
    }
    // Who has no token to be looked at is not concerned.
    let mut guest = daemon.connect_from("127.0.0.9");
    guest.send(&json!({"type": "hello", "protocol": 1})).unwrap();
    guest.expect("welcome").unwrap();
    assert_eq!(value(&daemon, "modiar_logins_refused_total{reason=\"wrong\"}"), 20.0);
    assert_eq!(value(&daemon, "modiar_logins_refused_total{reason=\"limited\"}"), 40.0);
    let log = daemon.kill_for_log();
    assert!(log.contains("127.0.0.9") && log.contains("rate_limited") && !log.contains(&guess(7)), "{log}");
}

/// `session.banned`: a ban is told to the owner alone, and counted.
#[test]
fn a_banned_bot_that_comes_again_and_again_locks_nobody_out() {
    let daemon = Daemon::start();
    let token = daemon.register("dice");
    assert!(daemon.run(&["bot", "ban", "dice"]).0.success());
    for _ in 0..25 {
        assert_eq!(login(&mut daemon.connect(), "dice", &token)["reason"], "banned");
    }
    assert_eq!(value(&daemon, "modiar_logins_refused_total{reason=\"banned\"}"), 25.0);
    assert!(daemon.run(&["bot", "unban", "dice"]).0.success());
    assert_eq!(login(&mut daemon.connect(), "dice", &token)["type"], "welcome");
}

/// A new token ends the connection of the old one at once; the game is the bot's, and goes on for who has the new one.
#[test]
fn a_new_token_during_a_game_takes_the_game_along() {
    let daemon = Daemon::start();
    let mut game = Pair::between(Returning::registered(&daemon, "dice"), Returning::guest(&daemon), "practice");
    game.play("24");
    let (status, answer) = daemon.run(&["bot", "token", "dice", "--json"]);
    assert!(status.success(), "{answer}");
    let token = serde_json::from_str::<Value>(answer.lines().next().unwrap()).unwrap()["token"].clone();
    let old = &mut game.south.peer;
    old.expect("turn").unwrap();
    assert_eq!(old.expect("goodbye").unwrap()["reason"], "replaced");
    old.expect_close().unwrap();
    let mut new = daemon.connect();
    let welcome = login(&mut new, "dice", token.as_str().unwrap());
    assert_eq!(welcome["games"], json!([game.id]), "{welcome}");
    let started = new.expect("started").unwrap();
    assert!(started["resumed"] == true && started["moves"] == "24", "{started}");
    new.expect("turn").unwrap();
    new.send(&json!({"type": "move", "game": game.id, "pit": 0})).unwrap();
    game.north.peer.expect("turn").unwrap();
    new.send(&json!({"type": "resign", "game": game.id})).unwrap();
    assert_eq!(game.north.peer.skip_to("ended").unwrap()["result"], "north");
}

/// Says this until the connection is ended; how often each code or word came.
fn flood(peer: &mut Peer, messages: &[Value]) -> Vec<String> {
    for message in messages.iter().cycle().take(300) {
        if peer.send(message).is_err() {
            break;
        }
    }
    let mut words = Vec::new();
    loop {
        match peer.read() {
            Ok(line) => {
                words.push(["code", "reason", "type"].iter().find_map(|key| line[key].as_str()).unwrap().to_owned());
            }
            Err(PeerError::Closed | PeerError::Cut(_)) => return words,
            Err(error) => panic!("{error}"),
        }
    }
}

/// A guest of this address.
fn guest(daemon: &Daemon, address: &str, name: &str) -> Peer {
    let mut peer = daemon.connect_from(address);
    peer.send(&json!({"type": "hello", "protocol": 1, "name": name})).unwrap();
    peer.expect("welcome").unwrap();
    peer
}

fn count(words: &[String], wanted: &str) -> usize {
    words.iter().filter(|word| *word == wanted).count()
}

/// Fifty connections with three wrong tokens each.
fn flood_of_logins(daemon: &Daemon) {
    for number in 0..50 {
        let mut peer = daemon.connect_from("127.0.0.6");
        for attempt in 0..3 {
            let answer = login(&mut peer, "dice", &guess(3 * number + attempt));
            assert!(["auth_failed", "rate_limited"].map(Value::from).contains(&answer["code"]), "{answer}");
        }
        assert_eq!(peer.expect("goodbye").unwrap()["reason"], "handshake");
    }
}

/// Forty names that one address wants; how many it has.
fn flood_of_registrations(daemon: &Daemon) -> usize {
    let register = |number: &u64| {
        let mut peer = daemon.connect_from("127.0.0.7");
        let name = format!("sock-{number}");
        peer.send(&json!({"type": "hello", "protocol": 1, "name": name, "register": true})).unwrap();
        peer.read().unwrap()["type"] == "welcome"
    };
    (0..40).filter(register).count()
}

/// A challenge ends with who made it: of all that `peer` was challenged to nothing stands any more.
fn assert_free(peer: &mut Peer) {
    peer.send(&json!({"type": "ping"})).unwrap();
    let (mut made, mut ended) = (0, 0);
    loop {
        match peer.read().unwrap()["type"].as_str().unwrap() {
            "challenged" => made += 1,
            "challenge_ended" => ended += 1,
            word => {
                assert_eq!((word, made > 30, made), ("pong", true, ended));
                return;
            }
        }
    }
}

/// Logins, registrations, seeks and challenges from several addresses at once, while two others play.
#[test]
fn floods_are_held_off_and_counted_while_others_play() {
    let daemon = Daemon::start_with("registration = true\n", &[]);
    let mut game = daemon.game("practice");
    // What is opened with the first result stays open.
    let mut first = daemon.game("practice");
    first.south.send(&json!({"type": "resign", "game": first.id})).unwrap();
    first.south.skip_to("ended").unwrap();
    daemon.register("coin");
    drop(first);
    let mut victim = guest(&daemon, "127.0.0.5", "victim");
    wait_until("who has left is gone", || value(&daemon, "modiar_connections ") == 3.0);
    let before = daemon.descriptors();
    std::thread::scope(|scope| {
        let daemon = &daemon;
        let logins = scope.spawn(move || flood_of_logins(daemon));
        let registrations = scope.spawn(move || flood_of_registrations(daemon));
        let seeks = scope.spawn(move || {
            let messages = [json!({"type": "seek", "pool": "bullet"}), json!({"type": "unseek", "pool": "bullet"})];
            flood(&mut guest(daemon, "127.0.0.8", "seeker"), &messages)
        });
        let challenges = scope.spawn(move || {
            let messages = [json!({"type": "challenge", "opponent": "victim", "pool": "bullet", "games": 1_000_000})];
            flood(&mut guest(daemon, "127.0.0.8", "nuisance"), &messages)
        });
        game.play(LOOP);
        logins.join().unwrap();
        assert_eq!(registrations.join().unwrap(), 10);
        for words in [seeks.join().unwrap(), challenges.join().unwrap()] {
            assert!(count(&words, "rate_limited") >= 99 && count(&words, "flood") == 1, "{words:?}");
        }
    });
    assert_eq!(game.ended()["termination"], "repetition");
    assert_eq!(daemon.get("/readyz").status, 200);
    assert_free(&mut victim);
    daemon.settle(before);
    for (metric, least) in [
        ("modiar_logins_refused_total{reason=\"wrong\"}", 20.0),
        ("modiar_logins_refused_total{reason=\"limited\"}", 130.0),
        ("modiar_registrations_total{outcome=\"made\"}", 10.0),
        ("modiar_registrations_total{outcome=\"limited\"}", 30.0),
        ("modiar_connections_closed_total{reason=\"flood\"}", 2.0),
        ("modiar_connections_closed_total{reason=\"handshake\"}", 50.0),
        ("modiar_errors_total{code=\"rate_limited\"}", 350.0),
    ] {
        let counted = value(&daemon, metric);
        assert!(counted >= least && (metric.contains("errors") || counted == least), "{metric} {counted}");
    }
}
