//! The player against servers that say one thing each: what it lets pass, and what it tells where it does not.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

use modiar_conformance::{Failure, Peer, PeerError, Transcript};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

/// A server that says `lines` to its one client and then closes, once the client has closed its side.
fn server(lines: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(lines).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        // The client may reset: then it has read what it wanted.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    address
}

fn play(steps: &str, lines: &'static [u8]) -> Result<(), Box<Failure>> {
    let head = r#"{"transcript":1,"title":"t","clauses":["transport.line"]}"#;
    let text = format!("{head}\n{{\"at\":\"a\",\"connect\":true}}\n{steps}\n");
    Transcript::parse("t", &text).unwrap().play(server(lines))
}

const PONG: &str = r#"{"at":"a","send":{"type":"ping","ref":1}}
{"at":"a","expect":{"type":"pong","ref":1}}
{"at":"a","expect_close":true}"#;

#[test]
fn the_right_lines_pass() {
    assert_eq!(play(PONG, b"{\"type\":\"pong\",\"ref\":1,\"time_ms\":5}\n"), Ok(()));
}

#[test]
fn a_wrong_line_fails_and_all_is_told() {
    let failure = play(PONG, b"{\"type\":\"pong\",\"ref\":2,\"time_ms\":5}\n{\"type\":\"of_later\"}\n").unwrap_err();
    assert_eq!((failure.transcript.as_str(), failure.line), ("t", 4));
    assert_eq!(failure.clauses, ["transport.line"]);
    assert_eq!(failure.awaited, r#"{"ref":1,"type":"pong"}"#);
    assert_eq!(failure.came, r#"{"type":"pong","ref":2,"time_ms":5}: 'ref' is 2, 1 was awaited"#);
    let told = failure.exchange.iter().map(|line| line.split_once(" ms  ").unwrap().1);
    assert_eq!(
        Vec::from_iter(told.map(|line| line.replace("      ", " "))),
        [
            r#"a > {"ref":1,"type":"ping"}"#,
            r#"a < {"type":"pong","ref":2,"time_ms":5}"#,
            r#"a < {"type":"of_later"} (unread)"#
        ]
    );
    let told = failure.to_string();
    assert!(told.starts_with("t, line 4 (shows transport.line)\n"), "{told}");
}

#[test]
fn a_line_before_the_close_fails() {
    let failure = play(PONG, b"{\"type\":\"pong\",\"ref\":1,\"time_ms\":5}\n{\"type\":\"later\"}\n").unwrap_err();
    assert_eq!((failure.line, failure.awaited.as_str(), failure.came.as_str()), (5, "a close", r#"{"type":"later"}"#));
}

#[test]
fn a_close_within_a_line_is_no_close() {
    let failure = play(PONG, b"{\"type\":\"pong\",\"ref\":1,\"time_ms\":5}\n{").unwrap_err();
    assert_eq!(failure.line, 5);
    assert!(failure.came.contains("within a line"), "{}", failure.came);
}

#[test]
fn a_close_in_place_of_a_line_fails() {
    let failure = play(PONG, b"").unwrap_err();
    assert_eq!((failure.line, failure.came.as_str()), (4, "the server closed the connection"));
}

#[test]
fn a_line_that_is_no_json_fails() {
    let failure = play(PONG, b"pong\n").unwrap_err();
    assert_eq!(failure.line, 4);
    assert!(failure.came.contains("no JSON"), "{}", failure.came);
}

/// `message.server-schema`, whatever the transcript awaits.
#[test]
fn a_line_that_breaks_the_schema_fails() {
    let failure = play(PONG, b"{\"type\":\"pong\",\"ref\":1,\"time_ms\":\"late\"}\n").unwrap_err();
    assert_eq!(failure.line, 4);
    assert!(failure.came.contains("message.server-schema"), "{}", failure.came);
}

#[test]
fn a_line_without_an_end_is_read_to_a_limit() {
    static ENDLESS: [u8; 1 << 20] = [b'x'; 1 << 20];
    let failure = play(PONG, &ENDLESS).unwrap_err();
    assert_eq!((failure.line, failure.came.as_str()), (4, "a line of more than 65536 bytes came"));
}

#[test]
fn a_line_that_comes_byte_by_byte_is_none_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut peer = Peer::connect(listener.local_addr().unwrap()).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    thread::spawn(move || {
        while stream.write_all(b"x").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    assert!(matches!(peer.line_within(Duration::from_millis(200)), Err(PeerError::Silence(_))));
}

#[test]
fn silence_is_broken_by_a_line_and_by_a_close() {
    let steps = r#"{"at":"a","silent_ms":5000}"#;
    assert_eq!(play(steps, b"{\"type\":\"later\"}\n").unwrap_err().came, r#"{"type":"later"}"#);
    assert_eq!(play(steps, b"").unwrap_err().came, "the server closed the connection");
}

#[test]
fn nobody_there_is_a_failure_of_the_connecting_step() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let text = "{\"transcript\":1,\"title\":\"t\",\"clauses\":[\"transport.tcp\"]}\n{\"at\":\"a\",\"connect\":true}\n";
    assert_eq!(Transcript::parse("t", text).unwrap().play(address).unwrap_err().line, 2);
}
