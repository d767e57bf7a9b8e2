//! The ladder's arithmetic: pure, no store, no clock, no names of bots.

mod fit;
pub mod pairing;
mod rating;
pub mod tournament;

pub use fit::{Chances, Count, Estimate, Fit, Games, MEAN_RATING, Strength, games_to_separate};
pub use rating::{Outcome, PROVISIONAL_RD, Rating};
