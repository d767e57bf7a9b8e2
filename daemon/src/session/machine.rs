//! The state of one connection.
//!
//! ```text
//!            bad line, refused hello            any message
//!              ┌──────────┐                     ┌─────────┐
//!              │          ▼                     │         ▼
//!  connect ─▶ Greeting(bad lines) ──welcomed──▶ Welcome ──┘
//!              │ third bad line, 5 s              │ bye, flood, long line
//!              ▼                                  ▼
//!             Gone ◀──────────────────────────────┘
//! ```
//!
//! Pure: a line as it was read and the moment go in, what to do comes out.

use super::rate::{Rate, RateVerdict};
use crate::clock::{Micros, Moment};
use crate::config::Limits;
use modiar_protocol::client::{Challenge, Hello, Move};
use modiar_protocol::limits::HANDSHAKE_BAD_LINES;
use modiar_protocol::server::Error;
use modiar_protocol::{
    ChallengeId, ClientMessage, DecodeError, ErrorCode, GameId, GoodbyeReason, Incoming, LineTooLong, PROTOCOL, Ref,
};
use std::borrow::Cow;

/// One connection.
#[derive(Clone, Debug)]
pub struct Session {
    state: State,
    rate: Rate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Greeting { bad_lines: u32 },
    Welcome,
    Gone,
}

/// What came in.
#[derive(Clone, Debug)]
pub enum Said {
    /// A line without a byte.
    Empty,
    /// A line that was understood.
    Message(Incoming),
    /// A line that was not.
    Bad(DecodeError),
    /// The line went on beyond its limit.
    TooLong(LineTooLong),
    /// The handshake took longer than so many milliseconds.
    HandshakeExpired(u64),
    /// The hello that this session let through was refused elsewhere.
    HelloRefused(Error),
    /// The host keeps this bot out, and says this about it.
    Banned(String),
    /// It was accepted.
    Welcomed,
    /// The move that this session let through was refused, with this error if there is one to tell.
    MoveRefused(Option<Error>),
    /// The move was not applied, for the rate was used up.
    MoveLimited(Option<Ref>),
}

/// What to do about it.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing.
    Nothing,
    /// Say this.
    Reply(Error),
    /// Perhaps say this, then goodbye.
    Goodbye(Option<Error>, GoodbyeReason, Cow<'static, str>, Option<Ref>),
    /// Let the bot in, or refuse it.
    Enter(Box<Hello>, Option<Ref>),
    /// Look for opponents.
    Seek(String, u64, Option<Ref>),
    /// Stop looking.
    Unseek(Option<String>, Option<Ref>),
    /// Challenge a bot.
    Challenge(Box<Challenge>, Option<Ref>),
    /// Take a challenge up.
    Accept(ChallengeId, Option<Ref>),
    /// Turn one down.
    Decline(ChallengeId, Option<Ref>),
    /// Have a move judged; where `limited` only an accepted one counts.
    Move {
        /// The move.
        wanted: Move,
        /// Whether the rate is used up.
        limited: bool,
        /// Its mark.
        reference: Option<Ref>,
    },
    /// Give a game up.
    Resign(GameId, Option<Ref>),
    /// Follow a game.
    Watch(GameId, Option<Ref>),
    /// Follow it no longer.
    Unwatch(GameId, Option<Ref>),
    /// Give a sign of life.
    Pong(Option<Ref>),
}

impl Session {
    /// A connection that has said nothing.
    #[must_use]
    pub const fn new(now: Moment, limits: &Limits) -> Self {
        Self { state: State::Greeting { bad_lines: 0 }, rate: Rate::new(now, limits) }
    }

    /// Whether the bot has been let in.
    #[must_use]
    pub fn is_welcome(&self) -> bool {
        self.state == State::Welcome
    }

    /// The server stood still so long (`session.rate`).
    pub fn make_up(&mut self, stopped: Micros, now: Moment) {
        self.rate.make_up(stopped, now);
    }

