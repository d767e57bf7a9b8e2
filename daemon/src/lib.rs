//! The Modiar daemon: it referees games between bots that connect over TCP.
//!
//! Bytes flow one way: bytes → line → message → session → game → record → store → views. ARCHITECTURE.md draws the
//! house; each folder is a room of it, with a pure machine and a handle that acts on what the machine decides.

pub mod admin;
pub mod analysis;
pub mod cli;
pub mod clock;
pub mod config;
pub mod dice;
pub mod export;
pub mod house;
pub mod ladder;
pub mod lobby;
pub mod logging;
pub mod metrics;
pub mod net;
pub mod oracle;
pub mod records;
pub mod referee;
pub mod session;
pub mod standings;
pub mod store;
mod text;
pub mod time;
pub mod tournament;
mod web;

/// The name and version that records and welcomes carry.
pub const SERVER: &str = concat!("modiar/", env!("CARGO_PKG_VERSION"));
