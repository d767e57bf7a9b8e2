//! What a ply costs in system calls.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use modiar_conformance::Peer;
use serde_json::json;
use std::collections::BTreeMap;
use support::strace::Strace;
use support::{Daemon, have};

/// Plies that lead round and end nothing yet; those from the third on are watched.
const MOVES: &str = "24031504231504231504";
const BEFORE: usize = 2;

/// Leaves a mark in the trace: one message read and one written, between plies.
fn mark(peer: &mut Peer, name: &str) {
    peer.send(&json!({"type": "ping", "ref": name})).unwrap();
    peer.expect("pong").unwrap();
}

/// The calls between the reading of one mark and of the next, and how often; those that read or write a socket under
/// these two words. Where another thread's call comes in between, a call stands on two lines: `123
/// sendto(9<socket:[5]>, "…" <unfinished ...>` and `123 <... sendto resumed>) = 81`. What is written stands on the
/// first, what is read on the second, and there they are counted.
fn calls_between<'a>(report: &'a str, first: &str, second: &str) -> BTreeMap<&'a str, usize> {
    let mut calls = BTreeMap::new();
    let after = report.lines().skip_while(|line| !line.contains(first)).skip(1);
    for line in after.take_while(|line| !line.contains(second)) {
        let call = kind(line);
        let counted = if call == READ { !line.ends_with("<unfinished ...>") } else { !line.contains(" resumed>") };
        if counted {
            *calls.entry(call).or_default() += 1;
        }
    }
    calls
}

const READ: &str = "socket read";
const WRITE: &str = "socket write";

fn kind(line: &str) -> &str {
    let call = line.split_once(' ').unwrap().1.trim_start().trim_start_matches("<... ");
    let name = call.split(['(', ' ']).next().unwrap();
    let on_socket = call.split(',').next().unwrap().contains("<socket:");
    match name {
        "recvfrom" | "recvmsg" => READ,
        "sendto" | "sendmsg" => WRITE,
        "read" | "readv" if on_socket => READ,
        "write" | "writev" if on_socket => WRITE,
        name => name,
    }
}

/// A ply is one read and one write of a socket: who read the move applies it and writes the opponent's turn itself
/// (`clock.start`, `clock.stop`). Around them is `epoll_wait`, one a ply while nothing else happens. What else there
/// may be comes with time and load and not with plies, and is printed only:
/// - `clock_nanosleep` or `restart_syscall`: the heartbeat's thread, every 10 ms (`clock.own-several`);
/// - `futex`: a worker of the runtime that goes to sleep, or is woken to take over the waiting for events;
/// - `write` and `read` of an eventfd: the runtime wakes a worker out of `epoll_wait` because a timer came nearer, which
///   a flag does only where it falls before the one awaited;
/// - `getsockopt`: the age of the data, asked only where a move took longer than the grace (`clock.own-grace`);
/// - `madvise`, `mmap`, `munmap`, `brk`: the allocator.
#[test]
fn a_ply_is_one_read_and_one_write() {
    if !have("strace") {
        return;
    }
    let daemon = Daemon::start();
    let mut game = daemon.game("blitz");
    game.play(&MOVES[..BEFORE]);
    let report = daemon.data().join("../calls");
    let strace = Strace::attach(&daemon, &["-y", "-s", "400", "-o", report.to_str().unwrap()]);
    mark(&mut game.north, "first-mark");
    game.play(&MOVES[BEFORE..]);
    game.south.expect("turn").unwrap();
    mark(&mut game.north, "second-mark");
    let folder = daemon.kill();
    strace.finish();
    let report = std::fs::read_to_string(&report).unwrap();
    drop(folder);

    let calls = calls_between(&report, "first-mark", "second-mark");
    let plies = MOVES.len() - BEFORE;
    println!("{plies} plies: {calls:?}");
    assert_eq!(calls[READ], plies, "{report}");
    // And the answer to the first mark.
    assert_eq!(calls[WRITE], plies + 1, "{report}");
}
