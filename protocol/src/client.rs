//! What a client may say, and the strict reading of it.

use crate::fields::{Fields, Key, boolean, integer, label, text};
use crate::limits::SERIES_GAMES;
use crate::wire::side_word;
use crate::{BotName, ChallengeId, ErrorCode, GameId, Secret, plain};
use modiar_rules::{Pit, Side};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

/// A client's mark on a message, which comes back on the direct reply (`transport.ref`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Ref {
    /// An integer within ±(2^53 − 1).
    Integer(i64),
    /// At most 64 characters.
    Text(Box<str>),
}

/// One line as it was understood.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Incoming {
    /// What was said.
    #[serde(flatten)]
    pub message: ClientMessage,
    /// The mark that the answer carries.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<Ref>,
}

/// A client's message; `spec/messages/` has a page for each.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ClientMessage {
    /// Who the bot is.
    Hello(Box<Hello>),
    /// Asks for opponents.
    Seek {
        /// The pool's name.
        pool: String,
        /// How many games; 0 until unseek.
        games: u64,
    },
    /// Takes seeks back.
    Unseek {
        /// One pool, or all.
        #[serde(skip_serializing_if = "Option::is_none")]
        pool: Option<String>,
    },
    /// Asks one bot for games.
    Challenge(Box<Challenge>),
    /// Takes a challenge up.
    Accept {
        /// Which.
        challenge: ChallengeId,
    },
    /// Turns a challenge down, or takes it back.
    Decline {
        /// Which.
        challenge: ChallengeId,
    },
    /// Plays a pit.
    Move(Move),
    /// Gives a game up.
    Resign {
        /// Which.
        game: GameId,
    },
    /// Asks to follow a game.
    Watch {
        /// Which.
        game: GameId,
    },
    /// Ends following it.
    Unwatch {
        /// Which.
        game: GameId,
    },
    /// Asks for a sign of life.
    Ping,
    /// Ends the connection.
    Bye,
}

impl ClientMessage {
    /// Appends the message as one line to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        // Writing to memory cannot fail, and no message has a key that is not a text.
        let written = serde_json::to_writer(&mut *out, self);
        debug_assert!(written.is_ok(), "a message did not serialise");
        out.push(b'\n');
    }
}

/// The first message of a connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hello {
    /// The protocol's version.
    pub protocol: u64,
    /// The bot's name; without one the server gives a guest's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<BotName>,
    /// What proves that the name is the bot's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Secret>,
    /// Claims the name.
    pub register: bool,
    /// A guest's resume token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<Secret>,
    /// The client library.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The bot's build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Most games at once.
    pub games: u64,
    /// Whether `moved` is wanted for the bot's own games.
    pub updates: bool,
}

/// A call for games with one bot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Challenge {
    /// Whom.
    pub opponent: String,
    /// The pool whose time and rules hold.
    pub pool: String,
    /// The side the challenger takes; `None` leaves it to chance.
    #[serde(serialize_with = "side_or_random")]
    pub side: Option<Side>,
    /// Whether the games count.
    pub rated: bool,
    /// How many; sides alternate.
    pub games: u64,
}

/// A move. The ply makes it safe to send twice (`verdict.duplicate`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Move {
    /// The game.
    pub game: GameId,
    /// The pit, absolute.
    #[serde(serialize_with = "pit_number")]
    pub pit: Pit,
    /// The ply this move is meant for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ply: Option<u32>,
}

fn pit_number<S: Serializer>(pit: &Pit, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u8(pit.index())
}

fn side_or_random<S: Serializer>(side: &Option<Side>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(side.map_or("random", side_word))
}

/// Why a line was not understood. Nothing about the connection or its games changes by it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct DecodeError {
    /// The published code.
    pub code: ErrorCode,
    /// What is wrong and what to do, for a person.
    pub message: String,
    /// The field at fault.
    pub field: Option<&'static str>,
    /// The mark of the message, where it could be read.
    pub reference: Option<Ref>,
}

impl DecodeError {
    pub(crate) fn new(code: ErrorCode, message: String) -> Self {
        Self { code, message, field: None, reference: None }
    }
}

/// Reads one line, without its newline.
///
/// # Errors
/// `bad_utf8`, `bad_json`, `bad_field` (with the field), `bad_name` or `unknown_type`; clauses `transport.*`.
pub fn decode(line: &[u8]) -> Result<Incoming, DecodeError> {
    match plain::read_move(line) {
        Some(wanted) => Ok(Incoming { message: ClientMessage::Move(wanted), reference: None }),
        None => read_strictly(line),
    }
}

