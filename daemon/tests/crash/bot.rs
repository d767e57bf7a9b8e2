//! A bot that plays at random, comes back whenever its link breaks, and writes down what it is told.

use crate::ledger::Ledger;
use modiar_conformance::{Peer, PeerError};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long a daemon may be gone, and how long the last games may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// A bot thinks less than so many milliseconds.
const THINKING: u64 = 24;

/// What all bots share.
pub struct Round {
    address: SocketAddr,
    finishing: AtomicBool,
}

impl Round {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, finishing: AtomicBool::new(false) }
    }

    /// No new games: the bots leave when those that run are over.
    pub fn finish(&self) {
        self.finishing.store(true, Ordering::Relaxed);
    }

    fn is_finishing(&self) -> bool {
        self.finishing.load(Ordering::Relaxed)
    }
}

/// Numbers that look like chance and come again for the same seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

pub struct Bot {
    name: String,
    token: Option<String>,
    resume: Option<Value>,
    updates: bool,
    dice: Dice,
    ledger: Ledger,
    /// It has said that it seeks no more.
    leaving: bool,
}

impl Bot {
    pub fn name(number: u64) -> String {
        format!("crash-{number}")
    }

    /// With a token a registered one, else a guest.
    pub fn new(number: u64, token: Option<String>) -> Self {
        let (name, dice) = (Self::name(number), Dice(number));
        let ledger = Ledger::new(name.clone());
        Self { name, token, resume: None, updates: number.is_multiple_of(2), dice, ledger, leaving: false }
    }

    /// Plays until the round is finished and its games are over.
    pub fn play(mut self, round: &Round) -> Ledger {
        let mut give_up = None;
        loop {
            self.leaving = false;
            if let Ok(mut peer) = self.connect(round.address)
                && self.stay(&mut peer, round, &mut give_up).is_ok()
            {
                return self.ledger;
            }
            if give_up.is_some_and(|give_up| Instant::now() > give_up) {
                return self.ledger;
            }
        }
    }

    /// A connection on which it was welcomed.
    fn connect(&mut self, address: SocketAddr) -> Result<Peer, PeerError> {
        let give_up = Instant::now() + PATIENCE;
        let mut peer = loop {
            match Peer::connect(address) {
                Ok(peer) => break peer,
                Err(error) if Instant::now() > give_up => panic!("{}: {error}", self.name),
                Err(_) => thread::sleep(Duration::from_millis(5)),
            }
        };
        peer.send(&json!({"type": "hello", "protocol": 1, "name": self.name, "token": self.token,
            "resume": self.resume, "updates": self.updates}))?;
        let welcome = peer.read()?;
        assert_eq!(welcome["type"], "welcome", "{}: {welcome}", self.name);
        if self.token.is_none() {
            self.resume = Some(welcome["resume"].clone());
        }
        self.ledger.welcome(&welcome);
        peer.send(&json!({"type": "seek", "pool": "crash", "games": 0}))?;
        Ok(peer)
    }

    /// Plays on one connection; well if it left of its own will.
    fn stay(&mut self, peer: &mut Peer, round: &Round, give_up: &mut Option<Instant>) -> Result<(), PeerError> {
        loop {
            if round.is_finishing() && !self.leaving {
                self.leaving = true;
                give_up.get_or_insert_with(|| Instant::now() + PATIENCE);
                peer.send(&json!({"type": "unseek", "pool": "crash"}))?;
                while self.hear(peer, Duration::from_secs(10))? != "seek_ended" {}
            }
            if self.leaving && !self.ledger.is_playing() {
                return Ok(());
            }
            match self.hear(peer, Duration::from_millis(200)) {
                Err(PeerError::Silence(_)) if give_up.is_none_or(|give_up| Instant::now() < give_up) => {}
                heard => drop(heard?),
            }
        }
    }

    /// Hears one message, and answers a turn; its type.
    fn hear(&mut self, peer: &mut Peer, patience: Duration) -> Result<String, PeerError> {
        let line = peer.line_within(patience)?;
        let message: Value = serde_json::from_str(&line).unwrap();
        let kind = message["type"].as_str().unwrap().to_owned();
        self.ledger.hear(&kind, &message);
        if kind == "turn" {
            let legal = message["legal"].as_array().unwrap();
            let pit = &legal[usize::try_from(self.dice.below(legal.len() as u64)).unwrap()];
            thread::sleep(Duration::from_millis(self.dice.below(THINKING)));
            self.ledger.sent(&message, pit);
            peer.send(&json!({"type": "move", "game": message["game"], "pit": pit, "ply": message["ply"]}))?;
        }
        Ok(kind)
    }
}
