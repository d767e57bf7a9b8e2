//! The strict reading of lines: the cases of spec/vectors/lines.jsonl, and what is too large to stand there.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

use modiar_protocol::limits::CLIENT_LINE_BYTES;
use modiar_protocol::{DecodeError, ErrorCode, Incoming, Ref, client};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fs;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    clause: String,
    reason: String,
    line: Option<String>,
    hex: Option<String>,
    code: Option<String>,
    field: Option<String>,
    message: Option<Map<String, Value>>,
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        match (&self.line, &self.hex) {
            (Some(line), None) => line.clone().into_bytes(),
            (None, Some(hex)) => {
                let pairs = hex.as_bytes().chunks_exact(2);
                pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
            }
            _ => panic!("a case has a line or its bytes: {}", self.reason),
        }
    }

    /// What is wrong with the reading of it, if anything.
    fn fault(&self, read: Result<Incoming, DecodeError>) -> Option<String> {
        let fault = match (&self.code, read) {
            (Some(code), Err(error)) if error.code.as_str() == code && error.field == self.field.as_deref() => {
                return None;
            }
            (None, Ok(incoming)) => {
                let read = serde_json::to_value(&incoming).unwrap();
                let awaited = self.message.as_ref().unwrap();
                if awaited.iter().all(|(key, value)| read.get(key) == Some(value)) {
                    return None;
                }
                format!("it is read as {read}")
            }
            (_, Ok(incoming)) => format!("it is read as {incoming:?}"),
            (_, Err(error)) => format!("it is refused: {error}, field {:?}", error.field),
        };
        Some(format!("{} ({}): {fault}", self.reason, self.clause))
    }
}

fn cases() -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/vectors/lines.jsonl");
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_line_of_the_vectors_is_read_so() {
    let cases = cases();
    assert!(cases.len() > 600, "{} cases", cases.len());
    let faults: Vec<String> = cases.iter().filter_map(|case| case.fault(client::decode(&case.bytes()))).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_vectors_are_lines_that_a_client_may_send() {
    for case in cases() {
        let bytes = case.bytes();
        assert!(bytes.len() < CLIENT_LINE_BYTES && !bytes.contains(&b'\n') && !bytes.is_empty(), "{}", case.reason);
        assert_eq!(case.code.is_none(), case.message.is_some(), "{}", case.reason);
        assert_eq!(case.code.as_deref() == Some("bad_field"), case.field.is_some(), "{}", case.reason);
        assert!(case.hex.is_none_or(|hex| hex.len() % 2 == 0), "{}", case.reason);
    }
}

/// Whoever reads lines of another length than the daemon does must not overflow either.
#[test]
fn nesting_of_a_hundred_thousand_levels_is_refused_wherever_it_stands() {
    const LEVELS: usize = 100_000;
    let arrays = "[".repeat(LEVELS) + &"]".repeat(LEVELS);
    let objects = "{\"x\":".repeat(LEVELS) + "1" + &"}".repeat(LEVELS);
    for deep in [&arrays, &objects, &"[".repeat(LEVELS), &"{\"x\":".repeat(LEVELS)] {
        for line in [
            deep.clone(),
            format!("{{\"type\":\"ping\",\"ignored\":{deep}}}"),
            format!("{{\"type\":\"ping\",\"ref\":{deep}}}"),
            format!("{{\"type\":{deep}}}"),
            format!("{{\"type\":\"ping\"}}{deep}"),
        ] {
            assert_eq!(client::decode(line.as_bytes()).unwrap_err().code, ErrorCode::BadJson, "{}", &line[..40]);
        }
    }
}

/// The mark comes back on an error wherever it could be read, and is left out where it is itself at fault.
#[test]
fn an_error_keeps_a_mark_that_could_be_read() {
    let mark = |line: &str| client::decode(line.as_bytes()).unwrap_err().reference;
    assert_eq!(mark(r#"{"type":"seek","ref":7}"#), Some(Ref::Integer(7)));
    assert_eq!(mark(r#"{"ref":"a","type":"pint"}"#), Some(Ref::Text("a".into())));
    assert_eq!(mark(r#"{"ref":"b"}"#), Some(Ref::Text("b".into())));
    assert_eq!(mark(r#"{"type":"hello","protocol":1,"name":"","ref":3}"#), Some(Ref::Integer(3)));
    for unread in
        [r#"{"type":"pint","ref":1.5}"#, r#"{"type":"seek","ref":true}"#, r#"{"type":"ping","ref":1,"ref":1}"#]
    {
        assert_eq!(mark(unread), None, "{unread}");
    }
}
