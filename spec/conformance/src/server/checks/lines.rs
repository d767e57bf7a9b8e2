//! Lines of every kind, as `spec/vectors/lines.jsonl` has them, and of every length.

use super::Row;
use crate::report::Step;
use crate::server::desk::{Bot, Desk, Heard};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Instant;

/// Cases that one connection is asked: with a ping behind each they stay below a burst of 60 messages.
const CASES: usize = 25;
/// Bytes of a line without an end.
const ENDLESS: usize = 1 << 20;

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "lines-utf8",
        "Every kind of line that is not UTF-8 is answered bad_utf8",
        &["transport.utf8"],
        "Look at every byte of a line before you read it as JSON, those of ignored fields too.",
        |at| answered(at, |code| code == Some("bad_utf8")),
    ),
    Row::new(
        "lines-json",
        "Every kind of line that is not one JSON object is answered bad_json",
        &[
            "transport.json",
            "transport.object",
            "transport.duplicate-keys",
            "transport.nesting",
            "transport.lone-surrogate",
        ],
        "Read lines by the grammar of RFC 8259 and no more, look for keys that repeat, and bound the nesting.",
        |at| answered(at, |code| code == Some("bad_json")),
    ),
    Row::new(
        "lines-fields",
        "Every kind of field that is wrong is named, and every unknown type told so",
        &["transport.field", "transport.integers", "transport.null", "transport.ref", "transport.unknown-type"],
        "Look at every field that the message knows: whether it is there, its type, its range; and name it in field.",
        |at| answered(at, |code| code.is_some_and(|code| !matches!(code, "bad_utf8" | "bad_json"))),
    ),
    Row::new(
        "lines-accepted",
        "Lines that are well-formed, however strange, are read",
        &["transport.json", "transport.unknown-field", "transport.ignored-number", "transport.lone-surrogate"],
        "Pass over fields that the message does not know, whatever JSON stands in them, and read escapes in keys too.",
        |at| answered(at, |code| code.is_none()),
    ),
    Row::new(
        "longest-line",
        "A line of exactly the limit is read, one byte more ends the connection, whatever ends the line",
        &["transport.line-too-long", "session.goodbye"],
        "Count the line ending, and answer a longer line by line_too_long, goodbye and a close.",
        longest_line,
    ),
    Row::new(
        "endless-line",
        "A line without an end is cut, before a hello and after it",
        &["transport.line-too-long"],
        "Count the bytes of a line as they come, and do not wait for its newline.",
        endless_line,
    ),
];

/// A case of `spec/vectors/lines.jsonl`.
#[derive(Clone, Debug, Deserialize)]
struct Case {
    reason: String,
    line: Option<String>,
    hex: Option<String>,
    code: Option<String>,
    field: Option<String>,
    #[serde(default)]
    message: Map<String, Value>,
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        let hex = self.hex.as_deref().unwrap_or_default();
        let pairs = hex.as_bytes().chunks(2).filter_map(|pair| std::str::from_utf8(pair).ok());
        let bytes = pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok());
        self.line.as_ref().map_or_else(|| bytes.collect(), |line| line.as_bytes().to_vec())
    }

    /// Whether others would be concerned: it seeks, or challenges by a name. And `bye` ends the connection.
    fn concerns_others(&self) -> bool {
        self.message.get("type").is_some_and(|kind| ["seek", "challenge", "bye"].iter().any(|other| kind == other))
    }

    /// Whether these lines are what it must be answered.
    fn is_answered_by(&self, lines: &[Value]) -> bool {
        let Some(code) = &self.code else {
            let refused = |line: &Value| {
                ["bad_json", "bad_utf8", "bad_field", "bad_name", "unknown_type"]
                    .iter()
                    .any(|code| line["code"] == *code)
            };
            return lines.len() == 1 && !lines.iter().any(refused) && self.returns_ref(&lines[0]);
        };
        let [line] = lines else { return false };
        line["type"] == "error"
            && line["code"] == *code
            && line["fatal"] == false
            && line["field"].as_str() == self.field.as_deref()
    }

    fn returns_ref(&self, line: &Value) -> bool {
        self.message.get("ref").is_none_or(|reference| line["ref"] == *reference)
    }
}

