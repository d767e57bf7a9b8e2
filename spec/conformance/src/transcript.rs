//! A transcript as it stands in its file: parsed strictly, so that a slip in a file is never a step that does nothing.

use crate::files::FILES;
use crate::matching::variables;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use thiserror::Error;

/// A dialogue that a server must be able to hold (`spec/transcripts/README.md`).
#[derive(Clone, Debug)]
pub struct Transcript {
    /// The file's name without its ending.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// The clauses that it shows.
    pub clauses: Vec<String>,
    pub(crate) steps: Vec<Step>,
}

/// Why a file is no transcript.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{transcript}, line {line}: {what}")]
pub struct TranscriptError {
    /// The file.
    pub transcript: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

/// One line after the first.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) line: usize,
    pub(crate) act: Act,
}

#[derive(Clone, Debug)]
pub(crate) enum Act {
    Wait(Duration),
    At(String, Action),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    Connect,
    Send(Map<String, Value>),
    Bytes(Vec<u8>),
    Expect(Map<String, Value>),
    ExpectClose,
    Silent(Duration),
    Close,
}

impl Transcript {
    /// Reads the text of the file called `name`.
    ///
    /// # Errors
    /// The first line that is no step, or is one that cannot be done.
    pub fn parse(name: &str, text: &str) -> Result<Self, TranscriptError> {
        let fault = |line, what| TranscriptError { transcript: name.to_owned(), line, what };
        let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
        let (_, first) = lines.next().ok_or_else(|| fault(1, "the file is empty".to_owned()))?;
        let Header { transcript, title, clauses } =
            serde_json::from_str(first).map_err(|error| fault(1, error.to_string()))?;
        if transcript != 1 {
            return Err(fault(1, format!("format {transcript} is not known; this reads 1")));
        }
        if clauses.is_empty() {
            return Err(fault(1, "it shows no clause; name those that it shows".to_owned()));
        }
        let mut state = State::default();
        let steps = lines
            .map(|(line, text)| {
                let act = read_step(text).and_then(|act| state.check(&act).map(|()| act));
                act.map(|act| Step { line, act }).map_err(|what| fault(line, what))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_owned(), title, clauses, steps })
    }

    /// Every transcript of the specification, by name.
    ///
    /// # Errors
    /// One of them is no transcript.
    pub fn all() -> Result<Vec<Self>, TranscriptError> {
        FILES.iter().map(|(name, text)| Self::parse(name, text)).collect()
    }

