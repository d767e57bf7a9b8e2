//! Bots that register themselves over the wire.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_conformance::Peer;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::time::Duration;
use support::process::wait_until;
use support::strace::Strace;
use support::{Daemon, have};

const OPEN: &str = "registration = true\n";

fn hello(fields: &Value) -> Value {
    let mut message = json!({"type": "hello", "protocol": 1});
    message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    message
}

fn say(daemon: &Daemon, fields: &Value) -> (Peer, Value) {
    let mut peer = daemon.connect();
    peer.send(&hello(fields)).unwrap();
    let answer = peer.read().unwrap();
    (peer, answer)
}

fn code(daemon: &Daemon, fields: &Value) -> Value {
    say(daemon, fields).1["code"].clone()
}

fn register(daemon: &Daemon, name: &str) -> (Peer, Value) {
    say(daemon, &json!({"name": name, "register": true}))
}

fn bots(daemon: &Daemon) -> Vec<String> {
    let (status, text) = daemon.run(&["bot", "list", "--json"]);
    assert!(status.success(), "{text}");
    let bots: Vec<Value> = serde_json::from_str(text.lines().find(|line| line.starts_with('[')).unwrap()).unwrap();
    bots.iter().map(|bot| bot["name"].as_str().unwrap().to_owned()).collect()
}

fn counted(daemon: &Daemon, outcome: &str) -> u64 {
    let name = format!("modiar_registrations_total{{outcome=\"{outcome}\"}} ");
    let metrics = daemon.get("/metrics").body;
    metrics.lines().find_map(|line| line.strip_prefix(&*name)).unwrap().parse().unwrap()
}

