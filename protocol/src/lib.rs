//! What both ends of a Modiar connection must agree on.
//!
//! Bytes become lines ([`Lines`]), lines become messages ([`client::decode`]), and a finished game becomes a
//! [`Record`]. Nothing here opens a socket, reads a clock or knows who may do what: this crate owns the wire, the
//! daemon owns the games. The types here are the wire's own; the domain's types live in `modiar-rules`.
//!
//! The pages of `spec/` are the contract; doc comments cite their clauses.

#![forbid(unsafe_code)]

pub mod client;
mod code;
mod fields;
mod id;
pub mod limits;
mod line;
mod name;
mod plain;
mod record;
pub mod server;
mod strict;
mod wire;

pub use client::{ClientMessage, DecodeError, Incoming, Ref};
pub use code::{ErrorCode, GoodbyeReason};
pub use id::{ChallengeId, GameId};
pub use line::{LineTooLong, Lines};
pub use name::{BadName, BotName, Secret};
pub use record::{Record, RecordSeat, SeatRating, UnfinishedTurn, ZERO_HASH};
pub use server::ServerMessage;
pub use wire::{Detail, GameResult, GameRules, PitList, Sides, Termination, TimeControl};

/// The version of the protocol this crate speaks (`session.protocol-version`).
pub const PROTOCOL: u64 = 1;
