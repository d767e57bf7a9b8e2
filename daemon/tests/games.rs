//! Whole games over real sockets.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use serde_json::json;
use support::Daemon;

#[test]
fn the_loop_ends_at_the_third_standing() {
    let daemon = Daemon::start();
    let mut game = daemon.game("blitz");
    game.play("240315042315042315042");
    let ended = game.south.read().unwrap();
    assert_eq!(ended["type"], "ended", "{ended}");
    assert_eq!(ended["termination"], "repetition");
    assert_eq!(ended["score"], json!({"south": 18, "north": 24}));
}

/// The next game is challenged for while this one runs, and accepted in the moment in which `ended` was read.
#[test]
fn a_bot_that_has_read_ended_is_free_for_the_next_game() {
    let daemon = Daemon::start();
    let (mut south, name) = daemon.guest(json!({}));
    let (mut north, _) = daemon.guest(json!({}));
    let next = json!({"type": "challenge", "opponent": name, "pool": "blitz", "side": "north"});
    let mut game = None;
    for _ in 0..25 {
        north.send(&next).unwrap();
        let challenge = north.expect("challenge_sent").unwrap()["challenge"].clone();
        south.expect("challenged").unwrap();
        if let Some(game) = game.take() {
            south.send(&json!({"type": "resign", "game": game})).unwrap();
            south.expect("ended").unwrap();
        }
        south.send(&json!({"type": "accept", "challenge": challenge})).unwrap();
        game = Some(south.expect("started").unwrap()["game"].clone());
        south.expect("turn").unwrap();
        north.skip_to("started").unwrap();
    }
}