/// Holds the database for itself, as another program may.
fn hold(daemon: &Daemon) -> Connection {
    let database = Connection::open(daemon.data().join("modiar.db")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    database
}

/// Has each sync of the database take so many milliseconds. A registration takes one.
fn slow_disk(daemon: &Daemon, ms: u64) -> Strace {
    let inject = format!("inject=fsync,fdatasync:delay_enter={}", ms * 1000);
    let database = daemon.data().join("modiar.db-wal");
    Strace::attach(daemon, &["-o", "/dev/null", "-e", &inject, "-P", database.to_str().unwrap()])
}

/// `session.register`: the token is told once, and is the bot's over a kill too.
#[test]
fn a_bot_that_registers_itself_has_the_name_from_then_on() {
    let daemon = Daemon::start_with(OPEN, &[("RUST_LOG", "trace")]);
    let (mut dice, welcome) = register(&daemon, "Dice");
    let token = welcome["token"].as_str().unwrap().to_owned();
    assert!(token.starts_with("modiar-") && token.len() == 71, "{welcome}");
    assert_eq!((&welcome["bot"]["name"], &welcome["bot"]["guest"]), (&json!("Dice"), &json!(false)), "{welcome}");
    assert!(welcome.get("resume").is_none_or(Value::is_null), "{welcome}");
    dice.send(&json!({"type": "seek", "pool": "blitz"})).unwrap();
    dice.expect("seeking").unwrap();
    for again in [json!({"name": "dice", "register": true}), json!({"name": "DICE", "register": true})] {
        assert_eq!(code(&daemon, &again), "name_taken");
    }
    assert_eq!(code(&daemon, &json!({"name": "dice"})), "auth_failed");
    // Who has the token and says register all the same is let in, and reads no token.
    let (_, again) = say(&daemon, &json!({"name": "dice", "token": token, "register": true}));
    assert!(again["type"] == "welcome" && again.get("token").is_none_or(Value::is_null), "{again}");
    assert_eq!(bots(&daemon), ["Dice"]);
    assert_eq!((counted(&daemon, "made"), counted(&daemon, "refused")), (1, 2));
    daemon.signal(libc::SIGKILL);
    let (_, log, folder) = daemon.wait();
    assert!(log.contains("claimed=true") && !log.contains(&token[7..]), "{log}");
    let daemon = Daemon::start_in(folder, OPEN, &[]);
    let (_, welcome) = say(&daemon, &json!({"name": "dice", "token": token}));
    assert_eq!(welcome["bot"]["name"], "Dice", "{welcome}");
}

/// `session.register`, `session.name-house`: what claims no name, and where none is claimed.
#[test]
fn what_cannot_be_registered_is_refused() {
    let daemon = Daemon::start_with(OPEN, &[]);
    let (_, unnamed) = say(&daemon, &json!({"register": true}));
    assert_eq!((&unnamed["code"], &unnamed["field"]), (&json!("bad_field"), &json!("name")), "{unnamed}");
    for name in ["house-perfect", "HOUSE-1", "<b>", "a", "dіce", "../dice", "dice\u{200b}", "'; DROP TABLE bots; --"] {
        assert_eq!(code(&daemon, &json!({"name": name, "register": true})), "bad_name", "{name}");
    }
    assert!(bots(&daemon).is_empty());
    let closed = Daemon::start();
    assert_eq!(code(&closed, &json!({"name": "dice", "register": true})), "registration_closed");
    let environment = Daemon::start_with("", &[("MODIAR_REGISTRATION", "true")]);
    assert_eq!(register(&environment, "dice").1["type"], "welcome");
}

/// `session.guest-name-held`, `session.register`: a guest may make its name its own once no game of it runs.
#[test]
fn a_guest_registers_its_own_name_and_nobody_else_does() {
    let daemon = Daemon::start_with(OPEN, &[]);
    let (mut guest, welcome) = say(&daemon, &json!({"name": "tanja"}));
    assert_eq!(code(&daemon, &json!({"name": "tanja", "register": true})), "name_taken");
    let claim = json!({"name": "tanja", "register": true, "resume": welcome["resume"]});
    let (_, owner) = say(&daemon, &claim);
    assert!(owner["token"].is_string() && owner["bot"]["guest"] == false, "{owner}");
    assert_eq!(guest.expect("goodbye").unwrap()["reason"], "replaced");

    let mut playing = daemon.game_between("practice", json!({"name": "anna"}), json!({"name": "bert"}));
    playing.south.send(&json!({"type": "bye"})).unwrap();
    assert_eq!(code(&daemon, &json!({"name": "anna", "register": true})), "name_taken");
    assert_eq!(bots(&daemon), ["tanja"]);
}

/// What came in one packet with the hello is heard after it, in its order.
#[test]
fn what_follows_the_hello_waits_for_the_welcome() {
    if !have("strace") {
        return;
    }
    let daemon = Daemon::start_with(OPEN, &[]);
    let mut dice = daemon.connect();
    let slow = slow_disk(&daemon, 4500);
    let more = "{\"type\":\"ping\",\"ref\":1}\n{\"type\":\"seek\",\"pool\":\"blitz\"}\n{\"type\":\"ping\",";
    dice.send_bytes(format!("{}\n{more}", hello(&json!({"name": "dice", "register": true}))).as_bytes()).unwrap();
    dice.send_bytes(b"\"ref\":2}\n").unwrap();
    // The store waits, and nobody else does.
    daemon.game("practice").play("24");
    let early = dice.line_within(Duration::from_millis(200));
    assert!(early.is_err(), "nothing is told before it is stored: {early:?}");
    slow.release();
    assert!(dice.expect("welcome").unwrap()["token"].is_string());
    assert_eq!(dice.expect("pong").unwrap()["ref"], 1);
    dice.expect("seeking").unwrap();
    assert_eq!(dice.expect("pong").unwrap()["ref"], 2);
}

/// A disk that does not take it within its own patience: nothing is registered, and the connection may try again.
#[test]
fn what_cannot_be_stored_is_not_registered() {
    let daemon = Daemon::start_with(&format!("{OPEN}[limits]\nregistrations_per_hour = 1"), &[]);
    let database = hold(&daemon);
    let (mut dice, error) = register(&daemon, "dice");
    assert_eq!((&error["code"], &error["fatal"]), (&json!("internal"), &json!(false)), "{error}");
    drop(database);
    assert!(bots(&daemon).is_empty());
    assert_eq!(counted(&daemon, "failed"), 1);
    // What failed does not count, and the handshake's time begins anew: that was the server's.
    dice.send(&hello(&json!({"name": "dice", "register": true}))).unwrap();
    assert!(dice.expect("welcome").unwrap()["token"].is_string());
}

/// What is stored after the bot was told otherwise is taken back.
#[test]
fn a_registration_that_takes_too_long_leaves_no_name_behind() {
    if !have("strace") {
        return;
    }
    let daemon = Daemon::start_with(OPEN, &[]);
    let slow = slow_disk(&daemon, 20_000);
    let mut dice = daemon.connect();
    dice.send(&hello(&json!({"name": "dice", "register": true}))).unwrap();
    let line = dice.line_within(Duration::from_secs(30)).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["code"], "internal", "{line}");
    slow.release();
    wait_until("it is taken back", || counted(&daemon, "untold") == 1);
    wait_until("the name is free", || bots(&daemon).is_empty());
    assert!(register(&daemon, "dice").1["token"].is_string());
    let log = daemon.kill_for_log();
    assert!(log.contains("taken back") && log.contains("dice"), "{log}");
}

