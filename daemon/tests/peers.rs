//! Peers that are no good clients: silent, gone, slow, strange. Every test has a game beside, which goes on.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use modiar_conformance::{Peer, PeerError};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;
use support::process::{End, reset_at_close, wait_until};
use support::{Daemon, Game, assert_quiet};

/// Plies that lead round and end nothing yet.
const MOVES: &str = "240315042315042315";

/// A daemon with a game between others, and what it holds.
struct House {
    daemon: Daemon,
    game: Game,
    plies: usize,
    descriptors: usize,
}

impl House {
    fn open(config: &str) -> Self {
        let daemon = Daemon::start_with(config, &[]);
        // The first result opens the files that hold them.
        let mut first = daemon.game("practice");
        first.south.send(&json!({"type": "resign", "game": first.id})).unwrap();
        first.south.skip_to("ended").unwrap();
        // The archive follows what was told.
        std::thread::sleep(Duration::from_millis(300));
        let descriptors = daemon.descriptors();
        // Two connections again, as many as were counted.
        drop(first);
        let game = daemon.game("practice");
        Self { daemon, game, plies: 0, descriptors }
    }

    /// The game beside takes a ply.
    fn goes_on(&mut self) {
        self.game.play(&MOVES[self.plies..=self.plies]);
        self.plies += 1;
    }

    /// The game beside goes on, and nothing is held of those who were here.
    #[track_caller]
    fn is_as_before(&mut self) {
        self.goes_on();
        self.daemon.settle(self.descriptors);
    }
}

/// Makes a connection in some state; the other peers that it takes.
type State = fn(&Daemon) -> (Peer, Vec<Peer>);

fn alone(daemon: &Daemon, sent: &[u8]) -> (Peer, Vec<Peer>) {
    let mut peer = daemon.connect();
    peer.send_bytes(sent).unwrap();
    (peer, Vec::new())
}

fn challenge(daemon: &Daemon) -> (Peer, Peer) {
    let ((mut from, _), (mut to, name)) = (daemon.guest(json!({})), daemon.guest(json!({})));
    from.send(&json!({"type": "challenge", "opponent": name, "pool": "blitz"})).unwrap();
    to.expect("challenged").unwrap();
    (from, to)
}

const STATES: [(&str, State); 12] = [
    ("connected", |daemon| alone(daemon, b"")),
    ("half a line", |daemon| alone(daemon, b"{\"type\":\"hel")),
    ("a bad line", |daemon| alone(daemon, b"x\n")),
    ("a hello, its welcome not read", |daemon| alone(daemon, b"{\"type\":\"hello\",\"protocol\":1}\n")),
    ("a line too long, its goodbye not read", |daemon| alone(daemon, &[b'x'; 5000])),
    ("welcome", |daemon| (daemon.guest(json!({})).0, Vec::new())),
    ("seeking", |daemon| {
        let (mut peer, _) = daemon.guest(json!({}));
        peer.send(&json!({"type": "seek", "pool": "bullet"})).unwrap();
        peer.expect("seeking").unwrap();
        (peer, Vec::new())
    }),
    ("a challenger", |daemon| {
        let (from, to) = challenge(daemon);
        (from, vec![to])
    }),
    ("challenged", |daemon| {
        let (from, to) = challenge(daemon);
        (to, vec![from])
    }),
    ("at its turn", |daemon| {
        let Game { south, north, .. } = daemon.game("bullet");
        (south, vec![north])
    }),
    ("at the other's turn", |daemon| {
        let Game { south, north, .. } = daemon.game("bullet");
        (north, vec![south])
    }),
    ("said bye", |daemon| {
        let (mut peer, _) = daemon.guest(json!({}));
        peer.send(&json!({"type": "bye"})).unwrap();
        (peer, Vec::new())
    }),
];

