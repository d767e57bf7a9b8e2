//! One line from a client: the strict reading against a naive one.
//!
//! The naive reading knows nothing of the strict one but its limits. It takes the fields of a line as a list, reads each
//! as a [`Value`], and gathers everything that is wrong, for the specification leaves open which of several faults is
//! named (`transport.field`).

use modiar_protocol::client::{DecodeError, decode};
use modiar_protocol::limits::{NESTING, REF_CHARS, REF_INTEGER, SERIES_GAMES, TEXT_CHARS};
use modiar_protocol::{BotName, ErrorCode};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

/// `decode` never panics, understands what the naive reading understands, and reads back what it read.
pub(crate) fn target(line: &[u8]) {
    let shown = String::from_utf8_lossy(line);
    match (decode(line), Naive::read(line)) {
        (Ok(incoming), Ok(Naive { faults, message })) => {
            assert!(faults.is_empty(), "{shown}: {faults:?} are not seen");
            assert_eq!(serde_json::to_value(&incoming).unwrap(), json!(message), "{shown}");
            assert_eq!(decode(&serde_json::to_vec(&incoming).unwrap()), Ok(incoming), "{shown}");
        }
        (Err(error), Ok(Naive { faults, message })) => {
            let fault = (error.code, error.field);
            assert!(faults.contains(&fault), "{shown}: {error}, but only {faults:?} are wrong");
            assert_eq!(error.reference.as_ref().map(|mark| json!(mark)).as_ref(), message.get("ref"), "{shown}");
            check_text(&error);
        }
        (Err(error), Err(code)) => {
            assert_eq!((error.code, error.field, &error.reference), (code, None, &None), "{shown}: {error}");
            check_text(&error);
        }
        (Ok(incoming), Err(code)) => panic!("{shown}: {code} is read as {incoming:?}"),
    }
}

fn check_text(error: &DecodeError) {
    assert!(error.message.len() < 1000, "a long message: {error}");
}

/// Every field that some message has.
const KNOWN: [&str; 19] = [
    "type",
    "ref",
    "game",
    "pit",
    "ply",
    "pool",
    "games",
    "challenge",
    "opponent",
    "side",
    "rated",
    "protocol",
    "name",
    "token",
    "register",
    "resume",
    "client",
    "version",
    "updates",
];

/// A line whose object could be read.
#[derive(Default)]
struct Naive {
    /// All that is wrong with its fields.
    faults: Vec<(ErrorCode, Option<&'static str>)>,
    /// What was said, defaults included.
    message: BTreeMap<&'static str, Value>,
}

impl Naive {
    fn read(line: &[u8]) -> Result<Self, ErrorCode> {
        let text = std::str::from_utf8(line).map_err(|_| ErrorCode::BadUtf8)?;
        let Entries(entries) = serde_json::from_str(text).map_err(|_| ErrorCode::BadJson)?;
        let count = entries.len();
        let entries = BTreeMap::from_iter(entries);
        if entries.len() < count || depth(text) > NESTING {
            return Err(ErrorCode::BadJson);
        }
        let mut values = BTreeMap::new();
        for key in KNOWN {
            if let Some(raw) = entries.get(key) {
                values.insert(key, value(raw.get())?);
            }
        }
        values.retain(|_, value| !value.is_null());
        Ok(Self::of(&values))
    }

    fn of(values: &BTreeMap<&'static str, Value>) -> Self {
        let mut naive = Self::default();
        let kind = values.get("type").and_then(Value::as_str);
        match (kind, kind.and_then(fields)) {
            (None, _) => naive.faults.push((ErrorCode::BadField, Some("type"))),
            (Some(_), None) => naive.faults.push((ErrorCode::UnknownType, None)),
            (Some(kind), Some(fields)) => {
                naive.message.insert("type", json!(kind));
                for (key, read, default) in fields {
                    naive.take(key, values.get(key), read, default);
                }
                naive.take("ref", values.get("ref"), reference, Some(Value::Null));
            }
        }
        if let Some(mark) = values.get("ref").and_then(reference) {
            naive.message.insert("ref", mark);
        }
        naive
    }

