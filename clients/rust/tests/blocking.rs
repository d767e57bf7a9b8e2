//! The blocking client over real sockets, against a server with a script.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod server;

use modiar_client::{Client, Error, ErrorCode, Level, Pit, Settings};
use serde_json::json;
use server::{GAME, Server, ended, turn};
use std::sync::{Arc, Mutex};

fn settings(server: &Server) -> Settings {
    Settings::new().host("127.0.0.1").port(server.port)
}

/// Plays the first legal pit; how many turns there were.
fn play(settings: Settings, games: u64) -> Result<usize, Error> {
    let client = Client::connect(settings)?;
    let mut turns = 0;
    for turn in client.turns("practice", games)? {
        let turn = turn?;
        turn.play(turn.legal[0])?;
        turns += 1;
    }
    client.close();
    Ok(turns)
}

#[test]
fn a_game_is_played_whatever_else_the_server_says_and_however_its_lines_are_cut() {
    let server = Server::new(|door| {
        let (mut peer, hello) = door.welcome(&[], &json!([]));
        assert_eq!(hello["client"], "modiar-rust/0.1.0");
        assert_eq!(hello["version"], "7");
        assert_eq!(peer.expect("seek")["games"], 1);
        peer.write(
            b"\n\r\n{\"type\":\"news\",\"text\":\"\xc3\xa9\"}\r\n[1]\nno json\n{\"type\":7}\n{\"no\":\"type\"}\n",
        );
        peer.start(false);
        let mut later = turn(1);
        later["new"] = json!({"deep": [1.5, -9_007_199_254_740_993_i64]});
        later["remaining_ms"]["new"] = json!(1e300);
        for byte in format!("{later}\r\n").into_bytes() {
            peer.write(&[byte]);
        }
        assert_eq!(peer.expect("move"), json!({"type": "move", "game": GAME, "pit": 0, "ply": 1}));
        peer.say(&json!({"type": "error", "code": "brand_new", "message": "hm", "fatal": false, "game": GAME}));
        peer.say(&json!({"type": "notice", "code": "brand_new", "message": "hm"}));
        // Two turns and an end in one packet.
        peer.write(format!("{}\n{}\n", turn(1), turn(3)).as_bytes());
        assert_eq!(peer.expect("move")["ply"], 1);
        assert_eq!(peer.expect("move")["ply"], 3);
        peer.end();
    });
    let log = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&log);
    let results = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&results);
    let settings = settings(&server)
        .version("7")
        .log(move |level, text| told.lock().unwrap().push((level, text.to_owned())))
        .ended(move |ended| heard.lock().unwrap().push(ended.to_string()));
    assert_eq!(play(settings, 1), Ok(2));
    server.end();
    assert_eq!(*results.lock().unwrap(), [format!("{GAME} north immobile south 19-23")]);
    let log = log.lock().unwrap();
    let debug: Vec<&str> = log.iter().filter(|(level, _)| *level == Level::Debug).map(|(_, text)| &**text).collect();
    let unknown =
        ["field welcome.bot.new", "field welcome.new", "type news", "field turn.new", "field turn.remaining_ms.new"];
    assert_eq!(debug, unknown.map(|what| format!("passed over the unknown {what}")));
    let skipped = log.iter().filter(|(_, text)| text.starts_with("skipped")).count();
    assert_eq!(skipped, 5, "{log:?}");
}

#[test]
fn a_lost_link_costs_no_game_and_no_turn_is_answered_twice() {
    let server = Server::new(|door| {
        let (mut peer, _) = door.welcome(&[], &json!([]));
        peer.expect("seek");
        peer.start(false);
        peer.turn(1);
        peer.expect("move");
        peer.write(b"{\"type\":\"tu");
        drop(peer);
        drop(door.open()); // and once more before a welcome
        let (mut peer, hello) = door.welcome(&[GAME], &json!([]));
        assert_eq!((&hello["name"], &hello["resume"]), (&json!("guest-1"), &json!("a-token-to-come-back")));
        peer.start(true);
        peer.turn(1);
        assert_eq!(peer.expect("move")["pit"], 0);
        drop(peer);
        let (mut peer, _) = door.welcome(&[], &json!([ended("draw")]));
        assert_eq!(peer.expect("seek")["games"], 1);
        peer.say(&json!({"type": "seek_ended", "pool": "practice", "reason": "cancelled"}));
        peer.expect("bye");
    });
    assert_eq!(play(settings(&server), 2), Ok(1));
    server.end();
}

#[test]
fn an_illegal_pit_is_refused_before_it_is_sent_unless_it_is_raw() {
    let server = Server::new(|door| {
        let (mut peer, _) = door.welcome(&[], &json!([]));
        peer.expect("seek");
        peer.start(false);
        peer.turn(1);
        assert_eq!(peer.expect("move")["pit"], 5);
        peer.end();
    });
    let client = Client::connect(settings(&server)).unwrap();
    for turn in client.turns("practice", 1).unwrap() {
        let turn = turn.unwrap();
        let Err(Error::IllegalMove(illegal)) = turn.play(Pit::ALL[5]) else { panic!() };
        assert_eq!(illegal.clause, "rules.move.own-row");
        assert_eq!(turn.play_raw(Pit::ALL[5]), Ok(()));
        assert_eq!(turn.play(Pit::ALL[1]), Err(Error::Played));
    }
    client.close();
    server.end();
}

#[test]
fn who_leaves_the_loop_takes_the_seek_back_and_may_resign() {
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
    let client = Client::connect(settings(&server)).unwrap();
    assert!(client.turns("practice", 0).unwrap().next().unwrap().is_ok());
    client.leave();
    server.end();
}

#[test]
fn refusals_have_their_error() {
    let refused = |code: &'static str| {
        let server = Server::new(move |door| {
            let mut peer = door.open();
            let mark = peer.expect("hello")["ref"].clone();
            peer.say(&json!({"type": "error", "code": code, "message": "no", "fatal": false, "ref": mark}));
            assert_eq!(peer.read(), None);
        });
        let error = play(settings(&server).name("dice").token("swordfish"), 1).unwrap_err();
        server.end();
        error
    };
    assert!(matches!(refused("auth_failed"), Error::Auth(told) if told.code == ErrorCode::AuthFailed));
    assert!(matches!(refused("bad_protocol"), Error::Protocol(told) if told.code == ErrorCode::BadProtocol));
    let newer = refused("brand_new");
    assert_eq!(newer.to_string(), "internal: brand_new: no");
    assert!(newer.is_retryable());
}

#[test]
fn a_port_that_is_none_for_bots_is_told() {
    let told = |bytes: &'static [u8]| {
        let server = Server::new(move |door| {
            let mut peer = door.open();
            peer.expect("hello");
            peer.write(bytes);
        });
        let error = play(settings(&server), 1).unwrap_err().to_string();
        server.end();
        error
    };
    assert!(told(b"HTTP/1.1 400 Bad Request\r\n\r\n").contains("MODIAR_PORT"));
    assert!(told(b"\x15\x03\x03\0\x02\x02\x46").contains("MODIAR_TLS=1"));
    assert!(told(&[b'x'; 20_000]).contains("more than 16384 bytes"));
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = play(Settings::new().host("127.0.0.1").port(port), 1).unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot connect to 127.0.0.1:{port}: ")), "{error}");
    let error = play(Settings::new().host("nowhere.invalid").port(port), 1).unwrap_err();
    assert!(error.to_string().starts_with("cannot connect to nowhere.invalid:"), "{error}");
}
