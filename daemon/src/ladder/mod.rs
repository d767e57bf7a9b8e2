//! The ladder: what finished games make of ratings. All of it is a fold over the stored games and the events between them,
//! the same in the finishing transaction, in a rebuild and in a check.

mod event;
mod fold;
mod ratings;
mod standing;

pub use event::{BadSeason, Carry, Event, FIRST_SEASON, Happening, Season, SeasonName, seasons};
pub use fold::{Fold, Meeting, carry_over};
pub use ratings::{Ratings, Row};
pub use standing::{
    Score, Standing, Tally, after, anchor, change, counts, is_close, is_marked, is_same, put, rating_from, rating_of,
    seat_rating, text,
};
