//! Plays a transcript against a live server.

use crate::manners;
use crate::matching::Bindings;
use crate::minutes::{Minutes, cut, hide_secrets};
use crate::transcript::{Act, Action, Step};
use crate::{Peer, PeerError, Transcript};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::net::ToSocketAddrs;
use std::thread::sleep;
use std::time::Duration;

/// How long an expected line or close may take: some transcripts wait for a clock.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long a failure looks for lines that were not read yet.
const GLANCE: Duration = Duration::from_millis(50);
/// So many of them are told at most.
const UNREAD: usize = 8;

/// A server that did not hold its side of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The transcript's name.
    pub transcript: String,
    /// The line of the step, counted from 1.
    pub line: usize,
    /// The clauses that the transcript shows.
    pub clauses: Vec<String>,
    /// What was awaited.
    pub awaited: String,
    /// What came.
    pub came: String,
    /// The last that was said until then, each with its time in ms, `a >` sent at `a` and `a <` read there; and what lay unread.
    pub exchange: Vec<String>,
}

impl std::error::Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { transcript, line, clauses, awaited, came, exchange } = self;
        writeln!(f, "{transcript}, line {line} (shows {})", clauses.join(", "))?;
        writeln!(f, "  awaited: {awaited}")?;
        write!(f, "  came:    {came}")?;
        exchange.iter().try_for_each(|said| write!(f, "\n    {said}"))
    }
}

/// Who writes the messages of a transcript and reads the lines that come: a client library, say.
pub trait Codec {
    /// The line of a message, its newline included.
    ///
    /// # Errors
    /// What is wrong with how it is written.
    fn encode(&mut self, message: &Value) -> Result<String, String>;

    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with how it is read.
    fn decode(&mut self, line: &str) -> Result<(), String>;
}

/// Lines as they are.
pub(crate) struct Plain;

impl Codec for Plain {
    fn encode(&mut self, message: &Value) -> Result<String, String> {
        Ok(format!("{message}\n"))
    }

    fn decode(&mut self, _: &str) -> Result<(), String> {
        Ok(())
    }
}

impl Transcript {
    /// Plays it against the server at `address`.
    ///
    /// # Errors
    /// The first step at which the server did something else.
    pub fn play(&self, address: impl ToSocketAddrs) -> Result<(), Box<Failure>> {
        self.play_by(address, &mut Plain)
    }

    /// The same by somebody else's lines.
    ///
    /// # Errors
    /// The first step at which the server or the codec did something else.
    pub fn play_by(&self, address: impl ToSocketAddrs, codec: &mut dyn Codec) -> Result<(), Box<Failure>> {
        let mut minutes = Minutes::new(hide_secrets);
        self.play_with(address, PATIENCE, &mut minutes, codec).map_err(|(line, Surprise { awaited, came })| {
            let (transcript, clauses, exchange) = (self.name.clone(), self.clauses.clone(), minutes.lines());
            Box::new(Failure { transcript, line, clauses, awaited, came, exchange })
        })
    }

    /// The same with more patience, where that is more than it has by itself, and with a record of what is said.
    ///
    /// # Errors
    /// The line of the first step at which the server did something else, and what.
    pub(crate) fn play_with(
        &self,
        address: impl ToSocketAddrs,
        patience: Duration,
        minutes: &mut Minutes,
        codec: &mut dyn Codec,
    ) -> Result<(), (usize, Surprise)> {
        let patience = patience.max(PATIENCE);
        let (peers, bindings) = (BTreeMap::new(), Bindings::default());
        let mut play = Play { address, patience, peers, bindings, minutes, codec };
        for Step { line, act } in &self.steps {
            if let Err(surprise) = play.step(act) {
                play.look_around();
                return Err((*line, surprise));
            }
        }
        Ok(())
    }
}

struct Play<'a, A> {
    address: A,
    patience: Duration,
    peers: BTreeMap<String, Peer>,
    bindings: Bindings,
    minutes: &'a mut Minutes,
    codec: &'a mut dyn Codec,
}

/// What came instead of what was awaited.
pub(crate) struct Surprise {
    pub(crate) awaited: String,
    pub(crate) came: String,
}

impl Surprise {
    fn new(awaited: impl fmt::Display, came: impl fmt::Display) -> Self {
        Self { awaited: cut(&awaited.to_string()), came: cut(&hide_secrets(&came.to_string())) }
    }
}

