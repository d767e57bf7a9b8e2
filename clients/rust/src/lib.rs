//! Connects bots to a Modiar server.
//!
//! | to | use |
//! |---|---|
//! | make a whole program of a bot | [`run`], [`Bot`] |
//! | own the loop | [`Client`], [`Client::turns`], [`OpenTurn::play`]; on tokio `aio` |
//! | only read and write the lines | [`Decoder`], [`encode`] |
//! | play by the rules | [`Position`] |
//!
//! Without features it blocks and needs the standard library alone. `tokio` adds the client for programs on tokio, `tls` adds
//! TLS to both.
//!
//! ```no_run
//! use modiar_client::{Turn, run};
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     run(|turn: &Turn| turn.legal[0], "practice", 1)
//! }
//! ```

#[cfg(feature = "tokio")]
pub mod aio;
mod client;
mod codec;
mod error;
mod interrupt;
mod log;
mod open;
mod player;
mod position;
mod program;
mod session;
mod settings;
#[cfg(feature = "tls")]
mod tls;
mod turn;

pub use client::{Client, Turns};
pub use codec::{Decoder, LINE_BYTES, LineTooLong, encode};
pub use error::{Error, IllegalMove, ProtocolError};
pub use log::Level;
/// The messages of both sides, as the protocol's own crate has them.
pub use modiar_protocol as protocol;
pub use modiar_protocol::{
    BotName, ClientMessage, ErrorCode, GameId, GameResult, GoodbyeReason, Incoming, Ref, Secret, ServerMessage,
    Termination,
};
/// The rules, as the referee has them.
pub use modiar_rules as rules;
pub use modiar_rules::{BySide, Pit, Side};
pub use open::OpenTurn;
pub use position::{DEPTH, Position};
pub use program::{Bot, run, run_with};
pub use settings::Settings;
pub use turn::{Ended, Turn};
