//! Whole games over real sockets.

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
