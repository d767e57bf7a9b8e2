//! A small server with a script: a thread that takes connections and says what a test wants.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

pub const GAME: &str = "g0192f0c1a2b37c4d8e5f60718293a4b5";

/// Where it listens, and its script.
pub struct Server {
    pub port: u16,
    script: JoinHandle<()>,
}

impl Server {
    /// Runs a script, which takes connections by [`Door::open`].
    pub fn new(script: impl FnOnce(&Door) + Send + 'static) -> Self {
        let door = Door(TcpListener::bind("127.0.0.1:0").unwrap());
        let port = door.0.local_addr().unwrap().port();
        Self { port, script: spawn(move || script(&door)) }
    }

    /// The script came to its end, and all was as it awaited.
    pub fn end(self) {
        self.script.join().unwrap();
    }
}

pub struct Door(TcpListener);

impl Door {
    /// The next connection.
    pub fn open(&self) -> Peer {
        let (stream, _) = self.0.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Peer { lines: BufReader::new(stream.try_clone().unwrap()), stream }
    }

    /// The next connection, welcomed; and its hello.
    pub fn welcome(&self, games: &[&str], missed: &Value) -> (Peer, Value) {
        let mut peer = self.open();
        let hello = peer.expect("hello");
        peer.say(&json!({
            "type": "welcome", "protocol": 1, "server": "modiar/9", "resume": "a-token-to-come-back", "new": [1],
            "bot": {"name": "guest-1", "guest": true, "ratings": {}, "new": {}}, "pools": [],
            "limits": {"line_bytes": 4096, "messages_per_s": 20, "games": 1}, "games": games, "missed": missed,
        }));
        (peer, hello)
    }
}

/// A bot as its server sees it.
pub struct Peer {
    lines: BufReader<TcpStream>,
    stream: TcpStream,
}

impl Peer {
    pub fn say(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    pub fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next line; nothing at the end.
    pub fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    #[track_caller]
    pub fn expect(&mut self, wanted: &str) -> Value {
        let message = self.read().unwrap();
        assert_eq!(message["type"], wanted, "{message}");
        message
    }

    pub fn start(&mut self, resumed: bool) {
        self.say(&json!({
            "type": "started", "game": GAME, "pool": "practice", "rated": false, "side": "south",
            "south": {"name": "guest-1", "guest": true}, "north": {"name": "Tanja", "guest": false},
            "time": {"base_ms": 60000, "increment_ms": 0, "grace_ms": 50},
            "rules": {"name": "modiar", "repetition": 3, "quiet_plies": 200, "majority": false, "illegal_moves": 3},
            "opening": "", "moves": "", "ply": 1, "side_to_move": "south", "pits": [7, 7, 7, 7, 7, 7],
            "captured": {"south": 0, "north": 0}, "remaining_ms": {"south": 60000, "north": 60000}, "resumed": resumed,
        }));
    }

    pub fn turn(&mut self, ply: u32) {
        self.say(&turn(ply));
    }

    /// Tells the end of the game and of the seek, and sees the bot off.
    pub fn end(mut self) {
        self.say(&ended("north"));
        self.say(&json!({"type": "seek_ended", "pool": "practice", "reason": "done"}));
        self.expect("bye");
        self.say(&json!({"type": "goodbye", "reason": "bye", "message": "goodbye"}));
        assert_eq!(self.read(), None);
    }
}

pub fn turn(ply: u32) -> Value {
    json!({
        "type": "turn", "game": GAME, "ply": ply, "side": "south", "pits": [7, 7, 7, 7, 7, 7],
        "captured": {"south": 0, "north": 0}, "legal": [0, 1, 2], "remaining_ms": {"south": 60000, "north": 60000},
    })
}

pub fn ended(result: &str) -> Value {
    json!({
        "type": "ended", "game": GAME, "result": result, "termination": "immobile",
        "score": {"south": 19, "north": 23}, "pits": [0, 0, 1, 1, 8, 0], "ply": 22,
    })
}
