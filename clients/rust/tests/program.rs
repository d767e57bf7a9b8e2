//! Whole programs: what they say, print and return.

#![allow(clippy::unwrap_used)] // a test fails so

mod server;

use modiar_client::{Pit, Settings, Turn, run_with};
use serde_json::json;
use server::{Door, Peer, Server, ended};
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// A bot that is let in, seeks and gets a game.
fn game(door: &Door) -> Peer {
    let (mut peer, _) = door.welcome(&[], &json!([]));
    peer.expect("seek");
    peer.start(false);
    peer.turn(1);
    peer
}

/// An example, which `cargo test` builds beside the tests.
fn example(name: &str, port: u16) -> Command {
    let tests: PathBuf = std::env::current_exe().unwrap().parent().unwrap().into();
    let path = tests.with_file_name("examples").join(name);
    assert!(path.exists(), "cargo test -p modiar-client, without --test, builds {}", path.display());
    let mut command = Command::new(path);
    for variable in ["MODIAR_NAME", "MODIAR_TOKEN", "MODIAR_TLS", "MODIAR_CA"] {
        command.env_remove(variable);
    }
    command.env("MODIAR_HOST", "127.0.0.1").env("MODIAR_PORT", port.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a program that ends wrote, and its status.
fn end(mut child: Child) -> (String, String, Option<i32>) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    // It has ended, or has to.
    child.kill().unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    (out, err, child.wait().unwrap().code())
}

#[test]
fn the_readme_s_bot_is_the_first_example_and_plays() {
    let readme = include_str!("../README.md");
    let block =
        readme.split("## A bot").nth(1).unwrap().split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(block, include_str!("../examples/first.rs"));
    let server = Server::new(|door| {
        let mut peer = game(door);
        assert_eq!(peer.expect("move")["pit"], 0);
        peer.end();
    });
    let (out, err, status) = end(example("first", server.port).spawn().unwrap());
    server.end();
    assert_eq!((out, status), (format!("{} north immobile south 19-23\n", server::GAME), Some(0)), "{err}");
}

#[test]
fn the_other_bots_play_as_they_are_defined() {
    for (name, options, pit) in [("greedy", vec![], 0), ("minimax", vec!["--depth", "6"], 1), ("random", vec![], 9)] {
        let server = Server::new(move |door| {
            let mut peer = game(door);
            let played = peer.expect("move")["pit"].as_u64().unwrap();
            assert!(played == pit || pit == 9 && played < 3, "{played}");
            peer.end();
        });
        let (_, err, status) = end(example(name, server.port).args(options).spawn().unwrap());
        server.end();
        assert_eq!(status, Some(0), "{err}");
    }
}

#[test]
fn wrong_settings_and_options_are_status_2_and_a_server_that_is_not_there_3() {
    let (_, err, status) = end(example("first", 6634).env("MODIAR_PORT", "x").spawn().unwrap());
    assert_eq!(
        (err.lines().next(), status),
        (Some("MODIAR_PORT is \"x\": set it to a number from 1 to 65535"), Some(2))
    );
    let (_, _, status) = end(example("random", 6634).args(["--games", "many"]).spawn().unwrap());
    assert_eq!(status, Some(2));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (_, err, status) = end(example("first", port).spawn().unwrap());
    assert!(status == Some(3) && err.contains("cannot connect"), "{err}");
}

#[test]
#[cfg(unix)]
fn ctrl_c_resigns_and_leaves() {
    let server = Server::new(|door| {
        let mut peer = game(door);
        peer.expect("move");
        peer.expect("unseek");
        peer.expect("resign");
        peer.say(&json!({"type": "seek_ended", "pool": "practice", "reason": "cancelled", "ref": "unseek"}));
        peer.say(&ended("north"));
        peer.expect("bye");
    });
    let child = example("first", server.port).spawn().unwrap();
    // Until its first game has begun: its log says so.
    let mut child = child;
    let mut heard = Vec::new();
    while !String::from_utf8_lossy(&heard).contains("in game") {
        let mut byte = [0];
        assert_eq!(child.stderr.as_mut().unwrap().read(&mut byte).unwrap(), 1);
        heard.extend(byte);
    }
    std::thread::sleep(Duration::from_millis(100));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let (out, err, status) = end(child);
    server.end();
    assert_eq!((out, status), (format!("{} north immobile south 19-23\n", server::GAME), Some(130)), "{err}");
}

#[test]
fn a_bot_that_fails_loses_that_game_and_plays_on() {
    let server = Server::new(|door| {
        let mut peer = game(door);
        peer.expect("resign");
        peer.end();
    });
    let settings = |server: &Server| Settings::new().host("127.0.0.1").port(server.port);
    let status = run_with(settings(&server), |_: &Turn| -> Pit { panic!("a fault of the bot's") }, "practice", 1);
    server.end();
    assert_eq!(status, ExitCode::from(0));

    let server = Server::new(|door| {
        let mut peer = game(door);
        peer.expect("unseek");
        peer.expect("resign");
    });
    let status = run_with(settings(&server).strict(), |_: &Turn| Pit::ALL[5], "practice", 1);
    server.end();
    assert_eq!(status, ExitCode::from(3));
}
