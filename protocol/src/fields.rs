//! The strict reading of one line: grammar by `serde_json`, everything that a derive would let pass by hand.
//!
//! A line is first only taken apart: each known field keeps its raw text, so that `2.0`, `-0` and `1e0` can still be
//! told from integers (`transport.integers`) and a field that is ignored costs nothing.

use crate::ErrorCode;
use crate::client::{DecodeError, Ref};
use crate::limits::{NESTING, REF_CHARS, REF_INTEGER, TEXT_CHARS};
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

/// Declares the fields that clients send: an index, and the name it has on the wire.
macro_rules! known {
    ($($key:ident = $name:literal,)+) => {
        #[derive(Clone, Copy)]
        pub(crate) enum Key { $($key,)+ }

        const KEYS: usize = [$($name,)+].len();

        impl Key {
            fn find(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$key),)+ _ => None }
            }

            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$key => $name,)+ }
            }
        }
    };
}

known! {
    Type = "type", Ref = "ref", Game = "game", Pit = "pit", Ply = "ply", Pool = "pool", Games = "games",
    Challenge = "challenge", Opponent = "opponent", Side = "side", Rated = "rated", Protocol = "protocol",
    Name = "name", Token = "token", Register = "register", Resume = "resume", Client = "client",
    Version = "version", Updates = "updates",
}

/// The known fields of one message, as raw JSON. `null` is the same as absent (`transport.null`).
pub(crate) struct Fields<'a> {
    values: [Option<&'a str>; KEYS],
}

impl<'a> Fields<'a> {
    /// Takes a line apart.
    pub(crate) fn read(line: &'a [u8]) -> Result<Self, DecodeError> {
        let text = std::str::from_utf8(line).map_err(|error| {
            let at = error.valid_up_to() + 1;
            DecodeError::new(ErrorCode::BadUtf8, format!("byte {at} of the line is not UTF-8; send UTF-8"))
        })?;
        check_nesting(text)?;
        let mut json = serde_json::Deserializer::from_str(text);
        let fields = json.deserialize_map(Take).map_err(|error| bad_json(&error))?;
        json.end().map_err(|error| bad_json(&error))?;
        Ok(fields)
    }

    pub(crate) fn optional<T>(
        &self,
        key: Key,
        read: impl FnOnce(&'a str) -> Result<T, Cow<'static, str>>,
    ) -> Result<Option<T>, DecodeError> {
        let Some(raw) = self.values[key as usize] else { return Ok(None) };
        read(raw).map(Some).map_err(|want| bad_field(key, format!("field '{}' is {}: {want}", key.name(), shown(raw))))
    }

    pub(crate) fn required<T>(
        &self,
        key: Key,
        read: impl FnOnce(&'a str) -> Result<T, Cow<'static, str>>,
    ) -> Result<T, DecodeError> {
        self.optional(key, read)?.ok_or_else(|| bad_field(key, format!("field '{}' is missing; send it", key.name())))
    }

    pub(crate) fn reference(&self) -> Result<Option<Ref>, DecodeError> {
        self.optional(Key::Ref, |raw| {
            if let Ok(number) = integer(-REF_INTEGER..=REF_INTEGER)(raw) {
                return Ok(Ref::Integer(number));
            }
            match text(raw) {
                Ok(text) if text.chars().count() <= REF_CHARS => Ok(Ref::Text(text.into())),
                _ => {
                    Err(format!("send a text of at most {REF_CHARS} characters or an integer within ±{REF_INTEGER}")
                        .into())
                }
            }
        })
    }
}

fn bad_field(key: Key, message: String) -> DecodeError {
    DecodeError { field: Some(key.name()), ..DecodeError::new(ErrorCode::BadField, message) }
}

/// In words for who wrote the line, not for who knows the parser.
fn bad_json(error: &serde_json::Error) -> DecodeError {
    let text = error.to_string();
    let what = match error.classify() {
        Category::Eof => "it ends too soon; close its braces, brackets and quotes".into(),
        Category::Data if text.starts_with("invalid type") => "send { and } around its fields".into(),
        // What was found here, without its place: a key that comes twice has two.
        Category::Data => text.split(" at line ").next().unwrap_or_default().to_owned(),
        Category::Syntax | Category::Io => format!("look at its byte {}", error.column()),
    };
    DecodeError::new(ErrorCode::BadJson, format!("the line is not one JSON object: {what}"))
}

/// The value as it came, cut to a length fit for a message.
fn shown(raw: &str) -> Cow<'_, str> {
    const MOST: usize = 40;
    match raw.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &raw[..end]).into(),
        None => raw.into(),
    }
}

