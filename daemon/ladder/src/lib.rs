//! The ladder's arithmetic: pure, no store, no clock, no names of bots.

pub mod pairing;
mod rating;

pub use rating::{Outcome, PROVISIONAL_RD, Rating};
