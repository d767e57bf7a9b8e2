//! Many connections, and few descriptors: what the daemon does when the system has no more to give.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use modiar_conformance::{Peer, PeerError};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};
use serde_json::json;
use std::net::TcpStream;
use std::time::Duration;
use support::process::{End, wait_until};
use support::{Daemon, Game, PLAIN_POOLS};

/// Plies that lead round and end nothing yet.
const MOVES: &str = "240315042315042315";

/// A ply of a game that has nothing to do with what goes on.
fn play_one(game: &mut Game, ply: &mut usize) {
    game.play(&MOVES[*ply..=*ply]);
    *ply += 1;
}

fn enters(daemon: &Daemon) -> bool {
    let mut peer = daemon.connect();
    let sent = peer.send(&json!({"type": "hello", "protocol": 1})).is_ok();
    sent && peer.expect("welcome").is_ok()
}

/// With 64 descriptors the daemon takes as many connections as it has room for beside its own files, and tells the
/// others (`limits.connections`).
#[test]
fn a_daemon_with_few_descriptors_keeps_some_for_itself() {
    let daemon = Daemon::start_with_files(64, "");
    let (mut game, mut ply) = (daemon.game("practice"), 0);
    play_one(&mut game, &mut ply);
    let mut crowd: Vec<Peer> = (0..100).map(|_| daemon.connect()).collect();
    play_one(&mut game, &mut ply);
    let is_told = |peer: &mut Peer| {
        peer.line_within(Duration::from_secs(3)).is_ok_and(|line| line.contains("too_many_connections"))
    };
    let told = crowd.iter_mut().map(is_told).filter(|told| *told).count();
    assert!(told > 30, "{told} were told");
    play_one(&mut game, &mut ply);
    drop(crowd);
    wait_until("connections are taken again", || enters(&daemon));
    // The end is stored although others took what descriptors they could.
    game.south.send(&json!({"type": "resign", "game": game.id})).unwrap();
    game.south.skip_to("ended").unwrap();
}

/// Where accepting fails for want of descriptors, it is tried again now and then and not all the time; the game goes on,
/// and connections work again when others have gone.
#[test]
fn a_daemon_without_descriptors_waits() {
    let daemon = Daemon::start_with(PLAIN_POOLS, &[]);
    let (mut game, mut ply) = (daemon.game("practice"), 0);
    let pid = Pid::from_raw(daemon.pid()).unwrap();
    prlimit(Some(pid), Resource::Nofile, Rlimit { current: Some(64), maximum: Some(64) }).unwrap();
    let mut crowd: Vec<Peer> = (0..100).map(|_| daemon.connect()).collect();
    wait_until("the descriptors are used up", || daemon.descriptors() >= 64);
    let ticks = daemon.ticks();
    for _ in 0..4 {
        play_one(&mut game, &mut ply);
        std::thread::sleep(Duration::from_millis(500));
    }
    let used = daemon.ticks() - ticks;
    assert!(used < 40, "{used} ticks of 10 ms in 2 s");
    // Those that wait have not been refused, and are served when there is room.
    let mut last = crowd.pop().unwrap();
    drop(crowd);
    last.send(&json!({"type": "hello", "protocol": 1})).unwrap();
    last.expect("welcome").unwrap();
    play_one(&mut game, &mut ply);
    let log = daemon.kill_for_log();
    // Once when it began, and again at most where some came back while others still waited.
    assert!((1..5).contains(&log.matches("no connection can be accepted").count()), "{log}");
    assert!(log.contains("accepted again"), "{log}");
}

/// As many descriptors as this process may have; the connections that leaves room for.
fn most_connections() -> usize {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    // A peer takes two here.
    limit.maximum.map_or(2000, |most| usize::try_from(most).unwrap() / 2 - 100).min(2000)
}

/// Thousands of welcomed bots come and go, by end of file and by reset: memory and descriptors return.
#[test]
fn thousands_come_and_go() {
    let daemon = Daemon::start_with(PLAIN_POOLS, &[]);
    let (mut game, mut ply) = (daemon.game("practice"), 0);
    let (before, most) = (daemon.descriptors(), most_connections());
    let mut memory = Vec::new();
    for round in 0..4 {
        let mut crowd: Vec<Peer> = (0..most).map(|_| daemon.connect()).collect();
        for peer in &mut crowd {
            peer.send(&json!({"type": "hello", "protocol": 1})).unwrap();
        }
        for peer in &mut crowd {
            match peer.expect("welcome") {
                Ok(_) => {}
                Err(PeerError::Other { line, .. }) => panic!("{line}"),
                Err(error) => panic!("{error}"),
            }
        }
        assert!(daemon.descriptors() >= before + most);
        play_one(&mut game, &mut ply);
        for peer in crowd {
            End::ALL[round % 2].put(peer);
        }
        daemon.settle(before);
        memory.push(daemon.resident_kib());
        play_one(&mut game, &mut ply);
    }
    // A guest that was here may come back for ten minutes and is remembered meanwhile: less than 2 KiB each.
    let grown = memory[3].saturating_sub(memory[1]);
    assert!(grown < 4 * u64::try_from(most).unwrap(), "{memory:?} KiB");
}

/// Connections that never said who they are leave nothing behind.
#[test]
fn nothing_is_kept_of_the_nameless() {
    let daemon = Daemon::start_with(PLAIN_POOLS, &[]);
    let (before, most) = (daemon.descriptors(), most_connections());
    let mut memory = Vec::new();
    for _ in 0..20 {
        let crowd: Vec<TcpStream> = (0..most).map(|_| TcpStream::connect(daemon.bots).unwrap()).collect();
        wait_until("all are accepted", || daemon.descriptors() >= before + most);
        drop(crowd);
        daemon.settle(before);
        memory.push(daemon.resident_kib());
    }
    // At first the threads of the daemon grow what they keep for themselves.
    assert!(grown_a_round(&memory[10..]) < LEAK_KIB, "{memory:?} KiB");
}

/// What a round of thousands of connections may leave behind, in KiB: of 2,000, some 130 bytes each.
const LEAK_KIB: i64 = 256;

/// By how much the memory grew from a round to the next, the median. What leaks does so in each round, while a thread that
/// keeps more for itself does once.
fn grown_a_round(memory: &[u64]) -> i64 {
    let mut growths: Vec<i64> = memory.windows(2).map(|pair| pair[1].cast_signed() - pair[0].cast_signed()).collect();
    growths.sort_unstable();
    growths[growths.len() / 2]
}

#[test]
fn one_round_that_keeps_more_is_no_leak() {
    assert!(
        grown_a_round(&[24276, 24352, 24404, 24424, 24428, 25636]) < LEAK_KIB,
        "as it was on a machine with much to do"
    );
    assert!(grown_a_round(&[24276, 25540, 25560, 25580, 25600, 25610]) < LEAK_KIB);
    assert!(
        grown_a_round(&[24276, 24560, 24820, 25090, 25100, 25636]) >= LEAK_KIB,
        "a leak, and a round that gave back"
    );
}
