//! Bots that speak WebSocket, on the web port (`transport.websocket`).

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use modiar_conformance::{Peer, Transcript};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Duration;
use support::Daemon;
use tungstenite::{Message, WebSocket, client};

/// Transcripts of bytes that no text frame can have, and those that wait long.
const OTHERS: [&str; 6] = ["bad-utf8", "handshake", "long-line", "flag", "handshake-silence", "no-show"];

/// A bot's connection.
struct Bot(WebSocket<TcpStream>);

impl Bot {
    fn connect(daemon: &Daemon) -> Self {
        let stream = TcpStream::connect(daemon.http).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Self(client(format!("ws://{}/ws", daemon.http), stream).unwrap().0)
    }

    fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).unwrap();
    }

    #[track_caller]
    fn expect(&mut self, wanted: &str) -> Value {
        loop {
            let message = self.0.read().unwrap();
            let Message::Text(text) = &message else { panic!("{message:?}, and not {wanted}") };
            let message: Value = serde_json::from_str(text).unwrap();
            if message["type"] == wanted {
                return message;
            }
        }
    }

    /// A guest, and its welcome.
    fn guest(daemon: &Daemon) -> (Self, Value) {
        let mut bot = Self::connect(daemon);
        bot.send(&json!({"type": "hello", "protocol": 1}));
        let welcome = bot.expect("welcome");
        (bot, welcome)
    }

    /// A guest that is to move in a game with one of TCP: both, the welcome, and the game's id.
    fn game(daemon: &Daemon) -> (Self, Peer, Value, Value) {
        let (mut north, name) = daemon.guest(json!({}));
        let (mut south, welcome) = Self::guest(daemon);
        south.send(&json!({"type": "challenge", "opponent": name, "pool": "blitz", "side": "south"}));
        let challenge = north.skip_to("challenged").unwrap()["challenge"].clone();
        north.send(&json!({"type": "accept", "challenge": challenge})).unwrap();
        let game = south.expect("turn")["game"].clone();
        (south, north, welcome, game)
    }
}

/// Carries the lines of whoever connects to it into frames, and frames into lines.
fn bridge(http: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || carry(stream, http));
        }
    });
    address
}

