//! Tokens stay between a bot and the server: none is in a log, a metric, or a line that another reads.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use modiar_conformance::Peer;
use serde_json::{Value, json};
use std::time::Duration;
use support::{Daemon, assert_quiet};

/// Registers a bot, or gives it a new token: the token.
fn token(daemon: &Daemon, action: &str, name: &str) -> String {
    let (status, out) = daemon.run(&["bot", action, name, "--json"]);
    assert!(status.success(), "{out}");
    let answer: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    answer["token"].as_str().unwrap().to_owned()
}

/// So much of a token, from its beginning, is in a name here.
const NAMED: usize = 24;
/// So many characters of the rest are more than chance.
const TELLING: usize = 12;

/// The first line of `text` that holds a part of `secret` which is in no name.
fn leak<'a>(text: &'a str, secret: &str) -> Option<&'a str> {
    let rest = &secret[NAMED..];
    let parts: Vec<&str> = (0..=rest.len() - TELLING).map(|at| &rest[at..at + TELLING]).collect();
    text.lines().find(|line| parts.iter().any(|part| line.contains(part)))
}

/// A connection on which these lines were said and their answers read.
fn say(daemon: &Daemon, lines: &[String]) {
    let mut peer = daemon.connect();
    for line in lines {
        peer.send_bytes(format!("{line}\n").as_bytes()).unwrap();
    }
    while peer.line_within(Duration::from_millis(60)).is_ok() {}
}

/// A bot that may be a guest or registered; its welcome.
fn enter(daemon: &Daemon, hello: Value) -> (Peer, Value) {
    let mut peer = daemon.connect();
    let mut message = json!({"type": "hello", "protocol": 1});
    message.as_object_mut().unwrap().extend(hello.as_object().unwrap().clone());
    peer.send(&message).unwrap();
    let welcome = peer.expect("welcome").unwrap();
    (peer, welcome)
}

/// Ways to say a secret where it does not belong, or not as it should be said.
fn clumsy(secret: &str) -> Vec<String> {
    vec![
        json!({"type": "hello", "protocol": 1, "name": secret}).to_string(),
        json!({"type": "hello", "protocol": 1, "name": "dice", "token": [secret]}).to_string(),
        json!({"type": "hello", "protocol": 1, "name": "dice", "token": format!("{secret}{secret}{secret}{secret}{secret}")}).to_string(),
        json!({"type": "hello", "protocol": secret}).to_string(),
        json!({"type": secret}).to_string(),
        json!({"type": "hello", "protocol": 2, "token": secret}).to_string(),
        format!("{{\"type\":\"hello\",\"token\":\"{secret}"),
        format!("{{\"type\":\"hello\",\"token\":\"{secret}\",\"token\":\"{secret}\"}}"),
        format!("token {secret}"),
        format!("{{\"{secret}\":1,\"{secret}\":2}}"),
        json!({"type": "seek", "pool": secret}).to_string(),
    ]
}

/// The same from a bot that is welcome.
fn clumsy_when_welcome(secret: &str) -> Vec<String> {
    vec![
        json!({"type": "seek", "pool": secret}).to_string(),
        json!({"type": "challenge", "opponent": secret, "pool": "blitz"}).to_string(),
        json!({"type": "accept", "challenge": secret}).to_string(),
        json!({"type": "move", "game": secret, "pit": 1}).to_string(),
        json!({"type": "hello", "protocol": 1, "token": secret}).to_string(),
        json!({"type": secret}).to_string(),
        json!({"type": "ping", "token": secret}).to_string(),
    ]
}

/// Row 26 of the faults: token = name = part of another text, at trace level.
#[test]
fn no_token_is_in_a_log_a_metric_or_anothers_line() {
    let daemon = Daemon::start_with("", &[("RUST_LOG", "trace")]);
    let registered = token(&daemon, "add", "dice");
    let mut secrets = vec![registered.clone(), format!("modiar-{}", "7f3a".repeat(16))];

    // Another bot is called by the first half of the token, and says it in its texts.
    let name = &registered[..NAMED];
    let (mut other, _) = enter(&daemon, json!({"name": name, "client": name, "version": name, "updates": true}));
    let (dice, _) = enter(&daemon, json!({"name": "dice", "token": registered, "client": name, "games": 2}));
    let (guest, welcome) = enter(&daemon, json!({"name": "guest-of-honour"}));
    let resume = welcome["resume"].as_str().unwrap().to_owned();
    drop(guest);
    let (_back, welcome) = enter(&daemon, json!({"name": "guest-of-honour", "resume": resume}));
    assert_eq!(welcome["bot"]["name"], "guest-of-honour");
    secrets.push(resume);
    secrets.push(token(&daemon, "token", "dice")); // the connection of the old one ends
    drop(dice);
    let (mut dice, _) = enter(&daemon, json!({"name": "dice", "token": secrets[3]}));

    for secret in &secrets {
        let mut refused = vec![json!({"type": "hello", "protocol": 1, "name": "nobody", "token": secret}).to_string()];
        refused.extend(clumsy(secret));
        for line in refused {
            say(&daemon, &[line]);
        }
        let mut lines = vec![json!({"type": "hello", "protocol": 1}).to_string()];
        lines.extend(clumsy_when_welcome(secret));
        say(&daemon, &lines);
        for line in clumsy_when_welcome(secret) {
            dice.send_bytes(format!("{line}\n").as_bytes()).unwrap();
        }
    }
    dice.send(&json!({"type": "challenge", "opponent": name, "pool": "blitz", "side": "south"})).unwrap();
    let challenge = other.expect("challenged").unwrap();
    other.send(&json!({"type": "accept", "challenge": challenge["challenge"]})).unwrap();
    let started = other.expect("started").unwrap();
    dice.send(&json!({"type": "move", "game": started["game"], "pit": 2})).unwrap();
    let turn = other.skip_to("turn").unwrap();
    dice.send(&json!({"type": "resign", "game": started["game"]})).unwrap();
    let ended = other.expect("ended").unwrap();
    assert_quiet(&mut other);
    let read = format!("{challenge}{started}{turn}{ended}");
    let (_, listed) = daemon.run(&["bot", "list", "--json"]);
    let shown = daemon.get("/metrics").body + &daemon.export() + &listed;
    let (status, log, _data) = daemon.stop();
    assert!(status.success());

    assert!(log.contains(name) && log.contains("DEBUG"), "the log tells of everything else");
    for secret in &secrets {
        for (what, text) in [("another's line", &read), ("what is shown", &shown), ("the log", &log)] {
            assert_eq!(leak(text, secret), None, "{secret} is in {what}");
        }
    }
}
