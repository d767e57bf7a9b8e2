//! Peers that are gone without a word: no end of the stream, no reset, no answer to anything.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use serde_json::json;
use std::time::{Duration, Instant};
use support::network::{Network, SERVER, may_have_networks};
use support::process::wait_until;
use support::returning::{Pair, Returning};
use support::{Daemon, assert_quiet};
use tempfile::TempDir;

/// Plies that lead round and end nothing yet.
const MOVES: &str = "240315042315042315";
/// The bound is the smallest that may be configured.
const CONFIG: &str = r#"
guests = true
[limits]
vanished_ms = 3000
[[pool]]
name = "short"
base_ms = 2000
rated = false
openings = "start"
[[pool]]
name = "long"
base_ms = 120000
rated = false
openings = "start"
"#;

/// A daemon at one end of a cable.
struct Scene {
    network: Network,
    daemon: Daemon,
}

impl Scene {
    fn set() -> Self {
        let network = Network::new();
        let start = || Daemon::start_at(&format!("{SERVER}:0"), TempDir::new().unwrap(), CONFIG, &[]);
        let daemon = network.server.within(start);
        Self { network, daemon }
    }

    /// A guest on the daemon's own machine.
    fn near(&self) -> Returning {
        self.network.server.within(|| Returning::guest(&self.daemon))
    }

    /// A guest at the other end of the cable.
    fn far(&self) -> Returning {
        self.network.far.within(|| Returning::guest(&self.daemon))
    }

    fn metric(&self, name: &str) -> f64 {
        self.network.server.within(|| self.daemon.metrics().get(name).copied().unwrap_or_default())
    }

    fn connections(&self) -> f64 {
        self.metric("modiar_connections")
    }

    fn closed(&self, reason: &str) -> f64 {
        self.metric(&format!("modiar_connections_closed_total{{reason=\"{reason}\"}}"))
    }
}

/// `limits.vanished`, `session.newest-wins`: the cable of four bots is cut. The one whose clock runs loses on time, one
/// comes back by another way at once, and what the others held is free after the bound, whether anything was on its way
/// to them or not.
#[test]
fn bots_vanish_without_a_word() {
    if !may_have_networks() {
        return;
    }
    let scene = Scene::set();
    let mut beside = Pair::between(scene.near(), scene.near(), "long");
    beside.play(&MOVES[..2]);
    // The first result will open the archive.
    let (descriptors, connections) = (scene.daemon.descriptors() + 1, scene.connections());

    let mut flagged = Pair::between(scene.far(), scene.near(), "short");
    let mut back = Pair::between(scene.far(), scene.near(), "long");
    let mut owed = Pair::between(scene.near(), scene.far(), "long");
    let idle = scene.far();
    back.play(&MOVES[..4]);
    // Who has played loses on time; who never did would have the game aborted.
    flagged.play(&MOVES[..2]);
    flagged.south.peer.expect("turn").unwrap();
    assert_eq!(scene.connections(), connections + 7.0);
    scene.network.cut();
    let cut = Instant::now();

    // A turn that nobody takes off the wire.
    owed.play(&MOVES[..1]);
    let started = scene.network.server.within(|| back.south.resume(&scene.daemon, &back.id));
    assert_eq!(started["moves"], MOVES[..4]);
    back.play(&MOVES[4..8]);
    let ended = flagged.north.peer.expect("ended").unwrap();
    assert_eq!((&ended["termination"], &ended["result"]), (&json!("time_forfeit"), &json!("north")));

    // The near three, and the one that came back.
    wait_until("the vanished are let go", || scene.connections() == connections + 4.0);
    assert_eq!((scene.closed("replaced"), scene.closed("reset")), (1.0, 3.0));
    assert!(cut.elapsed() > Duration::from_secs(2), "they were not waited for: {:?}", cut.elapsed());
    beside.play(&MOVES[2..4]);
    back.play(&MOVES[8..]);

    // Its clock ran all the while.
    scene.network.server.within(|| owed.north.resume(&scene.daemon, &owed.id));
    owed.play(&MOVES[1..2]);
    let turn = owed.south.peer.expect("turn").unwrap();
    assert!(turn["last"]["elapsed_ms"].as_u64().unwrap() > 2_000, "{turn}");
    owed.answer(&MOVES[2..4]);
    assert_quiet(&mut flagged.north.peer);

    drop((flagged, back, owed, idle));
    scene.daemon.settle(descriptors);
    wait_until("all are gone", || scene.connections() == connections);
    beside.play(&MOVES[4..]);
}