/// A connection ends in every state, with end of file or reset; what it leaves is nothing.
#[test]
fn connections_end_in_every_state() {
    let mut house = House::open("");
    for (state, make) in STATES {
        for end in End::ALL {
            let (peer, others) = make(&house.daemon);
            end.put(peer);
            // The others are still served.
            for mut other in others {
                other.send(&json!({"type": "ping"})).unwrap();
                other.skip_to("pong").unwrap_or_else(|error| panic!("{state}, {end:?}: {error}"));
                end.put(other);
            }
        }
    }
    house.is_as_before();
    // Nobody who is gone is paired.
    let (mut seeker, _) = house.daemon.guest(json!({}));
    seeker.send(&json!({"type": "seek", "pool": "bullet"})).unwrap();
    assert_eq!(seeker.expect("seeking").unwrap()["waiting"], 1);
    assert_quiet(&mut seeker);
}

/// A watcher that is gone is not written to any more, and the game it watched does not mind.
#[test]
fn watchers_leave_without_a_word() {
    let mut house = House::open("");
    for end in End::ALL {
        for _ in 0..10 {
            let (mut watcher, _) = house.daemon.guest(json!({}));
            watcher.send(&json!({"type": "watch", "game": house.game.id})).unwrap();
            watcher.expect("started").unwrap();
            end.put(watcher);
        }
        house.goes_on();
    }
    house.is_as_before();
}

/// The state of the kernel's timer for the daemon's end of a connection: 2 is keepalive.
fn timer(peer: &Peer) -> u8 {
    let [ours, theirs] = [peer.stream().local_addr(), peer.stream().peer_addr()].map(|end| end.unwrap().port());
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let ends = |line: &&str| {
        let mut fields = line.split_whitespace().skip(1);
        let mut port = || fields.next().and_then(|field| u16::from_str_radix(field.split_once(':')?.1, 16).ok());
        (port(), port()) == (Some(theirs), Some(ours))
    };
    let line = table.lines().find(ends).unwrap();
    line.split_whitespace().nth(5).unwrap().split_once(':').unwrap().0.parse().unwrap()
}

/// A peer that is gone without a word is looked for by the kernel; meanwhile the same bot may come again, and the old
/// connection, though it hangs, is over (`session.newest-wins`).
#[test]
fn a_bot_comes_again_while_its_old_connection_hangs() {
    let mut house = House::open("");
    let daemon = &house.daemon;
    let mut south = daemon.connect_narrow();
    south.send(&json!({"type": "hello", "protocol": 1})).unwrap();
    let welcome = south.expect("welcome").unwrap();
    assert_eq!(timer(&south), 2);
    let (mut north, name) = daemon.guest(json!({}));
    south.send(&json!({"type": "challenge", "opponent": name, "pool": "blitz", "side": "south"})).unwrap();
    let challenge = north.expect("challenged").unwrap()["challenge"].clone();
    north.send(&json!({"type": "accept", "challenge": challenge})).unwrap();
    north.expect("started").unwrap();
    let (mut again, resumed) = daemon.guest(json!({"name": welcome["bot"]["name"], "resume": welcome["resume"]}));
    assert_eq!(Value::from(resumed), welcome["bot"]["name"]);
    assert_eq!(again.expect("started").unwrap()["resumed"], true);
    let turn = again.expect("turn").unwrap();
    again.send(&json!({"type": "move", "game": turn["game"], "pit": 0})).unwrap();
    north.expect("turn").unwrap();
    house.daemon.settle(house.descriptors + 2);
    assert_eq!(south.skip_to("goodbye").unwrap()["reason"], "replaced");
    drop((south, again, north));
    house.is_as_before();
}

