//! What the server says. Each message is one compact line; `spec/messages/` has a page for each.

use crate::limits::MESSAGE_CHARS;
use crate::wire::{SideWord, pit, side_option};
use crate::{
    BotName, ChallengeId, Detail, ErrorCode, GameId, GameResult, GameRules, GoodbyeReason, PitList, Ref, Secret, Sides,
    Termination, TimeControl,
};
use modiar_rules::{Pit, Side};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A message of the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[allow(missing_docs)] // the fields are told where they are specified: spec/messages
pub enum ServerMessage {
    Welcome(Box<Welcome>),
    Seeking {
        pool: String,
        waiting: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        reference: Option<Ref>,
    },
    SeekEnded {
        pool: String,
        reason: SeekEnd,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until_ms: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        reference: Option<Ref>,
    },
    Challenged(Box<Challenged>),
    ChallengeSent {
        challenge: ChallengeId,
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        reference: Option<Ref>,
    },
    ChallengeEnded {
        challenge: ChallengeId,
        reason: ChallengeEnd,
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        reference: Option<Ref>,
    },
    Started(Box<Started>),
    Turn(Turn),
    Moved(Moved),
    Ended(Box<Ended>),
    Error(Box<Error>),
    Notice {
        code: ErrorCode,
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until_ms: Option<u64>,
    },
    Goodbye {
        reason: GoodbyeReason,
        message: Cow<'static, str>,
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        reference: Option<Ref>,
    },
    Pong {
        time_ms: u64,
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        reference: Option<Ref>,
    },
    Unwatched {
        game: GameId,
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        reference: Option<Ref>,
    },
}

impl ServerMessage {
    /// Reads a line that a server wrote; fields that this version does not have are passed over.
    ///
    /// # Errors
    /// It is no message that this version knows, or has a word in it that this version does not.
    pub fn read(line: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line)
    }

    /// Appends the message as one line to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Turn(turn) => turn.write(out),
            Self::Moved(moved) => moved.write(out),
            _ => {
                // Writing to memory cannot fail, and no message has a key that is not a text.
                let written = serde_json::to_writer(&mut *out, self);
                debug_assert!(written.is_ok(), "a message did not serialise");
                out.push(b'\n');
            }
        }
    }

    /// The message as one line.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        self.write(&mut out);
        out
    }
}

/// The answer to an accepted hello.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Welcome {
    pub protocol: u64,
    pub server: String,
    pub bot: WelcomedBot,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Secret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Secret>,
    pub pools: Vec<PoolInfo>,
    pub limits: WelcomeLimits,
    pub games: Vec<GameId>,
    #[serde(with = "missed")]
    pub missed: Vec<Ended>,
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Ref>,
}

/// The results in a welcome are whole messages, their `type` included.
mod missed {
    use super::Ended;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::borrow::Cow;

    #[derive(Serialize, Deserialize)]
    #[serde(tag = "type", rename_all = "snake_case")]
    enum Message<'a> {
        Ended(Cow<'a, Ended>),
    }

    pub(super) fn serialize<S: Serializer>(missed: &[Ended], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(missed.iter().map(|ended| Message::Ended(Cow::Borrowed(ended))))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Ended>, D::Error> {
        let messages = Vec::<Message<'_>>::deserialize(deserializer)?;
        Ok(messages.into_iter().map(|Message::Ended(ended)| ended.into_owned()).collect())
    }
}

/// Who the server takes the client for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct WelcomedBot {
    pub name: BotName,
    pub guest: bool,
    pub ratings: BTreeMap<String, PoolRating>,
}

/// A bot's standing in one pool.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct PoolRating {
    pub rating: f64,
    pub rd: f64,
    pub games: u64,
}

/// A pool as a bot is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct PoolInfo {
    pub name: String,
    pub time: TimeControl,
    pub rated: bool,
    pub openings: Openings,
    pub rules: GameRules,
}

/// Where the games of a pool start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Openings {
    /// The start position.
    Start,
    /// Lines of eight plies that are worth a draw.
    Balanced,
}

/// The limits a bot must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct WelcomeLimits {
    pub line_bytes: u64,
    pub messages_per_s: u64,
    pub games: u64,
}