    /// The one transition.
    pub fn hear(&mut self, said: Said, now: Moment) -> Step {
        if self.state == State::Gone {
            return Step::Nothing;
        }
        match said {
            Said::Message(Incoming { message: ClientMessage::Move(wanted), reference }) if self.is_welcome() => {
                Step::Move { wanted, limited: self.rate.is_spent(now), reference }
            }
            Said::Message(Incoming { message, reference }) => match self.count(now, reference.clone()) {
                Some(limited) => limited,
                None => self.message(message, reference),
            },
            Said::Empty => self.count(now, None).unwrap_or(Step::Nothing),
            Said::Bad(error) => {
                self.count(now, error.reference.clone()).unwrap_or_else(|| self.bad_line(refusal(error)))
            }
            Said::MoveRefused(error) => {
                self.count(now, None).unwrap_or_else(|| error.map_or(Step::Nothing, Step::Reply))
            }
            Said::MoveLimited(reference) => self.count(now, reference).unwrap_or(Step::Nothing),
            Said::TooLong(error) => {
                let error = Error { fatal: true, ..Error::new(ErrorCode::LineTooLong, error.to_string()) };
                self.end(Some(error), GoodbyeReason::LineTooLong, "the line was too long to go on", None)
            }
            Said::HandshakeExpired(_) if self.is_welcome() => Step::Nothing,
            Said::HandshakeExpired(ms) => {
                let message =
                    format!("no accepted hello within {ms} ms; say hello first, and end each message with a newline");
                self.end(None, GoodbyeReason::Handshake, message, None)
            }
            Said::HelloRefused(error) => self.bad_line(error),
            Said::Banned(message) => self.end(None, GoodbyeReason::Banned, message, None),
            Said::Welcomed => {
                self.state = State::Welcome;
                Step::Nothing
            }
        }
    }

    fn message(&mut self, message: ClientMessage, reference: Option<Ref>) -> Step {
        let greeting = !self.is_welcome();
        match message {
            ClientMessage::Hello(hello) if greeting => self.greet(hello, reference),
            ClientMessage::Hello(_) => {
                reply(ErrorCode::UnexpectedHello, "hello has been said; one connection is one bot", reference)
            }
            _ if greeting => {
                let error =
                    Error::new(ErrorCode::ExpectedHello, "the first message is hello; send it before anything else");
                self.bad_line(Error { reference, ..error })
            }
            ClientMessage::Bye => self.end(None, GoodbyeReason::Bye, "goodbye", reference),
            ClientMessage::Seek { pool, games } => Step::Seek(pool, games, reference),
            ClientMessage::Unseek { pool } => Step::Unseek(pool, reference),
            ClientMessage::Challenge(challenge) => Step::Challenge(challenge, reference),
            ClientMessage::Accept { challenge } => Step::Accept(challenge, reference),
            ClientMessage::Decline { challenge } => Step::Decline(challenge, reference),
            ClientMessage::Move(wanted) => Step::Move { wanted, limited: false, reference },
            ClientMessage::Resign { game } => Step::Resign(game, reference),
            ClientMessage::Watch { game } => Step::Watch(game, reference),
            ClientMessage::Unwatch { game } => Step::Unwatch(game, reference),
            ClientMessage::Ping => Step::Pong(reference),
        }
    }

    fn greet(&mut self, hello: Box<Hello>, reference: Option<Ref>) -> Step {
        if hello.protocol == PROTOCOL {
            return Step::Enter(hello, reference);
        }
        let message = format!("protocol {} is not spoken here; speak {PROTOCOL}", hello.protocol);
        self.bad_line(Error {
            reference,
            supported: Some(vec![PROTOCOL]),
            ..Error::new(ErrorCode::BadProtocol, message)
        })
    }

    /// An error before the welcome brings the handshake nearer to its end (`session.hello-attempts`).
    fn bad_line(&mut self, error: Error) -> Step {
        let State::Greeting { bad_lines } = &mut self.state else { return Step::Reply(error) };
        *bad_lines += 1;
        if *bad_lines < HANDSHAKE_BAD_LINES {
            return Step::Reply(error);
        }
        self.end(
            Some(Error { fatal: true, ..error }),
            GoodbyeReason::Handshake,
            "three bad lines and no accepted hello",
            None,
        )
    }

    /// Counts a message; a step where it is over the rate.
    fn count(&mut self, now: Moment, reference: Option<Ref>) -> Option<Step> {
        match self.rate.count(now) {
            RateVerdict::Free => None,
            RateVerdict::Limited => {
                let (a_second, at_once) = self.rate.allowed();
                let message = format!(
                    "more than {a_second} messages a second, {at_once} at once; not acted on, send it again later"
                );
                Some(reply(ErrorCode::RateLimited, message, reference))
            }
            RateVerdict::Flood => {
                let message = format!("{} messages over the rate within 10 s; send fewer", self.rate.flood());
                Some(self.end(None, GoodbyeReason::Flood, message, None))
            }
        }
    }

    fn end(
        &mut self,
        error: Option<Error>,
        reason: GoodbyeReason,
        message: impl Into<Cow<'static, str>>,
        reference: Option<Ref>,
    ) -> Step {
        self.state = State::Gone;
        Step::Goodbye(error, reason, message.into(), reference)
    }
}

fn reply(code: ErrorCode, message: impl Into<Cow<'static, str>>, reference: Option<Ref>) -> Step {
    Step::Reply(Error { reference, ..Error::new(code, message) })
}

fn refusal(error: DecodeError) -> Error {
    Error { reference: error.reference, field: error.field.map(Into::into), ..Error::new(error.code, error.message) }
}
