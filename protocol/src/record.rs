//! The record of one finished game: one JSON object a line, enough to referee the game again (`spec/record.md`).

use crate::{BotName, Detail, GameId, GameResult, GameRules, Sides, Termination, TimeControl, strict};
use serde::{Deserialize, Serialize};

/// The hash before the first record of all.
pub const ZERO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A finished game. Times are microseconds, sides as always, `moves` with the opening; the time lists have one entry a
/// ply after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a record, an object with the fields of spec/record.md")]
#[allow(missing_docs)] // spec/record.md tells each field
pub struct Record {
    /// The version of this format: 1.
    pub record: u32,
    /// The place in the order of commits, without gaps, from 1.
    pub seq: u64,
    /// SHA-256 of the line before it in the archive, in hex; [`ZERO_HASH`] for the first.
    pub prev: String,
    pub game: GameId,
    pub pool: String,
    pub rated: bool,
    /// RFC 3339, UTC, microseconds.
    pub started: String,
    pub ended: String,
    #[serde(deserialize_with = "strict::object")]
    pub time: TimeControl,
    #[serde(deserialize_with = "strict::object")]
    pub rules: GameRules,
    pub south: RecordSeat,
    pub north: RecordSeat,
    pub opening: String,
    pub moves: String,
    pub elapsed_us: Vec<u64>,
    pub own_us: Vec<u64>,
    pub charged_us: Vec<u64>,
    #[serde(deserialize_with = "strict::object")]
    pub remaining_us: Sides<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished_turn: Option<UnfinishedTurn>,
    pub result: GameResult,
    pub termination: Termination,
    #[serde(deserialize_with = "strict::option", default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    #[serde(deserialize_with = "strict::object")]
    pub score: Sides<u8>,
    /// Before the final taking.
    pub pits: [u8; 6],
    #[serde(deserialize_with = "strict::option", default, skip_serializing_if = "Option::is_none")]
    pub rating_after: Option<Sides<SeatRating>>,
    pub node: String,
    pub server: String,
}

/// One side of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct RecordSeat {
    pub name: BotName,
    pub guest: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rd: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volatility: Option<f64>,
}

/// A rating as the finishing transaction left it, rounded to 1e-6.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct SeatRating {
    pub rating: f64,
    pub rd: f64,
    pub volatility: f64,
}

/// The turn that was running when the game ended otherwise than by a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct UnfinishedTurn {
    pub elapsed_us: u64,
    pub own_us: u64,
    pub charged_us: u64,
}

impl Record {
    /// The record as it stands in the archive, without its newline.
    ///
    /// # Errors
    /// Only what `serde_json` could not write, which no record holds.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}
