//! The transcripts as checks, and when one cannot be played.

use super::desk::{Bot, Desk, Heard, TOO_MANY};
use super::{Check, Kind};
use crate::Transcript;
use crate::player::Plain;
use crate::report::{About, Step, Stop, skip};
use serde_json::{Value, json};
use std::time::Duration;

/// The pools that transcripts play in, as far as what they show rests on it: name, base time and illegal moves forgiven.
const POOLS: [(&str, u64, u64); 3] = [("bullet", 5_000, 0), ("blitz", 30_000, 0), ("practice", 60_000, 3)];
/// The first of the server's own bots where there are any (`session.house`).
const HOUSE_BOT: &str = "house-random";

/// A dialogue of `spec/transcripts` as a check.
#[derive(Debug)]
pub(super) struct Played {
    transcript: Transcript,
    /// Whether it seeks.
    pub(super) seeks: bool,
}

/// The transcripts as checks.
pub(super) fn checks() -> impl Iterator<Item = Check> {
    // A test holds that all of them are read.
    Transcript::all().unwrap_or_default().into_iter().map(|transcript| {
        let (name, title) = (transcript.name.clone().leak(), transcript.title.clone().leak());
        let clauses: Vec<&'static str> = transcript.clauses.iter().map(|clause| &*clause.clone().leak()).collect();
        let seeks = transcript.messages().any(|message| message.get("type").is_some_and(|kind| kind == "seek"));
        let about = About { name, title, clauses: clauses.leak(), advice: advice(name) };
        Check { about, kind: Kind::Transcript(Played { transcript, seeks }) }
    })
}

/// What to do where this transcript is not held.
fn advice(name: &str) -> &'static str {
    match name {
        "bad-json" | "bad-utf8" | "strict-json" | "bad-field" | "unknown-type" | "line-ends" | "long-line"
        | "many-lines" | "ping" | "ref" => "Read spec/transport.md, and hold the reader of lines to its list.",
        "handshake" | "handshake-silence" | "hello-again" => "Read \"Awaiting hello\" in spec/session.md.",
        "bye" => "Read \"Leaving\" in spec/session.md.",
        "guest-names" | "registration-closed" => "Read \"Names\" and \"Guests\" in spec/session.md.",
        "resume" => "Read \"The same bot again\" in spec/session.md.",
        "seek" | "unseek" | "unseek-all" => "Read \"Seeks\" in spec/session.md.",
        "accept-gone"
        | "challenge-declined"
        | "challenge-third"
        | "challenge-unavailable"
        | "series"
        | "series-gone" => "Read \"Challenges\" in spec/session.md.",
        "updates" | "watch" | "watch-end" => "Read \"In a game\" in spec/session.md.",
        "flag" => "Read \"Charge\" in spec/clock.md.",
        "no-show" => "Read \"No-shows\" in spec/forfeits.md.",
        "full-game" | "repetition" => "Read spec/rules.md, and the vectors that show its clauses.",
        _ => "Read spec/verdict.md: what a move is answered, in the order in which it is asked.",
    }
}

impl Played {
    /// Whether it waits for clocks.
    pub(super) const fn is_slow(&self) -> bool {
        matches!(self.transcript.name.as_bytes(), b"flag" | b"handshake-silence")
    }

    /// Plays it, if it can be played here.
    pub(super) fn play(&self, desk: &mut Desk<'_>, house: &House) -> Step {
        if let Some(why) = self.hindrance(house) {
            return skip(why);
        }
        let played = self.transcript.play_with(desk.address, desk.patience, &mut desk.minutes, &mut Plain);
        played.or_else(|(line, surprise)| {
            if surprise.came.contains("\"code\":\"too_many_connections\"") {
                return skip(TOO_MANY);
            }
            Err(Stop::Fault {
                clause: self.transcript.clauses.join(", "),
                awaited: format!("at line {line} of the transcript {}", surprise.awaited),
                came: surprise.came,
            })
        })
    }

