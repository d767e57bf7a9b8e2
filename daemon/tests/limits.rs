//! The limits of connections and bots, each at the limit and one past it.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use modiar_conformance::{Peer, PeerError};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use support::process::{End, wait_until};
use support::{Daemon, assert_quiet};

fn hello(peer: &mut Peer) -> Value {
    peer.send(&json!({"type": "hello", "protocol": 1})).unwrap();
    peer.read().unwrap()
}

/// Reads why the connection is not taken, and its end without a goodbye (`limits.connections`).
#[track_caller]
fn assert_refused(peer: &mut Peer) {
    let error = peer.expect("error").unwrap();
    assert_eq!((&error["code"], &error["fatal"]), (&json!("too_many_connections"), &json!(true)));
    assert!(matches!(peer.read(), Err(PeerError::Closed)));
}

/// Whether a new connection is welcome; it stays open with its welcome read.
fn enters(daemon: &Daemon) -> bool {
    let mut peer = daemon.connect();
    // A refused connection may be closed before the hello is sent.
    let sent = peer.send(&json!({"type": "hello", "protocol": 1})).is_ok();
    sent && peer.expect("welcome").is_ok()
}

#[test]
fn connections_in_all_are_limited() {
    let daemon = Daemon::start_with("[limits]\nconnections = 3", &[]);
    let mut peers: Vec<Peer> = (0..3).map(|_| daemon.guest(json!({})).0).collect();
    for _ in 0..100 {
        assert_refused(&mut daemon.connect());
    }
    peers.iter_mut().for_each(assert_quiet);
    for end in End::ALL {
        end.put(peers.pop().unwrap());
        wait_until("a place is free again", || enters(&daemon));
    }
}

/// The hello that a bot sends at once does not keep it from reading why it is refused.
#[test]
fn a_refusal_is_read_behind_a_hello() {
    let daemon = Daemon::start_with("[limits]\nconnections = 1", &[]);
    let (_one, _) = daemon.guest(json!({}));
    for _ in 0..20 {
        let mut peer = daemon.connect();
        let _ = peer.send(&json!({"type": "hello", "protocol": 1}));
        assert_refused(&mut peer);
    }
}

#[test]
fn connections_from_one_address_are_limited() {
    let daemon = Daemon::start_with("", &[("MODIAR_LIMITS_CONNECTIONS_PER_ADDRESS", "2")]);
    let mut peers: Vec<Peer> = (0..2).map(|_| daemon.connect_from("127.0.0.2")).collect();
    assert_refused(&mut daemon.connect_from("127.0.0.2"));
    peers.push(daemon.connect_from("127.0.0.3"));
    for peer in &mut peers {
        assert_eq!(hello(peer)["type"], "welcome");
    }
}

/// `session.hello-deadline`
#[test]
fn a_hello_has_its_time() {
    let daemon = Daemon::start_with("[limits]\nhandshake_ms = 500", &[]);
    let (started, mut silent, mut late) = (Instant::now(), daemon.connect(), daemon.connect());
    std::thread::sleep(Duration::from_millis(250));
    assert_eq!(hello(&mut late)["type"], "welcome");
    assert_eq!(silent.expect("goodbye").unwrap()["reason"], "handshake");
    assert!((500..2500).contains(&started.elapsed().as_millis()), "{:?}", started.elapsed());
    silent.expect_close().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert_quiet(&mut late);
}

/// `session.hello-deadline`: it lay in the kernel in time, and the deadline was looked at before it.
#[test]
fn a_hello_that_came_in_time_is_heard_though_the_server_stood_still() {
    let daemon = Daemon::start_with("[limits]\nhandshake_ms = 500", &[]);
    let mut peers: Vec<Peer> = (0..8).map(|_| daemon.connect()).collect();
    daemon.freeze();
    for peer in &mut peers {
        peer.send(&json!({"type": "hello", "protocol": 1})).unwrap();
    }
    std::thread::sleep(Duration::from_secs(1));
    daemon.thaw();
    for peer in &mut peers {
        peer.expect("welcome").unwrap();
    }
}

/// `session.rate`: what was sent while the server stood still is heard at once, and was no burst.
#[test]
fn who_keeps_to_the_rate_is_not_limited_though_the_server_stood_still() {
    let daemon = Daemon::start_with("[limits]\nmessages_per_second = 50\nmessage_burst = 5", &[]);
    let mut peer = daemon.connect();
    hello(&mut peer);
    daemon.freeze();
    for _ in 0..100 {
        peer.send(&json!({"type": "ping"})).unwrap();
        std::thread::sleep(Duration::from_millis(22));
    }
    daemon.thaw();
    for _ in 0..100 {
        peer.expect("pong").unwrap();
    }
    peer.send_bytes("{\"type\":\"ping\"}\n".repeat(400).as_bytes()).unwrap();
    peer.skip_to("error").unwrap();
}

/// `session.rate`, `session.flood`
#[test]
fn messages_are_limited() {
    let limits = "[limits]\nmessages_per_second = 1\nmessage_burst = 5\nflood_messages = 3";
    let daemon = Daemon::start_with(limits, &[]);
    let mut peer = daemon.connect();
    assert_eq!(hello(&mut peer)["limits"]["messages_per_s"], 1);
    peer.send_bytes("{\"type\":\"ping\"}\n".repeat(7).as_bytes()).unwrap();
    for _ in 0..4 {
        peer.expect("pong").unwrap();
    }
    for _ in 0..2 {
        assert_eq!(peer.expect("error").unwrap()["code"], "rate_limited");
    }
    assert_eq!(peer.expect("goodbye").unwrap()["reason"], "flood");
    peer.expect_close().unwrap();
}