/// A name whose token reached nobody is not left behind; one whose token did is, whatever the bot does next.
#[test]
fn only_a_bot_that_can_read_its_token_has_the_name() {
    if !have("strace") {
        return;
    }
    let daemon = Daemon::start_with(OPEN, &[]);
    let slow = slow_disk(&daemon, 4500);
    let mut gone = daemon.connect();
    gone.send(&hello(&json!({"name": "dice", "register": true}))).unwrap();
    assert!(gone.line_within(Duration::from_millis(200)).is_err());
    drop(gone);
    slow.release();
    wait_until("it is taken back", || counted(&daemon, "untold") == 1);
    wait_until("the name is free", || bots(&daemon).is_empty());

    let mut brief = daemon.connect();
    brief.send(&hello(&json!({"name": "dice", "register": true}))).unwrap();
    brief.finish().unwrap();
    let token = brief.expect("welcome").unwrap()["token"].clone();
    brief.expect_close().unwrap();
    let (silent, welcome) = register(&daemon, "coin");
    drop(silent);
    for (name, token) in [("dice", &token), ("coin", &welcome["token"])] {
        assert_eq!(say(&daemon, &json!({"name": name, "token": token})).1["type"], "welcome", "{name}");
    }
    let daemon = Daemon::start_in(daemon.kill(), OPEN, &[]);
    assert_eq!(bots(&daemon), ["coin", "dice"]);
}

/// `limits.registrations`
#[test]
fn an_address_registers_so_many_names_an_hour() {
    let daemon = Daemon::start_with(&format!("{OPEN}[limits]\nregistrations_per_hour = 2"), &[]);
    for name in ["dice", "coin"] {
        assert_eq!(register(&daemon, name).1["type"], "welcome");
    }
    let (mut third, error) = register(&daemon, "anna");
    assert!(error["code"] == "rate_limited" && error["message"].as_str().unwrap().starts_with("2 names"), "{error}");
    third.send(&hello(&json!({"name": "anna"}))).unwrap();
    third.expect("welcome").unwrap();
    let mut elsewhere = daemon.connect_from("127.0.0.2");
    elsewhere.send(&hello(&json!({"name": "bert", "register": true}))).unwrap();
    elsewhere.expect("welcome").unwrap();
    assert_eq!(bots(&daemon), ["bert", "coin", "dice"]);
    assert_eq!((counted(&daemon, "made"), counted(&daemon, "limited")), (3, 1));
}
