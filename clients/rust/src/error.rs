//! What can go wrong, and whether to try again would help.

use modiar_protocol::server::Error as Refusal;
use modiar_protocol::{ErrorCode, GoodbyeReason};
use modiar_rules::Pit;
use std::fmt;

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A setting is wrong: which, its value, and what to do.
    Setting(String),
    /// The server could not be reached, or did not stay: where it was looked for, and the cause.
    Connect(String),
    /// The server does not let this name in.
    Auth(ProtocolError),
    /// The server refused a message for good.
    Protocol(ProtocolError),
    /// The server hung up before a welcome, or for good: banned, replaced, flood, handshake or `line_too_long`.
    Goodbye {
        /// Why.
        reason: GoodbyeReason,
        /// The same in words.
        message: String,
    },
    /// A pit may not be played; nothing was sent.
    IllegalMove(IllegalMove),
    /// The game of a turn has ended, or was given up.
    GameOver,
    /// The turn was answered already.
    Played,
    /// The client has said bye, or was interrupted.
    Closed,
    /// The bot failed, and the settings are strict.
    Bot(String),
}

impl Error {
    /// Whether the same may go well a little later, with nothing changed.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Connect(_) => true,
            Self::Auth(refused) | Self::Protocol(refused) => matches!(
                refused.code,
                ErrorCode::Draining | ErrorCode::Internal | ErrorCode::RateLimited | ErrorCode::TooManyConnections
            ),
            _ => false,
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(text) | Self::Connect(text) | Self::Bot(text) => f.write_str(text),
            Self::Auth(refused) | Self::Protocol(refused) => refused.fmt(f),
            Self::Goodbye { reason, message } => write!(f, "goodbye {reason}: {message}"),
            Self::IllegalMove(illegal) => illegal.fmt(f),
            Self::GameOver => f.write_str("the game is over"),
            Self::Played => f.write_str("the turn was answered already"),
            Self::Closed => f.write_str("the client is closed"),
        }
    }
}

impl From<IllegalMove> for Error {
    fn from(illegal: IllegalMove) -> Self {
        Self::IllegalMove(illegal)
    }
}

/// An error that the server told; spec/errors.md says what each code means.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProtocolError {
    /// For programs.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
    /// The field at fault, with `bad_field`.
    pub field: Option<String>,
    /// The clause of the specification that was broken, where it was told.
    pub clause: Option<String>,
    /// Whether the connection ended by it.
    pub fatal: bool,
}

impl From<&Refusal> for ProtocolError {
    fn from(refusal: &Refusal) -> Self {
        Self {
            code: refusal.code,
            message: refusal.message.to_string(),
            field: refusal.field.as_deref().map(str::to_owned),
            clause: refusal.clause.as_deref().map(str::to_owned),
            fatal: refusal.fatal,
        }
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for ProtocolError {}

/// A pit that may not be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IllegalMove {
    /// The pit.
    pub pit: Pit,
    /// The clause of spec/rules.md that it breaks.
    pub clause: &'static str,
}

impl fmt::Display for IllegalMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pit {} breaks {}", self.pit, self.clause)
    }
}

impl std::error::Error for IllegalMove {}
