//! As many bots at once as the default lets in. It has a process of its own, for it takes most of the open files.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;
use support::{Daemon, PLAIN_POOLS};

const CROWD: usize = 10_000;
/// Plies that lead round, as they are played one by one.
const MOVES: [&str; 7] = ["2", "4", "0", "3", "1", "5", "0"];

/// Whether this process may have so many connections, and the daemon too; where everything is required it must.
fn may_have_a_crowd() -> bool {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let needed = u64::try_from(CROWD).unwrap() + 200;
    let may = limit.maximum.is_none_or(|most| most >= needed);
    assert!(may || std::env::var_os("MODIAR_REQUIRE_ALL").is_none(), "ulimit -Hn is below {needed}");
    if !may {
        eprintln!("SKIPPED: ulimit -Hn is below {needed}");
    }
    may
}

/// One of a crowd: a peer would take two descriptors and a large buffer.
struct Lean(TcpStream);

impl Lean {
    /// A connection that has sent its hello. The addresses of this machine change: one has not ports enough.
    fn enter(daemon: &Daemon, number: usize) -> Self {
        let stream = daemon.stream_from(&format!("127.0.0.{}", 2 + number % 8));
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut lean = Self(stream);
        lean.send(r#"{"type":"hello","protocol":1}"#);
        lean
    }

    fn send(&mut self, message: &str) {
        self.0.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// Reads a line, which must be a message of this type and the only one.
    #[track_caller]
    fn expect(&mut self, kind: &str) {
        let (mut line, mut part) = (Vec::new(), [0; 4096]);
        while !line.ends_with(b"\n") {
            let length = self.0.read(&mut part).unwrap();
            line.extend_from_slice(&part[..length]);
            assert!(length > 0, "closed after: {}", String::from_utf8_lossy(&line));
        }
        let message: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(message["type"], kind, "{message}");
    }
}

/// Ten thousand bots are welcome at once and answered all the while, and two of them play as if they were alone.
#[test]
fn ten_thousand_are_served_at_once() {
    if !may_have_a_crowd() {
        return;
    }
    let daemon = Daemon::start_with(&format!("[limits]\nconnections = {}\n{PLAIN_POOLS}", CROWD + 2), &[]);
    let (mut game, mut plies) = (daemon.game("practice"), MOVES.into_iter());
    let before = daemon.descriptors();
    daemon.wait_for_metric("modiar_connections", 2.0);
    let mut crowd: Vec<Lean> = (0..CROWD).map(|number| Lean::enter(&daemon, number)).collect();
    game.play(plies.next().unwrap());
    crowd.iter_mut().for_each(|lean| lean.expect("welcome"));
    assert!(daemon.descriptors() >= before + CROWD);
    daemon.wait_for_metric("modiar_connections", (CROWD + 2) as f64);
    for _ in 0..2 {
        crowd.iter_mut().for_each(|lean| lean.send(r#"{"type":"ping"}"#));
        game.play(plies.next().unwrap());
        crowd.iter_mut().for_each(|lean| lean.expect("pong"));
        game.play(plies.next().unwrap());
    }
    drop(crowd);
    game.play(plies.next().unwrap());
    daemon.settle(before);
    daemon.wait_for_metric("modiar_connections", 2.0);
    game.play(plies.next().unwrap());
    game.south.send(&json!({"type": "resign", "game": game.id})).unwrap();
    assert_eq!(game.south.skip_to("ended").unwrap()["termination"], "resignation");
}
