//! Connections to the server, and what is said and heard on them.

use crate::minutes::{Minutes, cut, hide_secrets};
use crate::report::{About, Step, Stop, skip};
use crate::{Peer, PeerError, manners};
use rustix::net::sockopt::set_socket_linger;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The time to a hello (`session.hello-deadline`), where the host has set no other.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(5);

/// Why a check is left out where the server is full.
pub(super) const TOO_MANY: &str = "the server takes no more connections of this address";

/// The longest that a check takes, whatever the server says: all of them wait for a clock of some seconds at most.
const LONGEST: Duration = Duration::from_secs(180);

/// One connection of a check, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bot(usize);

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing more is sent; what comes is read.
    Fin,
    /// At once, and whatever is on its way is lost.
    Reset,
}

/// What is heard of the server.
#[derive(Debug)]
pub(super) enum Heard {
    Line(Value),
    Silence(Duration),
    Closed,
}

#[derive(Debug)]
struct Seat {
    peer: Option<Peer>,
    /// Its welcome; null before.
    welcome: Value,
}

/// One check of one server.
#[derive(Debug)]
pub(super) struct Desk<'a> {
    pub(super) address: &'a str,
    /// How long one thing may take.
    pub(super) patience: Duration,
    pub(super) minutes: Minutes,
    about: &'a About,
    begun: Instant,
    seats: Vec<Seat>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(address: &'a str, patience: Duration, about: &'a About) -> Self {
        let (minutes, begun, seats) = (Minutes::new(hide_secrets), Instant::now(), Vec::new());
        Self { address, patience, about, begun, minutes, seats }
    }

    // ---- connections

    /// A connection that has said nothing.
    pub(super) fn connect(&mut self) -> Step<Bot> {
        let bot = Bot(self.seats.len());
        let made = Peer::connect(self.address)
            .and_then(|peer| peer.stream().set_write_timeout(Some(self.patience)).map(|()| peer));
        match made {
            Ok(peer) => self.seats.push(Seat { peer: Some(peer), welcome: Value::Null }),
            Err(error) => return self.fault("transport.tcp", "a connection", &error.to_string()),
        }
        Ok(bot)
    }

    /// The connection ends.
    pub(super) fn end(&mut self, bot: Bot, end: End) {
        self.note(bot, '>', if end == End::Fin { "(end of sending)" } else { "(reset)" });
        let Some(seat) = self.seats.get_mut(bot.0) else { return };
        // A connection that the server has closed already needs no end.
        match (end, &mut seat.peer) {
            (End::Fin, Some(peer)) => drop(peer.finish()),
            (End::Reset, Some(peer)) => {
                let _ = set_socket_linger(peer.stream(), Some(Duration::ZERO));
                seat.peer = None;
            }
            (_, None) => {}
        }
    }

    /// Whether the connection still takes bytes: an empty line, which is no message, and is not told.
    pub(super) fn is_open(&mut self, bot: Bot) -> bool {
        self.peer(bot).is_some_and(|peer| peer.send_bytes(b"\n").is_ok())
    }

    fn peer(&mut self, bot: Bot) -> Option<&mut Peer> {
        self.seats.get_mut(bot.0)?.peer.as_mut()
    }

    // ---- guests

    /// A guest whose welcome was read.
    pub(super) fn guest(&mut self) -> Step<Bot> {
        self.guest_with(json!({}))
    }

    /// The same with more in its hello.
    pub(super) fn guest_with(&mut self, more: Value) -> Step<Bot> {
        let bot = self.connect()?;
        self.greet(bot, more)?;
        Ok(bot)
    }

    /// Says hello, and reads the welcome.
    fn greet(&mut self, bot: Bot, more: Value) -> Step {
        let mut hello = json!({"type": "hello", "protocol": 1});
        if let (Some(hello), Value::Object(more)) = (hello.as_object_mut(), more) {
            hello.extend(more);
        }
        self.say(bot, &hello);
        self.welcomed(bot)
    }

    /// Reads the welcome.
    pub(super) fn welcomed(&mut self, bot: Bot) -> Step {
        match self.hear(bot)? {
            Heard::Line(line) if line["type"] == "welcome" => {
                if let Some(seat) = self.seats.get_mut(bot.0) {
                    seat.welcome = line;
                }
                Ok(())
            }
            Heard::Line(line) if line["code"] == "guests_closed" => skip("the server lets no guests in"),
            Heard::Line(line) if line["code"] == "too_many_connections" => skip(TOO_MANY),
            heard => self.surprise("session.guest", "welcome", &heard),
        }
    }

    /// The same guest on a new connection.
    pub(super) fn come_back(&mut self, bot: Bot) -> Step<Bot> {
        let welcome = self.welcome(bot);
        let who = json!({"name": welcome["bot"]["name"], "resume": welcome["resume"]});
        let back = self.guest_with(who)?;
        let (name, wanted) = (&self.welcome(back)["bot"]["name"], &self.welcome(bot)["bot"]["name"]);
        if name != wanted {
            return self.fault("session.guest-resume", &format!("welcome of {wanted}"), &format!("that of {name}"));
        }
        Ok(back)
    }

    /// A welcomed bot's welcome.
    pub(super) fn welcome(&self, bot: Bot) -> &Value {
        self.seats.get(bot.0).map_or(&Value::Null, |seat| &seat.welcome)
    }

    /// A welcomed bot's name.
    pub(super) fn name(&self, bot: Bot) -> String {
        self.welcome(bot)["bot"]["name"].as_str().unwrap_or_default().to_owned()
    }

    // ---- saying

    /// Says a message.
    pub(super) fn say(&mut self, bot: Bot, message: &Value) {
        self.say_bytes(bot, format!("{message}\n").as_bytes());
    }

    /// Sends bytes as they are; whether they were taken. Who does not look sees it where an answer must come.
    pub(super) fn say_bytes(&mut self, bot: Bot, bytes: &[u8]) -> bool {
        self.minutes.note_bytes(&format!("{} >", bot.0 + 1), bytes);
        let sent = self.peer(bot).is_some_and(|peer| peer.send_bytes(bytes).is_ok());
        if !sent {
            self.note(bot, '>', "(not taken)");
        }
        sent
    }

    // ---- hearing

    /// What comes next.
    pub(super) fn hear(&mut self, bot: Bot) -> Step<Heard> {
        self.hear_within(bot, self.patience)
    }

    /// What comes next in this time. Its form is looked at here.
    pub(super) fn hear_within(&mut self, bot: Bot, time: Duration) -> Step<Heard> {
        // A server that never stops talking is not heard for ever.
        if time.is_zero() {
            return Ok(Heard::Silence(time));
        }
        if self.begun.elapsed() > LONGEST {
            return self.wrong(&format!("the end of the check within {} s", LONGEST.as_secs()), "more and more");
        }
        let Some(peer) = self.peer(bot) else { return Ok(Heard::Closed) };
        let line = match peer.line_within(time) {
            Ok(line) => line,
            Err(PeerError::Silence(_)) => return Ok(Heard::Silence(time)),
            Err(PeerError::Cut(line)) => return self.fault("transport.server-output", "whole lines", &line),
            Err(error @ PeerError::TooLong) => {
                return self.fault("transport.server-line-limit", "lines of at most 16384 bytes", &error.to_string());
            }
            Err(PeerError::NotJson(error)) => return self.fault("transport.server-output", "UTF-8", &error),
            Err(_) => {
                self.note(bot, '<', "(closed)");
                return Ok(Heard::Closed);
            }
        };
        self.note(bot, '<', &line);
        if let Some(fault) = manners::fault(&line) {
            return self.fault("transport.server-output", "a line in the server's manner", &fault);
        }
        match serde_json::from_str(&line) {
            Ok(value) => Ok(Heard::Line(value)),
            Err(error) => self.fault("transport.server-output", "JSON", &format!("{line}: {error}")),
        }
    }

    /// The next line, which must be of this type.
    pub(super) fn expect(&mut self, bot: Bot, wanted: &str) -> Step<Value> {
        match self.hear(bot)? {
            Heard::Line(line) if line["type"] == wanted => Ok(line),
            heard => self.surprise(self.about.clause(), wanted, &heard),
        }
    }

    /// The next line of this type; others may come before.
    pub(super) fn skip_to(&mut self, bot: Bot, wanted: &str) -> Step<Value> {
        let deadline = Instant::now() + self.patience;
        loop {
            match self.hear_within(bot, deadline.saturating_duration_since(Instant::now()))? {
                Heard::Line(line) if line["type"] == wanted => return Ok(line),
                Heard::Line(_) => {}
                heard => return self.surprise(self.about.clause(), wanted, &heard),
            }
        }
    }

    /// The next line is this error, about the message that had this `ref`, and ends nothing.
    pub(super) fn expect_error(&mut self, bot: Bot, code: &str, reference: &str) -> Step<Value> {
        let error = self.hear(bot)?;
        match error {
            Heard::Line(error)
                if error["code"] == code
                    && error["ref"] == reference
                    && error["fatal"] == false
                    && error["type"] == "error" =>
            {
                Ok(error)
            }
            heard => self.surprise(self.about.clause(), &format!("error {code} with the ref '{reference}'"), &heard),
        }
    }

    /// Nothing is on its way but the answer to this ping.
    pub(super) fn quiet(&mut self, bot: Bot) -> Step {
        self.say(bot, &json!({"type": "ping", "ref": "quiet"}));
        match self.hear(bot)? {
            Heard::Line(line) if line["type"] == "pong" && line["ref"] == "quiet" => Ok(()),
            heard => self.surprise(self.about.clause(), "nothing but pong", &heard),
        }
    }

    /// The server closes; no line may come before.
    pub(super) fn expect_close(&mut self, bot: Bot) -> Step {
        match self.hear(bot)? {
            Heard::Closed => Ok(()),
            heard => self.surprise(self.about.clause(), "a close", &heard),
        }
    }

    /// The server says goodbye for this reason within the time, errors before it, and closes.
    pub(super) fn expect_goodbye(&mut self, bot: Bot, reasons: &[&str], time: Duration) -> Step {
        let awaited = format!("goodbye {}", reasons.join(" or "));
        let deadline = Instant::now() + time;
        loop {
            match self.hear_within(bot, deadline.saturating_duration_since(Instant::now()))? {
                Heard::Line(line) if line["type"] == "error" => {}
                Heard::Line(line)
                    if line["type"] == "goodbye" && reasons.iter().any(|reason| line["reason"] == *reason) =>
                {
                    return self.expect_close(bot);
                }
                heard => return self.surprise(self.about.clause(), &awaited, &heard),
            }
        }
    }

    // ---- findings

    /// Something else came.
    pub(super) fn surprise<T>(&self, clause: &str, awaited: &str, heard: &Heard) -> Step<T> {
        let came = match heard {
            Heard::Line(line) => line.to_string(),
            Heard::Silence(time) => format!("nothing within {} ms", time.as_millis()),
            Heard::Closed => "the server closed the connection".to_owned(),
        };
        self.fault(clause, awaited, &came)
    }

    /// The server is at fault in what the check is about.
    pub(super) fn wrong<T>(&self, awaited: &str, came: &str) -> Step<T> {
        self.fault(self.about.clause(), awaited, came)
    }

    pub(super) fn fault<T>(&self, clause: &str, awaited: &str, came: &str) -> Step<T> {
        let (awaited, came) = (cut(awaited), cut(&hide_secrets(came)));
        Err(Stop::Fault { clause: clause.to_owned(), awaited, came })
    }

    fn note(&mut self, bot: Bot, way: char, text: &str) {
        self.minutes.note(&format!("{} {way}", bot.0 + 1), text);
    }
}