/// The link breaks while `ended` is on its way: the result is stored once, and read at the next welcome (`session.missed`).
#[test]
fn an_end_that_was_not_read_is_read_later() {
    let mut house = House::open("");
    let daemon = &house.daemon;
    for round in 0..24_u64 {
        let mut north = daemon.connect();
        north.send(&json!({"type": "hello", "protocol": 1})).unwrap();
        let welcome = north.expect("welcome").unwrap();
        let (mut south, _) = daemon.guest(json!({}));
        let opponent = welcome["bot"]["name"].clone();
        south.send(&json!({"type": "challenge", "opponent": opponent, "pool": "blitz", "side": "south"})).unwrap();
        let challenge = north.expect("challenged").unwrap()["challenge"].clone();
        north.send(&json!({"type": "accept", "challenge": challenge})).unwrap();
        let game = south.skip_to("started").unwrap()["game"].clone();
        reset_at_close(north.stream());
        if round % 4 == 0 {
            daemon.freeze();
        }
        south.send(&json!({"type": "resign", "game": game})).unwrap();
        // From before the end is decided to after it was sent.
        std::thread::sleep(Duration::from_micros(round * 200));
        drop(north);
        daemon.thaw();
        let ended = south.skip_to("ended").unwrap();
        let mut north = daemon.connect();
        let hello = json!({"type": "hello", "protocol": 1, "name": opponent, "resume": welcome["resume"]});
        north.send(&hello).unwrap();
        let missed = north.expect("welcome").unwrap()["missed"].clone();
        assert_eq!(missed, json!([ended]), "round {round}");
        assert_quiet(&mut north);
        assert_eq!(daemon.export().matches(game.as_str().unwrap()).count(), 1);
    }
    house.is_as_before();
}

/// A peer that never reads, with no room for what it is sent, before it is welcome: its goodbye is given a second.
#[test]
fn a_slow_stranger_is_let_go() {
    let mut house = House::open("");
    let mut slow: Vec<Peer> = (0..10).map(|_| house.daemon.connect_narrow()).collect();
    for peer in &mut slow {
        peer.send_bytes("x\n".repeat(100).as_bytes()).unwrap();
    }
    house.is_as_before();
}

/// A bot in a game stops reading, `session.slow-reader`: it is closed, by the time or by the bytes that wait; its game
/// goes on and it may come back to it.
#[test]
fn the_game_of_a_slow_reader_goes_on() {
    const UNLIMITED: &str = "[limits]\nmessages_per_second = 100000\nmessage_burst = 1000000\n";
    for bound in ["write_deadline_ms = 200\noutput_bytes = 60000000", "write_deadline_ms = 3600000"] {
        let mut house = House::open(&format!("{UNLIMITED}{bound}"));
        let mut slow = house.daemon.connect_narrow();
        slow.send(&json!({"type": "hello", "protocol": 1})).unwrap();
        let welcome = slow.expect("welcome").unwrap();
        let (mut south, _) = house.daemon.guest(json!({}));
        let name = welcome["bot"]["name"].clone();
        south.send(&json!({"type": "challenge", "opponent": name, "pool": "blitz", "side": "south"})).unwrap();
        let challenge = slow.expect("challenged").unwrap()["challenge"].clone();
        slow.send(&json!({"type": "accept", "challenge": challenge})).unwrap();
        let game = south.skip_to("started").unwrap()["game"].clone();
        south.expect("turn").unwrap();
        let ping = format!("{{\"type\":\"ping\",\"ref\":\"{}\"}}\n", "r".repeat(64));
        for _ in 0..60 {
            // It may be closed by now.
            let _ = slow.send_bytes(ping.repeat(100).as_bytes());
        }
        house.daemon.settle(house.descriptors + 1);
        south.send(&json!({"type": "move", "game": game, "pit": 0})).unwrap();
        assert_quiet(&mut south);
        let mut back = house.daemon.connect();
        back.send(&json!({"type": "hello", "protocol": 1, "name": name, "resume": welcome["resume"]})).unwrap();
        assert_eq!(back.expect("welcome").unwrap()["games"], json!([game]));
        back.expect("started").unwrap();
        assert_eq!(back.expect("turn").unwrap()["ply"], 2);
        drop((back, south, slow));
        house.is_as_before();
        assert!(house.daemon.kill_for_log().contains("reason=slow_reader"));
    }
}

