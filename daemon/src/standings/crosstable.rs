//! Each against each.

use super::field::Field;
use modiar_ladder::Count;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// What bots scored against each other, by rank.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Crosstable {
    pub pool: String,
    /// The strongest first.
    pub bots: Vec<String>,
    /// The rank of the first of these, from 1.
    pub from: usize,
    /// How many there are in all.
    pub players: usize,
    /// Each that met each, both ways.
    pub met: Vec<Met>,
}

/// What one bot did against another.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Met {
    pub bot: String,
    pub opponent: String,
    pub games: u64,
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    /// Points: a draw is half of one.
    pub points: f64,
}

impl Crosstable {
    /// Of a pool, from rank `from` on, counted from 1, so many bots.
    #[must_use]
    pub fn of(pool: &str, field: &Field, from: usize, count: usize) -> Self {
        let order = field.order();
        let chosen: Vec<usize> = order.iter().copied().skip(from.saturating_sub(1)).take(count).collect();
        let ranks: HashMap<usize, usize> = chosen.iter().enumerate().map(|(rank, place)| (*place, rank)).collect();
        let both = |(south, north, _)| Some((*ranks.get(&south)?, *ranks.get(&north)?));
        let met = field.games.counts().filter_map(both).flat_map(|(one, other)| [(one, other), (other, one)]);
        let met: BTreeSet<(usize, usize)> = met.collect();
        Self {
            pool: pool.to_owned(),
            bots: chosen.iter().map(|place| field.players[*place].name.to_string()).collect(),
            from,
            players: order.len(),
            met: met.into_iter().filter_map(|(one, other)| Met::of(field, chosen[one], chosen[other])).collect(),
        }
    }
}

impl Met {
    #[allow(clippy::cast_precision_loss, reason = "fewer games than 2^52")]
    fn of(field: &Field, one: usize, other: usize) -> Option<Self> {
        let (south, north) = (field.games.count(one, other), field.games.count(other, one));
        let both = Count {
            south: south.south + north.north,
            draws: south.draws + north.draws,
            north: south.north + north.south,
        };
        let Count { south: wins, draws, north: losses } = both;
        (both.games() > 0).then(|| Self {
            bot: field.players[one].name.to_string(),
            opponent: field.players[other].name.to_string(),
            games: both.games(),
            wins,
            draws,
            losses,
            points: (2 * wins + draws) as f64 / 2.0,
        })
    }
}
