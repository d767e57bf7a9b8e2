//! What one bot was told, and whether it fits together.

use modiar_protocol::GameRules;
use modiar_rules::{Line, parse_moves};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt;

/// What was counted over all bots.
#[derive(Debug, Default)]
pub struct Tally {
    /// Results that bots read.
    pub acked: u64,
    /// Of these, those that told a rating.
    pub rated: u64,
    /// Rows of the ladder that are not what the stored games lead to.
    pub misrated: u64,
    /// Of these, not in the store.
    pub missing: u64,
    /// Of these, otherwise in the store, or told otherwise again.
    pub changed: u64,
    /// Results told twice on the wire, or stored twice.
    pub double: u64,
    /// Records that `games verify` refuses.
    pub replay_bad: u64,
    /// Games that went on after a restart, as often as a bot read so.
    pub resumed: u64,
    /// Games that did not go on as their bot knew them.
    pub prefix_bad: u64,
    /// What was wrong, in words.
    pub faults: Vec<String>,
}

impl Tally {
    pub fn is_good(&self) -> bool {
        self.faults.is_empty()
            && [self.missing, self.changed, self.double, self.replay_bad, self.prefix_bad, self.misrated]
                .iter()
                .all(|bad| *bad == 0)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { acked, rated, missing, changed, double, replay_bad, resumed, prefix_bad, misrated, .. } = self;
        write!(
            f,
            "acked={acked} rated={rated} missing={missing} changed={changed} double={double} replay_bad={replay_bad} \
             resumed={resumed} prefix_bad={prefix_bad} misrated={misrated}"
        )
    }
}

/// One game as its bot knows it.
#[derive(Debug, Default)]
struct Told {
    moves: String,
    /// What it sent last: the ply and the pit.
    sent: Option<(usize, String)>,
    /// The clocks as they were told with this ply to be played.
    clock: Option<(u64, Value)>,
    ended: Option<Value>,
    /// The end was read as a message of its own, not in a welcome only.
    live: bool,
}

#[derive(Debug)]
pub struct Ledger {
    name: String,
    games: HashMap<String, Told>,
    tally: Tally,
}

impl Ledger {
    pub fn new(name: String) -> Self {
        Self { name, games: HashMap::new(), tally: Tally::default() }
    }

    pub fn is_playing(&self) -> bool {
        self.games.values().any(|told| told.ended.is_none())
    }

    /// A game that it believes to run and that is named neither as running nor as missed is being stored: its end must
    /// come yet.
    pub fn welcome(&mut self, welcome: &Value) {
        for ended in welcome["missed"].as_array().into_iter().flatten() {
            self.ended(ended, false);
        }
        for game in welcome["games"].as_array().unwrap() {
            let over = self.games.get(game.as_str().unwrap()).is_some_and(|told| told.ended.is_some());
            if over {
                self.bad(format!("{game} is over and to be resumed: {welcome}"));
            }
        }
    }

    pub fn hear(&mut self, kind: &str, message: &Value) {
        match kind {
            "started" => self.started(message),
            "turn" => self.turn(message),
            "moved" => self.moved(message),
            "ended" => self.ended(message, true),
            "seeking" | "seek_ended" => {}
            _ => self.tally.faults.push(format!("{}: not awaited: {message}", self.name)),
        }
    }

    /// It is about to send a move.
    pub fn sent(&mut self, turn: &Value, pit: &Value) {
        let ply = usize::try_from(turn["ply"].as_u64().unwrap()).unwrap();
        self.told(turn).sent = Some((ply, pit.to_string()));
    }

    fn told(&mut self, message: &Value) -> &mut Told {
        self.games.entry(message["game"].as_str().unwrap().to_owned()).or_default()
    }

    fn bad(&mut self, what: String) {
        self.tally.prefix_bad += 1;
        self.tally.faults.push(format!("{}: {what}", self.name));
    }

    fn started(&mut self, started: &Value) {
        let moves = started["moves"].as_str().unwrap();
        let told = self.told(started);
        let before = format!("{told:?}");
        let own = told.sent.as_ref().is_none_or(|(ply, pit)| moves.get(ply - 1..*ply).is_none_or(|there| there == pit));
        let clock =
            told.clock.as_ref().is_none_or(|(ply, left)| started["ply"] != *ply || started["remaining_ms"] == *left);
        let follows = moves.starts_with(&told.moves) && own && clock && told.ended.is_none();
        moves.clone_into(&mut told.moves);
        told.sent = None;
        self.tally.resumed += u64::from(started["resumed"] == true);
        if !follows || !stands(started) {
            self.bad(format!("{before} went on as {started}"));
        }
    }

