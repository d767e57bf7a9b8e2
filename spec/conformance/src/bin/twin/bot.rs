//! The twin itself.

use crate::lines::{Came, Lines};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::process::exit;
use std::rc::Rc;
use std::thread::sleep;
use std::time::{Duration, Instant, UNIX_EPOCH};

/// Between two tries: from the first to the last, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LAST_PAUSE: Duration = Duration::from_secs(1);
/// How long a bot that gives up too early waits for the end of a game.
const IMPATIENCE: Duration = Duration::from_millis(700);
/// The own move at which a bot that tires stops.
const TIRED: usize = 6;
const COULD_NOT: u8 = 3;

/// The fault that this twin has, if any.
#[derive(Clone)]
pub struct Faults(Rc<Option<String>>);

impl Faults {
    pub fn has(&self, name: &str) -> bool {
        self.0.as_deref() == Some(name)
    }

    /// Ends the program where it has this fault, as an exception that nobody catches does.
    pub fn fails(&self, name: &str) {
        if self.has(name) {
            eprintln!("the twin fails at {name}");
            exit(1);
        }
    }
}

/// What is known of a game that runs.
#[derive(Default)]
struct Game {
    side: String,
    /// The last turn answered, and by what.
    answered: Option<(u64, u64)>,
    moves: usize,
}

/// The bot over all its connections.
pub struct Bot {
    address: String,
    faults: Faults,
    name: Option<String>,
    token: Option<String>,
    resume: Option<String>,
    left: u64,
    games: BTreeMap<String, Game>,
    over: BTreeSet<String>,
    /// The newest game of which anything was told.
    newest: String,
    /// Whether there was a welcome: ever, and on this connection.
    welcomed: bool,
    let_in: bool,
    seeking: bool,
    /// Whether a seek stands for which no game has come.
    confirmed: bool,
    /// Whether anything was heard on this connection, and whether a move of the bot has counted.
    heard: bool,
    moved: bool,
    alarm: Option<Instant>,
    status: Option<u8>,
}

impl Bot {
    pub fn new(
        address: String,
        name: Option<String>,
        token: Option<String>,
        games: u64,
        fault: Option<String>,
    ) -> Self {
        Self {
            address,
            faults: Faults(Rc::new(fault)),
            name,
            token,
            resume: None,
            left: games,
            games: BTreeMap::new(),
            over: BTreeSet::new(),
            newest: String::new(),
            welcomed: false,
            let_in: false,
            seeking: false,
            confirmed: false,
            heard: false,
            moved: false,
            alarm: None,
            status: None,
        }
    }

    fn has(&self, fault: &str) -> bool {
        self.faults.has(fault)
    }

    /// Plays until there is nothing to come back for; the exit status.
    pub fn run(mut self) -> u8 {
        self.begin();
        let (mut pause, mut left_over) = (FIRST_PAUSE, Vec::new());
        loop {
            (self.heard, self.moved) = (false, false);
            match Lines::connect(&self.address, self.faults.clone(), left_over) {
                Ok(mut lines) => {
                    self.converse(&mut lines);
                    if self.moved {
                        pause = FIRST_PAUSE;
                    }
                    left_over = lines.into_left_over();
                    if !self.has("back-on-its-turn") {
                        left_over.clear();
                    }
                }
                Err(_) if self.has("server-restart") || !self.welcomed => return COULD_NOT,
                Err(_) => left_over = Vec::new(),
            }
            if let Some(status) = self.status {
                return status;
            }
            if self.heard || !self.has("reconnects-spaced") {
                sleep(pause);
                pause = (2 * pause).min(LAST_PAUSE);
            }
        }
    }

    fn begin(&self) {
        if self.has("secret-kept") {
            eprintln!("playing with {:?}", self.token);
        }
        if self.has("stdin-closed") {
            // A thread of its own: elsewhere stdin never ends.
            std::thread::spawn(|| {
                if std::io::stdin().read(&mut [0]).is_ok_and(|count| count == 0) {
                    exit(1);
                }
            });
        }
    }

    /// One connection, to its end.
    fn converse(&mut self, lines: &mut Lines) {
        (self.seeking, self.let_in, self.alarm) = (false, false, None);
        self.hello(lines);
        loop {
            match lines.next(self.alarm) {
                Came::Message(message) => {
                    self.heard = true;
                    self.answer(lines, &message);
                }
                Came::Alarm => self.wake(lines),
                Came::Closed => return,
            }
            if self.status.is_some_and(|status| status != 0) {
                return;
            }
        }
    }

    fn hello(&mut self, lines: &mut Lines) {
        let mut hello = json!({"type": "hello", "protocol": 1, "games": 2, "client": "twin"});
        let resume = self.resume.as_ref().filter(|_| !self.has("guest-comes-back"));
        for (key, value) in [("name", self.name.as_ref()), ("token", self.token.as_ref()), ("resume", resume)] {
            if let Some(value) = value.filter(|_| key != "token" || !self.has("token-sent")) {
                hello[key] = json!(value);
            }
        }
        lines.send(&hello);
        if self.has("hello-first") && !self.welcomed {
            self.seek(lines);
        }
    }

