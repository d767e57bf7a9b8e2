//! Plays the transcripts of `spec/transcripts` against a live server, and holds the peer that does it: a client that
//! sends what it is told, byte for byte, and never guesses.

#![forbid(unsafe_code)]

mod peer;

pub use peer::{Peer, PeerError};
