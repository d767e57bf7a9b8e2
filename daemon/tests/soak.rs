//! Many games and many connections in one process: what it holds afterwards is what it held before.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use modiar_conformance::Peer;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use support::Daemon;

/// Games, and connections; `MODIAR_SOAK` asks for more, and for a look at the memory.
const SHORT: u64 = 2000;
const BOTS: u64 = 64;
/// Memory that a game and a connection may leave behind, in bytes: what allocators do not give back.
const PER_GAME: f64 = 100.0;
const PER_CONNECTION: f64 = 50.0;
/// A game is over with its first ply.
const CONFIG: &str =
    "drain_ms = 0\n[[pool]]\nname = \"blink\"\nbase_ms = 60000\nrated = false\nopenings = \"start\"\nquiet_plies = 1\n";

/// How the daemon grows while something is done again and again.
struct Watch {
    done: AtomicU64,
    wanted: u64,
    checks_memory: bool,
}

impl Watch {
    fn new() -> Self {
        let asked = std::env::var("MODIAR_SOAK").ok().map(|games| games.parse().unwrap());
        Self { done: AtomicU64::new(0), wanted: asked.unwrap_or(SHORT), checks_memory: asked.is_some() }
    }

    fn is_done(&self) -> bool {
        self.done.load(Ordering::Relaxed) >= self.wanted
    }

    fn one_more(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// The bytes that each thing done left behind, from the second quarter to the fourth.
    fn growth(&self, daemon: &Daemon) -> f64 {
        let (mut second, mut fourth) = (Vec::new(), Vec::new());
        let deadline = Instant::now() + Duration::from_secs(1200);
        while !self.is_done() {
            assert!(Instant::now() < deadline, "only {} of {}", self.done.load(Ordering::Relaxed), self.wanted);
            match self.done.load(Ordering::Relaxed) * 4 / self.wanted {
                1 => second.push(memory(daemon)),
                3 => fourth.push(memory(daemon)),
                _ => {}
            }
            thread::sleep(Duration::from_millis(20));
        }
        let mean = |sizes: &[f64]| sizes.iter().sum::<f64>() / sizes.len().max(1) as f64;
        (mean(&fourth) - mean(&second)) / (self.wanted as f64 / 2.0)
    }

    fn check(&self, what: &str, growth: f64, most: f64) {
        eprintln!("{what}: {} done, {growth:.1} bytes each", self.wanted);
        assert!(!self.checks_memory || growth < most, "{what}: {growth} bytes each");
    }
}

/// Its resident memory, in bytes.
fn memory(daemon: &Daemon) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 1024.0
}

/// How many descriptors it has, without the journal's: that has its next segment open from time to time.
fn descriptors(daemon: &Daemon) -> usize {
    let open = std::fs::read_dir(format!("/proc/{}/fd", daemon.pid())).unwrap().flatten();
    let targets = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    targets.filter(|target| !target.to_string_lossy().contains("/journal/")).count()
}

/// Waits until the daemon has as many descriptors as it had.
fn assert_as_many(daemon: &Daemon, before: usize) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while descriptors(daemon) != before {
        assert!(Instant::now() < deadline, "{} descriptors, {before} before", descriptors(daemon));
        thread::sleep(Duration::from_millis(20));
    }
}

/// Seeks and plays one ply games until `watch` has seen enough.
fn play(mut peer: Peer, watch: &Watch) {
    peer.send(&json!({"type": "seek", "pool": "blink", "games": 0})).unwrap();
    loop {
        let Ok(message) = peer.read() else { return assert!(watch.is_done(), "nothing happens") };
        match message["type"].as_str().unwrap() {
            "turn" => peer.send(&json!({"type": "move", "game": message["game"], "pit": message["legal"][0]})).unwrap(),
            // Of the two who read it one counts.
            "ended" if watch.is_done() => return,
            "started" if message["side"] == "south" => watch.one_more(),
            _ => {}
        }
    }
}

#[test]
fn games_leave_nothing_behind() {
    let daemon = Daemon::start_with(CONFIG, &[("RUST_LOG", "warn")]);
    // The archive's file is opened with the first game.
    let mut first = daemon.game("blink");
    first.play("0");
    first.ended();
    drop(first);
    thread::sleep(Duration::from_millis(100));
    let (before, watch) = (descriptors(&daemon), Watch::new());
    let growth = thread::scope(|scope| {
        for _ in 0..BOTS {
            let (peer, _) = daemon.guest(json!({}));
            scope.spawn(|| play(peer, &watch));
        }
        watch.growth(&daemon)
    });
    watch.check("games", growth, PER_GAME);
    assert_as_many(&daemon, before);
    let (status, report) = daemon.run(&["games", "verify", "--data", daemon.data().to_str().unwrap()]);
    assert!(status.success(), "{report}");
    // How long a start on them takes is measured by daemon/bench.
    let (_, _, folder) = daemon.stop();
    drop(Daemon::start_in(folder, CONFIG, &[("RUST_LOG", "warn")]));
}

/// Some take leave, the others are just gone.
#[test]
fn connections_leave_nothing_behind() {
    let daemon = Daemon::start_with(CONFIG, &[("RUST_LOG", "warn")]);
    let (before, watch) = (descriptors(&daemon), Watch::new());
    let growth = thread::scope(|scope| {
        for number in 0..BOTS {
            let (daemon, watch) = (&daemon, &watch);
            scope.spawn(move || {
                let mut resume = Value::Null;
                while !watch.is_done() {
                    let name = format!("soak-{number}");
                    let mut peer = daemon.connect();
                    peer.send(&json!({"type": "hello", "protocol": 1, "name": name, "resume": resume})).unwrap();
                    resume = peer.expect("welcome").unwrap()["resume"].clone();
                    if watch.done.load(Ordering::Relaxed).is_multiple_of(2) {
                        peer.send(&json!({"type": "bye"})).unwrap();
                        peer.expect("goodbye").unwrap();
                    }
                    // A closed port is free at once so, and the daemon meets a reset.
                    socket2::SockRef::from(peer.stream()).set_linger(Some(Duration::ZERO)).unwrap();
                    drop(peer);
                    watch.one_more();
                }
            });
        }
        watch.growth(&daemon)
    });
    watch.check("connections", growth, PER_CONNECTION);
    assert_as_many(&daemon, before);
}
