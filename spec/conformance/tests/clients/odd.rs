//! Servers that are out of order: every library does the same there, as clients/README.md says under "Coming back".

use serde_json::{Value, json};
use std::fmt::Display;
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long one thing that a bot does may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// A second of a bot's own clock, at least.
const ALMOST_A_SECOND: Duration = Duration::from_millis(950);
/// How long a bot that must not come back is watched.
const AWAY: Duration = Duration::from_millis(500);
const AT_ONCE: usize = 5;

const GAME: &str = "g0192f0c1a2b37c4d8e5f60718293a4b5";

type Step<T = ()> = Result<T, String>;

/// A server, what a bot has to do there, and the status with which it ends.
type Scene = (&'static str, fn(&Door) -> Step, i32);

const PLAYED: i32 = 0;
const COULD_NOT: i32 = 3;

const SCENES: &[Scene] = &[
    ("the first hello is answered draining", |door| first_refused(door, "draining"), COULD_NOT),
    ("the first hello is answered too_many_connections", |door| first_refused(door, "too_many_connections"), COULD_NOT),
    ("the first hello is answered rate_limited", |door| first_refused(door, "rate_limited"), COULD_NOT),
    ("the first hello is answered internal", |door| first_refused(door, "internal"), COULD_NOT),
    ("the first hello is answered by a new code", |door| first_refused(door, "brand_new"), COULD_NOT),
    ("the first hello is answered goodbye", first_goodbye, COULD_NOT),
    ("the return is answered draining", |door| return_refused(door, "draining"), PLAYED),
    ("the return is answered too_many_connections", |door| return_refused(door, "too_many_connections"), PLAYED),
    ("the return is answered rate_limited", |door| return_refused(door, "rate_limited"), PLAYED),
    ("the return is answered internal", |door| return_refused(door, "internal"), PLAYED),
    ("the return is answered name_taken once", |door| return_refused(door, "name_taken"), PLAYED),
    ("the return is answered name_taken twice", name_refused_twice, COULD_NOT),
    ("the return is answered by a new code", |door| return_refused(door, "brand_new"), PLAYED),
    ("the seek is answered rate_limited", |door| seek_refused(door, "rate_limited"), PLAYED),
    ("the seek is answered internal", |door| seek_refused(door, "internal"), PLAYED),
    ("the seek is answered by a new code", |door| seek_refused(door, "brand_new"), PLAYED),
    ("the seek is answered draining", |door| seek_busy(door, "draining"), PLAYED),
    ("the seek is answered too_many_connections", |door| seek_busy(door, "too_many_connections"), PLAYED),
    ("the seek is answered unknown_pool", seek_for_good, COULD_NOT),
    ("the seek is done before anything was played", seek_done, PLAYED),
    ("the seek is cancelled, though not by the bot", seek_cancelled, PLAYED),
    ("a guest without a game is refused twice", guest_refused_twice, COULD_NOT),
    ("a goodbye leaves the connection open", goodbye_stays_open, PLAYED),
    ("a drain is noticed, and the seek refused", drain_stays_open, PLAYED),
    ("a pause comes behind the last game", pause_behind_the_end, PLAYED),
    ("a line is too long", line_too_long, PLAYED),
];

/// What is to be mended in a bot of a library, which this command starts.
pub fn found(command: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for scenes in SCENES.chunks(AT_ONCE) {
        thread::scope(|scope| {
            let played: Vec<_> = scenes.iter().map(|scene| scope.spawn(|| play(command, scene))).collect();
            found.extend(played.into_iter().filter_map(|scene| scene.join().unwrap().err()));
        });
    }
    found
}

fn play(command: &[String], (name, script, status): &Scene) -> Step {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut bot = Command::new(&command[0])
        .args(&command[1..])
        .args(["--games", "1"])
        .env("MODIAR_PORT", listener.local_addr().unwrap().port().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let played = script(&Door { listener });
    let ended = if played.is_ok() { ends(&mut bot) } else { None };
    if ended.is_none() {
        bot.kill().unwrap();
    }
    let told = String::from_utf8_lossy(&bot.wait_with_output().unwrap().stderr).into_owned();
    match played {
        Err(fault) => Err(format!("{name}: {fault}\n{told}")),
        Ok(()) if ended != Some(*status) => Err(format!("{name}: ended {ended:?}, not {status}\n{told}")),
        // Who ends without a game says why.
        Ok(()) if *status != PLAYED && !told.contains("for a reason") => {
            Err(format!("{name}: no reason is told\n{told}"))
        }
        Ok(()) => Ok(()),
    }
}

/// The status with which it ends, soon.
fn ends(bot: &mut Child) -> Option<i32> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if let Some(status) = bot.try_wait().unwrap() {
            return status.code();
        }
        thread::sleep(Duration::from_millis(10));
    }
    None
}