fn carry(lines: TcpStream, http: SocketAddr) {
    let stream = TcpStream::connect(http).unwrap();
    let (mut frames, _) = client(format!("ws://{http}/ws"), stream).unwrap();
    frames.get_ref().set_read_timeout(Some(Duration::from_millis(2))).unwrap();
    let said = said(lines.try_clone().unwrap());
    loop {
        match said.try_recv() {
            Ok(line) => drop(frames.send(Message::text(line))),
            Err(TryRecvError::Disconnected) => drop(frames.close(None)),
            Err(TryRecvError::Empty) => {}
        }
        match frames.read() {
            Ok(Message::Text(text)) => drop((&lines).write_all(format!("{text}\n").as_bytes())),
            Err(tungstenite::Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Ok(_) => {}
            Err(_) => break,
        }
    }
    // It may be closed already.
    let _ = lines.shutdown(std::net::Shutdown::Both);
}

fn said(lines: TcpStream) -> Receiver<String> {
    let (send, receive) = channel();
    thread::spawn(move || {
        for line in BufReader::new(lines).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    receive
}

#[test]
fn the_transcripts_are_held_over_web_socket() {
    let daemon = Daemon::start();
    let bridge = bridge(daemon.http);
    let transcripts: Vec<_> = Transcript::all().unwrap();
    let here: Vec<_> = transcripts.iter().filter(|transcript| !OTHERS.contains(&&*transcript.name)).collect();
    assert_eq!(here.len(), transcripts.len() - OTHERS.len(), "a transcript was renamed");
    let told: Vec<String> =
        here.iter().filter_map(|transcript| Some(transcript.play(bridge).err()?.to_string())).collect();
    assert!(told.is_empty(), "{} transcripts failed:\n\n{}", told.len(), told.join("\n\n"));
}

#[test]
fn a_bot_of_web_socket_plays_one_of_tcp() {
    let daemon = Daemon::start();
    let (mut south, mut north, _, game) = Bot::game(&daemon);
    south.send(&json!({"type": "move", "game": game, "pit": 2}));
    assert_eq!(north.skip_to("turn").unwrap()["last"]["pit"], 2);
    drop(south);
    // The game is the bot's, not the connection's; it is resigned by who is there.
    north.send(&json!({"type": "resign", "game": game})).unwrap();
    let ended = north.skip_to("ended").unwrap();
    assert_eq!((&ended["result"], &ended["termination"]), (&json!("south"), &json!("resignation")));
}

/// `clock.own`: a frame's moment is that of the read that completed it, as a line's is.
#[test]
fn a_frame_is_timed_as_a_line_is() {
    let daemon = Daemon::start();
    let (mut south, mut north, _, game) = Bot::game(&daemon);
    thread::sleep(Duration::from_millis(300));
    let moment = daemon.freeze();
    south.send(&json!({"type": "move", "game": game, "pit": 2}));
    thread::sleep(Duration::from_millis(700).saturating_sub(moment.elapsed()));
    daemon.thaw();
    let elapsed = north.skip_to("turn").unwrap()["last"]["elapsed_ms"].as_u64().unwrap();
    assert!((290..800).contains(&elapsed), "{elapsed} ms: what the server stood still is not the bot's");
}

#[test]
fn frames_in_pieces_pings_and_frames_behind_the_question_are_heard() {
    let daemon = Daemon::start();
    let mut stream = TcpStream::connect(daemon.http).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let question = "GET /ws HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
        sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let masked = |head: u8, text: &str| {
        let length = u8::try_from(text.len()).unwrap();
        [&[head, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat()
    };
    // A hello in two fragments with a ping between them, and a ping of the protocol behind it.
    let (first, rest) = r#"{"type":"hello","protocol":1}"#.split_at(9);
    let hello = [masked(0x01, first), masked(0x89, "there?"), masked(0x80, rest)].concat();
    let ping = masked(0x81, r#"{"type":"ping","ref":"é"}"#);
    stream.write_all(&[question.as_bytes(), &hello].concat()).unwrap();
    for byte in &ping {
        stream.write_all(&[*byte]).unwrap();
    }
    let mut read = Vec::new();
    let holds = |read: &[u8], what: &str| String::from_utf8_lossy(read).contains(what);
    while !holds(&read, r#""ref":"é""#) {
        let mut some = [0; 4096];
        let length = stream.read(&mut some).unwrap();
        assert!(length > 0, "{}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&some[..length]);
    }
    for part in ["HTTP/1.1 101 ", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "\"type\":\"welcome\"", "\u{6}there?", "\"pong\""] {
        assert!(holds(&read, part), "{part}: {}", String::from_utf8_lossy(&read));
    }
}

#[test]
fn what_is_no_text_is_bad_json_and_what_is_too_long_the_last() {
    let daemon = Daemon::start();
    let (mut bot, _) = Bot::guest(&daemon);
    bot.0.send(Message::binary(br#"{"type":"ping"}"#.to_vec())).unwrap();
    assert_eq!(bot.expect("error")["code"], "bad_json");
    let padded = |bytes: usize| format!("{:bytes$}", r#"{"type":"ping"}"#);
    bot.0.send(Message::text(padded(4095))).unwrap();
    bot.expect("pong");
    bot.0.send(Message::text(padded(4096))).unwrap();
    let error = bot.expect("error");
    assert_eq!((&error["code"], &error["fatal"]), (&json!("line_too_long"), &json!(true)));
    assert_eq!(bot.expect("goodbye")["reason"], "line_too_long");
    assert!(matches!(bot.0.read(), Ok(Message::Close(_))));
    // One that says it will be endless is not waited for.
    let (mut bot, _) = Bot::guest(&daemon);
    bot.0.get_mut().write_all(&[0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]).unwrap();
    assert_eq!(bot.expect("error")["code"], "line_too_long");
}

#[test]
fn a_ping_of_the_carrier_counts_as_a_line() {
    let daemon = Daemon::start();
    let (mut bot, _) = Bot::guest(&daemon);
    for _ in 0..200 {
        bot.0.write(Message::Ping(Vec::new().into())).unwrap();
    }
    bot.0.flush().unwrap();
    let goodbye = loop {
        match bot.0.read().unwrap() {
            Message::Text(text) if text.contains("\"goodbye\"") => break text,
            Message::Text(text) => assert!(text.contains("rate_limited"), "{text}"),
            _ => {}
        }
    };
    assert!(goodbye.contains("\"flood\""), "{goodbye}");
}

#[test]
fn bytes_that_are_no_frames_end_the_connection_and_are_counted() {
    let daemon = Daemon::start();
    let descriptors = daemon.descriptors();
    let (mut bot, _) = Bot::guest(&daemon);
    bot.0.get_mut().write_all(b"{\"type\":\"ping\"}\n").unwrap();
    assert!(matches!(bot.0.read(), Ok(Message::Close(Some(frame))) if u16::from(frame.code) == 1002));
    drop(bot);
    daemon.wait_for_metric("modiar_connections_closed_total{reason=\"websocket\"}", 1.0);
    daemon.settle(descriptors);
}

#[test]
fn who_asks_for_no_web_socket_is_told_how() {
    let daemon = Daemon::start();
    let page = daemon.get("/ws");
    assert_eq!(page.status, 426, "{}", page.body);
    assert!(page.body.contains("ws://"), "{}", page.body);
}

/// `limits.connections`, `session.replaced-lines`, and the drain: the door is another, the house the same.
#[test]
fn connections_count_together_whichever_port_they_take() {
    let daemon = Daemon::start_with("[limits]\nconnections = 2", &[]);
    let (mut first, _) = Bot::guest(&daemon);
    let (mut second, _) = daemon.guest(json!({}));
    let mut third = Bot::connect(&daemon);
    let error = third.expect("error");
    assert_eq!((&error["code"], &error["fatal"]), (&json!("too_many_connections"), &json!(true)));
    daemon.signal(libc::SIGTERM);
    assert_eq!(first.expect("goodbye")["reason"], "draining");
    assert_eq!(second.skip_to("goodbye").unwrap()["reason"], "draining");
    assert!(daemon.wait().0.success());
}

/// What was said before the connection spoke WebSocket is not taken for what a bot was told.
#[test]
fn an_end_that_did_not_come_is_told_again() {
    let daemon = Daemon::start();
    let (south, mut north, welcome, game) = Bot::game(&daemon);
    drop(south);
    north.send(&json!({"type": "resign", "game": game})).unwrap();
    north.skip_to("ended").unwrap();
    let mut back = Bot::connect(&daemon);
    back.send(&json!({"type": "hello", "protocol": 1, "name": welcome["bot"]["name"], "resume": welcome["resume"]}));
    assert_eq!(back.expect("welcome")["missed"][0]["game"], game);
}
