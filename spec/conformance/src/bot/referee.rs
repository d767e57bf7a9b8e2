//! The scripted referee's end of the wire: it lets the bot in, says lines, hears lines, and keeps what was said.

use super::game::{self, Game};
use super::link::{Came, Link};
use super::port::Port;
use super::process::{Identity, Process};
use super::style::Style;
use super::{Check, Kit, Seat};
use crate::minutes::Minutes;
pub(crate) use crate::report::{Step, Stop};
use modiar_protocol::client::{Hello, decode};
use modiar_protocol::{ClientMessage, Incoming, PROTOCOL, Ref};
use modiar_rules::EndRules;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Who the bot is told to be.
const NAME: &str = "Tanja";
/// The token of a registered bot, and the resume token of a guest: nobody may read them in its output.
pub(crate) const TOKEN: &str = "modiar-9b088a0d5d9215b3a7055f874a7dde85278ae79db9f56409db276371e97c5594";
pub(crate) const RESUME: &str = "modiar-7e261f3a39f689e8e8fc7372849d305f759113bf7ea6ddc358fb5206c73dcf92";
/// The pools of every welcome.
const POOLS: [&str; 3] = ["bullet", "blitz", "practice"];
/// Between two looks for a connection.
const LOOK: Duration = Duration::from_millis(2);
/// How long a bot that has closed its connection may take to end, for its status to be told.
const END: Duration = Duration::from_millis(500);

/// What is heard of the bot.
pub(crate) enum Heard {
    Said(Incoming),
    Silence(Duration),
    Closed,
}

/// A seek that goes on.
pub(crate) struct Seek {
    pub(crate) pool: String,
    /// Games to come; none for a seek without end.
    pub(crate) left: Option<u64>,
    pub(crate) reference: Option<Ref>,
}

/// One check of one bot: its process, its connection and its games.
pub(crate) struct Referee<'a> {
    pub(crate) check: &'a Check,
    pub(crate) patience: Duration,
    pub(crate) process: Process,
    pub(crate) style: Style,
    /// The rules of every pool.
    pub(crate) rules: EndRules,
    pub(crate) link: Option<Link>,
    /// The newest hello.
    pub(crate) hello: Option<Hello>,
    /// The mark of the newest hello.
    pub(crate) hello_ref: Option<Ref>,
    pub(crate) seek: Option<Seek>,
    pub(crate) games: Vec<Game>,
    /// The game that steps are about.
    pub(crate) now: usize,
    port: Port,
    /// What was heard and put back.
    pub(crate) unheard: Option<Heard>,
    held: Option<String>,
    minutes: Minutes,
}

impl<'a> Referee<'a> {
    /// Opens a port and starts the bot for it.
    pub(crate) fn open(kit: &Kit, check: &'a Check) -> io::Result<Self> {
        let port = Port::open()?;
        let token = (check.seat == Seat::Registered).then_some(TOKEN);
        let stdin = if check.seat == Seat::StdinClosed { Stdio::null() } else { Stdio::piped() };
        let who = Identity { port: port.number()?, name: NAME, token };
        let process = Process::start(&kit.command, &who, stdin, &[TOKEN, RESUME])?;
        Ok(Self {
            check,
            patience: kit.patience,
            process,
            style: Style::PLAIN,
            rules: EndRules::default(),
            link: None,
            hello: None,
            hello_ref: None,
            seek: None,
            games: Vec::new(),
            now: 0,
            port,
            unheard: None,
            held: None,
            minutes: Minutes::new(|text| Cow::Owned(hidden(text))),
        })
    }

