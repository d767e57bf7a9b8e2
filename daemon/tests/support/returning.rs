//! Bots that come back to their game after their connection or the daemon was gone.

use super::{Daemon, assert_quiet};
use modiar_conformance::Peer;
use serde_json::{Value, json};

/// A bot, and what it says to be itself again.
pub struct Returning {
    pub peer: Peer,
    pub name: String,
    hello: Value,
}

impl Returning {
    /// A guest.
    pub fn guest(daemon: &Daemon) -> Self {
        Self::newcomer(daemon, json!({}))
    }

    /// A guest of this name.
    pub fn guest_named(daemon: &Daemon, name: &str) -> Self {
        Self::newcomer(daemon, json!({"name": name}))
    }

    fn newcomer(daemon: &Daemon, hello: Value) -> Self {
        let (mut bot, welcome) = Self::enter(daemon, hello);
        bot.hello = json!({"name": bot.name, "resume": welcome["resume"]});
        bot
    }

    /// A registered bot, registered now.
    pub fn registered(daemon: &Daemon, name: &str) -> Self {
        Self::owner(daemon, name, &daemon.register(name))
    }

    /// A registered bot by its token.
    pub fn owner(daemon: &Daemon, name: &str, token: &str) -> Self {
        Self::enter(daemon, json!({"name": name, "token": token})).0
    }

    fn enter(daemon: &Daemon, hello: Value) -> (Self, Value) {
        let mut peer = daemon.connect();
        peer.send(&message(&hello)).unwrap();
        let welcome = peer.expect("welcome").unwrap();
        let name = welcome["bot"]["name"].as_str().unwrap().to_owned();
        (Self { peer, name, hello }, welcome)
    }

    /// What it says to come back.
    pub fn hello(&self) -> Value {
        message(&self.hello)
    }

    /// Comes back as the same bot; its welcome.
    pub fn come_back(&mut self, daemon: &Daemon) -> Value {
        let (back, welcome) = Self::enter(daemon, self.hello.clone());
        assert_eq!(back.name, self.name, "{welcome}");
        self.peer = back.peer;
        welcome
    }

    /// Comes back to its one game, which goes on: the `started`.
    pub fn resume(&mut self, daemon: &Daemon, game: &str) -> Value {
        let welcome = self.come_back(daemon);
        assert_eq!((&welcome["games"], &welcome["missed"]), (&json!([game]), &json!([])), "{welcome}");
        let started = self.peer.expect("started").unwrap();
        assert!(started["game"] == game && started["resumed"] == true, "{started}");
        started
    }

    /// Comes back after its game; the end of that, which the welcome tells or, where it was not stored yet, follows the
    /// `started` of the game.
    pub fn missed(&mut self, daemon: &Daemon, game: &str) -> Value {
        let welcome = self.come_back(daemon);
        let missed = welcome["missed"].as_array().unwrap();
        let of_game: Vec<_> = missed.iter().filter(|ended| ended["game"] == game).collect();
        let ended = match of_game[..] {
            [] => self.end_of_listed(&welcome, game),
            [ended] => {
                assert_eq!(welcome["games"], json!([]), "{welcome}");
                ended.clone()
            }
            _ => panic!("told twice: {welcome}"),
        };
        assert_quiet(&mut self.peer);
        ended
    }

    /// The end of its one game, which this welcome lists.
    fn end_of_listed(&mut self, welcome: &Value, game: &str) -> Value {
        assert_eq!(welcome["games"], json!([game]), "{welcome}");
        let started = self.peer.expect("started").unwrap();
        let ended = self.peer.expect("ended").unwrap();
        for message in [&started, &ended] {
            assert_eq!(message["game"], game, "{message}");
        }
        ended
    }
}

fn message(hello: &Value) -> Value {
    let mut message = json!({"type": "hello", "protocol": 1});
    message.as_object_mut().unwrap().extend(hello.as_object().unwrap().clone());
    message
}

/// A game between a registered bot, South, and a guest.
pub struct Pair {
    pub south: Returning,
    pub north: Returning,
    pub id: String,
}

impl Pair {
    /// At its start; South has its turn to read.
    pub fn start(daemon: &Daemon, pool: &str) -> Self {
        Self::between(Returning::registered(daemon, "dice"), Returning::guest(daemon), pool)
    }

    pub fn between(mut south: Returning, mut north: Returning, pool: &str) -> Self {
        let challenge = json!({"type": "challenge", "opponent": north.name, "pool": pool, "side": "south"});
        south.peer.send(&challenge).unwrap();
        south.peer.expect("challenge_sent").unwrap();
        let challenge = north.peer.expect("challenged").unwrap()["challenge"].clone();
        north.peer.send(&json!({"type": "accept", "challenge": challenge})).unwrap();
        let id = south.peer.expect("started").unwrap()["game"].as_str().unwrap().to_owned();
        north.peer.expect("started").unwrap();
        Self { south, north, id }
    }

    /// Plays these pits in turn, each after its turn has been read.
    pub fn play(&mut self, pits: &str) {
        for pit in pits.chars() {
            self.mover(pit).peer.expect("turn").unwrap();
            self.send(pit);
        }
    }

    /// The same where the first turn has been read already.
    pub fn answer(&mut self, pits: &str) {
        self.send(pits.chars().next().unwrap());
        self.play(&pits[1..]);
    }

    fn mover(&mut self, pit: char) -> &mut Returning {
        if pit < '3' { &mut self.south } else { &mut self.north }
    }

    fn send(&mut self, pit: char) {
        let message = json!({"type": "move", "game": self.id, "pit": pit.to_digit(10)});
        self.mover(pit).peer.send(&message).unwrap();
    }

    /// Both sides' `ended`, which must be the next line of each and say the same.
    pub fn ended(&mut self) -> Value {
        let south = self.south.peer.expect("ended").unwrap();
        assert_eq!(south, self.north.peer.expect("ended").unwrap());
        south
    }

    /// Both come back to the game: South's `started`.
    pub fn resume(&mut self, daemon: &Daemon) -> Value {
        let started = self.south.resume(daemon, &self.id);
        self.north.resume(daemon, &self.id);
        started
    }

    /// What both read in the welcome of the game that ended meanwhile; it must be the same.
    pub fn missed(&mut self, daemon: &Daemon) -> Value {
        let ended = self.south.missed(daemon, &self.id);
        assert_eq!(ended, self.north.missed(daemon, &self.id));
        ended
    }
}
