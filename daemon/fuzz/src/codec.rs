//! One line from a client: the strict reading against a slow one.

use modiar_protocol::client::decode;
use modiar_protocol::limits::{NESTING, REF_CHARS, REF_INTEGER, SERIES_GAMES, TEXT_CHARS};
use modiar_protocol::{BotName, ErrorCode};
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;

/// `decode` never panics, reads back what it read, and accepts what the slow reading accepts.
pub(crate) fn target(line: &[u8]) {
    let read = decode(line);
    if let Ok(incoming) = &read {
        let encoded = serde_json::to_vec(incoming).unwrap();
        assert_eq!(decode(&encoded).as_ref(), Ok(incoming), "{}", String::from_utf8_lossy(&encoded));
    }
    if let Err(error) = &read {
        assert_eq!(error.code == ErrorCode::BadUtf8, std::str::from_utf8(line).is_err());
        assert!(error.message.len() < 1000, "a long message: {error}");
    }
    let Some(accepts) = slow_reading(line) else { return };
    assert_eq!(read.is_ok(), accepts, "{}: {:?}", String::from_utf8_lossy(line), read.err());
}

/// Whether the line is a message, read by way of a [`Value`]; `None` where such a value is stricter than the wire: half a
/// surrogate pair, or a number beyond a float, in a field that is ignored.
fn slow_reading(line: &[u8]) -> Option<bool> {
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        let text = String::from_utf8_lossy(line);
        let stricter = text.contains("\\u") || text.contains(['e', 'E']) || line.len() > 300;
        let deep = text.matches(['[', '{']).count() > NESTING;
        return if stricter && !deep { None } else { Some(false) };
    };
    let Value::Object(fields) = &value else { return Some(false) };
    Some(depth(&value) <= NESTING && !has_duplicate_keys(line) && is_message(fields))
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn has_duplicate_keys(line: &[u8]) -> bool {
    struct Keys;
    impl<'de> Visitor<'de> for Keys {
        type Value = bool;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
            let (mut seen, mut twice) = (HashSet::new(), false);
            while let Some((key, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                twice |= !seen.insert(key);
            }
            Ok(twice)
        }
    }
    serde_json::Deserializer::from_slice(line).deserialize_map(Keys).unwrap()
}

type Fields = Map<String, Value>;

/// The value of a field, `null` being none.
fn field<'a>(fields: &'a Fields, key: &str) -> Option<&'a Value> {
    fields.get(key).filter(|value| !value.is_null())
}

fn has_text(fields: &Fields, key: &str) -> bool {
    field(fields, key).is_some_and(Value::is_string)
}

fn may(fields: &Fields, key: &str, holds: impl Fn(&Value) -> bool) -> bool {
    field(fields, key).is_none_or(holds)
}

fn is_within(value: &Value, range: RangeInclusive<i64>) -> bool {
    value.as_i64().is_some_and(|number| range.contains(&number))
}

fn is_count(value: &Value, least: i64) -> bool {
    is_within(value, least..=SERIES_GAMES.cast_signed())
}

fn is_label(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.chars().count() <= TEXT_CHARS && !text.chars().any(char::is_control))
}

fn is_reference(value: &Value) -> bool {
    is_within(value, -REF_INTEGER..=REF_INTEGER) || value.as_str().is_some_and(|text| text.chars().count() <= REF_CHARS)
}

fn is_message(fields: &Fields) -> bool {
    let Some(kind) = field(fields, "type").and_then(Value::as_str) else { return false };
    let shaped = match kind {
        "hello" => is_hello(fields),
        "seek" => has_text(fields, "pool") && may(fields, "games", |games| is_count(games, 0)),
        "unseek" => may(fields, "pool", Value::is_string),
        "challenge" => is_challenge(fields),
        "accept" | "decline" => has_text(fields, "challenge"),
        "move" => {
            has_text(fields, "game")
                && field(fields, "pit").is_some_and(|pit| is_within(pit, 0..=5))
                && may(fields, "ply", |ply| is_within(ply, 1..=i64::from(u32::MAX)))
        }
        "resign" | "watch" | "unwatch" => has_text(fields, "game"),
        "ping" | "bye" => true,
        _ => false,
    };
    shaped && may(fields, "ref", is_reference)
}

fn is_hello(fields: &Fields) -> bool {
    field(fields, "protocol").is_some_and(|protocol| is_count(protocol, 0))
        && may(fields, "name", |name| name.as_str().is_some_and(|name| BotName::new(name).is_ok()))
        && ["token", "resume"].iter().all(|key| may(fields, key, Value::is_string))
        && ["register", "updates"].iter().all(|key| may(fields, key, Value::is_boolean))
        && ["client", "version"].iter().all(|key| may(fields, key, is_label))
        && may(fields, "games", |games| is_count(games, 1))
}

fn is_challenge(fields: &Fields) -> bool {
    has_text(fields, "opponent")
        && has_text(fields, "pool")
        && may(fields, "side", |side| matches!(side.as_str(), Some("south" | "north" | "random")))
        && may(fields, "rated", Value::is_boolean)
        && may(fields, "games", |games| is_count(games, 1))
}