/// `limits.games`
#[test]
fn games_of_a_bot_are_limited() {
    let daemon = Daemon::start_with("[limits]\ngames_per_bot = 2", &[]);
    let mut south = daemon.connect();
    south.send(&json!({"type": "hello", "protocol": 1, "games": 9})).unwrap();
    assert_eq!(south.expect("welcome").unwrap()["limits"]["games"], 2);
    let (mut north, name) = daemon.guest(json!({"games": 9}));
    for last in ["started", "started", "challenge_ended"] {
        south.send(&json!({"type": "challenge", "opponent": name, "pool": "blitz", "side": "north"})).unwrap();
        south.expect("challenge_sent").unwrap();
        let challenge = north.skip_to("challenged").unwrap()["challenge"].clone();
        north.send(&json!({"type": "accept", "challenge": challenge})).unwrap();
        let answer = south.read().unwrap();
        assert_eq!(answer["type"], last, "{answer}");
        assert!(last == "started" || answer["reason"] == "unavailable", "{answer}");
    }
}

/// The least that may be configured to wait holds what all games of a bot say at once (`limits.host`): less closed bots that
/// read as fast as they could.
#[test]
fn games_that_start_together_close_nobody() {
    let least = "[limits]\noutput_bytes = 180224\n[[pool]]\nname = \"p\"\nbase_ms = 60000\nopenings = \"start\"";
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("modiar.toml");
    std::fs::write(&file, least.replace("180224", "180223")).unwrap();
    let mut less = std::process::Command::new(support::MODIAR);
    let less = less.args(["serve", "--check-config", "--config"]).arg(file).output().unwrap();
    let said = String::from_utf8(less.stderr).unwrap();
    assert!(less.status.code() == Some(78) && said.contains("180223 is not within 180224 to "), "{said}");
    let daemon = Daemon::start_with(least, &[]);
    let bot = json!({"games": 64, "client": "c".repeat(64), "version": "\u{10348}".repeat(64)});
    let mut bots = [daemon.guest(bot.clone()).0, daemon.guest(bot).0];
    for bot in &mut bots {
        bot.send(&json!({"type": "seek", "pool": "p", "games": 0})).unwrap();
    }
    for bot in &mut bots {
        for _ in 0..64 {
            bot.skip_to("started").unwrap();
        }
    }
    for bot in &mut bots {
        bot.send(&json!({"type": "ping"})).unwrap();
        bot.skip_to("pong").unwrap();
    }
    let log = daemon.kill_for_log();
    assert!(!log.contains("slow_reader"), "{log}");
}

/// A bot's pings, with answers as long as they can be made.
fn ping(peer: &mut Peer, times: usize) {
    let line = format!("{{\"type\":\"ping\",\"ref\":\"{}\"}}\n", "r".repeat(64));
    // The daemon may have closed meanwhile.
    let _ = peer.send_bytes(line.repeat(times).as_bytes());
}

/// No rate, so that pings can fill what waits.
const UNLIMITED: &str = "[limits]\nmessages_per_second = 100000\nmessage_burst = 1000000\n";

/// What a peer reads to the end of its connection; it is not a goodbye.
fn rest(peer: &mut Peer) -> usize {
    let mut bytes = 0;
    loop {
        match peer.line_within(Duration::from_secs(10)) {
            Ok(line) => {
                assert!(!line.contains("goodbye"), "{line}");
                bytes += line.len() + 1;
            }
            Err(PeerError::Closed | PeerError::Cut(_)) => return bytes,
            Err(error) => panic!("{error}"),
        }
    }
}

/// `session.slow-reader`: what may wait, in bytes. What is read before the end is what the kernel had taken.
#[test]
fn a_reader_for_whom_too_much_waits_is_closed() {
    for (bytes, answers) in [(262_144, 2_000), (180_224, 1)] {
        let daemon = Daemon::start_with(&format!("{UNLIMITED}output_bytes = {bytes}"), &[]);
        let before = daemon.descriptors();
        let mut slow = daemon.connect_narrow();
        assert_eq!(hello(&mut slow)["type"], "welcome");
        // Less than its bound waits for it, and it is patient.
        ping(&mut slow, answers);
        std::thread::sleep(Duration::from_millis(300));
        for _ in 0..answers {
            slow.expect("pong").unwrap();
        }
        for _ in 0..20 {
            ping(&mut slow, bytes / 500);
        }
        daemon.settle(before);
        assert!(rest(&mut slow) < 400_000);
        let (_, log, _) = daemon.stop();
        assert!(log.contains("slow_reader"), "{log}");
    }
}

/// `session.slow-reader`: how long it may wait.
#[test]
fn a_reader_who_takes_nothing_for_too_long_is_closed() {
    let daemon = Daemon::start_with(&format!("{UNLIMITED}output_bytes = 10000000\nwrite_deadline_ms = 1000"), &[]);
    let before = daemon.descriptors();
    for patient in [true, false] {
        let mut slow = daemon.connect_narrow();
        assert_eq!(hello(&mut slow)["type"], "welcome");
        ping(&mut slow, 5_000);
        std::thread::sleep(Duration::from_millis(if patient { 400 } else { 1500 }));
        if patient {
            for _ in 0..5_000 {
                slow.expect("pong").unwrap();
            }
            assert_quiet(&mut slow);
        } else {
            assert!(rest(&mut slow) < 400_000);
        }
    }
    daemon.settle(before);
    assert!(daemon.stop().1.contains("slow_reader"));
}
