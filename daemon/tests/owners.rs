//! Owners: one owner, several bots.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_conformance::Peer;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};
use support::{Daemon, MODIAR};
use tempfile::TempDir;

fn modiar(data: &Path, arguments: &[&str]) -> Output {
    Command::new(MODIAR).args(arguments).env("MODIAR_DATA", data).output().unwrap()
}

fn stdout(data: &Path, arguments: &[&str]) -> String {
    let output = modiar(data, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn owners(data: &Path) -> Vec<(String, Option<String>)> {
    let bots: Vec<Value> = serde_json::from_str(&stdout(data, &["bot", "list", "--json"])).unwrap();
    bots.iter().map(|bot| (bot["name"].as_str().unwrap().into(), bot["owner"].as_str().map(str::to_owned))).collect()
}

/// Registers a bot and connects it.
fn enter(daemon: &Daemon, add: &[&str]) -> Peer {
    let token = stdout(&daemon.data(), &[&["bot", "add"], add].concat());
    let mut peer = daemon.connect();
    peer.send(&json!({"type": "hello", "protocol": 1, "name": add[0], "token": token.trim_end()})).unwrap();
    peer.expect("welcome").unwrap();
    peer
}

/// What a rated challenge is refused with.
fn refusal(peer: &mut Peer, opponent: &str) -> Value {
    peer.send(&json!({"type": "challenge", "opponent": opponent, "pool": "blitz", "rated": true})).unwrap();
    let error = peer.expect("error").unwrap();
    assert_eq!((&error["code"], &error["field"]), (&json!("bad_field"), &json!("rated")), "{error}");
    error["message"].clone()
}

#[test]
fn owners_are_listed_changed_and_kept() {
    let daemon = Daemon::start();
    let data = daemon.data();
    stdout(&data, &["bot", "add", "dice", "--owner", " Grete Özdemir "]);
    stdout(&data, &["bot", "add", "coin"]);
    let told = String::from_utf8(modiar(&data, &["bot", "owner", "coin", "anna"]).stderr).unwrap();
    assert!(told.ends_with("'coin' is a bot of 'anna'\n"), "{told}");
    let (dice, coin) = (("dice".to_owned(), Some("Grete Özdemir".to_owned())), "coin".to_owned());
    assert_eq!(owners(&data), [(coin.clone(), Some("anna".into())), dice.clone()]);
    let text = stdout(&data, &["bot", "list"]);
    assert!(text.lines().any(|line| line.starts_with("dice ") && line.contains("  Grete Özdemir")), "{text}");
    // A new token is the same owner's bot, and so it is after a kill and where no daemon runs.
    stdout(&data, &["bot", "token", "dice"]);
    let folder = daemon.kill();
    let data = folder.path().join("data");
    assert_eq!(owners(&data), [(coin.clone(), Some("anna".into())), dice.clone()]);
    stdout(&data, &["bot", "owner", "coin", "--none"]);
    let daemon = Daemon::start_in(folder, "", &[]);
    assert_eq!(owners(&daemon.data()), [(coin, None), dice]);
}

/// `session.challenge-refused`: a change reaches bots that are here.
#[test]
fn two_bots_of_one_owner_play_no_rated_games() {
    let daemon = Daemon::start();
    let data = daemon.data();
    let mut dice = enter(&daemon, &["dice", "--owner", "Grete"]);
    let _coin = enter(&daemon, &["coin", "--owner", "gRETE"]);
    let kin = json!("both bots are of one owner; send false");
    assert_eq!(refusal(&mut dice, "coin"), kin);
    stdout(&data, &["bot", "owner", "coin", "--none"]);
    dice.send(&json!({"type": "challenge", "opponent": "coin", "pool": "blitz", "rated": true})).unwrap();
    dice.expect("challenge_sent").unwrap();
    stdout(&data, &["bot", "owner", "coin", "grete"]);
    assert_eq!(refusal(&mut dice, "coin"), kin);
    dice.send(&json!({"type": "challenge", "opponent": "coin", "pool": "blitz"})).unwrap();
    dice.expect("challenge_sent").unwrap();
}

#[test]
fn an_owner_has_its_limit() {
    let folder = TempDir::new().unwrap();
    stdout(folder.path(), &["bot", "add", "dice"]);
    for (owner, fault) in [
        ("", "1 to 64"),
        (" \t", "1 to 64"),
        (&"a".repeat(65), "1 to 64"),
        ("a\nb", "control"),
        ("a\u{1b}[2Jb", "control"),
        ("a\u{202e}b", "cannot be seen"),
        ("a\u{200b}b", "cannot be seen"),
        (&"\u{200b}".repeat(10_000), "1 to 64"),
    ] {
        for arguments in [&["bot", "owner", "dice", owner][..], &["bot", "add", "coin", "--owner", owner]] {
            let output = modiar(folder.path(), arguments);
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.code() == Some(2) && said.contains(fault), "{said}");
        }
    }
    assert_eq!(modiar(folder.path(), &["bot", "owner", "dice"]).status.code(), Some(2));
    assert_eq!(modiar(folder.path(), &["bot", "owner", "dice", "anna", "--none"]).status.code(), Some(2));
    assert_eq!(owners(folder.path()), [("dice".to_owned(), None)]);
}
