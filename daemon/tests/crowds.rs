//! Many games at once or one after the other, and many who watch: the bounds, and one past each.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod support;

use modiar_conformance::Peer;
use modiar_protocol::limits::{MISSED_WINDOW, TOLD_GAMES};
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};
use support::Daemon;
use support::returning::{Pair, Returning};

/// Two bots that play `games` games with each other at once, and the games' ids as the first was told them.
fn players(daemon: &Daemon, games: usize) -> (Peer, Peer, Vec<Value>) {
    let (mut first, _) = daemon.guest(json!({"games": games}));
    let (mut second, _) = daemon.guest(json!({"games": games}));
    // Of so many at once most are the first of a pair, for sides' sake: the others are to come.
    let wanted = if games > 1 { 2 * games } else { 1 };
    for peer in [&mut first, &mut second] {
        peer.send(&json!({"type": "seek", "pool": "practice", "games": wanted})).unwrap();
        peer.expect("seeking").unwrap();
    }
    let ids = (0..games).map(|_| first.skip_to("started").unwrap()["game"].clone()).collect();
    (first, second, ids)
}

/// `limits.watches`, `limits.games`: a connection watches 64 games and not one more; unwatching makes room.
#[test]
fn a_connection_watches_so_many_games() {
    let daemon = Daemon::start();
    let (_a, _b, games) = players(&daemon, 64);
    let (_c, _d, one_more) = players(&daemon, 1);
    let (mut watcher, _) = daemon.guest(json!({}));
    for game in &games {
        // An accepted watch counts for the rate like any message.
        std::thread::sleep(std::time::Duration::from_millis(20));
        watcher.send(&json!({"type": "watch", "game": game})).unwrap();
        watcher.expect("started").unwrap();
    }
    let past = json!({"type": "watch", "game": one_more[0], "ref": "past"});
    watcher.send(&past).unwrap();
    let error = watcher.expect("error").unwrap();
    assert_eq!((&error["code"], &error["ref"]), (&json!("games_limit"), &json!("past")));
    watcher.send(&json!({"type": "unwatch", "game": games[0]})).unwrap();
    watcher.expect("unwatched").unwrap();
    watcher.send(&past).unwrap();
    assert_eq!(watcher.expect("started").unwrap()["spectator"], true);
}

/// `limits.watches`: a game has 64 spectators and not one more; a place that is left is free.
#[test]
fn a_game_has_so_many_spectators() {
    let daemon = Daemon::start();
    let (_a, _b, games) = players(&daemon, 1);
    let watch = json!({"type": "watch", "game": games[0]});
    let mut watchers: Vec<Peer> = (0..65).map(|_| daemon.guest(json!({})).0).collect();
    let mut last = watchers.pop().unwrap();
    for watcher in &mut watchers {
        watcher.send(&watch).unwrap();
        watcher.expect("started").unwrap();
    }
    last.send(&watch).unwrap();
    assert_eq!(last.expect("error").unwrap()["code"], "games_limit");
    let mut left = watchers.pop().unwrap();
    left.send(&json!({"type": "bye"})).unwrap();
    left.expect("goodbye").unwrap();
    left.expect_close().unwrap();
    // The place is free once the server has seen the end of the connection, which nobody is told of.
    let mut answer = json!(null);
    for _ in 0..50 {
        last.send(&watch).unwrap();
        answer = last.read().unwrap();
        if answer["type"] == "started" {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(60));
    }
    assert_eq!(answer["type"], "started", "{answer}");
}

/// `verdict.commit-wait`, `verdict.commit-prompt`: what is said of a game whose result is being stored is answered after
/// `ended`.
#[test]
fn answers_wait_for_the_end_to_be_told() {
    let daemon = Daemon::start();
    let mut game = daemon.game("blitz");
    game.south.expect("turn").unwrap();
    let resign = json!({"type": "resign", "game": game.id, "ref": "first"});
    let again = json!({"type": "resign", "game": game.id, "ref": "again"});
    let play = json!({"type": "move", "game": game.id, "pit": 2, "ref": "late"});
    game.south.send_bytes(format!("{resign}\n{play}\n{again}\n").as_bytes()).unwrap();
    assert_eq!(game.ended()["termination"], "resignation");
    for reference in ["late", "again"] {
        let error = game.south.expect("error").unwrap();
        assert_eq!((&error["code"], &error["ref"]), (&json!("game_over"), &json!(reference)));
    }
}

