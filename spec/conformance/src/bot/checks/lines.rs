//! How lines may come: cut, merged, slow, and in every form that JSON allows.

use super::Check;
use crate::bot::link::Pace;
use crate::bot::referee::{Referee, Step};
use crate::bot::style::Style;
use modiar_protocol::limits::SERVER_LINE_BYTES;
use serde_json::json;

/// Messages that come in one packet, beside those of the game.
const MERGED: usize = 9;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "split-packets",
        "reads lines of which each byte comes alone",
        &["transport.line"],
        "Keep what you read until its newline comes: a read may end anywhere, within a line and within a character.",
        |at| styled(at, Style { pace: Pace::EachByte, ..Style::PLAIN }),
    ),
    Check::new(
        "merged-packets",
        "reads many lines that come in one packet",
        &["transport.line", "transport.game-order"],
        "After a read take every whole line of the buffer, in order, and keep the rest: one read may bring many lines.",
        merged_packets,
    ),
    Check::new(
        "slow-network",
        "waits for a line that comes in pieces with pauses",
        &["transport.line"],
        "Keep half a line over a read that takes long: a pause within a line is no end of it, and no lost link.",
        |at| styled(at, Style { pace: Pace::Drips, ..Style::PLAIN }),
    ),
    Check::new(
        "crlf",
        "reads lines that end with CR LF",
        &["transport.line"],
        "Remove a \\r before the newline, or let the JSON reader skip it as a blank.",
        |at| styled(at, Style { end: "\r\n", ..Style::PLAIN }),
    ),
    Check::new(
        "empty-lines",
        "ignores empty lines",
        &["transport.empty-line"],
        "Skip a line of no bytes; it is no end of file and no message.",
        |at| styled(at, Style { end: "\n\n\n", ..Style::PLAIN }),
    ),
    Check::new(
        "long-line",
        "reads a line of 16,384 bytes",
        &["transport.server-line-limit"],
        "Let the read buffer hold a line of 16,384 bytes, its newline included: started of a long game and welcome can be that long.",
        long_line,
    ),
    Check::new(
        "spaced-json",
        "reads JSON with blanks between its parts",
        &["transport.json"],
        "Read lines by a JSON library, not by searching for texts such as \"type\":\"turn\".",
        |at| styled(at, Style { blanks: true, ..Style::PLAIN }),
    ),
    Check::new(
        "shuffled-keys",
        "reads fields in any order",
        &["transport.object"],
        "Look fields up by name: the order of the keys of an object means nothing, and type need not be the first.",
        |at| styled(at, Style { reversed: true, ..Style::PLAIN }),
    ),
    Check::new(
        "escaped-texts",
        "reads texts and keys that are written with \\u escapes",
        &["transport.json"],
        "Read texts by a JSON library: every character of a key or a text may be written as \\u and four hex digits, those of a game's id too.",
        |at| styled(at, Style { escapes: true, ..Style::PLAIN }),
    ),
];

/// A game whose lines are all written so.
fn styled(at: &mut Referee<'_>, style: Style) -> Step {
    at.style = style;
    at.begin()?;
    at.exchange(2)
}

fn merged_packets(at: &mut Referee<'_>) -> Step {
    at.arrive()?;
    at.welcome(&[]);
    let seek = at.hear_refused_seek()?;
    at.together(|at| {
        at.say(&json!({"type": "seeking", "pool": seek.pool, "waiting": 1}));
        for number in 0..MERGED {
            at.say(&json!({"type": "seeking", "pool": seek.pool, "waiting": number + 2}));
        }
        at.seek = Some(seek);
        at.start(modiar_rules::Side::South, "")
    })?;
    at.exchange(2)
}

fn long_line(at: &mut Referee<'_>) -> Step {
    at.sit()?;
    let pool = at.seek.as_ref().map_or_else(String::new, |seek| seek.pool.clone());
    let mut seeking = json!({"type": "seeking", "pool": pool, "waiting": 1, "reason": ""});
    let spare = SERVER_LINE_BYTES - at.style.line(&seeking).len();
    seeking["reason"] = json!("x".repeat(spare));
    at.say(&seeking);
    at.start(modiar_rules::Side::South, "")?;
    at.exchange(2)
}
