//! The log is read by people and by programs: a field stands there as itself, or not at all.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_conformance::Peer;
use serde_json::{Value, json};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use support::programs::Program;
use support::{Daemon, MODIAR};
use tempfile::TempDir;

/// The log, in all detail, of a daemon that welcomed and refused, was killed in a game and went on with it.
fn log(format: &str) -> String {
    let (config, environment) = (format!("[log]\nformat = \"{format}\""), [("RUST_LOG", "debug")]);
    let daemon = Daemon::start_with(&config, &environment);
    let (mut peer, _) = daemon.guest(json!({"client": "robot 7"}));
    peer.send(&json!({"type": "seek"})).unwrap();
    peer.expect("error").unwrap();
    peer.send_bytes(b"no JSON\n").unwrap();
    peer.expect("error").unwrap();
    let mut game = daemon.game("blitz");
    game.play("2");
    game.north.skip_to("turn").unwrap();
    // The log is written beside the game.
    std::thread::sleep(std::time::Duration::from_millis(100));
    daemon.signal(libc::SIGKILL);
    let (_, first, data) = daemon.wait();
    first + &Daemon::start_in(data, &config, &environment).kill_for_log()
}

/// The fields of the lines that say this.
fn said<'a>(lines: &'a [Value], message: &str) -> Vec<&'a Value> {
    let said: Vec<_> = lines.iter().filter(|line| line["message"] == message).collect();
    assert!(!said.is_empty(), "{message}: {lines:?}");
    said
}

#[test]
fn programs_read_values_and_not_how_rust_shows_them() {
    let log = log("json");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (key, value) in lines.iter().flat_map(|line| line.as_object().unwrap()) {
        let text = value.as_str().unwrap_or_default();
        assert!(!text.starts_with("Some(") && text != "None", "{key}: {text}");
    }
    let clients: Vec<&Value> = said(&lines, "welcome").iter().map(|line| &line["client"]).collect();
    assert_eq!(clients, [&json!("robot 7"), &Value::Null, &Value::Null]);
    let fields: Vec<&Value> = said(&lines, "refused").iter().map(|line| &line["field"]).collect();
    assert_eq!(fields, [&json!("pool"), &Value::Null]);
    let pits: Vec<&Value> = said(&lines, "played").iter().map(|line| &line["pit"]).collect();
    assert_eq!(pits, [&json!(2)]);
    assert!(said(&lines, "resumed")[0].get("end").is_none());
}

#[test]
fn people_read_no_field_that_is_not_there() {
    let log = log("text");
    assert!(log.contains("client=\"robot 7\"") && log.contains("pit=2"), "{log}");
    assert!(!log.contains("=None") && !log.contains("Some("), "{log}");
}

/// It hung at the first line: all games stood, and it did not end on SIGTERM.
#[test]
fn a_log_that_nobody_reads_holds_up_no_game() {
    let daemon = Daemon::start_with_full_log(&[("RUST_LOG", "trace")]);
    let mut game = daemon.game("blitz");
    game.play("240315042315042315042");
    assert_eq!(game.ended()["termination"], "repetition");
    let (status, _, _) = daemon.stop();
    assert_eq!(status.code(), Some(0));
}

/// The same where the line that says that it listens goes there too: it hung at its start, and no hello was answered.
#[test]
fn a_daemon_whose_first_line_nobody_takes_serves() {
    let folder = TempDir::new().unwrap();
    let [bots, http] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let steps =
        "mkfifo pipe && exec 8<>pipe && dd if=/dev/zero bs=4096 count=16 >&8 2>/dev/null && exec \"$@\" >&8 2>&8";
    let mut command = Command::new("sh");
    command.args(["-c", steps, "sh", MODIAR, "serve", "--data", "data"]).current_dir(folder.path());
    command.args(["--bots", &bots.to_string(), "--http", &http.to_string()]);
    let daemon = Program::start(command);
    support::process::wait_until("the daemon listens", || TcpStream::connect(bots).is_ok());
    let mut peer = Peer::connect(bots).unwrap();
    peer.send(&json!({"type": "hello", "protocol": 1})).unwrap();
    peer.expect("welcome").unwrap();
    daemon.signal(libc::SIGTERM);
    assert_eq!(daemon.finish().status, Some(0));
}
