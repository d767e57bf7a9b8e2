//! The house bots: how each chooses its pit.

mod brain;

pub use brain::Brain;