pub(crate) fn read_strictly(line: &[u8]) -> Result<Incoming, DecodeError> {
    let fields = Fields::read(line)?;
    match (read_message(&fields), fields.reference()) {
        (Ok(message), reference) => Ok(Incoming { message, reference: reference? }),
        // The type comes before the fields, `ref` among them; an error tells a mark only where it could be read.
        (Err(error), reference) => Err(DecodeError { reference: reference.ok().flatten(), ..error }),
    }
}

fn read_message(fields: &Fields<'_>) -> Result<ClientMessage, DecodeError> {
    let kind = fields.required(Key::Type, text)?;
    let game = || fields.required(Key::Game, |raw| text(raw).map(|text| GameId::read(&text)));
    let challenge = || fields.required(Key::Challenge, |raw| text(raw).map(|text| ChallengeId::read(&text)));
    Ok(match &*kind {
        "move" => ClientMessage::Move(Move {
            game: game()?,
            pit: fields.required(Key::Pit, pit)?,
            ply: fields.optional(Key::Ply, ply)?,
        }),
        "hello" => ClientMessage::Hello(Box::new(read_hello(fields)?)),
        "seek" => ClientMessage::Seek {
            pool: fields.required(Key::Pool, owned_text)?,
            games: fields.optional(Key::Games, count(0))?.unwrap_or(1),
        },
        "unseek" => ClientMessage::Unseek { pool: fields.optional(Key::Pool, owned_text)? },
        "challenge" => ClientMessage::Challenge(Box::new(read_challenge(fields)?)),
        "accept" => ClientMessage::Accept { challenge: challenge()? },
        "decline" => ClientMessage::Decline { challenge: challenge()? },
        "resign" => ClientMessage::Resign { game: game()? },
        "watch" => ClientMessage::Watch { game: game()? },
        "unwatch" => ClientMessage::Unwatch { game: game()? },
        "ping" => ClientMessage::Ping,
        "bye" => ClientMessage::Bye,
        other => return Err(unknown_type(other)),
    })
}

/// The types of [`ClientMessage`], for people.
const TYPES: &str = "hello, seek, unseek, challenge, accept, decline, move, resign, watch, unwatch, ping, bye";

fn unknown_type(kind: &str) -> DecodeError {
    let kind: String = kind.chars().take(40).collect();
    DecodeError::new(ErrorCode::UnknownType, format!("'{kind}' is no type of message; send one of {TYPES}"))
}

fn read_hello(fields: &Fields<'_>) -> Result<Hello, DecodeError> {
    let name = fields.optional(Key::Name, text)?.map(|text| BotName::new(&text)).transpose();
    let secret = |raw| text(raw).map(|text| Secret::new(&text));
    Ok(Hello {
        protocol: fields.required(Key::Protocol, count(0))?,
        name: name.map_err(|error| DecodeError::new(ErrorCode::BadName, error.to_string()))?,
        token: fields.optional(Key::Token, secret)?,
        register: fields.optional(Key::Register, boolean)?.unwrap_or(false),
        resume: fields.optional(Key::Resume, secret)?,
        client: fields.optional(Key::Client, label)?,
        version: fields.optional(Key::Version, label)?,
        games: fields.optional(Key::Games, count(1))?.unwrap_or(1),
        updates: fields.optional(Key::Updates, boolean)?.unwrap_or(false),
    })
}

fn read_challenge(fields: &Fields<'_>) -> Result<Challenge, DecodeError> {
    Ok(Challenge {
        opponent: fields.required(Key::Opponent, owned_text)?,
        pool: fields.required(Key::Pool, owned_text)?,
        side: fields.optional(Key::Side, side)?.flatten(),
        rated: fields.optional(Key::Rated, boolean)?.unwrap_or(false),
        games: fields.optional(Key::Games, count(1))?.unwrap_or(1),
    })
}

fn owned_text(raw: &str) -> Result<String, Cow<'static, str>> {
    text(raw).map(Cow::into_owned)
}

fn pit(raw: &str) -> Result<Pit, Cow<'static, str>> {
    let index = integer(0..=5)(raw)?;
    u8::try_from(index).ok().and_then(Pit::new).ok_or(Cow::Borrowed("send an integer from 0 to 5"))
}

fn ply(raw: &str) -> Result<u32, Cow<'static, str>> {
    let ply = integer(1..=i64::from(u32::MAX))(raw)?;
    u32::try_from(ply).map_err(|error| error.to_string().into())
}

fn side(raw: &str) -> Result<Option<Side>, Cow<'static, str>> {
    match &*text(raw)? {
        "south" => Ok(Some(Side::South)),
        "north" => Ok(Some(Side::North)),
        "random" => Ok(None),
        _ => Err("send south, north or random".into()),
    }
}

fn count(least: u64) -> impl FnOnce(&str) -> Result<u64, Cow<'static, str>> {
    let range = least.cast_signed()..=SERIES_GAMES.cast_signed();
    move |raw| integer(range)(raw).map(i64::cast_unsigned)
}