// ---- what they do

fn first_refused(door: &Door, code: &str) -> Step {
    let (mut peer, hello) = door.hello()?;
    peer.refuse(code, &hello);
    drop(peer);
    door.stays_empty()
}

fn first_goodbye(door: &Door) -> Step {
    let (mut peer, _) = door.hello()?;
    peer.goodbye();
    drop(peer);
    door.stays_empty()
}

fn return_refused(door: &Door, code: &str) -> Step {
    door.begin()?.hear("move")?;
    let (mut peer, hello) = door.hello()?;
    peer.refuse(code, &hello);
    drop(peer);
    door.go_on()
}

fn name_refused_twice(door: &Door) -> Step {
    door.begin()?.hear("move")?;
    for _ in 0..2 {
        let (mut peer, hello) = door.hello()?;
        peer.refuse("name_taken", &hello);
    }
    door.stays_empty()
}

fn seek_refused(door: &Door, code: &str) -> Step {
    let (mut peer, seek) = door.seek()?;
    peer.refuse(code, &seek);
    peer.seeks_again_later()?;
    peer.game()
}

fn seek_busy(door: &Door, code: &str) -> Step {
    let (mut peer, seek) = door.seek()?;
    peer.refuse(code, &seek);
    peer.goodbye();
    drop(peer);
    door.seek()?.0.game()
}

fn seek_for_good(door: &Door) -> Step {
    let (mut peer, seek) = door.seek()?;
    peer.refuse("unknown_pool", &seek);
    Ok(())
}

fn seek_done(door: &Door) -> Step {
    let (mut peer, _) = door.seek()?;
    peer.seek_ended("done");
    peer.seeks_again_later()?;
    peer.game()
}

fn seek_cancelled(door: &Door) -> Step {
    let (mut peer, _) = door.seek()?;
    peer.seek_ended("cancelled");
    peer.hear("bye").map(drop)
}

fn guest_refused_twice(door: &Door) -> Step {
    drop(door.seek()?);
    for _ in 0..2 {
        let (mut peer, hello) = door.hello()?;
        peer.refuse("guests_closed", &hello);
    }
    door.stays_empty()
}

fn goodbye_stays_open(door: &Door) -> Step {
    let mut peer = door.begin()?;
    peer.hear("move")?;
    peer.goodbye();
    door.go_on()
}

fn drain_stays_open(door: &Door) -> Step {
    let (mut peer, seek) = door.seek()?;
    peer.say(&json!({"type": "notice", "code": "draining", "message": "for a reason"}));
    peer.refuse("draining", &seek);
    door.seek()?.0.game()
}

fn pause_behind_the_end(door: &Door) -> Step {
    let mut peer = door.begin()?;
    peer.hear("move")?;
    peer.tell_end();
    peer.say(&json!({
        "type": "seek_ended", "pool": "practice", "reason": "penalised", "until_ms": 4_102_444_800_000_u64, "message": "no",
    }));
    peer.hear("bye").map(drop)
}

fn line_too_long(door: &Door) -> Step {
    let mut peer = door.begin()?;
    peer.hear("move")?;
    peer.say(&json!({"type": "pong", "time_ms": 1, "more": "x".repeat(20_000)}));
    door.go_on()
}

// ---- the server

/// Where bots come in.
struct Door {
    listener: TcpListener,
}

impl Door {
    fn open(&self, within: Duration) -> Option<Peer> {
        let deadline = Instant::now() + within;
        while Instant::now() < deadline {
            match self.listener.accept() {
                Ok((stream, _)) => return Some(Peer::over(stream)),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
            }
            thread::sleep(Duration::from_millis(2));
        }
        None
    }

    fn hello(&self) -> Step<(Peer, Value)> {
        let mut peer = self.open(PATIENCE).ok_or("no connection came")?;
        let hello = peer.hear("hello")?;
        Ok((peer, hello))
    }

