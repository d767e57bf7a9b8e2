//! The referee: the pure [`Game`], and the [`Table`] at which it is played.

mod evidence;
mod finish;
mod flags;
mod game;
mod guard;
mod messages;
mod office;
mod record;
mod seat;
mod table;
mod telling;
mod visit;

pub use flags::Flags;
pub use game::{Decision, Game, Phase, Played, Refused, Terms, Verdict};
pub(crate) use messages::GAME_OVER;
pub use messages::turn;
pub use office::{Host, Referee};
pub use seat::{Link, Seat};
pub use table::{OpenError, Table, Told};

#[cfg(test)]
mod game_tests;
#[cfg(test)]
mod table_tests;