/// For [`crowd`]: nobody is limited, and no clock runs out.
const UNHURRIED: &str = "drain_ms = 0
    [limits]
    messages_per_second = 100000
    message_burst = 100000
    [[pool]]
    name = \"strict\"
    base_ms = 50000
    rated = false
    openings = \"start\"
";

/// More games end than the journal has room for; after what is done `last` the daemon is killed. All within the time in which
/// what was told may not have been read.
fn crowd(daemon: &Daemon, last: impl FnOnce()) {
    let began = Instant::now();
    let hello = json!({"type": "hello", "protocol": 1, "games": 64});
    let mut crowd = [(); 2].map(|()| daemon.connect());
    for peer in &mut crowd {
        peer.send(&hello).unwrap();
        peer.expect("welcome").unwrap();
        peer.send(&json!({"type": "seek", "pool": "strict", "games": 0})).unwrap();
    }
    let [one, other] = &mut crowd;
    let mut over = 0;
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| while other.read().is_ok() {});
        while over < TOLD_GAMES + 100 {
            let message = one.read().unwrap();
            match message["type"].as_str().unwrap() {
                "started" => one.send(&json!({"type": "resign", "game": message["game"]})).unwrap(),
                "ended" => over += 1,
                _ => {}
            }
        }
        last();
        thread::sleep(Duration::from_millis(100)); // the journal forgets what it has no room for
        daemon.signal(libc::SIGKILL);
        reader.join().unwrap();
    });
    assert!(began.elapsed() < MISSED_WINDOW, "too slow to show anything");
}

/// `session.missed`: a registered bot hears of what ended in the last 10 s, however many games ended after it.
#[test]
fn what_a_registered_bot_missed_is_not_crowded_out() {
    let daemon = Daemon::start_with(UNHURRIED, &[]);
    let mut pair = Pair::start(&daemon, "strict");
    pair.south.peer.expect("turn").unwrap();
    pair.north.peer.send(&json!({"type": "resign", "game": pair.id})).unwrap();
    let ended = pair.ended();
    crowd(&daemon, || {});
    let daemon = Daemon::start_in(daemon.kill(), UNHURRIED, &[]);
    let welcome = pair.south.come_back(&daemon);
    assert!(welcome["missed"].as_array().unwrap().contains(&ended), "{welcome}");
}

/// `session.guest-resume`: of more games than the journal has room for it keeps those that ended last, over two kills too, and
/// not those that began last.
#[test]
fn the_newest_end_of_a_guest_is_not_crowded_out_by_later_games() {
    let daemon = Daemon::start_with(UNHURRIED, &[]);
    let mut pair = Pair::start(&daemon, "strict");
    pair.south.peer.expect("turn").unwrap();
    let mut ended = None;
    crowd(&daemon, || {
        pair.south.peer.send(&json!({"type": "resign", "game": pair.id})).unwrap();
        ended = Some(pair.ended());
    });
    let daemon = Daemon::start_in(daemon.kill(), UNHURRIED, &[]);
    // One more, for which another has to go.
    let mut other = Pair::between(Returning::guest(&daemon), Returning::guest(&daemon), "strict");
    other.south.peer.expect("turn").unwrap();
    other.south.peer.send(&json!({"type": "resign", "game": other.id})).unwrap();
    other.ended();
    thread::sleep(Duration::from_millis(200)); // as above
    let daemon = Daemon::start_in(daemon.kill(), UNHURRIED, &[]);
    let welcome = pair.north.come_back(&daemon);
    assert!(welcome["missed"].as_array().unwrap().contains(&ended.unwrap()), "{welcome}");
}
