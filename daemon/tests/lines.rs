//! Lines as they come over the wire: whole or not, too long, strange; and connections that end right behind them.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use modiar_conformance::{Peer, PeerError};
use serde_json::{Value, json};
use socket2::SockRef;
use std::io::{ErrorKind, Write as _};
use std::time::Duration;
use support::{Daemon, Game, PLAIN_POOLS, assert_quiet};

/// How a connection ends behind what it has sent.
#[derive(Clone, Copy, Debug)]
enum End {
    Fin,
    Reset,
}

/// Sends the bytes, and ends the connection so at once.
fn send_and_end(mut peer: Peer, bytes: &[u8], end: End) {
    peer.send_bytes(bytes).unwrap();
    if matches!(end, End::Reset) {
        SockRef::from(peer.stream()).set_linger(Some(Duration::ZERO)).unwrap();
    }
    drop(peer);
}

/// South's first turn was read; South is taken out of the game.
fn souths_turn(daemon: &Daemon) -> (Peer, Game) {
    let mut game = daemon.game("blitz");
    game.south.expect("turn").unwrap();
    let south = std::mem::replace(&mut game.south, daemon.connect());
    (south, game)
}

/// A whole line counts although the connection ends right behind it (`transport.last-line`), whether the daemon reads
/// it before the end or finds both together.
#[test]
fn a_move_counts_with_the_end_of_its_connection_right_behind_it() {
    let daemon = Daemon::start();
    for end in [End::Fin, End::Reset] {
        for stopped in [false, true, false, false, false] {
            let (south, mut game) = souths_turn(&daemon);
            if stopped {
                daemon.freeze();
            }
            send_and_end(south, format!("{}\n", game.r#move(2)).as_bytes(), end);
            daemon.thaw();
            let turn = game.north.expect("turn").unwrap();
            assert_eq!((&turn["ply"], &turn["last"]["pit"]), (&json!(2), &json!(2)), "{end:?}, stopped: {stopped}");
        }
    }
}

/// A tail without its newline is dropped at the end of the connection, even where it is whole JSON (`transport.tail`).
#[test]
fn half_a_line_does_not_count_at_the_end_of_its_connection() {
    let daemon = Daemon::start();
    for end in [End::Fin, End::Reset] {
        for whole in [true, false] {
            let (south, mut game) = souths_turn(&daemon);
            let line = game.r#move(2).to_string();
            send_and_end(south, &line.as_bytes()[..if whole { line.len() } else { line.len() / 2 }], end);
            // A ply that was played would be told before the end.
            assert_quiet(&mut game.north);
            game.north.line_within(Duration::from_millis(100)).unwrap_err();
            game.north.send(&json!({"type": "resign", "game": game.id})).unwrap();
            assert_eq!(game.north.expect("ended").unwrap()["ply"], 0, "{end:?}");
            assert_eq!(daemon.record(&game.id)["moves"], "", "{end:?}");
        }
    }
}

/// After the end of file nothing more is said: the tail is no ping (`transport.tail`), and the server closes its half
/// too.
#[test]
fn a_tail_is_dropped_and_the_connection_closed() {
    let daemon = Daemon::start();
    let (mut peer, _) = daemon.guest(json!({}));
    peer.send_bytes(br#"{"type":"ping"}"#).unwrap();
    peer.finish().unwrap();
    assert!(matches!(peer.line_within(Duration::from_secs(10)), Err(PeerError::Closed)));
}

/// A ping of so many bytes, its line ending included.
fn ping_of(bytes: usize, ending: &str) -> Vec<u8> {
    let around = json!({"type": "ping", "filler": ""}).to_string().len() + ending.len();
    format!("{}{ending}", json!({"type": "ping", "filler": "x".repeat(bytes - around)})).into_bytes()
}

fn assert_too_long(peer: &mut Peer) {
    let error = peer.expect("error").unwrap();
    assert_eq!((&error["code"], &error["fatal"]), (&json!("line_too_long"), &json!(true)), "{error}");
    assert_eq!(peer.expect("goodbye").unwrap()["reason"], "line_too_long");
    peer.line_within(Duration::from_secs(10)).unwrap_err();
}

/// 4,096 bytes with the line ending are a line, one more are not, however the line ends (`transport.line-too-long`).
#[test]
fn a_line_of_the_limit_and_one_byte_more() {
    let daemon = Daemon::start();
    for ending in ["\n", "\r\n"] {
        let (mut peer, _) = daemon.guest(json!({}));
        peer.send_bytes(&ping_of(4096, ending)).unwrap();
        peer.expect("pong").unwrap();
        assert_quiet(&mut peer);
        peer.send_bytes(&ping_of(4097, ending)).unwrap();
        assert_too_long(&mut peer);
    }
    // Without its newline a line of 4,096 bytes is one that will be too long.
    let (mut peer, _) = daemon.guest(json!({}));
    peer.send_bytes(&ping_of(4097, "\n")[..4095]).unwrap();
    peer.line_within(Duration::from_millis(100)).unwrap_err();
    peer.send_bytes(b"x").unwrap();
    assert_too_long(&mut peer);
}

/// The most memory that the daemon ever had, in KiB.
fn peak_kib(daemon: &Daemon) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// A gigabyte without a newline, from bots and from who has not said hello: the daemon keeps none of it, says why it
/// closes, and closes (`transport.line-too-long`, `session.goodbye`).
#[test]
fn a_gigabyte_without_a_newline_is_not_kept() {
    const CHUNKS: usize = 1 << 14;
    let daemon = Daemon::start_with(PLAIN_POOLS, &[]);
    let peers = [daemon.guest(json!({})).0, daemon.guest(json!({})).0, daemon.connect(), daemon.connect()];
    let before = peak_kib(&daemon);
    let senders = peers.map(|mut peer| {
        std::thread::spawn(move || {
            let mut stream = peer.stream().try_clone().unwrap();
            stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
            let sender = std::thread::spawn(move || {
                let chunk = vec![b'x'; 1 << 16];
                (0..CHUNKS).find_map(|_| stream.write_all(&chunk).err())
            });
            assert_too_long(&mut peer);
            if let Some(error) = sender.join().unwrap() {
                assert!(matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{error}");
            }
        })
    });
    for sender in senders {
        sender.join().unwrap();
    }
    let grown = peak_kib(&daemon) - before;
    assert!(grown < 8 << 10, "{grown} KiB more");
    daemon.game("blitz").play("24");
}

/// What was said before the end is read before it, by a client that reads late and has room for little, and however
/// much it has sent behind it (`session.goodbye`). A server that closed at once on unread input would throw away what
/// it has not sent yet.
#[test]
fn a_goodbye_is_read_before_the_close() {
    let daemon = Daemon::start();
    let endings: [(&str, bool, Vec<u8>); 3] = [
        ("bye", true, b"{\"type\":\"bye\"}\n".to_vec()),
        ("handshake", false, b"one\ntwo\nthree\n".to_vec()),
        ("line_too_long", true, ping_of(5000, "\n")),
    ];
    for (reason, welcome, ending) in endings {
        let mut peer = if welcome { daemon.guest(json!({})).0 } else { daemon.connect() };
        SockRef::from(peer.stream()).set_recv_buffer_size(1).unwrap();
        let strange = format!("{}\n", json!({"type": "strange", "ref": "x".repeat(64)}));
        let before = strange.repeat(if welcome { 50 } else { 0 });
        let behind = b"{\"type\":\"ping\"}\n".repeat(6000);
        peer.send_bytes(&[before.as_bytes(), &ending, &behind].concat()).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        for _ in before.lines() {
            assert_eq!(peer.expect("error").unwrap()["code"], "unknown_type", "{reason}");
        }
        assert_eq!(peer.skip_to("goodbye").unwrap()["reason"], reason);
        // Nothing of what came behind is answered.
        assert!(matches!(peer.line_within(Duration::from_secs(10)), Err(PeerError::Closed)), "{reason}");
    }
}

/// A line, and the code and the field of the error that answers it; no code: it is a ping, and answered.
type Kind = (&'static [u8], Option<&'static str>, Option<&'static str>);

/// Kinds of JSON and of what is none, as the suite `JSONTestSuite` has them (`transport.utf8`, `transport.json`,
/// `transport.object`).
const JSON: &[Kind] = &[
    (b"{\"type\":\"ping\",\"x\":\"\xff\"}", Some("bad_utf8"), None),
    (b"{\"type\":\"ping\",\"x\":\"\xc0\xaf\"}", Some("bad_utf8"), None),
    (b"{\"type\":\"ping\",\"x\":\"\xed\xa0\x80\"}", Some("bad_utf8"), None),
    (b"\xff\xfe{\0}\0", Some("bad_utf8"), None),
    (b"\xef\xbb\xbf{\"type\":\"ping\"}", Some("bad_json"), None),
    (b"{\"type\":\"ping\"}\0", Some("bad_json"), None),
    (b"{\"type\":\"pi\0ng\"}", Some("bad_json"), None),
    (b"   ", Some("bad_json"), None),
    (b"ping", Some("bad_json"), None),
    (b"\"ping\"", Some("bad_json"), None),
    (b"null", Some("bad_json"), None),
    (b"[\"ping\"]", Some("bad_json"), None),
    (b"[{\"type\":\"ping\"}]", Some("bad_json"), None),
    (b"{\"type\":\"ping\"}{\"type\":\"ping\"}", Some("bad_json"), None),
    (b"{\"type\":\"ping\",}", Some("bad_json"), None),
    (b"{'type':'ping'}", Some("bad_json"), None),
    (b"{type:\"ping\"}", Some("bad_json"), None),
    (b"{\"type\":\"ping\"} // so", Some("bad_json"), None),
    (b"{\"type\":\"ping\",\"x\":NaN}", Some("bad_json"), None),
    (b"{\"type\":\"ping\",\"x\":01}", Some("bad_json"), None),
    (b"{\"type\":\"ping\",\"x\":1.}", Some("bad_json"), None),
    (b"{\"type\":\"ping\",\"x\":+1}", Some("bad_json"), None),
    (b"{\"type\":\"ping\",\"x\":\"\t\"}", Some("bad_json"), None),
    (b"{\"type\":\"ping\",\"x\":\"\\x\"}", Some("bad_json"), None),
    (b"{\"type\":\"ping\",\"x\":\"\\u12G4\"}", Some("bad_json"), None),
    (b"{\"type\":\"ping\",\"x\":{\"a\":1}", Some("bad_json"), None),
    (b" {\"type\" : \"ping\", \"x\":[1,{\"a\":[]}]}\t\r", None, None),
];

/// What is JSON, and its meaning (`transport.duplicate-keys`, `transport.lone-surrogate`, `transport.ignored-number`,
/// `transport.field`, `transport.integers`, `transport.null`, `transport.unknown-field`, `transport.unknown-type`,
/// `transport.ref`).
const FIELDS: &[Kind] = &[
    (b"{\"type\":\"ping\",\"type\":\"ping\"}", Some("bad_json"), None),
    (b"{\"type\":\"move\",\"game\":\"g\",\"pit\":0,\"p\\u0069t\":1}", Some("bad_json"), None),
    (b"{\"type\":\"ping\",\"x\":1,\"x\":2}", Some("bad_json"), None),
    (b"{\"type\":\"ping\",\"x\":{\"a\":1,\"a\":2}}", None, None),
    (b"{\"type\":\"seek\",\"pool\":\"\\ud800\"}", Some("bad_json"), None),
    (b"{\"type\":\"ping\",\"x\":\"\\ud800\"}", None, None),
    (b"{\"t\\u0079pe\":\"p\\u0069ng\",\"\":0}", None, None),
    (b"{\"type\":\"ping\",\"x\":1e400,\"y\":-0,\"z\":123456789012345678901234567890}", None, None),
    (b"{\"type\":\"seek\",\"pool\":\"blitz\",\"games\":1e400}", Some("bad_field"), Some("games")),
    (b"{\"type\":\"seek\",\"pool\":\"blitz\",\"games\":-0}", Some("bad_field"), Some("games")),
    (b"{\"type\":\"seek\",\"pool\":\"blitz\",\"games\":2.0}", Some("bad_field"), Some("games")),
    (b"{\"type\":\"seek\",\"pool\":\"blitz\",\"games\":\"2\"}", Some("bad_field"), Some("games")),
    (b"{\"type\":\"seek\",\"pool\":\"blitz\",\"games\":[2]}", Some("bad_field"), Some("games")),
    (b"{\"type\":\"seek\",\"pool\":null}", Some("bad_field"), Some("pool")),
    (b"{\"type\":\"ping\",\"ref\":null}", None, None),
    (b"{\"type\":\"ping\",\"ref\":9007199254740992}", Some("bad_field"), Some("ref")),
    (b"{\"type\":\"ping\",\"ref\":{}}", Some("bad_field"), Some("ref")),
    (b"{}", Some("bad_field"), Some("type")),
    (b"{\"type\":null}", Some("bad_field"), Some("type")),
    (b"{\"type\":7}", Some("bad_field"), Some("type")),
    (b"{\"type\":\"Ping\"}", Some("unknown_type"), None),
    (b"{\"type\":\"welcome\"}", Some("unknown_type"), None),
];

/// Every kind of line is answered as the specification says, and the connection stays.
#[test]
fn strange_lines_are_answered_and_the_connection_stays() {
    let daemon = Daemon::start();
    for kinds in [JSON, FIELDS] {
        let (mut peer, _) = daemon.guest(json!({}));
        for (line, code, field) in kinds {
            peer.send_bytes(&[line, &b"\n"[..]].concat()).unwrap();
            let answer = peer.read().unwrap();
            let line = String::from_utf8_lossy(line);
            assert_eq!(answer["type"], if code.is_some() { "error" } else { "pong" }, "{line}: {answer}");
            assert_eq!((&answer["code"], &answer["field"]), (&json!(code), &json!(field)), "{line}: {answer}");
            assert!(code.is_none() || answer["fatal"] == false, "{line}: {answer}");
        }
        assert_quiet(&mut peer);
    }
}

/// Levels of nesting in a field that is ignored, the message object the first (`transport.nesting`): 32 pass, one more
/// does not, nor do as many as a line can hold.
#[test]
fn deep_nesting_is_refused_in_ignored_fields_too() {
    let daemon = Daemon::start();
    let (mut peer, _) = daemon.guest(json!({}));
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let most = (4096 - 40) / (open.len() + close.len());
        for (levels, code) in [(31, Value::Null), (32, json!("bad_json")), (most, json!("bad_json"))] {
            let nested = format!("{}0{}", open.repeat(levels), close.repeat(levels));
            peer.send_bytes(format!("{{\"type\":\"ping\",\"x\":{nested}}}\n").as_bytes()).unwrap();
            assert_eq!(peer.read().unwrap()["code"], code, "{levels} of {open}");
        }
        peer.send_bytes(format!("{{\"type\":\"ping\",\"x\":{}\n", open.repeat(400)).as_bytes()).unwrap();
        assert_eq!(peer.expect("error").unwrap()["code"], "bad_json");
    }
    assert_quiet(&mut peer);
    // Deeper than a line is long.
    peer.send_bytes("[".repeat(100_000).as_bytes()).unwrap();
    assert_too_long(&mut peer);
}

/// An empty line is no message and has no answer (`transport.empty-line`).
#[test]
fn empty_lines_are_passed_over() {
    let daemon = Daemon::start();
    let (mut peer, _) = daemon.guest(json!({}));
    peer.send_bytes(b"\n\r\n\n").unwrap();
    assert_quiet(&mut peer);
}
