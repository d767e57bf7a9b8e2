//! The published codes: each keeps its meaning for ever (`errors.stable`).

use serde::{Deserialize, Serialize};
use std::fmt;

/// Declares a closed list of wire words: serde names, `as_str`, `ALL` and `Display` from one table.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $word)] $variant,)+ }

        impl $name {
            /// Every word of the list, in the order of the spec.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Why a line or message was refused: `spec/errors.md` has a row for each.
    ErrorCode {
        /// Not one JSON object by the strict reading of `transport.json`.
        BadJson = "bad_json",
        /// Bytes that are not UTF-8.
        BadUtf8 = "bad_utf8",
        /// More than [`crate::limits::CLIENT_LINE_BYTES`].
        LineTooLong = "line_too_long",
        /// A field is missing, of the wrong type, or out of range; `field` names it.
        BadField = "bad_field",
        /// A `type` this server does not know.
        UnknownType = "unknown_type",
        /// Something other than hello came first.
        ExpectedHello = "expected_hello",
        /// A second hello.
        UnexpectedHello = "unexpected_hello",
        /// A protocol version this server does not speak; `supported` lists those it does.
        BadProtocol = "bad_protocol",
        /// Unknown name or wrong token: the same words for both.
        AuthFailed = "auth_failed",
        /// Somebody owns or uses the name.
        NameTaken = "name_taken",
        /// Not a name by the pattern, or one that belongs to the server.
        BadName = "bad_name",
        /// This host does not register bots over the wire.
        RegistrationClosed = "registration_closed",
        /// This host does not take guests.
        GuestsClosed = "guests_closed",
        /// The server, or this address, has its fill of connections.
        TooManyConnections = "too_many_connections",
        /// Too many messages; this one was not acted on.
        RateLimited = "rate_limited",
        /// No pool of that name.
        UnknownPool = "unknown_pool",
        /// No such bot is connected.
        UnknownBot = "unknown_bot",
        /// The challenge never was, or has already ended.
        UnknownChallenge = "unknown_challenge",
        /// This connection already seeks in that pool.
        AlreadySeeking = "already_seeking",
        /// A limit on games, watches or challenges is reached.
        GamesLimit = "games_limit",
        /// Not a game of this bot.
        WrongGame = "wrong_game",
        /// The other side is to move, or the ply is still to come.
        NotYourTurn = "not_your_turn",
        /// That ply has been played.
        StalePly = "stale_ply",
        /// That very move has been played already.
        Duplicate = "duplicate",
        /// The game has ended.
        GameOver = "game_over",
        /// The pit may not be played; only where a pool forgives it.
        IllegalMove = "illegal_move",
        /// The server is about to stop.
        Draining = "draining",
        /// The server is at fault.
        Internal = "internal",
    }
}

words! {
    /// Why the server ends a connection.
    GoodbyeReason {
        /// The client said bye.
        Bye = "bye",
        /// No accepted hello in time.
        Handshake = "handshake",
        /// The bot connected anew.
        Replaced = "replaced",
        /// Far too many messages.
        Flood = "flood",
        /// Output waited too long or grew too large.
        SlowReader = "slow_reader",
        /// A line beyond the limit.
        LineTooLong = "line_too_long",
        /// The host banned the bot.
        Banned = "banned",
        /// The server stops.
        Draining = "draining",
        /// The server is at fault.
        Internal = "internal",
    }
}