    /// The last lines both ways.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.minutes.lines()
    }

    /// The last of the bot's words on stderr, secrets left out.
    pub(crate) fn stderr(&self) -> String {
        hidden(&self.process.stderr())
    }

    // ---- saying

    /// Says a message in the present style.
    pub(crate) fn say(&mut self, message: &Value) {
        let line = self.style.line(message);
        self.say_text(&line);
    }

    /// Says a text as it is.
    pub(crate) fn say_text(&mut self, text: &str) {
        if let Some(held) = &mut self.held {
            held.push_str(text);
            return;
        }
        for line in text.split_inclusive('\n') {
            self.note("referee", line.trim_end_matches(['\r', '\n']));
        }
        if let Some(link) = &mut self.link {
            link.send(text.as_bytes(), self.style.pace);
        }
    }

    /// Says all that is said in `many` in one write.
    pub(crate) fn together<T>(&mut self, many: impl FnOnce(&mut Self) -> T) -> T {
        // Within another such step, that one writes.
        let outer = self.held.is_some();
        self.held.get_or_insert_default();
        let done = many(self);
        if !outer && let Some(held) = self.held.take() {
            self.say_text(&held);
        }
        done
    }

    /// Says an error; `more` are fields beyond those that every error has.
    pub(crate) fn say_error(&mut self, code: &str, message: &str, more: Value) {
        let mut error = json!({"type": "error", "code": code, "message": message, "fatal": false});
        merge(&mut error, more);
        self.say(&error);
    }

    /// Says goodbye and closes.
    pub(crate) fn say_goodbye(&mut self, reason: &str, message: &str) {
        self.say(&json!({"type": "goodbye", "reason": reason, "message": message}));
        self.cut();
    }

    /// Lets the bot in: with the ids of the games that go on, and what it missed.
    pub(crate) fn welcome(&mut self, missed: &[Value]) {
        let games: Vec<&String> = self.games.iter().filter(|game| game.ended.is_none()).map(|game| &game.id).collect();
        let (time, rules) = (game::time(), game::rules(self.rules));
        let pools = POOLS.map(|name| {
            let ladder = name != "practice";
            let openings = if ladder { "balanced" } else { "start" };
            json!({"name": name, "time": time, "rated": ladder, "openings": openings, "rules": rules})
        });
        let hello = self.hello.as_ref();
        let at_once = hello.map_or(1, |hello| hello.games.min(64));
        let mut welcome = json!({
            "type": "welcome", "protocol": PROTOCOL, "server": "modiar-check/0.1.0",
            "bot": {"name": self.name(), "guest": self.is_guest(), "ratings": {}}, "pools": pools,
            "limits": {"line_bytes": 4096, "messages_per_s": 20, "games": at_once}, "games": games, "missed": missed,
        });
        if self.is_guest() {
            welcome["resume"] = json!(RESUME);
        }
        self.say(&with_ref(welcome, self.hello_ref.as_ref()));
    }

    /// Refuses the hello.
    pub(crate) fn refuse(&mut self, code: &str, message: &str) {
        let refusal = self.hello_ref.as_ref().map_or_else(|| json!({}), |reference| json!({"ref": reference}));
        self.say_error(code, message, refusal);
    }

    /// The bot's name.
    pub(crate) fn name(&self) -> String {
        let name = self.hello.as_ref().and_then(|hello| hello.name.as_ref());
        name.map_or_else(|| "guest-7f3a".to_owned(), ToString::to_string)
    }

    pub(crate) fn is_guest(&self) -> bool {
        self.hello.as_ref().is_none_or(|hello| hello.token.is_none())
    }

    // ---- hearing

    /// Waits for a connection and the hello on it.
    pub(crate) fn arrive(&mut self) -> Step<Hello> {
        if !self.accept_within(self.patience)? {
            return self.fault(self.clause(), "a connection", &Heard::Silence(self.patience));
        }
        self.hear_hello()
    }

    /// Waits for the hello on a connection.
    pub(crate) fn hear_hello(&mut self) -> Step<Hello> {
        match self.hear(self.patience)? {
            Heard::Said(Incoming { message: ClientMessage::Hello(hello), reference }) if hello.protocol == PROTOCOL => {
                self.hello_ref = reference;
                self.hello = Some(*hello.clone());
                Ok(*hello)
            }
            heard => self.fault("session.hello-first", "a hello with protocol 1", &heard),
        }
    }

    /// Whether a connection comes in this time. A bot that has ended makes none.
    pub(crate) fn accept_within(&mut self, time: Duration) -> Step<bool> {
        let deadline = Instant::now() + time;
        loop {
            // Asked first: what it did before its end is seen below.
            let ended = self.process.status();
            if let Some(stream) = self.port.accept()? {
                self.note("bot", "(connects)");
                self.link = Some(Link::over(stream)?);
                return Ok(true);
            }
            if ended.is_some() || Instant::now() >= deadline {
                return Ok(false);
            }
            sleep(LOOK);
        }
    }

    /// What comes next of those messages that a game or a seek is made of; the others are answered here.
    pub(crate) fn hear(&mut self, within: Duration) -> Step<Heard> {
        if let Some(heard) = self.unheard.take() {
            return Ok(heard);
        }
        let deadline = Instant::now() + within;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let came = self.link.as_mut().map_or(Came::Closed, |link| link.hear(left));
            let line = match came {
                Came::Line(line) => line,
                Came::Silence => return Ok(Heard::Silence(within)),
                Came::Closed => {
                    if self.link.take().is_some() {
                        self.note("bot", "(closes)");
                    }
                    return Ok(Heard::Closed);
                }
                Came::TooLong => {
                    let came = "a longer one".to_owned();
                    return self.fault_text("transport.line-too-long", "lines of at most 4096 bytes", came);
                }
            };
            self.note("bot", &String::from_utf8_lossy(&line));
            if line.is_empty() {
                continue;
            }
            match decode(&line) {
                Err(error) => return self.fault_text(broken(&error), "a well-formed message", error.to_string()),
                Ok(said) if self.chat(&said) => {}
                Ok(said) => return Ok(Heard::Said(said)),
            }
        }
    }

    /// Answers what changes nothing at any point of a script; whether it was such a message.
    fn chat(&mut self, Incoming { message, reference }: &Incoming) -> bool {
        let reference = reference.as_ref();
        let answer = match message {
            ClientMessage::Ping => json!({"type": "pong", "time_ms": 1_796_083_200_000_u64}),
            ClientMessage::Unwatch { game } => json!({"type": "unwatched", "game": game}),
            ClientMessage::Accept { challenge } => {
                json!({"type": "challenge_ended", "challenge": challenge, "reason": "unavailable"})
            }
            ClientMessage::Decline { challenge } => {
                json!({"type": "challenge_ended", "challenge": challenge, "reason": "declined"})
            }
            ClientMessage::Seek { .. } if self.seek.is_some() => {
                error("already_seeking", "a seek stands in this pool already; unseek first to change it")
            }
            ClientMessage::Watch { .. } => error("wrong_game", "that game is not running"),
            ClientMessage::Challenge(_) => error("unknown_bot", "no bot of this name is connected"),
            _ => return false,
        };
        self.say(&with_ref(answer, reference));
        true
    }

    // ---- the connection

    /// Breaks the connection: what was sought ends with it, games go on.
    pub(crate) fn cut(&mut self) {
        if let Some(link) = self.link.take() {
            self.note("referee", "(closes)");
            link.close();
        }
        self.seek = None;
    }

    /// As a server that is stopped: nobody listens for this time.
    pub(crate) fn stop_for(&mut self, time: Duration) -> Step {
        self.port.close();
        self.cut();
        self.note("referee", "(stops listening)");
        sleep(time);
        self.port.listen()?;
        self.note("referee", "(listens again)");
        Ok(())
    }

    // ---- findings

    /// The clause that the check is about.
    pub(crate) fn clause(&self) -> &'static str {
        self.check.about.clause()
    }

    /// The bot did something else.
    pub(crate) fn fault<T>(&self, clause: &str, awaited: &str, heard: &Heard) -> Step<T> {
        let came = match heard {
            Heard::Said(said) => told(said),
            Heard::Silence(time) if self.link.is_some() => format!("nothing within {time:?}"),
            Heard::Silence(_) | Heard::Closed => match self.process.ends_within(END) {
                Some(status) if self.hello.is_none() && matches!(heard, Heard::Silence(_)) => {
                    format!("the bot ended with status {status} before it connected; run its command by hand")
                }
                Some(status) => format!("the bot ended with status {status}"),
                None if self.hello.is_none() || matches!(heard, Heard::Silence(_)) => "no connection".to_owned(),
                None => "the bot closed the connection".to_owned(),
            },
        };
        self.fault_text(clause, awaited, came)
    }

    pub(crate) fn fault_text<T>(&self, clause: &str, awaited: &str, came: String) -> Step<T> {
        Err(Stop::Fault { clause: clause.to_owned(), awaited: awaited.to_owned(), came })
    }

    fn note(&mut self, who: &str, text: &str) {
        self.minutes.note(who, text);
    }
}

