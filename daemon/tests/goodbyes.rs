//! The end of a daemon, whoever is connected: each was found by somebody who tried to break it.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod support;

use serde_json::json;
use std::io::Write as _;
use std::net::TcpStream;
use support::Daemon;

/// `session.drain`: a connection that has said nothing reads the goodbye too, and holds nobody up.
#[test]
fn a_connection_without_hello_is_sent_away() {
    let daemon = Daemon::start();
    let mut silent = daemon.connect();
    let (mut welcome, _) = daemon.guest(json!({}));
    daemon.signal(libc::SIGTERM);
    for peer in [&mut silent, &mut welcome] {
        assert_eq!(peer.skip_to("goodbye").unwrap()["reason"], "draining");
        peer.expect_close().unwrap();
    }
    let (status, log, _) = daemon.wait();
    assert!(status.success(), "{log}");
}

/// Half a request on the web port does not keep a daemon from stopping.
#[test]
fn half_a_request_is_not_waited_for() {
    let daemon = Daemon::start();
    let mut monitor = TcpStream::connect(daemon.http).unwrap();
    monitor.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n").unwrap();
    let (status, log, _) = daemon.stop();
    assert!(status.success(), "{log}");
    drop(monitor);
}

/// SIGHUP reads the configuration again, and ends nothing.
#[test]
fn a_hangup_ends_nothing() {
    let daemon = Daemon::start();
    let mut game = daemon.game("blitz");
    daemon.signal(libc::SIGHUP);
    game.play("24");
    game.south.expect("turn").unwrap();
    daemon.signal(libc::SIGTERM);
    assert_eq!(game.north.skip_to("notice").unwrap()["code"], "draining");
    // Who comes now is told so too (`session.drain`).
    let (mut late, _) = daemon.guest(json!({}));
    assert_eq!(late.expect("notice").unwrap()["code"], "draining");
    daemon.signal(libc::SIGTERM);
    let (status, log, _) = daemon.wait();
    assert!(status.success() && log.contains("the configuration was read again"), "{log}");
}
