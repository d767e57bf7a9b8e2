//! Registered bots that wait for the games of a tournament, and come back whenever their link breaks.

use crate::support::Daemon;
use modiar_conformance::{Peer, PeerError};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How a bot behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Temper {
    /// It gives up at its first turn where the other's name comes before its own.
    Humble,
    /// It plays to the end, a little slowly.
    Steady,
    /// The same, and looks for games all the time.
    Eager,
    /// It never answers.
    Silent,
}

/// What a bot was told: the games that began, all games that it was in, and how each ended.
#[derive(Debug, Default)]
pub struct Ledger {
    pub began: Vec<String>,
    pub played: HashSet<String>,
    pub ended: HashMap<String, Value>,
}

/// Bots as threads, until they are told to leave.
pub struct Bots {
    leaving: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Ledger>>,
}

impl Bots {
    /// Registers a bot of each name.
    pub fn register(daemon: &Daemon, names: &[&str]) -> HashMap<String, String> {
        names.iter().map(|name| ((*name).to_owned(), daemon.register(name))).collect()
    }

    /// Has them come.
    pub fn come(daemon: &Daemon, tokens: &HashMap<String, String>, bots: &[(&str, Temper)]) -> Self {
        let leaving = Arc::new(AtomicBool::new(false));
        let threads = bots.iter().map(|(name, temper)| {
            let bot = Bot {
                name: (*name).to_owned(),
                token: tokens[*name].clone(),
                temper: *temper,
                address: daemon.bots,
                leaving: Arc::clone(&leaving),
                ledger: Ledger::default(),
                opponents: HashMap::new(),
            };
            thread::spawn(move || bot.stay())
        });
        Self { threads: threads.collect(), leaving }
    }

    /// Has them leave; what each was told.
    pub fn leave(self) -> Vec<Ledger> {
        self.leaving.store(true, Ordering::Relaxed);
        self.threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    }
}

struct Bot {
    name: String,
    token: String,
    temper: Temper,
    address: SocketAddr,
    leaving: Arc<AtomicBool>,
    ledger: Ledger,
    /// By game.
    opponents: HashMap<String, String>,
}

impl Bot {
    fn stay(mut self) -> Ledger {
        while !self.leaving.load(Ordering::Relaxed) {
            // Whatever ended it, it comes back.
            if self.visit().is_err() {
                thread::sleep(Duration::from_millis(5));
            }
        }
        self.ledger
    }

    fn visit(&mut self) -> Result<(), PeerError> {
        let mut peer = Peer::connect(self.address)?;
        peer.send(&json!({"type": "hello", "protocol": 1, "name": self.name, "token": self.token}))?;
        let welcome = peer.expect("welcome")?;
        for ended in welcome["missed"].as_array().unwrap() {
            self.ended(ended);
        }
        if self.temper == Temper::Eager {
            peer.send(&json!({"type": "seek", "pool": "quick", "games": 0}))?;
        }
        loop {
            let heard = peer.line_within(Duration::from_millis(50));
            // Who looks for games has no end of them.
            if self.leaving.load(Ordering::Relaxed) && (self.temper == Temper::Eager || heard.is_err()) {
                return Ok(());
            }
            match heard {
                Ok(line) => self.hear(&mut peer, &serde_json::from_str(&line).unwrap())?,
                Err(PeerError::Silence(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn ended(&mut self, ended: &Value) {
        let before = self.ledger.ended.insert(ended["game"].as_str().unwrap().to_owned(), ended.clone());
        assert!(before.is_none_or(|before| before == *ended), "{}: it ended twice: {ended}", self.name);
    }

    fn hear(&mut self, peer: &mut Peer, message: &Value) -> Result<(), PeerError> {
        match message["type"].as_str().unwrap() {
            "started" => {
                let game = message["game"].as_str().unwrap().to_owned();
                if message["resumed"] == false {
                    self.ledger.began.push(game.clone());
                }
                // What it had not read before the daemon was killed it reads as resumed.
                self.ledger.played.insert(game.clone());
                let other = if message["side"] == "south" { "north" } else { "south" };
                self.opponents.insert(game, message[other]["name"].as_str().unwrap().to_owned());
            }
            "ended" => self.ended(message),
            "turn" if self.temper != Temper::Silent => self.answer(peer, message)?,
            _ => {}
        }
        Ok(())
    }

    fn answer(&self, peer: &mut Peer, turn: &Value) -> Result<(), PeerError> {
        let game = &turn["game"];
        if self.temper == Temper::Humble && self.opponents[game.as_str().unwrap()] < self.name {
            return Ok(peer.send(&json!({"type": "resign", "game": game}))?);
        }
        if self.temper != Temper::Humble {
            thread::sleep(Duration::from_millis(2));
        }
        let legal = turn["legal"].as_array().unwrap();
        let pit = &legal[usize::try_from(turn["ply"].as_u64().unwrap()).unwrap() % legal.len()];
        Ok(peer.send(&json!({"type": "move", "game": game, "pit": pit, "ply": turn["ply"]}))?)
    }
}
