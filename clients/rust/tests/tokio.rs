//! The client for tokio over real sockets, against a server with a script.

#![cfg(feature = "tokio")]
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod server;

use modiar_client::aio::{self, Client};
use modiar_client::{Error, Pit, Settings, Turn};
use serde_json::json;
use server::{GAME, Server, ended};
use std::future::ready;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::timeout;

fn settings(server: &Server) -> Settings {
    Settings::new().host("127.0.0.1").port(server.port)
}

/// It may be given to `tokio::spawn`.
fn sent<F: Future + Send>(future: F) -> F {
    future
}

#[tokio::test]
async fn a_lost_link_costs_no_game_and_no_turn_is_answered_twice() {
    let server = Server::new(|door| {
        let (mut peer, _) = door.welcome(&[], &json!([]));
        peer.expect("seek");
        peer.start(false);
        peer.turn(1);
        peer.expect("move");
        drop(peer);
        drop(door.open());
        let (mut peer, hello) = door.welcome(&[GAME], &json!([]));
        assert_eq!(hello["resume"], "a-token-to-come-back");
        peer.start(true);
        peer.turn(1);
        assert_eq!(peer.expect("move")["pit"], 0);
        peer.turn(3);
        assert_eq!(peer.expect("move")["ply"], 3);
        peer.end();
    });
    let client = Client::connect(settings(&server)).await.unwrap();
    let mut turns = client.turns("practice", 1).unwrap();
    let mut plies = Vec::new();
    while let Some(turn) = turns.next().await.unwrap() {
        turn.play(turn.legal[0]).unwrap();
        plies.push(turn.ply);
    }
    drop(turns);
    client.close().await;
    server.end();
    assert_eq!(plies, [1, 3]);
}

#[tokio::test]
async fn a_wait_that_is_given_up_loses_nothing() {
    let server = Server::new(|door| {
        let (mut peer, _) = door.welcome(&[], &json!([]));
        peer.expect("seek");
        peer.start(false);
        let turn = server::turn(1).to_string();
        for piece in turn.as_bytes().chunks(20) {
            std::thread::sleep(Duration::from_millis(5));
            peer.write(piece);
        }
        peer.write(b"\n");
        peer.expect("move");
        peer.end();
    });
    let client = Client::connect(settings(&server)).await.unwrap();
    let mut turns = client.turns("practice", 1).unwrap();
    let mut played = 0;
    loop {
        match timeout(Duration::from_millis(1), turns.next()).await {
            Err(_) => {}
            Ok(Ok(Some(turn))) => {
                turn.play(turn.legal[0]).unwrap();
                played += 1;
            }
            Ok(over) => break assert!(over.unwrap().is_none()),
        }
    }
    drop(turns);
    client.close().await;
    server.end();
    assert_eq!(played, 1);
}

#[tokio::test]
async fn a_program_plays_and_one_whose_bot_fails_gives_that_game_up() {
    let server = Server::new(|door| {
        let (mut peer, _) = door.welcome(&[], &json!([]));
        peer.expect("seek");
        peer.start(false);
        peer.turn(1);
        assert_eq!(peer.expect("move")["pit"], 2);
        peer.turn(3);
        peer.expect("resign");
        peer.end();
    });
    let bot = |turn: &Turn| {
        let ply = turn.ply;
        async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            assert!(ply < 3, "a fault of the bot's");
            Pit::ALL[2]
        }
    };
    let status = sent(aio::run_with(settings(&server), bot, "practice", 1)).await;
    server.end();
    assert_eq!(status, ExitCode::from(0));
}

#[tokio::test]
async fn who_leaves_resigns() {
    let server = Server::new(|door| {
        let (mut peer, _) = door.welcome(&[], &json!([]));
        peer.expect("seek");
        peer.start(false);
        peer.turn(1);
        peer.expect("unseek");
        peer.expect("resign");
        peer.say(&json!({"type": "seek_ended", "pool": "practice", "reason": "cancelled", "ref": "unseek"}));
        peer.say(&ended("north"));
        peer.expect("bye");
    });
    let client = Client::connect(settings(&server)).await.unwrap();
    let mut turns = client.turns("practice", 0).unwrap();
    assert!(turns.next().await.unwrap().is_some());
    drop(turns);
    client.leave().await;
    server.end();
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let Err(Error::Connect(told)) = Client::connect(Settings::new().host("127.0.0.1").port(port)).await else {
        panic!()
    };
    assert!(told.contains(&format!("127.0.0.1:{port}")), "{told}");
    let status =
        aio::run_with(Settings::new().host("127.0.0.1").port(port), |_: &Turn| ready(Pit::ALL[0]), "practice", 1);
    assert_eq!(status.await, ExitCode::from(3));
}