/// Reads a JSON string.
pub(crate) fn text(raw: &str) -> Result<Cow<'_, str>, Cow<'static, str>> {
    match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Ok(plain.into()),
        Some(_) => serde_json::from_str(raw).map(Cow::Owned).map_err(|error| error.to_string().into()),
        None => Err("send a text".into()),
    }
}

/// Reads a text that people will see: short, and without control characters.
pub(crate) fn label(raw: &str) -> Result<String, Cow<'static, str>> {
    match text(raw)? {
        text if text.chars().count() > TEXT_CHARS => Err(format!("send at most {TEXT_CHARS} characters").into()),
        text if text.chars().any(char::is_control) => Err("leave control characters out".into()),
        text => Ok(text.into_owned()),
    }
}

/// Reads a JSON integer of the range: digits alone, as `transport.integers` has it.
pub(crate) fn integer(range: RangeInclusive<i64>) -> impl FnOnce(&str) -> Result<i64, Cow<'static, str>> {
    move |raw| {
        let digits = raw.strip_prefix('-').unwrap_or(raw);
        let whole = raw != "-0" && digits.bytes().all(|byte| byte.is_ascii_digit());
        match raw.parse() {
            Ok(number) if whole && range.contains(&number) => Ok(number),
            _ => Err(format!("send an integer from {} to {}", range.start(), range.end()).into()),
        }
    }
}

pub(crate) fn boolean(raw: &str) -> Result<bool, Cow<'static, str>> {
    raw.parse().map_err(|_| "send true or false".into())
}

/// Refuses nesting beyond the limit before anything recursive sees the line, ignored fields included.
fn check_nesting(text: &str) -> Result<(), DecodeError> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > NESTING {
            return Err(DecodeError::new(
                ErrorCode::BadJson,
                format!("the line nests deeper than {NESTING} levels; send it flatter"),
            ));
        }
    }
    Ok(())
}

/// Refuses a text with half a surrogate pair (`transport.lone-surrogate`): by its grammar it is JSON, but it is no text.
fn check_escapes(value: &str) -> Result<(), serde_json::Error> {
    if value.starts_with('"') && value.contains("\\u") {
        serde_json::from_str::<String>(value).map(drop)
    } else {
        Ok(())
    }
}

/// Collects the known fields and refuses any name that comes twice (`transport.duplicate-keys`).
struct Take;

impl<'a> Visitor<'a> for Take {
    type Value = Fields<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Fields<'a>, A::Error> {
        let mut fields = Fields { values: [None; KEYS] };
        let mut seen = [false; KEYS];
        let mut unknown: Vec<Cow<'a, str>> = Vec::new();
        while let Some(Name(name)) = map.next_key()? {
            let value = map.next_value::<&'a RawValue>()?.get();
            let twice = match Key::find(&name) {
                Some(key) => {
                    check_escapes(value).map_err(A::Error::custom)?;
                    fields.values[key as usize] = (value != "null").then_some(value);
                    std::mem::replace(&mut seen[key as usize], true)
                }
                None if unknown.contains(&name) => true,
                None => {
                    unknown.push(name.clone());
                    false
                }
            };
            if twice {
                return Err(A::Error::custom(format_args!("the key '{}' comes twice", shown(&name))));
            }
        }
        Ok(fields)
    }
}

/// A key, borrowed unless it was written with escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> serde::Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrow;
        impl<'de> Visitor<'de> for Borrow {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(name.into()))
            }

            fn visit_str<E>(self, name: &str) -> Result<Name<'de>, E> {
                Ok(Name(name.to_owned().into()))
            }
        }
        deserializer.deserialize_str(Borrow)
    }
}
