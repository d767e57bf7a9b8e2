//! The rules of Modiar: who may play what, and what comes of it.
//!
//! This crate is the one referee. It knows no bot, clock, network, randomness or JSON; it depends on
//! nothing, allocates nothing while a [`Position`] is played, and no value it accepts makes it panic.
//! The clauses it cites (`rules.move.own-row`, …) are the sentences of `spec/rules.md`; each is shown
//! by data in `spec/vectors`.
//!
//! ```text
//!        5   4   3     North's row          seeds are sown counter-clockwise:
//!        0   1   2     South's row          0 1 2 3 4 5 0 …
//! ```
//!
//! | to | use |
//! |---|---|
//! | name things | [`Side`], [`BySide`], [`Pit`], [`PitSet`], [`Board`] |
//! | read a position from outside | [`Setup`] (any numbers), then [`Position`] (a lawful one) |
//! | play with a check | [`Position::check`], [`Position::play`], [`Illegal`] |
//! | play moves known to be legal, fast | [`Position::legal`], [`Position::play_unchecked`] |
//! | referee a whole game, its end included | [`Line`], [`EndRules`], [`Ending`] |
//! | read and write a game's moves | [`parse_moves`], [`moves_text`] |
//! | test another implementation | [`perft`] |
//!
//! ```
//! use modiar_rules::{EndRules, Ending, Line, Side, parse_moves};
//!
//! let moves = parse_moves("0413242")?;
//! let line = Line::replay(EndRules::default(), moves)?;
//! assert_eq!(line.position().to_string(), "1.1.1-6.1.16 4-12 n 8");
//! assert_eq!(line.ending(), Some(Ending::Immobile)); // only a grand slam is left
//! assert_eq!(line.winner(), Some(Side::North)); // 7 : 35
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod board;
mod ending;
mod illegal;
mod legal;
mod line;
mod moves;
mod perft;
mod pit;
mod position;
mod setup;
mod side;
mod sowing;
mod text;

pub use board::Board;
pub use ending::{EndRules, Ending};
pub use illegal::Illegal;
pub use line::{Line, Refusal, ReplayError};
pub use moves::{MovesError, moves_text, parse_moves};
pub use perft::perft;
pub use pit::{Pit, PitSet, Pits};
pub use position::{PlayError, Played, Position};
pub use setup::{PositionError, Setup, SetupError};
pub use side::{BySide, Side};
pub use text::{Expected, TextError};

/// Seeds in a game: those on the board and those captured, at every moment (rules.board.conserved).
pub const SEEDS: u8 = 42;
