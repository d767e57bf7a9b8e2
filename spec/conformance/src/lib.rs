//! Proof for both ends of the wire: [`bot`] checks bots with a scripted referee, [`quiz`] their boards, [`server`] checks
//! servers with scripted bots and the transcripts of `spec/transcripts`. [`Peer`] is such a bot's connection: a client that
//! sends what it is told, byte for byte, and never guesses.

#![forbid(unsafe_code)]

pub mod bot;
mod files;
mod manners;
mod matching;
mod minutes;
mod peer;
mod player;
pub mod quiz;
mod report;
mod runner;
pub mod search;
pub mod server;
mod transcript;

pub use peer::{Peer, PeerError};
pub use player::{Codec, Failure};
pub use report::{About, Checking, End, Fault, Report, Verdict, junit};
pub use transcript::{Transcript, TranscriptError};
