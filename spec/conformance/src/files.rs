//! The transcripts of `spec/transcripts`, within the program: it plays them where no source tree is.

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../transcripts/", $name, ".jsonl")))),+]
    };
}

/// The name of each, in the order of the names, and its text.
pub(crate) const FILES: &[(&str, &str)] = files![
    "accept-gone",
    "bad-field",
    "bad-json",
    "bad-utf8",
    "bye",
    "challenge-declined",
    "challenge-third",
    "challenge-unavailable",
    "flag",
    "full-game",
    "game-over",
    "guest-names",
    "handshake",
    "handshake-silence",
    "hello-again",
    "illegal-allowed",
    "illegal-move",
    "line-ends",
    "long-line",
    "many-lines",
    "move-fields",
    "no-show",
    "ping",
    "ref",
    "registration-closed",
    "repetition",
    "resign",
    "resign-fields",
    "resume",
    "seek",
    "series",
    "series-gone",
    "several-games",
    "stale-move",
    "strict-json",
    "unknown-type",
    "unseek",
    "unseek-all",
    "updates",
    "watch",
    "watch-end",
];
