//! Registered bots: `modiar bot`, beside a running daemon and without one.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_conformance::Peer;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;
use support::returning::{Pair, Returning};
use support::{Daemon, MODIAR};
use tempfile::TempDir;

fn modiar(data: &Path, arguments: &[&str]) -> Output {
    Command::new(MODIAR).args(arguments).env("MODIAR_DATA", data).output().unwrap()
}

/// What a command prints, which it can do.
fn stdout(data: &Path, arguments: &[&str]) -> String {
    let output = modiar(data, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// What a command says that cannot be done.
fn refusal(data: &Path, arguments: &[&str]) -> String {
    let output = modiar(data, arguments);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The token that a command prints: alone on stdout, in words nowhere.
fn token(data: &Path, arguments: &[&str]) -> String {
    let output = modiar(data, arguments);
    assert!(output.status.success(), "{output:?}");
    let token = String::from_utf8(output.stdout).unwrap().trim_end().to_owned();
    assert!(token.starts_with("modiar-") && token.len() == 71, "{token}");
    assert!(!String::from_utf8(output.stderr).unwrap().contains(&token));
    token
}

fn hello(daemon: &Daemon, name: &str, token: &str) -> (Peer, Value) {
    let mut peer = daemon.connect();
    peer.send(&json!({"type": "hello", "protocol": 1, "name": name, "token": token})).unwrap();
    let answer = peer.read().unwrap();
    (peer, answer)
}

fn is_welcome(daemon: &Daemon, name: &str, token: &str) -> bool {
    let (_, answer) = hello(daemon, name, token);
    if answer["type"] != "welcome" {
        assert_eq!(answer["code"], "auth_failed", "{answer}");
        return false;
    }
    assert_eq!(answer["bot"]["guest"], false, "{answer}");
    true
}

fn list(data: &Path) -> Vec<Value> {
    serde_json::from_str(&stdout(data, &["bot", "list", "--json"])).unwrap()
}

/// `session.auth-failed`, `session.name-case`
#[test]
fn a_bot_logs_in_with_the_token_it_was_given_and_with_no_other() {
    let daemon = Daemon::start_with("", &[("RUST_LOG", "trace")]);
    let data = daemon.data();
    let dice = token(&data, &["bot", "add", "dice"]);
    let coin = token(&data, &["bot", "add", "coin"]);
    assert_ne!(dice, coin);
    assert!(is_welcome(&daemon, "dice", &dice) && is_welcome(&daemon, "DICE", &dice));
    let refused = |name: &str, token: &str| hello(&daemon, name, token).1;
    let wrong = refused("dice", &coin);
    assert_eq!(wrong["code"], "auth_failed");
    assert_eq!(wrong, refused("nobody", &coin), "an unknown name must read like a wrong token");
    assert_eq!(wrong, refused("dice", "dice"));
    assert_eq!(wrong, refused("dice", &dice.to_uppercase()));
    let mut peer = daemon.connect();
    peer.send(&json!({"type": "hello", "protocol": 1, "name": "dice"})).unwrap();
    assert_eq!(peer.read().unwrap(), wrong, "nor may a missing token read otherwise");
    let (_, log, _) = daemon.stop();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "{log}");
    assert!(!log.contains(&dice) && !log.contains(&coin), "a token is in the log");
}

#[test]
fn a_new_token_ends_the_old_one_and_its_connection() {
    let daemon = Daemon::start();
    let data = daemon.data();
    let old = token(&data, &["bot", "add", "dice"]);
    let (mut peer, welcome) = hello(&daemon, "dice", &old);
    assert_eq!(welcome["type"], "welcome");
    let new = token(&data, &["bot", "token", "dice"]);
    assert_eq!(peer.expect("goodbye").unwrap()["reason"], "replaced");
    peer.expect_close().unwrap();
    assert!(!is_welcome(&daemon, "dice", &old) && is_welcome(&daemon, "dice", &new));
    let daemon = Daemon::start_in(daemon.kill(), "", &[]);
    assert!(!is_welcome(&daemon, "dice", &old) && is_welcome(&daemon, "dice", &new));
}

/// `session.banned`
#[test]
fn a_banned_bot_is_sent_away_and_stays_out() {
    let daemon = Daemon::start();
    let data = daemon.data();
    let token = token(&data, &["bot", "add", "dice"]);
    let (mut peer, _) = hello(&daemon, "dice", &token);
    let said = |arguments: &[&str]| String::from_utf8(modiar(&data, arguments).stderr).unwrap();
    let told = said(&["bot", "ban", "dice", "--reason", "it \"floods\""]);
    assert!(told.ends_with("'dice' is kept out: it \"floods\"\n"), "{told}");
    let why = "the host keeps this bot out: it \"floods\"; ask the host";
    let goodbye = json!({"type": "goodbye", "reason": "banned", "message": why});
    assert_eq!(peer.expect("goodbye").unwrap(), goodbye);
    peer.expect_close().unwrap();
    let banned = |daemon: &Daemon| hello(daemon, "dice", &token).1;
    assert_eq!(banned(&daemon), goodbye);
    assert!(!is_welcome(&daemon, "dice", "wrong"), "whether it is banned is told to its owner only");
    assert_eq!(list(&data)[0]["banned"], "it \"floods\"");
    let daemon = Daemon::start_in(daemon.kill(), "", &[]);
    assert_eq!(banned(&daemon), goodbye);
    stdout(&daemon.data(), &["bot", "unban", "dice"]);
    assert!(is_welcome(&daemon, "dice", &token));
    let log = daemon.kill_for_log();
    assert!(log.lines().any(|line| line.contains("refused: the bot is banned") && line.contains("dice")), "{log}");
}

/// What a bot's author reads is bounded and has no second line.
#[test]
fn a_reason_has_its_limit() {
    let folder = TempDir::new().unwrap();
    token(folder.path(), &["bot", "add", "dice"]);
    for (reason, fault) in [("", "1 to 200"), (&"a".repeat(201), "1 to 200"), ("it\nfloods", "control characters")] {
        let output = modiar(folder.path(), &["bot", "ban", "dice", "--reason", reason]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(fault), "{said}");
    }
    stdout(folder.path(), &["bot", "ban", "dice", "--reason", &"é".repeat(200)]);
}

#[test]
fn a_removed_bot_is_sent_away_and_its_name_is_free() {
    let daemon = Daemon::start();
    let data = daemon.data();
    let old = token(&data, &["bot", "add", "dice"]);
    let (mut peer, _) = hello(&daemon, "dice", &old);
    stdout(&data, &["bot", "remove", "dice"]);
    assert_eq!(peer.expect("goodbye").unwrap()["type"], "goodbye");
    peer.expect_close().unwrap();
    assert!(!is_welcome(&daemon, "dice", &old));
    assert!(list(&data).is_empty());
    let new = token(&data, &["bot", "add", "dice"]);
    assert!(!is_welcome(&daemon, "dice", &old) && is_welcome(&daemon, "dice", &new));
}

/// Whoever has a removed bot's name next has neither its games nor what it had to hear of.
#[test]
fn a_new_owner_of_a_name_is_somebody_else() {
    let daemon = Daemon::start();
    let data = daemon.data();
    let mut pair = Pair::start(&daemon, "practice");
    stdout(&data, &["bot", "remove", "dice"]);
    let daemon = Daemon::start_in(daemon.kill(), "", &[]);
    let data = daemon.data();
    assert!(refusal(&data, &["bot", "add", "dice"]).contains("somebody plays as 'dice'"));
    pair.north.resume(&daemon, &pair.id);
    pair.north.peer.send(&json!({"type": "resign", "game": pair.id})).unwrap();
    pair.north.peer.skip_to("ended").unwrap();
    let new = token(&data, &["bot", "add", "dice"]);
    let (_, welcome) = hello(&daemon, "dice", &new);
    assert_eq!((&welcome["games"], &welcome["missed"]), (&json!([]), &json!([])), "{welcome}");
}

/// What a new owner of a name does not hear of is still its opponent's to hear: a registered one's as a guest's.
#[test]
fn the_opponents_of_a_removed_bot_lose_nothing() {
    let daemon = Daemon::start();
    let [dice, coin, eve] = ["dice", "coin", "eve"].map(|name| Returning::registered(&daemon, name));
    let mut with_owner = Pair::between(dice, coin, "practice");
    let mut with_guest = Pair::between(eve, Returning::guest(&daemon), "practice");
    for pair in [&mut with_owner, &mut with_guest] {
        pair.south.peer.send(&json!({"type": "resign", "game": pair.id})).unwrap();
        pair.south.peer.skip_to("ended").unwrap();
    }
    let data = daemon.data();
    let [new_dice, new_eve] = ["dice", "eve"].map(|name| {
        stdout(&data, &["bot", "remove", name]);
        token(&data, &["bot", "add", name])
    });
    let daemon = Daemon::start_in(daemon.kill(), "", &[]);
    for pair in [&mut with_owner, &mut with_guest] {
        assert_eq!(pair.north.missed(&daemon, &pair.id)["termination"], "resignation");
    }
    for (name, new) in [("dice", new_dice), ("eve", new_eve)] {
        let (_, welcome) = hello(&daemon, name, &new);
        assert_eq!((&welcome["games"], &welcome["missed"]), (&json!([]), &json!([])), "{welcome}");
    }
}

/// So it is where the daemon is stopped while the game is not over.
#[test]
fn a_name_in_a_suspended_game_has_no_new_owner() {
    let daemon = Daemon::start_with("drain_ms = 0\n", &[]);
    let mut pair = Pair::start(&daemon, "practice");
    let folder = daemon.stop().2;
    let data = folder.path().join("data");
    assert!(refusal(&data, &["bot", "add", &pair.north.name]).contains("somebody plays as"));
    assert!(refusal(&data, &["bot", "add", "dice"]).contains("registered already"));
    stdout(&data, &["bot", "remove", "dice"]);
    assert!(refusal(&data, &["bot", "add", "dice"]).contains("somebody plays as"));
    token(&data, &["bot", "add", "coin"]);
    let daemon = Daemon::start_in(folder, "", &[]);
    pair.north.resume(&daemon, &pair.id);
    pair.north.peer.send(&json!({"type": "resign", "game": pair.id})).unwrap();
    pair.north.peer.skip_to("ended").unwrap();
    // The journal still has the game, for who played it, until somebody else comes.
    let folder = daemon.kill();
    assert!(refusal(&data, &["bot", "add", "dice"]).contains("somebody plays as"));
    let daemon = Daemon::start_in(folder, "", &[]);
    let new = token(&data, &["bot", "add", "dice"]);
    let daemon = Daemon::start_in(daemon.kill(), "", &[]);
    let (_, welcome) = hello(&daemon, "dice", &new);
    assert_eq!((&welcome["games"], &welcome["missed"]), (&json!([]), &json!([])), "{welcome}");
}

/// A command whose asker has gone is not done behind its back: it was told that it had no answer.
#[test]
fn a_command_that_nobody_waits_for_is_not_done() {
    let daemon = Daemon::start();
    let data = daemon.data();
    daemon.freeze();
    let mut command = Command::new(MODIAR);
    let mut asked = command.args(["bot", "add", "ghost", "--data"]).arg(&data).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    asked.kill().unwrap();
    asked.wait().unwrap();
    daemon.thaw();
    token(&data, &["bot", "add", "dice"]);
    assert_eq!(list(&data).len(), 1);
}

/// What a daemon that ends before its answer has done is not known, and where it can be seen is said.
#[test]
fn a_command_without_an_answer_says_what_to_do() {
    let daemon = Daemon::start();
    let data = daemon.data();
    std::fs::remove_file(data.join("control.sock")).unwrap();
    let door = UnixListener::bind(data.join("control.sock")).unwrap();
    let closing = std::thread::spawn(move || drop(door.accept().unwrap()));
    let output = modiar(&data, &["bot", "list"]);
    closing.join().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(3) && said.contains("has not answered") && said.contains("bot list"),
        "{said}"
    );
}

/// What is changed at the same time is changed one after the other: every token that was told is the bot's or was, and no
/// ban is lost.
#[test]
fn commands_at_the_same_time_lose_nothing() {
    let daemon = Daemon::start();
    let data = daemon.data();
    for round in 0..10 {
        let name = format!("dice-{round}");
        let added = at_once(&data, &[json!({"do": "add", "name": name}), json!({"do": "add", "name": name})]);
        assert_eq!(added.iter().filter(|answer| answer.get("token").is_some()).count(), 1, "{added:?}");
        let old = added.iter().find_map(|answer| answer["token"].as_str()).unwrap();
        let renew = json!({"do": "token", "name": name});
        let renewed = at_once(&data, &[renew.clone(), json!({"do": "ban", "name": name, "reason": "it floods"})]);
        let new = renewed[0]["token"].as_str().unwrap();
        assert_eq!(hello(&daemon, &name, new).1["reason"], "banned", "{renewed:?}");
        assert!(!is_welcome(&daemon, &name, old));
        at_once(&data, &[json!({"do": "remove", "name": name}), json!({"do": "unban", "name": name}), renew]);
        assert!(!list(&data).iter().any(|bot| bot["name"] == *name), "removed, and not brought back");
    }
}

/// A name is a guest's or its owner's, however close the two come.
#[test]
fn a_name_that_is_registered_as_a_guest_comes_has_one_owner() {
    let daemon = Daemon::start_with("[limits]\nmessages_per_second = 1000\nmessage_burst = 1000", &[]);
    let data = daemon.data();
    for round in 0..40 {
        let name = format!("dice-{round}");
        let mut guest = daemon.connect();
        let stream = UnixStream::connect(data.join("control.sock")).unwrap();
        let added = std::thread::scope(|scope| {
            let add = scope.spawn(|| ask(stream, &json!({"do": "add", "name": name})));
            guest.send(&json!({"type": "hello", "protocol": 1, "name": name})).unwrap();
            add.join().unwrap()
        });
        let let_in = guest.read().unwrap()["type"] == "welcome";
        assert_ne!(added.get("token").is_some(), let_in, "{added}");
    }
}

fn ask(mut stream: UnixStream, command: &Value) -> Value {
    writeln!(stream, "{command}").unwrap();
    answer(stream)
}

fn answer(stream: UnixStream) -> Value {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

/// Asks all this of the running daemon at the same time; its answers.
fn at_once(data: &Path, commands: &[Value]) -> Vec<Value> {
    let mut streams: Vec<UnixStream> =
        commands.iter().map(|_| UnixStream::connect(data.join("control.sock")).unwrap()).collect();
    for (stream, command) in streams.iter_mut().zip(commands) {
        writeln!(stream, "{command}").unwrap();
    }
    streams.into_iter().map(answer).collect()
}

/// Has the bot `dice` not show up for a game, so that its seeks are refused.
fn stay_away(daemon: &Daemon, token: &str) {
    for _ in 0..20 {
        let ((mut dice, _), (mut guest, _)) = (hello(daemon, "dice", token), daemon.guest(json!({})));
        for peer in [&mut dice, &mut guest] {
            peer.send(&json!({"type": "seek", "pool": "short", "games": 1})).unwrap();
            peer.expect("seeking").unwrap();
        }
        dice.skip_to("ended").unwrap();
        drop(dice);
        // Where it was North it was the guest that stayed away.
        if first_answer(daemon, token) == "seek_ended" {
            return;
        }
    }
    panic!("it was North twenty times");
}

/// What the first seek of a bot is answered.
fn first_answer(daemon: &Daemon, token: &str) -> Value {
    let (mut dice, _) = hello(daemon, "dice", token);
    dice.send(&json!({"type": "seek", "pool": "short", "games": 1})).unwrap();
    dice.read().unwrap()["type"].clone()
}

/// `forfeit.forgotten`, `session.guest-name-held`: its name stayed taken, and the next bot of that name was paused for it.
#[test]
fn the_no_shows_of_a_removed_bot_are_forgotten_and_so_are_all_by_a_restart() {
    let short = "[[pool]]\nname = \"short\"\nbase_ms = 200\nopenings = \"start\"";
    let daemon = Daemon::start_with(short, &[]);
    let data = daemon.data();
    let dice = token(&data, &["bot", "add", "dice"]);
    stay_away(&daemon, &dice);
    stdout(&data, &["bot", "remove", "dice"]);
    let (guest, name) = daemon.guest(json!({"name": "dice"}));
    assert_eq!(name, "dice");
    drop(guest);
    support::process::wait_until("the guest has left", || modiar(&data, &["bot", "add", "dice"]).status.success());
    let dice = token(&data, &["bot", "token", "dice"]);
    assert_eq!(first_answer(&daemon, &dice), "seeking");
    stay_away(&daemon, &dice);
    let daemon = Daemon::start_in(daemon.stop().2, short, &[]);
    assert_eq!(first_answer(&daemon, &dice), "seeking");
}

/// `forfeit.forgotten`: a game that ran over the restart remembered them, and was lost.
#[test]
fn a_no_show_from_before_a_restart_is_not_held_against_a_game_that_runs_over_it() {
    let short = "restart_wait_ms = 300\n[[pool]]\nname = \"short\"\nbase_ms = 1000\nopenings = \"start\"";
    let daemon = Daemon::start_with(short, &[]);
    let token = token(&daemon.data(), &["bot", "add", "dice"]);
    stay_away(&daemon, &token);
    let (mut dice, mut guest) = (Returning::owner(&daemon, "dice", &token), Returning::guest(&daemon));
    let seek = json!({"type": "seek", "pool": "short", "games": 1});
    support::process::wait_until("its pause is over", || {
        // No faster than a bot may.
        std::thread::sleep(Duration::from_millis(100));
        dice.peer.send(&seek).unwrap();
        dice.peer.read().unwrap()["type"] == "seeking"
    });
    guest.peer.send(&seek).unwrap();
    let started = guest.peer.skip_to("started").unwrap();
    drop(dice);
    let daemon = Daemon::start_in(daemon.kill(), short, &[]);
    guest.come_back(&daemon);
    if started["side"] == "south" {
        guest.peer.skip_to("turn").unwrap();
        guest.peer.send(&json!({"type": "move", "game": started["game"], "pit": 2})).unwrap();
    }
    let ended = guest.peer.skip_to("ended").unwrap();
    assert_eq!((&ended["game"], &ended["termination"]), (&started["game"], &json!("aborted")), "{ended}");
}

#[test]
fn without_a_daemon_the_commands_do_the_work_themselves() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    assert!(refusal(&data, &["bot", "list"]).contains("no data"));
    assert!(!data.exists(), "a look makes nothing");
    let first = token(&data, &["bot", "add", "dice"]);
    let coin = token(&data, &["bot", "add", "coin"]);
    let dice = token(&data, &["bot", "token", "DICE"]);
    stdout(&data, &["bot", "ban", "coin"]);
    let names: Vec<Value> = list(&data).into_iter().map(|bot| bot["name"].clone()).collect();
    assert_eq!(names, ["coin", "dice"]);
    let daemon = Daemon::start_in(folder, "", &[]);
    assert!(is_welcome(&daemon, "dice", &dice) && !is_welcome(&daemon, "dice", &first));
    assert_eq!(hello(&daemon, "coin", &coin).1["reason"], "banned");
}

#[test]
fn what_cannot_be_done_is_said() {
    let daemon = Daemon::start();
    let data = daemon.data();
    token(&data, &["bot", "add", "dice"]);
    let (_guest, name) = daemon.guest(json!({}));
    assert!(refusal(&data, &["bot", "add", "Dice"]).contains("registered already"));
    assert!(refusal(&data, &["bot", "add", &name]).contains("somebody plays as"));
    assert!(refusal(&data, &["bot", "add", "house-dice"]).contains("belong to the server"));
    for action in ["token", "ban", "unban", "remove"] {
        assert!(refusal(&data, &["bot", action, "nobody"]).contains("nobody"), "{action}");
    }
    assert_eq!(modiar(&data, &["bot", "add", "../dice"]).status.code(), Some(2));
}

/// Nothing is done behind a daemon's back, and it is said what to do.
#[test]
fn a_daemon_whose_socket_was_removed_is_told_from_none() {
    let daemon = Daemon::start();
    let data = daemon.data();
    std::fs::remove_file(data.join("control.sock")).unwrap();
    for command in [&["bot", "add", "dice"][..], &["bot", "ban", "dice"]] {
        let said = refusal(&data, command);
        assert!(said.contains("control.sock") && said.contains("restart the daemon"), "{said}");
    }
    let daemon = Daemon::start_in(daemon.kill(), "", &[]);
    assert!(list(&daemon.data()).is_empty());
    token(&daemon.data(), &["bot", "add", "dice"]);
}

/// Only the owner of the data directory may command the daemon.
#[test]
fn the_control_socket_is_its_owner_s() {
    let daemon = Daemon::start();
    let socket = daemon.data().join("control.sock");
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    // One that a killed daemon left is no hindrance.
    let daemon = Daemon::start_in(daemon.kill(), "", &[]);
    token(&daemon.data(), &["bot", "add", "dice"]);
    // Nor is nonsense, and it ends nothing.
    use std::io::{Read as _, Write as _};
    let mut stream = std::os::unix::net::UnixStream::connect(daemon.data().join("control.sock")).unwrap();
    stream.write_all(b"{\"do\":\"dance\"}\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("refused"), "{answer}");
    assert_eq!(list(&daemon.data()).len(), 1);
}