    /// A turn tells the opponent's ply, and that one's own before it stands.
    fn turn(&mut self, turn: &Value) {
        let before = usize::try_from(turn["ply"].as_u64().unwrap()).unwrap() - 1;
        let last = turn["last"]["pit"].to_string();
        let told = self.told(turn);
        if let Some((_, pit)) = told.sent.take_if(|(ply, _)| *ply == told.moves.len() + 1) {
            told.moves.push_str(&pit);
        }
        if told.moves.len() + 1 == before {
            told.moves.push_str(&last);
        }
        // The first turn after an opening, as after nothing, has no last ply.
        let follows = turn.get("last").is_none() || told.moves.ends_with(&last);
        let fits = told.moves.len() == before && follows;
        told.clock = Some((turn["ply"].as_u64().unwrap(), turn["remaining_ms"].clone()));
        if !fits {
            let told = format!("{:?}", self.told(turn));
            self.bad(format!("{told} does not lead to {turn}"));
        }
    }

    fn moved(&mut self, moved: &Value) {
        let (ply, pit) = (usize::try_from(moved["ply"].as_u64().unwrap()).unwrap(), moved["pit"].to_string());
        let told = self.told(moved);
        if told.moves.len() + 1 == ply {
            told.moves.push_str(&pit);
            told.sent = None;
        } else {
            let told = format!("{told:?}");
            self.bad(format!("{told} does not lead to {moved}"));
        }
    }

    fn ended(&mut self, ended: &Value, live: bool) {
        let mut ended = ended.clone();
        ended.as_object_mut().unwrap().remove("type");
        let told = self.told(&ended);
        let twice = live && told.live;
        told.live |= live;
        let changed = told.ended.as_ref().is_some_and(|before| *before != ended);
        let first = told.ended.is_none();
        told.ended = Some(ended);
        self.tally.acked += u64::from(first);
        self.tally.double += u64::from(twice);
        self.tally.changed += u64::from(changed);
    }

    /// Compares all that was told with what is stored, and adds it up.
    pub fn settle(mut self, records: &HashMap<String, Value>, tally: &mut Tally) {
        for (id, told) in std::mem::take(&mut self.games) {
            let Some(record) = records.get(&id) else {
                self.tally.missing += u64::from(told.ended.is_some());
                self.tally.faults.push(format!("{}: {id} is not stored: {told:?}", self.name));
                continue;
            };
            if told.ended.is_none() {
                self.bad(format!("it never heard of the end of {id}: {told:?}"));
            }
            if !record["moves"].as_str().unwrap().starts_with(&told.moves) {
                self.bad(format!("{told:?} is stored as {record}"));
            }
            self.tally.rated += u64::from(told.ended.as_ref().is_some_and(|ended| ended.get("rating").is_some()));
            if told.ended.is_some_and(|ended| {
                !agrees(&ended, record) || ended.get("rating") != change(record, &self.name).as_ref()
            }) {
                self.tally.changed += 1;
                self.tally.faults.push(format!("{}: {id} is stored otherwise: {record}", self.name));
            }
        }
        let Tally { acked, rated, missing, changed, double, replay_bad, resumed, prefix_bad, misrated, faults } =
            self.tally;
        tally.acked += acked;
        tally.rated += rated;
        tally.misrated += misrated;
        tally.missing += missing;
        tally.changed += changed;
        tally.double += double;
        tally.replay_bad += replay_bad;
        tally.resumed += resumed;
        tally.prefix_bad += prefix_bad;
        tally.faults.extend(faults);
    }
}

/// Whether the position of a `started` is the one that its moves lead to.
fn stands(started: &Value) -> bool {
    let rules: GameRules = serde_json::from_value(started["rules"].clone()).unwrap();
    let moves = parse_moves(started["moves"].as_str().unwrap()).unwrap();
    let line = Line::replay(rules.ends(), moves).unwrap();
    let (position, captured) = (line.position(), line.position().captured());
    started["pits"] == json!(position.pits())
        && started["captured"] == json!({"south": captured.south, "north": captured.north})
        && started["ply"] == position.ply()
        && started["side_to_move"] == position.side().to_string()
}

fn agrees(ended: &Value, record: &Value) -> bool {
    let same = ["game", "result", "termination", "score", "pits"].iter().all(|key| ended[key] == record[key]);
    same && ended["ply"] == record["moves"].as_str().unwrap().len()
}

/// What a record says that a bot's `ended` must tell of its rating; nothing where the game was not rated.
fn change(record: &Value, name: &str) -> Option<Value> {
    let side = if record["south"]["name"] == name { "south" } else { "north" };
    let after = record.get("rating_after")?.get(side)?;
    Some(json!({"before": record[side]["rating"], "after": after["rating"], "rd": after["rd"]}))
}
