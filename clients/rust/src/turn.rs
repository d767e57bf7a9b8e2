//! What a bot is asked, and what it is told at the end.

use crate::Position;
use modiar_protocol::server::{Last, RatingChange};
use modiar_protocol::{BotName, Detail, GameId, GameResult, Termination};
use modiar_rules::{BySide, Pit, Side};
use std::fmt;
use std::time::Instant;

/// A move is wanted. What it tells stays as it was when the line came.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Turn {
    /// The game's id.
    pub game: GameId,
    /// The ply to play; the game's first is 1.
    pub ply: u32,
    /// The bot's own side.
    pub side: Side,
    /// What stands.
    pub position: Position,
    /// What may be played, ascending; never empty.
    pub legal: Vec<Pit>,
    /// What each side's clock had at the start of this turn, in milliseconds.
    pub remaining_ms: BySide<u64>,
    /// When the own time is used up, as far as this end of the link can tell.
    pub deadline: Instant,
    /// Who plays the other side, where it was told.
    pub opponent: Option<BotName>,
    /// Whether the game changes ratings.
    pub rated: bool,
    /// The pool's name.
    pub pool: String,
    /// The ply before this one; none at the first after the opening.
    pub last: Option<Last>,
}

/// A game is over. As text it is a line of the results: `g… north immobile south 19-23`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ended {
    /// The game's id.
    pub game: GameId,
    /// Who won.
    pub result: GameResult,
    /// Why it ended.
    pub termination: Termination,
    /// Seeds of each side: final, or what was captured so far.
    pub score: BySide<u8>,
    /// The bot's own side, where it was told.
    pub side: Option<Side>,
    /// What an illegal move was.
    pub detail: Option<Detail>,
    /// What a rated game did to the bot's rating.
    pub rating: Option<RatingChange>,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { game, result, termination, score: BySide { south, north }, side, .. } = self;
        write!(f, "{game} {result} {termination} ")?;
        match side {
            Some(side) => write!(f, "{side}")?,
            None => f.write_str("unknown")?,
        }
        write!(f, " {south}-{north}")
    }
}