    fn wake(&mut self, lines: &mut Lines) {
        self.alarm = None;
        if self.games.is_empty() {
            self.go_on(lines);
        } else if self.has("late-ended") {
            exit(1);
        } else {
            let game = self.newest.clone();
            if let Some((ply, pit)) = self.games.get(&game).and_then(|game| game.answered) {
                lines.send(&json!({"type": "move", "game": game, "pit": pit, "ply": ply}));
            }
        }
    }

    fn answer(&mut self, lines: &mut Lines, message: &Value) {
        if message.get("weather").is_some() {
            self.faults.fails("unknown-field");
        }
        match message["type"].as_str().unwrap_or_default() {
            // On a new connection too, nothing of a game is told before it.
            "started" | "turn" | "ended" if !self.let_in => {}
            "welcome" => self.welcome(lines, message),
            "seeking" => {
                self.confirmed = true;
                self.moved |= self.has("seeking-loop");
            }
            "challenged" => self.faults.fails("challenge-comes"),
            "started" => self.started(lines, message),
            "turn" => self.turn(lines, message),
            "moved" if self.has("moved-ignored") => {
                let ply = message["ply"].as_u64().unwrap_or_default() + 1;
                lines.send(&json!({"type": "move", "game": message["game"], "pit": 3, "ply": ply}));
            }
            "ended" => self.ended(lines, message),
            "seek_ended" => self.seek_ended(lines, message),
            "error" => self.error(lines, message),
            "notice" if message["code"] != "draining" => self.faults.fails("unknown-notice"),
            "notice" => self.faults.fails("notice-draining"),
            "goodbye" => self.goodbye(message),
            "forecast" => self.faults.fails("unknown-type"),
            _ => {}
        }
    }

    fn welcome(&mut self, lines: &mut Lines, message: &Value) {
        self.name = message["bot"]["name"].as_str().map(str::to_owned);
        self.resume = message["resume"].as_str().map(str::to_owned);
        let missed: Vec<&Value> = message["missed"].as_array().into_iter().flatten().collect();
        if !self.welcomed && !self.has("missed-before") {
            self.over.extend(missed.iter().filter_map(|ended| Some(ended["game"].as_str()?.to_owned())));
        }
        if !self.has("missed-end") {
            let running: Vec<&Value> = message["games"].as_array().into_iter().flatten().collect();
            self.games.retain(|game, _| running.iter().any(|id| id.as_str() == Some(game)));
            missed.into_iter().for_each(|ended| self.count(ended));
        }
        self.seeking |= self.confirmed && self.has("back-while-seeking");
        (self.welcomed, self.let_in) = (true, true);
        self.go_on(lines);
    }

    /// Where nothing is played and nothing sought: seeks what is left, or leaves.
    fn go_on(&mut self, lines: &mut Lines) {
        if !self.games.is_empty() || self.seeking || self.alarm.is_some() {
            return;
        }
        if self.left > 0 {
            self.seek(lines);
        } else if self.status.is_none() {
            lines.send(&json!({"type": "bye"}));
            if self.has("exits-when-done") {
                exit(1);
            }
            self.status = Some(0);
        }
    }

    fn seek(&mut self, lines: &mut Lines) {
        self.seeking = true;
        lines.send(&json!({"type": "seek", "pool": "practice", "games": self.left, "ref": "seek"}));
    }

    fn started(&mut self, lines: &mut Lines, message: &Value) {
        let id = message["game"].as_str().unwrap_or_default().to_owned();
        let side = message["side"].as_str().unwrap_or_default().to_owned();
        let resumed = message["resumed"] == true;
        let waits = message["side_to_move"] != *side;
        let early = waits
            && if resumed { self.has("back-on-other-turn") } else { self.has("waits-for-turn") && side == "south" };
        if early {
            lines.send(&json!({"type": "move", "game": id, "pit": if side == "south" { 0 } else { 3 }}));
        }
        if message["opening"] == "24031504" && self.games.is_empty() {
            self.faults.fails("opening");
        }
        self.confirmed = false;
        self.newest.clone_from(&id);
        self.games.entry(id).or_default().side = side;
    }

    fn turn(&mut self, lines: &mut Lines, message: &Value) {
        let id = message["game"].as_str().unwrap_or_default();
        let ply = message["ply"].as_u64().unwrap_or_default();
        let again = self.games.get(id).and_then(|game| game.answered).filter(|(answered, _)| *answered == ply);
        let pit = match again {
            Some((_, pit)) if !self.has("same-answer") => pit,
            Some((_, pit)) => self.another(message, pit),
            None => self.choose(message),
        };
        let fault = self.has("turn-loop");
        let played = self.games.entry(id.to_owned()).or_default();
        self.moved |= fault || played.answered.is_some_and(|(answered, _)| answered != ply);
        played.answered = Some((ply, pit));
        played.moves += 1;
        let (moves, north) = (played.moves, played.side == "north");
        if moves >= TIRED && self.has("whole-game") || self.has("games-in-a-row") && !self.over.is_empty() && north {
            return;
        }
        let game = if self.has("games-at-once") { &*self.newest } else { id };
        let pit = if north && self.over.is_empty() && self.has("north-side") { pit - 3 } else { pit };
        lines.send(&json!({"type": "move", "game": game, "pit": pit, "ply": ply}));
        let first = ply == 1 && self.over.is_empty();
        if self.has("one-move-per-turn") && first {
            self.alarm = Some(Instant::now() + IMPATIENCE / 3);
        } else {
            self.alarm = (self.has("late-ended") && moves > 1).then(|| Instant::now() + IMPATIENCE);
        }
    }