/// Bytes that come one by one are a line when its end has come, and a hello that comes so has the time of a handshake
/// (`session.hello-deadline`).
#[test]
fn one_byte_after_the_other() {
    let mut house = House::open("[limits]\nhandshake_ms = 1000");
    let mut slow = house.daemon.connect();
    for byte in b"{\"type\":\"hello\",\"protocol\":1}\n" {
        if slow.send_bytes(&[*byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(slow.expect("goodbye").unwrap()["reason"], "handshake");
    assert!(matches!(slow.read(), Err(PeerError::Closed)));
    let (mut welcomed, _) = house.daemon.guest(json!({}));
    for byte in b"{\"type\":\"ping\"}\n" {
        welcomed.send_bytes(&[*byte]).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    welcomed.expect("pong").unwrap();
    drop((slow, welcomed));
    house.is_as_before();
}

/// A line in two parts, wherever it is split, and lines of which many come together, in their order.
#[test]
fn lines_come_in_parts_and_together() {
    let mut house = House::open("[limits]\nmessage_burst = 1000");
    let (mut peer, _) = house.daemon.guest(json!({}));
    let line = "{\"type\":\"ping\",\"ref\":\"é\\u00e9\"}\r\n".as_bytes();
    for at in 1..line.len() {
        peer.send_bytes(&line[..at]).unwrap();
        std::thread::sleep(Duration::from_millis(2));
        peer.send_bytes(&line[at..]).unwrap();
        assert_eq!(peer.expect("pong").unwrap()["ref"], "éé", "split at {at}");
    }
    let lines: String = (0..100).map(|at| format!("{{\"type\":\"ping\",\"ref\":{at}}}\n")).collect();
    peer.send_bytes(lines.as_bytes()).unwrap();
    for at in 0..100 {
        assert_eq!(peer.expect("pong").unwrap()["ref"], at);
    }
    drop(peer);
    house.is_as_before();
}

/// What a peer that speaks something else is sent, to the end of the connection.
fn answer(address: std::net::SocketAddr, sent: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(sent).unwrap();
    let mut answer = Vec::new();
    // A reset is an end too.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

/// Other protocols on the bots' port read errors and a goodbye, or nothing but the end.
#[test]
fn other_protocols_are_seen_off() {
    let mut house = House::open("[limits]\nhandshake_ms = 500");
    let mut dice = 7_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        dice.to_be_bytes()[0]
    })
    .take(60_000)
    .collect();
    let tls: Vec<u8> = [&b"\x16\x03\x01\x01\xfc\x01\x00\x01\xf8\x03\x03"[..], &[7; 500]].concat();
    for (sent, reason) in [
        (&b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"[..], "handshake"),
        (b"SSH-2.0-OpenSSH_9.9\r\n", "handshake"),
        (b"\0", "handshake"),
        (b"\xef\xbb\xbf\n\n\n\n\n\n", "handshake"),
        (&tls, "handshake"),
        (&noise, ""),
        (&noise[1000..1400], ""),
    ] {
        let answer = answer(house.daemon.bots, sent);
        let last: Value = serde_json::from_str(answer.lines().last().unwrap()).unwrap();
        assert_eq!(last["type"], "goodbye", "{answer}");
        assert!(reason.is_empty() || last["reason"] == reason, "{answer}");
    }
    house.is_as_before();
}

#[test]
fn a_bot_on_the_web_port_is_told_so() {
    let mut house = House::open("");
    let said =
        answer(house.daemon.http, b"{\"type\":\"hello\",\"protocol\":1}\n{\"type\":\"seek\",\"pool\":\"blitz\"}\n");
    assert!(said.starts_with("HTTP/1.1 400"), "{said}");
    let healthy = answer(house.daemon.http, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(healthy.starts_with("HTTP/1.1 200"), "{healthy}");
    wait_until("nothing is held", || house.daemon.descriptors() <= house.descriptors);
    house.is_as_before();
}
