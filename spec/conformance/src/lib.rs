//! Plays the transcripts of `spec/transcripts` against a live server, and holds the peer that does it: a client that
//! sends what it is told, byte for byte, and never guesses. The other way round, [`bot`] checks bots.

#![forbid(unsafe_code)]

pub mod bot;
mod manners;
mod matching;
mod peer;
mod player;
mod transcript;

pub use peer::{Peer, PeerError};
pub use player::Failure;
pub use transcript::{LoadError, Transcript, TranscriptError, transcripts_dir};
