//! Bytes to messages and back, without a connection.

use crate::log::Log;
use modiar_protocol::limits::SERVER_LINE_BYTES;
use modiar_protocol::server::SeekEnd;
use modiar_protocol::{ErrorCode, Incoming, ServerMessage, Termination};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt;

/// Longest line of a server, in bytes, its newline included.
pub const LINE_BYTES: usize = SERVER_LINE_BYTES;

/// Of how many unknown types and fields a decoder tells.
const MOST_UNKNOWN: usize = 256;

/// Of a line that is passed over so many characters are told: what follows may be a token.
const SHOWN: usize = 40;

/// The types of [`ServerMessage`].
const TYPES: [&str; 15] = [
    "welcome",
    "seeking",
    "seek_ended",
    "challenged",
    "challenge_sent",
    "challenge_ended",
    "started",
    "turn",
    "moved",
    "ended",
    "error",
    "notice",
    "goodbye",
    "pong",
    "unwatched",
];

/// One compact line of a client's message, its newline included.
#[must_use]
pub fn encode(message: &Incoming) -> Vec<u8> {
    // No message has a key that is not a text, so that none fails.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

/// A line of the server is longer than [`LINE_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineTooLong;

impl fmt::Display for LineTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a line of the server has more than {LINE_BYTES} bytes")
    }
}

impl std::error::Error for LineTooLong {}

/// Makes messages of the bytes that a server sends, however they are cut.
///
/// A line that is no message is passed over, as are unknown types and fields; `log` of the settings hears of it.
///
/// ```
/// use modiar_client::{Decoder, ServerMessage};
///
/// let mut decoder = Decoder::new();
/// assert_eq!(decoder.feed(br#"{"type":"pong","#)?, []);
/// assert_eq!(decoder.feed(b"\"time_ms\":7}\r\n\n")?, [ServerMessage::Pong { time_ms: 7, reference: None }]);
/// # Ok::<(), modiar_client::LineTooLong>(())
/// ```
#[derive(Debug, Default)]
pub struct Decoder {
    /// A line that has no newline yet.
    partial: Vec<u8>,
    log: Log,
    /// What was told already.
    unknown: BTreeSet<String>,
}

impl Decoder {
    /// A decoder that tells nobody what it passes over.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn with_log(log: Log) -> Self {
        Self { log, ..Self::default() }
    }

    /// Takes the next bytes; the messages that they complete.
    ///
    /// # Errors
    /// A line is too long; what comes after it cannot be understood any more. The messages before it in these bytes are lost.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<ServerMessage>, LineTooLong> {
        let mut messages = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.partial.len() + piece.len() > LINE_BYTES {
                return Err(LineTooLong);
            }
            self.partial.extend_from_slice(piece);
            if let Some(line) = self.partial.strip_suffix(b"\n") {
                let line = line.to_vec();
                self.partial.clear();
                messages.extend(self.read(line.strip_suffix(b"\r").unwrap_or(&line)));
            }
        }
        Ok(messages)
    }

    fn read(&mut self, line: &[u8]) -> Option<ServerMessage> {
        if line.is_empty() {
            return None;
        }
        let Ok(mut said @ Value::Object(_)) = serde_json::from_slice(line) else {
            self.skip(line, "it is no JSON object");
            return None;
        };
        let Some(kind) = said["type"].as_str().map(str::to_owned) else {
            self.skip(line, "it has no type");
            return None;
        };
        if !TYPES.contains(&kind.as_str()) {
            self.tell_once(format!("type {kind}"));
            return None;
        }
        rename_unknown_code(&kind, &mut said);
        rename_unknown_seek_end(&kind, &mut said);
        rename_unknown_terminations(&kind, &mut said);
        match ServerMessage::read(said.to_string().as_bytes()) {
            Ok(message) => {
                self.compare(&kind, &said, &message);
                Some(message)
            }
            Err(error) => {
                self.skip(line, &format!("{kind}: {error}"));
                None
            }
        }
    }

    fn skip(&self, line: &[u8], why: &str) {
        let begin: String = String::from_utf8_lossy(line).chars().take(SHOWN).collect();
        self.log.warn(format_args!("skipped a line that is not a message: {why}: {begin:?}"));
    }

    /// Tells of the fields that the message as it was read does not have.
    fn compare(&mut self, kind: &str, said: &Value, message: &ServerMessage) {
        if !self.log.is_silent() {
            let read = serde_json::from_slice(&message.to_line()).unwrap_or_default();
            let mut fields = Vec::new();
            unknown_fields(kind, said, &read, &mut fields);
            fields.into_iter().for_each(|field| self.tell_once(format!("field {field}")));
        }
    }

    fn tell_once(&mut self, what: String) {
        if self.unknown.len() < MOST_UNKNOWN && !self.unknown.contains(&what) {
            self.log.debug(format_args!("passed over the unknown {what}"));
            self.unknown.insert(what);
        }
    }
}

/// A newer server may have more codes; one of those is an error that is not acted on, told by its message.
fn rename_unknown_code(kind: &str, said: &mut Value) {
    let Some(code) = said["code"].as_str().filter(|_| kind == "error") else { return };
    if !ErrorCode::ALL.iter().any(|known| known.as_str() == code) {
        let message = format!("{code}: {}", said["message"].as_str().unwrap_or_default());
        said["code"] = ErrorCode::Internal.as_str().into();
        said["message"] = message.into();
    }
}

/// A newer server may have more reasons of a seek's end: the bot has to pause, for a moment, and is told why.
fn rename_unknown_seek_end(kind: &str, said: &mut Value) {
    let Some(reason) = said["reason"].as_str().filter(|_| kind == "seek_ended") else { return };
    if serde_json::from_value::<SeekEnd>(said["reason"].clone()).is_err() {
        let message = format!("{reason}: {}", said["message"].as_str().unwrap_or("the seek ended"));
        said["reason"] = json!(SeekEnd::Penalised);
        said["message"] = message.into();
    }
}

/// A newer server may have more ends of a game: what counts is who won.
fn rename_unknown_terminations(kind: &str, said: &mut Value) {
    let missed = said.get_mut("missed").and_then(Value::as_array_mut);
    match (kind, missed) {
        ("welcome", Some(missed)) => missed.iter_mut().for_each(rename_unknown_termination),
        ("ended", _) => rename_unknown_termination(said),
        _ => {}
    }
}

fn rename_unknown_termination(ended: &mut Value) {
    let Some(termination) = ended.get_mut("termination").filter(|termination| termination.is_string()) else { return };
    if serde_json::from_value::<Termination>(termination.clone()).is_err() {
        let known = if ended["result"] == "none" { Termination::Aborted } else { Termination::Resignation };
        ended["termination"] = json!(known);
    }
}

fn unknown_fields(path: &str, said: &Value, read: &Value, found: &mut Vec<String>) {
    match (said, read) {
        (Value::Object(said), Value::Object(read)) => {
            for (key, value) in said.iter().filter(|(_, value)| !value.is_null()) {
                match read.get(key) {
                    Some(read) => unknown_fields(&format!("{path}.{key}"), value, read, found),
                    None => found.push(format!("{path}.{key}")),
                }
            }
        }
        (Value::Array(said), Value::Array(read)) => {
            said.iter().zip(read).for_each(|(said, read)| unknown_fields(path, said, read, found));
        }
        _ => {}
    }
}
