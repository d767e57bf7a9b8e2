//! What a newer server may say (`message.additions`), and the widest values that this one may.

use super::Check;
use crate::bot::referee::{Referee, Step};
use crate::bot::style::Style;
use modiar_rules::Side;
use serde_json::{Value, json};

/// The largest number that every language's JSON holds exactly.
const LARGEST: u64 = (1 << 53) - 1;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "unknown-field",
        "ignores fields that it does not know",
        &["message.additions", "transport.unknown-field"],
        "Read the fields that you need and ignore the others: a newer server sends more. Switch strict reading of unknown fields off.",
        |at| styled(at, add_fields),
    ),
    Check::new(
        "unknown-type",
        "ignores messages of a type that it does not know",
        &["message.additions"],
        "Skip a message whose type you do not know, with a line in a debug log at most.",
        unknown_type,
    ),
    Check::new(
        "unknown-notice",
        "ignores a notice whose code it does not know",
        &["message.additions"],
        "Act on the notice draining alone: a newer server has others, and they ask for nothing.",
        unknown_notice,
    ),
    Check::new(
        "unknown-seek-end",
        "seeks again where a seek ended for a reason it does not know",
        &["message.additions", "session.seek"],
        "Take a seek that ended for an unknown reason for one that ended: wait a second and seek again, as long as games are wanted.",
        unknown_seek_end,
    ),
    Check::new(
        "unknown-termination",
        "counts a game that ended for a reason it does not know",
        &["message.additions", "forfeit.winner"],
        "Take result for who won, and termination as a text to tell: do not refuse a word that is not in your list.",
        unknown_termination,
    ),
    Check::new(
        "unknown-goodbye",
        "comes back after a goodbye whose reason it does not know",
        &["message.additions", "session.resume"],
        "Treat goodbye with an unknown reason as a lost link: wait a little and come back. Only replaced, banned, flood, handshake and line_too_long mean to stay away.",
        unknown_goodbye,
    ),
    Check::new(
        "big-numbers",
        "reads numbers up to 2^53 - 1",
        &["message.server-schema"],
        "Hold milliseconds in 64 bits: a long time control does not fit 32.",
        |at| styled(at, enlarge),
    ),
    Check::new(
        "null-fields",
        "takes null in an optional field for its absence",
        &["transport.null"],
        "Read null in an optional field (last, resume, rating, ref, detail) as if the field were not there.",
        |at| styled(at, add_nulls),
    ),
];

/// A game whose messages are all changed so, to its end.
fn styled(at: &mut Referee<'_>, change: fn(&mut Value)) -> Step {
    at.style = Style { change, ..Style::PLAIN };
    at.begin()?;
    at.exchange(2)?;
    at.opponent_resigns();
    at.goes_on()
}

fn add_fields(message: &mut Value) {
    if let Some(fields) = message.as_object_mut() {
        fields.insert("season".to_owned(), json!("spring"));
        fields.insert("weather".to_owned(), json!({"type": "turn", "wind": [1.5e300, null, true, {"deep": [[]]}]}));
    }
}

fn enlarge(message: &mut Value) {
    match message {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                if key == "remaining_ms" {
                    *value = json!({"south": LARGEST, "north": LARGEST});
                } else if value.is_u64() && (key.ends_with("_ms") || key == "waiting") {
                    *value = json!(LARGEST);
                } else {
                    enlarge(value);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(enlarge),
        _ => {}
    }
}

/// The optional fields of each type that the message does not have.
fn add_nulls(message: &mut Value) {
    let absent: &[&str] = match message["type"].as_str() {
        Some("welcome") => &["token", "resume", "ref"],
        Some("seeking") => &["reason", "ref"],
        Some("started") => &["spectator", "ref"],
        Some("turn") => &["last"],
        Some("ended") => &["detail", "rating"],
        Some("seek_ended") => &["until_ms", "message", "ref"],
        _ => &[],
    };
    for field in absent {
        if message.get(field).is_none() {
            message[*field] = Value::Null;
        }
    }
}

fn unknown_type(at: &mut Referee<'_>) -> Step {
    let forecast = json!({"type": "forecast", "game": "g0", "legal": [5], "message": "sun"});
    at.arrive()?;
    at.welcome(&[]);
    at.say(&forecast);
    at.hear_seek()?;
    at.say(&forecast);
    at.start(Side::South, "")?;
    at.hear_move()?;
    at.say(&forecast);
    at.exchange(2)
}

fn unknown_notice(at: &mut Referee<'_>) -> Step {
    let notice =
        json!({"type": "notice", "code": "lunch", "message": "the host eats", "until_ms": 1_796_083_200_000_u64});
    at.sit()?;
    at.say(&notice);
    at.start(Side::South, "")?;
    at.hear_move()?;
    at.say(&notice);
    at.exchange(2)
}

fn unknown_seek_end(at: &mut Referee<'_>) -> Step {
    at.sit()?;
    let Some(seek) = at.seek.take() else { return Ok(()) };
    at.say(&json!({"type": "seek_ended", "pool": seek.pool, "reason": "lunch", "message": "the host eats"}));
    at.hear_seek()?;
    at.start(Side::South, "")?;
    at.exchange(2)
}

fn unknown_termination(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.exchange(2)?;
    let game = at.game();
    let ended = game.ended_by(Some(game.side), "adjudication");
    at.end(ended);
    if at.wants_more()? {
        at.short_game()?;
    }
    // One that has not counted the game waits for its end for ever.
    if at.seek.is_none() { at.next().map(drop) } else { Ok(()) }
}

fn unknown_goodbye(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.hear_move()?;
    at.say_goodbye("maintenance", "the server is back in a moment");
    at.back(&[])?;
    at.exchange(2)
}