impl<A: ToSocketAddrs> Play<'_, A> {
    fn step(&mut self, act: &Act) -> Result<(), Surprise> {
        match act {
            Act::Wait(time) => sleep(*time),
            Act::At(at, Action::Connect) => {
                let peer = Peer::connect(&self.address).map_err(|error| Surprise::new("a connection", error))?;
                self.peers.insert(at.clone(), peer);
            }
            Act::At(at, Action::Send(message)) => {
                let message = self.bindings.fill(message);
                let line = self.codec.encode(&message).map_err(|wrong| Surprise::new(&message, wrong))?;
                self.send(at, line.as_bytes())?;
            }
            Act::At(at, Action::Bytes(bytes)) => self.send(at, bytes)?,
            Act::At(at, Action::Expect(expected)) => self.expect(at, expected)?,
            Act::At(at, Action::ExpectClose) => self.expect_close(at)?,
            Act::At(at, Action::Silent(time)) => self.silent(at, *time)?,
            Act::At(at, Action::Close) => {
                self.minutes.note(&format!("{at} >"), "(end of sending)");
                let done = self.peer(at)?.finish();
                done.map_err(|error| Surprise::new("an open connection", error))?;
            }
        }
        Ok(())
    }

    /// Parsing saw to it that every step's connection is there.
    fn peer(&mut self, at: &str) -> Result<&mut Peer, Surprise> {
        self.peers.get_mut(at).ok_or_else(|| Surprise::new(format_args!("a connection '{at}'"), "none was made"))
    }

    fn send(&mut self, at: &str, bytes: &[u8]) -> Result<(), Surprise> {
        self.minutes.note_bytes(&format!("{at} >"), bytes);
        let sent = self.peer(at)?.send_bytes(bytes);
        sent.map_err(|error| Surprise::new("a connection that takes the line", error))
    }

    fn read(&mut self, at: &str, patience: Duration) -> Result<String, Heard> {
        let read = match self.peer(at) {
            Ok(peer) => peer.line_within(patience),
            Err(surprise) => return Err(Heard::Trouble(surprise.came)),
        };
        match read {
            Ok(line) => {
                self.minutes.note(&format!("{at} <"), &line);
                manners::fault(&line).map_or(Ok(line), |fault| Err(Heard::Trouble(fault)))
            }
            Err(PeerError::Silence(time)) => Err(Heard::Silence(format!("no line within {time:?}"))),
            Err(error @ PeerError::Closed) => {
                self.minutes.note(&format!("{at} <"), "(closed)");
                Err(Heard::Close(error.to_string()))
            }
            Err(error) => Err(Heard::Trouble(error.to_string())),
        }
    }

    fn expect(&mut self, at: &str, expected: &Map<String, Value>) -> Result<(), Surprise> {
        let awaited = Value::Object(expected.clone());
        let line = self.read(at, self.patience).map_err(|heard| Surprise::new(&awaited, heard))?;
        let value = serde_json::from_str(&line)
            .map_err(|error| Surprise::new(&awaited, format_args!("{line}, which is no JSON: {error}")))?;
        self.codec.decode(&line).map_err(|wrong| Surprise::new(&line, wrong))?;
        let matched = self.bindings.match_line(expected, &value);
        matched.map_err(|differs| Surprise::new(&awaited, format_args!("{line}: {differs}")))
    }

    fn expect_close(&mut self, at: &str) -> Result<(), Surprise> {
        match self.read(at, self.patience) {
            Err(Heard::Close(_)) => Ok(()),
            Err(heard) => Err(Surprise::new("a close", heard)),
            Ok(line) => Err(Surprise::new("a close", line)),
        }
    }

    fn silent(&mut self, at: &str, time: Duration) -> Result<(), Surprise> {
        let awaited = format!("silence for {time:?}");
        match self.read(at, time) {
            Err(Heard::Silence(_)) => Ok(()),
            Err(heard) => Err(Surprise::new(awaited, heard)),
            Ok(line) => Err(Surprise::new(awaited, line)),
        }
    }

    /// Adds what lies unread: often it says why the awaited line did not come.
    fn look_around(&mut self) {
        for (at, peer) in &mut self.peers {
            for _ in 0..UNREAD {
                let Ok(line) = peer.line_within(GLANCE) else { break };
                self.minutes.note(&format!("{at} <"), &(line + " (unread)"));
            }
        }
    }
}

/// Everything that is not a line.
enum Heard {
    Silence(String),
    Close(String),
    Trouble(String),
}

impl fmt::Display for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Silence(what) | Self::Close(what) | Self::Trouble(what)) = self;
        f.write_str(what)
    }
}