    fn take(&mut self, key: &'static str, value: Option<&Value>, read: Read, default: Option<Value>) {
        match value.map_or(default, read) {
            Some(Value::Null) => {}
            Some(value) => drop(self.message.insert(key, value)),
            None if key == "name" && value.is_some_and(Value::is_string) => {
                self.faults.push((ErrorCode::BadName, None));
            }
            None => self.faults.push((ErrorCode::BadField, Some(key))),
        }
    }
}

/// The value of a known field. What is JSON and no [`Value`], as a number beyond a float, is of a wrong type whatever the
/// field; but half a surrogate pair makes a text no text (`transport.lone-surrogate`).
fn value(raw: &str) -> Result<Value, ErrorCode> {
    match serde_json::from_str(raw) {
        Ok(value) => Ok(value),
        Err(_) if raw.starts_with('"') => Err(ErrorCode::BadJson),
        Err(_) => Ok(json!([])),
    }
}

/// How deep arrays and objects stand in each other: the text without its strings tells.
fn depth(text: &str) -> usize {
    let plain = text.replace(r"\\", "").replace(r#"\""#, "");
    let (mut depth, mut most) = (0usize, 0);
    for byte in plain.split('"').step_by(2).flat_map(str::bytes) {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

/// An object's entries in the order in which they came, each as it was written.
struct Entries(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// Reads a field; `None` where it is wrong.
type Read = fn(&Value) -> Option<Value>;
/// A field of a message, and what stands for it where it is absent: `null` nothing, `None` where it must not be.
type Field = (&'static str, Read, Option<Value>);

/// The fields of a type of message.
fn fields(kind: &str) -> Option<Vec<Field>> {
    let absent = Some(Value::Null);
    Some(match kind {
        "hello" => vec![
            ("protocol", from_nought, None),
            ("name", name, absent.clone()),
            ("token", text, absent.clone()),
            ("resume", text, absent.clone()),
            ("client", label, absent.clone()),
            ("version", label, absent),
            ("register", flag, Some(json!(false))),
            ("updates", flag, Some(json!(false))),
            ("games", from_one, Some(json!(1))),
        ],
        "seek" => vec![("pool", text, None), ("games", from_nought, Some(json!(1)))],
        "unseek" => vec![("pool", text, absent)],
        "challenge" => vec![
            ("opponent", text, None),
            ("pool", text, None),
            ("side", side, Some(json!("random"))),
            ("rated", flag, Some(json!(false))),
            ("games", from_one, Some(json!(1))),
        ],
        "accept" | "decline" => vec![("challenge", challenge, None)],
        "move" => vec![("game", game, None), ("pit", pit, None), ("ply", ply, absent)],
        "resign" | "watch" | "unwatch" => vec![("game", game, None)],
        "ping" | "bye" => vec![],
        _ => return None,
    })
}

fn text(value: &Value) -> Option<Value> {
    value.is_string().then(|| value.clone())
}

fn flag(value: &Value) -> Option<Value> {
    value.is_boolean().then(|| value.clone())
}

fn within(value: &Value, range: RangeInclusive<i64>) -> Option<Value> {
    value.as_i64().filter(|number| range.contains(number)).map(Value::from)
}

fn from_nought(value: &Value) -> Option<Value> {
    within(value, 0..=SERIES_GAMES.cast_signed())
}

fn from_one(value: &Value) -> Option<Value> {
    within(value, 1..=SERIES_GAMES.cast_signed())
}

fn pit(value: &Value) -> Option<Value> {
    within(value, 0..=5)
}

fn ply(value: &Value) -> Option<Value> {
    within(value, 1..=i64::from(u32::MAX))
}

fn side(value: &Value) -> Option<Value> {
    ["south", "north", "random"].contains(&value.as_str()?).then(|| value.clone())
}

fn name(value: &Value) -> Option<Value> {
    BotName::new(value.as_str()?).is_ok().then(|| value.clone())
}

fn label(value: &Value) -> Option<Value> {
    let text = value.as_str()?;
    (text.chars().count() <= TEXT_CHARS && !text.chars().any(char::is_control)).then(|| value.clone())
}

fn reference(value: &Value) -> Option<Value> {
    let short = value.as_str().is_some_and(|text| text.chars().count() <= REF_CHARS);
    if short { Some(value.clone()) } else { within(value, -REF_INTEGER..=REF_INTEGER) }
}

fn game(value: &Value) -> Option<Value> {
    id(value, "g")
}

fn challenge(value: &Value) -> Option<Value> {
    id(value, "c")
}

/// A text that is no id names nothing, which is written as zeroes.
fn id(value: &Value, letter: &str) -> Option<Value> {
    let digits = value.as_str()?.strip_prefix(letter).unwrap_or_default();
    let is_id = digits.len() == 32 && digits.chars().all(|digit| matches!(digit, '0'..='9' | 'a'..='f'));
    Some(if is_id { value.clone() } else { json!("0".repeat(33)) })
}