    /// Why it cannot be played here.
    fn hindrance(&self, house: &House) -> Option<String> {
        if !house.guests {
            return Some("the server lets no guests in".to_owned());
        }
        for message in self.transcript.messages() {
            let Some(Value::String(pool)) = message.get("pool") else { continue };
            if let Some(usual) = POOLS.iter().find(|(name, ..)| name == pool)
                && !house.has(*usual)
            {
                return Some(format!(
                    "it plays in the pool '{pool}' as it is by default, which the server does not have"
                ));
            }
        }
        if let Some(Value::Array(pools)) = self.transcript.expected().find_map(|line| line.get("pools"))
            && !house.has_so_many(pools.len())
        {
            return Some(format!("it awaits {} pools, which is not what the server has", pools.len()));
        }
        if self.seeks && house.bots {
            return Some("the server has house bots, which would answer its seeks; start it without them".to_owned());
        }
        let registers = self.transcript.messages().any(|message| message.contains_key("register"));
        (registers && house.registers).then(|| "the server lets bots register themselves".to_owned())
    }
}

/// How a TLS server answers what is none: by an alert.
const TLS_ALERT: &str = "\\u{15}\\u{3}";

/// What is to be known of a server before it is checked.
#[derive(Debug)]
pub(super) struct House {
    pub(super) tls: bool,
    pub(super) draining: bool,
    /// How many it takes a second, where it says so.
    pub(super) messages: Option<u64>,
    guests: bool,
    registers: bool,
    bots: bool,
    /// The pools of its welcome; nothing where none came.
    pools: Option<Value>,
}

impl House {
    /// Asks for it. Where the answer is none that a server may give, the checks are to find that.
    pub(super) fn ask(address: &str, patience: Duration) -> Self {
        const ASKING: About = About { name: "", title: "", clauses: &[], advice: "" };
        let mut house = Self {
            tls: false,
            draining: false,
            messages: None,
            guests: true,
            registers: false,
            bots: false,
            pools: None,
        };
        let learnt = house.learn(&mut Desk::new(address, patience, &ASKING));
        // What it fails at beside this, the checks will find.
        house.tls = matches!(learnt, Err(Stop::Fault { came, .. }) if came.starts_with(TLS_ALERT));
        house
    }

    fn learn(&mut self, desk: &mut Desk<'_>) -> Step {
        let bot = desk.connect()?;
        // Nobody is registered without a name.
        desk.say(bot, &json!({"type": "hello", "protocol": 1, "register": true}));
        if let Heard::Line(line) = desk.hear(bot)? {
            self.registers = line["code"] == "bad_field";
        }
        desk.say(bot, &json!({"type": "hello", "protocol": 1}));
        if let Heard::Line(line) = desk.hear(bot)? {
            self.guests = line["code"] != "guests_closed";
            self.messages = line["limits"]["messages_per_s"].as_u64();
            self.pools = line.get("pools").cloned();
        }
        desk.say(bot, &json!({"type": "ping"}));
        if let Heard::Line(line) = desk.hear(bot)?
            && line["code"] == "draining"
        {
            self.draining = true;
            return Ok(());
        }
        self.bots = has_house_bots(desk, bot)?;
        Ok(())
    }

    fn has_so_many(&self, count: usize) -> bool {
        self.pools.as_ref().and_then(Value::as_array).is_none_or(|pools| pools.len() == count)
    }

    fn has(&self, (name, base_ms, illegal_moves): (&str, u64, u64)) -> bool {
        let Some(Value::Array(pools)) = &self.pools else { return true };
        pools.iter().any(|pool| {
            pool["name"] == name
                && pool["time"]["base_ms"] == base_ms
                && pool["time"]["move_ms"].is_null()
                && pool["rules"]["illegal_moves"] == illegal_moves
                && pool["rules"]["repetition"] == 3
                && pool["rules"]["majority"] == false
        })
    }
}

/// Whether a house bot is there: it takes every challenge. A game that begins so is given up at once.
fn has_house_bots(desk: &mut Desk<'_>, bot: Bot) -> Step<bool> {
    desk.say(bot, &json!({"type": "challenge", "opponent": HOUSE_BOT, "pool": POOLS[1].0}));
    let Heard::Line(sent) = desk.hear(bot)? else { return Ok(false) };
    if sent["type"] != "challenge_sent" {
        return Ok(false);
    }
    if let Heard::Line(started) = desk.hear(bot)?
        && started["type"] == "started"
    {
        desk.say(bot, &json!({"type": "resign", "game": started["game"]}));
        desk.skip_to(bot, "ended")?;
    }
    Ok(true)
}