/// Why a seek is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeekEnd {
    /// The bot took it back, or it never was.
    Cancelled,
    /// All its games are played.
    Done,
    /// The server stops.
    Draining,
    /// The bot did not show up for a game.
    Penalised,
}

/// Why a challenge is over without a game, or without the rest of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChallengeEnd {
    /// The opponent would not.
    Declined,
    /// Nobody answered in time.
    Expired,
    /// The challenger took it back or left.
    Cancelled,
    /// A side was at its limit of games, or gone, or the server had no room.
    Unavailable,
    /// The server stops.
    Draining,
}

/// A challenge as the opponent reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Challenged {
    pub challenge: ChallengeId,
    pub from: Challenger,
    pub pool: String,
    pub side: ChallengeSide,
    pub rated: bool,
    pub games: u64,
    pub expires_ms: u64,
}

/// Who challenges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Challenger {
    pub name: BotName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<f64>,
}

/// The side the challenger takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum ChallengeSide {
    South,
    North,
    Random,
}

impl From<Option<Side>> for ChallengeSide {
    fn from(side: Option<Side>) -> Self {
        match side {
            Some(Side::South) => Self::South,
            Some(Side::North) => Self::North,
            None => Self::Random,
        }
    }
}

/// One of the two players.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Player {
    pub name: BotName,
    pub guest: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// The whole state of a game, at its start, at a return, or to a spectator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Started {
    pub game: GameId,
    pub pool: String,
    pub rated: bool,
    #[serde(with = "side_option", default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub spectator: bool,
    pub south: Player,
    pub north: Player,
    pub time: TimeControl,
    pub rules: GameRules,
    pub opening: String,
    pub moves: String,
    pub ply: u32,
    #[serde(with = "SideWord")]
    pub side_to_move: Side,
    pub pits: [u8; 6],
    pub captured: Sides<u8>,
    pub remaining_ms: Sides<u64>,
    pub resumed: bool,
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Ref>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands it over so
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A move is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Turn {
    pub game: GameId,
    pub ply: u32,
    #[serde(with = "SideWord")]
    pub side: Side,
    pub pits: [u8; 6],
    pub captured: Sides<u8>,
    pub legal: PitList,
    pub remaining_ms: Sides<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Last>,
}

/// The ply before this turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Last {
    pub ply: u32,
    #[serde(with = "SideWord")]
    pub side: Side,
    #[serde(with = "pit")]
    pub pit: Pit,
    pub taken: u8,
    pub elapsed_ms: u64,
}

/// A ply was played: for spectators, and for bots that asked for updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Moved {
    pub game: GameId,
    pub ply: u32,
    #[serde(with = "SideWord")]
    pub side: Side,
    #[serde(with = "pit")]
    pub pit: Pit,
    pub taken: u8,
    pub elapsed_ms: u64,
    pub pits: [u8; 6],
    pub captured: Sides<u8>,
    pub remaining_ms: Sides<u64>,
}

/// A game is over: once to each side, the last line of the game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Ended {
    pub game: GameId,
    pub result: GameResult,
    pub termination: Termination,
    pub score: Sides<u8>,
    pub pits: [u8; 6],
    pub ply: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<RatingChange>,
}

/// What a rated game did to the reader's rating.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct RatingChange {
    pub before: f64,
    pub after: f64,
    pub rd: f64,
}

/// Something was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Error {
    pub code: ErrorCode,
    pub message: Cow<'static, str>,
    pub fatal: bool,
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Ref>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game: Option<GameId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<Cow<'static, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<Cow<'static, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legal: Option<PitList>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supported: Option<Vec<u64>>,
}

/// A text as people are told it (`message.server-schema`): what a client said may stand in it, and may be anything.
fn plain(text: Cow<'static, str>) -> Cow<'static, str> {
    if text.len() <= MESSAGE_CHARS && !text.contains(char::is_control) {
        return text;
    }
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect::<String>().chars().take(MESSAGE_CHARS).collect::<String>().into()
}

impl Error {
    /// An error that costs nothing and names nothing more.
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: plain(message.into()),
            fatal: false,
            reference: None,
            game: None,
            field: None,
            clause: None,
            legal: None,
            supported: None,
        }
    }
}