    /// The highest of the legal pits.
    fn choose(&self, turn: &Value) -> u64 {
        let legal = numbers(&turn["legal"]);
        let playable = |pit: &u64| usize::try_from(*pit).is_ok_and(|pit| numbers(&turn["pits"])[pit] > 1);
        if self.has("legal-list") && legal.len() == 1 && turn["side"] == "south" && turn["last"].is_null() {
            return (0..3).find(playable).unwrap_or_default();
        }
        legal.last().copied().unwrap_or_default()
    }

    fn another(&self, turn: &Value, not: u64) -> u64 {
        numbers(&turn["legal"]).into_iter().find(|pit| *pit != not).unwrap_or(not)
    }

    fn ended(&mut self, lines: &mut Lines, message: &Value) {
        let termination = message["termination"].as_str().unwrap_or_default();
        let game = self.games.get(message["game"].as_str().unwrap_or_default());
        match termination {
            "repetition" => self.faults.fails("ended-repetition"),
            "quiet_plies" => self.faults.fails("ended-quiet-plies"),
            "majority" => self.faults.fails("ended-majority"),
            "time_forfeit" => self.faults.fails("ended-time-forfeit"),
            "illegal_move" => self.faults.fails("ended-illegal-move"),
            "adjudication" => self.faults.fails("unknown-termination"),
            // Its own move did not count.
            "resignation" if game.and_then(|game| game.answered).is_some_and(|(ply, _)| message["ply"] != ply) => {
                self.faults.fails("opponent-resigns");
            }
            _ => {}
        }
        self.alarm = None;
        self.count(message);
        self.go_on(lines);
    }

    fn count(&mut self, ended: &Value) {
        let game = ended["game"].as_str().unwrap_or_default();
        self.moved |= self.games.remove(game).is_some_and(|game| game.answered.is_some());
        let termination = ended["termination"].as_str().unwrap_or_default();
        let counts = ended["result"] != "none"
            || termination == "aborted" && self.has("aborted-not-counted")
            || termination == "server_error" && self.has("server-error-not-counted");
        if counts && (self.over.insert(game.to_owned()) || self.welcomed && self.has("end-told-twice")) {
            self.left = self.left.saturating_sub(1);
            self.seeking &= self.left > 0;
        }
    }

    fn seek_ended(&mut self, lines: &mut Lines, message: &Value) {
        self.seeking = false;
        let pause = match message["reason"].as_str().unwrap_or_default() {
            "cancelled" | "done" | "draining" => None,
            "penalised" => {
                let until = Duration::from_millis(message["until_ms"].as_u64().unwrap_or_default());
                let pause = until.saturating_sub(UNIX_EPOCH.elapsed().unwrap_or_default()) + FIRST_PAUSE;
                (!self.has("penalised-seek")).then_some(pause)
            }
            _ => {
                self.faults.fails("unknown-seek-end");
                Some(LAST_PAUSE)
            }
        };
        self.alarm = pause.map(|pause| Instant::now() + pause);
        self.go_on(lines);
    }

    fn error(&mut self, lines: &mut Lines, message: &Value) {
        let code = message["code"].as_str().unwrap_or_default();
        match code {
            "auth_failed" if self.has("wrong-token") => self.hello(lines),
            "auth_failed" => {
                eprintln!("{}", message["message"]);
                self.status = Some(COULD_NOT);
            }
            "draining" if self.has("seek-draining") => self.seek(lines),
            "too_many_connections" if self.has("turned-away") => exit(1),
            "illegal_move" => {
                let legal = numbers(&message["legal"]);
                let id = message["game"].as_str().unwrap_or_default();
                let Some(answered) = self.games.get_mut(id).and_then(|game| game.answered.as_mut()) else { return };
                if !self.faults.has("illegal-forgiven") {
                    answered.1 = legal.first().copied().unwrap_or_default();
                }
                lines.send(&json!({"type": "move", "game": id, "pit": answered.1, "ply": answered.0}));
            }
            "too_windy" => self.faults.fails("error-unknown"),
            // What answers a move that crossed the end of its game is no fault of this kind.
            code => self.faults.fails(&format!("error-{}", code.replace('_', "-"))),
        }
    }

    fn goodbye(&mut self, message: &Value) {
        match message["reason"].as_str().unwrap_or_default() {
            reason @ ("banned" | "replaced") if !self.has(reason) => self.status = Some(COULD_NOT),
            "draining" if !self.games.is_empty() => self.faults.fails("goodbye-draining"),
            "maintenance" => self.faults.fails("unknown-goodbye"),
            _ => {}
        }
    }
}

fn numbers(values: &Value) -> Vec<u64> {
    values.as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
}
