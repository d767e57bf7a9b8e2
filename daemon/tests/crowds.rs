//! Many games at once, and many who watch: the bounds, and one past each.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod support;

use modiar_conformance::Peer;
use serde_json::{Value, json};
use support::Daemon;

/// Two bots that play `games` games with each other at once, and the games' ids as the first was told them.
fn players(daemon: &Daemon, games: usize) -> (Peer, Peer, Vec<Value>) {
    let (mut first, _) = daemon.guest(json!({"games": games}));
    let (mut second, _) = daemon.guest(json!({"games": games}));
    for peer in [&mut first, &mut second] {
        peer.send(&json!({"type": "seek", "pool": "practice", "games": games})).unwrap();
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