fn cases() -> impl Iterator<Item = Case> {
    let text = include_str!("../../../../vectors/lines.jsonl");
    // A test holds that all of them are read.
    text.lines().filter_map(|line| serde_json::from_str(line).ok())
}

fn answered(at: &mut Desk<'_>, wanted: fn(Option<&str>) -> bool) -> Step {
    let cases: Vec<Case> = cases().filter(|case| wanted(case.code.as_deref()) && !case.concerns_others()).collect();
    for some in cases.chunks(CASES) {
        let bot = at.guest()?;
        for case in some {
            is_answered(at, bot, case)?;
        }
    }
    Ok(())
}

fn is_answered(at: &mut Desk<'_>, bot: Bot, case: &Case) -> Step {
    at.say_bytes(bot, &[case.bytes(), b"\n".to_vec()].concat());
    let lines = answers(at, bot)?;
    if case.is_answered_by(&lines) {
        return Ok(());
    }
    let awaited = match &case.code {
        Some(code) => format!("error {code} ({}): {}", case.field.as_deref().unwrap_or("no field"), case.reason),
        None => format!("an answer that is no error about its form: {}", case.reason),
    };
    let came = if lines.is_empty() { "nothing".to_owned() } else { json!(lines).to_string() };
    at.wrong(&awaited, &came)
}

/// All that comes before the answer to a ping.
fn answers(at: &mut Desk<'_>, bot: Bot) -> Step<Vec<Value>> {
    at.say(bot, &json!({"type": "ping", "ref": "so far"}));
    let (mut lines, deadline) = (Vec::new(), Instant::now() + at.patience);
    loop {
        match at.hear_within(bot, deadline.saturating_duration_since(Instant::now()))? {
            Heard::Line(line) if line["type"] == "pong" && line["ref"] == "so far" => return Ok(lines),
            Heard::Line(line) => lines.push(line),
            heard => return at.surprise("errors.fatal", "the connection stays, and answers a ping", &heard),
        }
    }
}

/// A ping of so many bytes, its line ending included.
fn ping_of(bytes: usize, ending: &str) -> Vec<u8> {
    let around = json!({"type": "ping", "filler": ""}).to_string().len() + ending.len();
    let filler = "x".repeat(bytes.saturating_sub(around));
    format!("{}{ending}", json!({"type": "ping", "filler": filler})).into_bytes()
}

fn longest_line(at: &mut Desk<'_>) -> Step {
    for ending in ["\n", "\r\n"] {
        let bot = at.guest()?;
        let limit = at.welcome(bot)["limits"]["line_bytes"].as_u64().and_then(|bytes| usize::try_from(bytes).ok());
        let Some(limit) = limit else { return at.fault("message.server-schema", "line_bytes in welcome", "none") };
        at.say_bytes(bot, &ping_of(limit, ending));
        at.expect(bot, "pong")?;
        at.quiet(bot)?;
        at.say_bytes(bot, &ping_of(limit + 1, ending));
        too_long(at, bot)?;
    }
    Ok(())
}

fn endless_line(at: &mut Desk<'_>) -> Step {
    for welcomed in [false, true] {
        let bot = if welcomed { at.guest()? } else { at.connect()? };
        // The rest may not be taken any more.
        at.say_bytes(bot, &vec![b'x'; ENDLESS]);
        too_long(at, bot)?;
    }
    Ok(())
}

/// Reads why, a goodbye, and the close.
fn too_long(at: &mut Desk<'_>, bot: Bot) -> Step {
    match at.hear(bot)? {
        Heard::Line(line) if line["code"] == "line_too_long" && line["fatal"] == true => {}
        heard => return at.surprise("transport.line-too-long", "error line_too_long, fatal", &heard),
    }
    at.expect_goodbye(bot, &["line_too_long"], at.patience)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_read() {
        let text = include_str!("../../../../vectors/lines.jsonl");
        assert_eq!(cases().count(), text.lines().count());
        assert!(cases().all(|case| case.line.is_some() != case.hex.is_some()));
    }
}