    fn welcome(&self, games: &[&str]) -> Step<Peer> {
        let (mut peer, hello) = self.hello()?;
        peer.say(&json!({
            "type": "welcome", "protocol": 1, "server": "modiar/0.1.0", "resume": "modiar-a-token-to-come-back",
            "bot": {"name": "guest-1", "guest": true, "ratings": {}}, "pools": [], "games": games, "missed": [],
            "limits": {"line_bytes": 4096, "messages_per_s": 20, "games": 1}, "ref": hello["ref"],
        }));
        Ok(peer)
    }

    fn seek(&self) -> Step<(Peer, Value)> {
        let mut peer = self.welcome(&[])?;
        let seek = peer.hear("seek")?;
        Ok((peer, seek))
    }

    /// A game in which the bot is to move.
    fn begin(&self) -> Step<Peer> {
        let mut peer = self.seek()?.0;
        peer.start(false);
        Ok(peer)
    }

    /// The bot comes back to its game, and ends it.
    fn go_on(&self) -> Step {
        let mut peer = self.welcome(&[GAME])?;
        peer.start(true);
        peer.end()
    }

    fn stays_empty(&self) -> Step {
        self.open(AWAY).map_or(Ok(()), |_| Err("it came back".to_owned()))
    }
}

/// One connection.
struct Peer {
    lines: BufReader<TcpStream>,
}

impl Peer {
    fn over(stream: TcpStream) -> Self {
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { lines: BufReader::new(stream) }
    }

    /// Says it; who has hung up does not hear it.
    fn say(&mut self, message: &Value) {
        self.lines.get_mut().write_all(format!("{message}\n").as_bytes()).unwrap_or_default();
    }

    fn hear(&mut self, kind: &str) -> Step<Value> {
        let mut line = String::new();
        let told = |what: &dyn Display| format!("{what} came, not {kind}");
        self.lines.read_line(&mut line).map_err(|error| told(&error))?;
        let heard = serde_json::from_str::<Value>(&line).map_err(|_| told(&format!("{line:?}")))?;
        if heard["type"] == kind { Ok(heard) } else { Err(told(&heard)) }
    }

    /// Answers a message by an error.
    fn refuse(&mut self, code: &str, message: &Value) {
        let fatal = code == "too_many_connections";
        let error =
            json!({"type": "error", "code": code, "message": "for a reason", "fatal": fatal, "ref": message["ref"]});
        self.say(&error);
    }

    fn goodbye(&mut self) {
        self.say(&json!({"type": "goodbye", "reason": "draining", "message": "for a reason"}));
    }

    fn seek_ended(&mut self, reason: &str) {
        self.say(&json!({"type": "seek_ended", "pool": "practice", "reason": reason}));
    }

    fn seeks_again_later(&mut self) -> Step {
        let start = Instant::now();
        self.hear("seek")?;
        let waited = start.elapsed();
        if waited >= ALMOST_A_SECOND { Ok(()) } else { Err(format!("it sought again after {waited:?}")) }
    }

    fn start(&mut self, resumed: bool) {
        self.say(&json!({
            "type": "started", "game": GAME, "pool": "practice", "rated": false, "side": "south",
            "south": {"name": "guest-1", "guest": true}, "north": {"name": "Tanja", "guest": false},
            "time": {"base_ms": 60000, "increment_ms": 0, "grace_ms": 50},
            "rules": {"name": "modiar", "repetition": 3, "quiet_plies": 200, "majority": false, "illegal_moves": 0},
            "opening": "", "moves": "", "ply": 1, "side_to_move": "south", "pits": [7, 7, 7, 7, 7, 7],
            "captured": {"south": 0, "north": 0}, "remaining_ms": {"south": 60000, "north": 60000}, "resumed": resumed,
        }));
        self.say(&json!({
            "type": "turn", "game": GAME, "ply": 1, "side": "south", "pits": [7, 7, 7, 7, 7, 7],
            "captured": {"south": 0, "north": 0}, "legal": [0, 1, 2], "remaining_ms": {"south": 60000, "north": 60000},
        }));
    }

    fn game(&mut self) -> Step {
        self.start(false);
        self.end()
    }

    /// Hears the move, ends the game by it, and sees the bot off.
    fn end(&mut self) -> Step {
        self.hear("move")?;
        self.tell_end();
        self.seek_ended("done");
        self.hear("bye").map(drop)
    }

    fn tell_end(&mut self) {
        self.say(&json!({
            "type": "ended", "game": GAME, "result": "south", "termination": "resignation",
            "score": {"south": 25, "north": 17}, "pits": [7, 7, 7, 7, 7, 7], "ply": 1,
        }));
    }
}
