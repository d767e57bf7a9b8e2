//! The referee: the pure [`Game`], and the [`Table`] at which it is played.

mod flags;
mod game;
mod messages;
mod record;
mod table;

pub use flags::Flags;
pub use game::{Decision, Game, Phase, Played, Refused, Terms, Verdict};
pub use table::{Host, Referee, Seat, Table, Told};

#[cfg(test)]
mod game_tests;
