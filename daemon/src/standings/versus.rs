//! Two bots, head to head.

use super::field::Field;
use super::fold::{LastGame, PoolFold};
use super::table::{Figure, Score};
use crate::analysis::Points;
use modiar_ladder::Count;
use modiar_protocol::{BotName, GameResult};
use serde::Serialize;

/// What one bot did against another, and what all games say of the two.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Versus {
    pub pool: String,
    pub bot: String,
    pub opponent: String,
    /// The games of the two, as the first of them sees it.
    pub all: Score,
    pub south: Score,
    pub north: Score,
    /// How far the first is above the second by the fit of all games, in points.
    pub difference: Figure,
    /// The likelihood that the first is the stronger, 0 to 1.
    pub superiority: f64,
    /// The newest last.
    pub last: Vec<Played>,
}

/// A game of the two.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Played {
    pub game: String,
    pub ended: String,
    /// The side of the first.
    pub side: &'static str,
    /// Its result.
    pub result: &'static str,
    pub termination: &'static str,
}

impl Versus {
    /// Of two bots of a pool. Nothing where one of them has no game in it.
    #[must_use]
    pub fn of(name: &str, pool: &PoolFold, field: &Field, two: &[BotName; 2]) -> Option<Self> {
        let [one, other] = [field.place(&two[0])?, field.place(&two[1])?];
        let south = points(field.games.count(one, other));
        let north = points(field.games.count(other, one)).turned();
        let mut all = south;
        all.merge(&north);
        Some(Self {
            pool: name.to_owned(),
            bot: field.players[one].name.to_string(),
            opponent: field.players[other].name.to_string(),
            all: all.into(),
            south: south.into(),
            north: north.into(),
            difference: field.fit.difference(one, other).into(),
            superiority: field.fit.superiority(one, other),
            last: pool.last.iter().map(|game| Played::of(game, &two[0])).collect(),
        })
    }
}

/// South's.
const fn points(count: Count) -> Points {
    Points { wins: count.south, draws: count.draws, losses: count.north }
}

impl Played {
    fn of(game: &LastGame, bot: &BotName) -> Self {
        let is_south = game.south == *bot;
        let result = match game.result {
            GameResult::South if is_south => "win",
            GameResult::North if !is_south => "win",
            GameResult::South | GameResult::North => "loss",
            GameResult::Draw | GameResult::None => "draw",
        };
        Self {
            game: game.game.clone(),
            ended: game.ended.clone(),
            side: if is_south { "south" } else { "north" },
            result,
            termination: game.termination,
        }
    }
}
