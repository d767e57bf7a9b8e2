//! The ladder's arithmetic: pure, no store, no clock, no names of bots.

mod rating;
pub mod tournament;

pub use rating::{Outcome, PROVISIONAL_RD, Rating};