/// A token is nobody's to read.
fn hidden(text: &str) -> String {
    text.replace(TOKEN, "(token)").replace(RESUME, "(resume)")
}

fn error(code: &str, message: &str) -> Value {
    json!({"type": "error", "code": code, "message": message, "fatal": false})
}

/// The message with the mark of that which it answers.
pub(crate) fn with_ref(mut message: Value, reference: Option<&Ref>) -> Value {
    if let Some(reference) = reference {
        message["ref"] = json!(reference);
    }
    message
}

fn merge(message: &mut Value, more: Value) {
    if let (Some(fields), Value::Object(more)) = (message.as_object_mut(), more) {
        fields.extend(more);
    }
}

fn told(said: &Incoming) -> String {
    hidden(&serde_json::to_string(said).unwrap_or_else(|error| error.to_string()))
}

/// The clause that a line which was not understood breaks.
fn broken(error: &modiar_protocol::DecodeError) -> &'static str {
    use modiar_protocol::ErrorCode;
    match error.code {
        ErrorCode::BadUtf8 => "transport.utf8",
        ErrorCode::BadField => "transport.field",
        ErrorCode::BadName => "session.name-pattern",
        ErrorCode::UnknownType => "transport.unknown-type",
        _ => "transport.json",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_token_is_told() {
        let mut minutes = Minutes::new(|text| Cow::Owned(hidden(text)));
        minutes.note("bot", &format!("{TOKEN} {RESUME}{}", "x".repeat(400)));
        let told = minutes.lines().concat();
        assert!(told.contains("(token) (resume)x") && told.contains('…'), "{told}");
        assert_eq!(hidden(&format!("a{TOKEN}{RESUME}b")), "a(token)(resume)b");
    }
}