    /// What is sent as messages.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &Map<String, Value>> {
        self.steps.iter().filter_map(|step| match &step.act {
            Act::At(_, Action::Send(message)) => Some(message),
            _ => None,
        })
    }

    /// What is expected as lines.
    pub(crate) fn expected(&self) -> impl Iterator<Item = &Map<String, Value>> {
        self.steps.iter().filter_map(|step| match &step.act {
            Act::At(_, Action::Expect(line)) => Some(line),
            _ => None,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    transcript: u64,
    title: String,
    clauses: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    at: Option<String>,
    wait_ms: Option<u64>,
    connect: Option<bool>,
    send: Option<Map<String, Value>>,
    send_text: Option<String>,
    send_hex: Option<String>,
    send_repeat: Option<Repeat>,
    expect: Option<Map<String, Value>>,
    expect_close: Option<bool>,
    silent_ms: Option<u64>,
    close: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Repeat {
    text: String,
    count: usize,
}

fn read_step(text: &str) -> Result<Act, String> {
    let raw: RawStep = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let is_true = |flag: bool, name: &str| if flag { Ok(()) } else { Err(format!("'{name}' is only ever true")) };
    let mut actions = Vec::new();
    if let Some(flag) = raw.connect {
        is_true(flag, "connect")?;
        actions.push(Action::Connect);
    }
    actions.extend(raw.send.map(Action::Send));
    actions.extend(raw.send_text.map(|text| Action::Bytes(format!("{text}\n").into_bytes())));
    if let Some(hex) = raw.send_hex {
        actions.push(Action::Bytes(read_hex(&hex)?));
    }
    actions.extend(raw.send_repeat.map(|Repeat { text, count }| Action::Bytes(text.repeat(count).into_bytes())));
    actions.extend(raw.expect.map(Action::Expect));
    if let Some(flag) = raw.expect_close {
        is_true(flag, "expect_close")?;
        actions.push(Action::ExpectClose);
    }
    actions.extend(raw.silent_ms.map(|ms| Action::Silent(Duration::from_millis(ms))));
    if let Some(flag) = raw.close {
        is_true(flag, "close")?;
        actions.push(Action::Close);
    }
    match (raw.at, raw.wait_ms, actions.pop(), actions.is_empty()) {
        (None, Some(ms), None, true) => Ok(Act::Wait(Duration::from_millis(ms))),
        (Some(at), None, Some(action), true) => Ok(Act::At(at, action)),
        (None, None, Some(_), _) => Err("'at' is missing: whose step is it?".to_owned()),
        (Some(_), None, None, _) => Err("nothing is done at it".to_owned()),
        _ => Err("a step does one thing".to_owned()),
    }
}

fn read_hex(hex: &str) -> Result<Vec<u8>, String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = hex.as_bytes().chunks(2).map(|pair| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    pairs.collect::<Option<_>>().ok_or_else(|| format!("'{hex}' is not pairs of hex digits"))
}

/// What is known of the connections and variables at a line, without a server.
#[derive(Default)]
struct State {
    open: HashMap<String, bool>,
    bound: HashSet<String>,
}

impl State {
    fn check(&mut self, act: &Act) -> Result<(), String> {
        let Act::At(at, action) = act else { return Ok(()) };
        match (self.open.get(at), action) {
            (None, Action::Connect) => drop(self.open.insert(at.clone(), true)),
            (Some(_), Action::Connect) => return Err(format!("'{at}' has been connected already")),
            (None, _) => return Err(format!("'{at}' is not connected")),
            (Some(false), _) => return Err(format!("'{at}' is closed")),
            (Some(true), Action::Close | Action::ExpectClose) => drop(self.open.insert(at.clone(), false)),
            (Some(true), _) => {}
        }
        match action {
            Action::Send(message) => match variables(message).into_iter().find(|name| !self.bound.contains(*name)) {
                Some(name) => Err(format!("'{name}' has no value yet")),
                None => Ok(()),
            },
            Action::Expect(line) => {
                self.bound.extend(variables(line).into_iter().filter(|name| !is_word(name)).map(str::to_owned));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Words that look like variables and never hold a value.
fn is_word(name: &str) -> bool {
    matches!(name, "$any" | "$absent")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "{\"transcript\":1,\"title\":\"t\",\"clauses\":[\"a.b\"]}\n";

    fn fault(steps: &str) -> (usize, String) {
        let error = Transcript::parse("x", &format!("{HEAD}{steps}")).unwrap_err();
        assert_eq!(error.transcript, "x");
        (error.line, error.what)
    }

    #[test]
    fn every_step_of_the_format_is_read() {
        let text = format!(
            "{HEAD}{}",
            r#"{"at":"a","connect":true}
{"at":"a","send":{"type":"ping"}}
{"at":"a","send_text":"x"}
{"at":"a","send_hex":"fF0a"}
{"at":"a","send_repeat":{"text":"xy","count":3}}
{"at":"a","expect":{"ref":"$r"}}
{"at":"a","send":{"ref":"$r"}}
{"at":"a","silent_ms":20}
{"wait_ms":30}
{"at":"a","close":true}"#
        );
        let transcript = Transcript::parse("x", &text).unwrap();
        assert_eq!((transcript.title.as_str(), transcript.clauses.as_slice()), ("t", &["a.b".to_owned()][..]));
        let bytes: Vec<_> = transcript
            .steps
            .iter()
            .filter_map(|step| match &step.act {
                Act::At(_, Action::Bytes(bytes)) => Some((step.line, bytes.as_slice())),
                _ => None,
            })
            .collect();
        assert_eq!(bytes, [(4, &b"x\n"[..]), (5, &[0xff, 0x0a]), (6, b"xyxyxy")]);
        assert_eq!(transcript.steps.len(), 10);
    }

    #[test]
    fn an_unknown_key_names_its_line() {
        let (line, what) = fault("{\"at\":\"a\",\"connect\":true}\n{\"at\":\"a\",\"expects\":{}}\n");
        assert_eq!(line, 3);
        assert!(what.contains("unknown field `expects`"), "{what}");
    }

    #[test]
    fn a_step_that_cannot_be_done_is_refused() {
        let open = "{\"at\":\"a\",\"connect\":true}\n";
        for (steps, wanted) in [
            ("\n", "EOF"),
            ("[]\n", "expected"),
            ("{}\n", "one thing"),
            ("{\"at\":\"a\"}\n", "nothing is done"),
            ("{\"connect\":true}\n", "'at' is missing"),
            ("{\"at\":\"a\",\"connect\":false}\n", "only ever true"),
            ("{\"at\":\"a\",\"send\":{}}\n", "not connected"),
            ("{\"at\":\"a\",\"wait_ms\":1}\n", "one thing"),
            (&format!("{open}{open}"), "connected already"),
            (&format!("{open}{{\"at\":\"a\",\"send_hex\":\"abc\"}}\n"), "hex"),
            (&format!("{open}{{\"at\":\"a\",\"send_hex\":\"zz\"}}\n"), "hex"),
            (&format!("{open}{{\"at\":\"a\",\"send\":{{}},\"close\":true}}\n"), "one thing"),
            (&format!("{open}{{\"at\":\"a\",\"send\":{{\"x\":\"$x\"}}}}\n"), "'$x' has no value"),
            (&format!("{open}{{\"at\":\"a\",\"send\":{{\"x\":\"$any\"}}}}\n"), "'$any' has no value"),
            (&format!("{open}{{\"at\":\"a\",\"close\":true}}\n{{\"at\":\"a\",\"expect\":{{}}}}\n"), "closed"),
            (
                &format!("{open}{{\"at\":\"a\",\"send_repeat\":{{\"text\":\"x\",\"count\":1,\"n\":1}}}}\n"),
                "unknown field",
            ),
        ] {
            let (line, what) = fault(steps);
            assert!(what.contains(wanted), "{steps}: line {line}: {what}");
            assert_eq!(line, 1 + steps.lines().count(), "{steps}");
        }
    }

    #[test]
    fn the_first_line_is_held_to_its_form() {
        for first in [
            "",
            "{\"transcript\":2,\"title\":\"t\",\"clauses\":[\"a.b\"]}",
            "{\"transcript\":1,\"title\":\"t\",\"clauses\":[]}",
            "{\"transcript\":1,\"title\":\"t\"}",
            "{\"transcript\":1,\"title\":\"t\",\"clauses\":[\"a.b\"],\"by\":\"me\"}",
        ] {
            assert_eq!(Transcript::parse("x", first).unwrap_err().line, 1, "{first}");
        }
    }

    #[test]
    fn every_transcript_is_here_and_is_read() {
        let names: Vec<String> = Transcript::all().unwrap().into_iter().map(|transcript| transcript.name).collect();
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcripts");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        let mut wanted: Vec<String> =
            files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        wanted.sort();
        assert_eq!(names, wanted, "put the transcript into files.rs too");
    }
}
