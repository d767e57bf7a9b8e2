//! The standings: a row a bot.

use super::field::Field;
use super::fold::{PoolFold, score};
use crate::analysis::{Points, ratio};
use crate::house::Brain;
use modiar_ladder::{Estimate, PROVISIONAL_RD, Strength, games_to_separate};
use serde::Serialize;

/// Differences of which it is told how many games they take, in points.
const SEPARATED: [u32; 3] = [25, 50, 100];

/// The standings of a pool. `daemon/STANDINGS.md` tells each field.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Standings {
    /// The version of this shape.
    pub standings: u32,
    pub pool: String,
    pub games: u64,
    /// Bots, or versions of them; of which `rows` may be a part.
    pub players: usize,
    /// What it is worth to sit South, in points.
    pub side: Figure,
    /// The share of draws between two equals of average strength, 0 to 1.
    pub draw_share: Figure,
    /// Games of two until a difference is beyond its own 95 % interval.
    pub separated: Vec<Separated>,
    pub rows: Vec<Row>,
}

/// A figure with its 95 % interval.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Figure {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl From<Estimate> for Figure {
    fn from(Estimate { value, low, high }: Estimate) -> Self {
        Self { value, low, high }
    }
}

/// How many games a difference takes.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Separated {
    pub elo: u32,
    pub games: Option<u64>,
}

/// A bot, or one of its versions.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Row {
    pub rank: usize,
    pub bot: String,
    /// Where versions are told apart.
    pub version: Option<String>,
    pub house: bool,
    pub rating: f64,
    pub rating_low: f64,
    pub rating_high: f64,
    /// Whether the games bound the rating from both sides.
    pub bounded: bool,
    pub glicko: Option<f64>,
    pub glicko_rd: Option<f64>,
    pub provisional: bool,
    pub games: u64,
    pub south_games: u64,
    pub south_score: Option<f64>,
    pub north_games: u64,
    pub north_score: Option<f64>,
    pub time_forfeits: u64,
    pub illegal_moves: u64,
    pub resignations: u64,
    /// Seeds given away a ply.
    pub accuracy: Option<f64>,
    pub plies: u64,
}

impl Standings {
    /// The standings of a pool: of all ranks those from `from`, counted from 1, `count` of them.
    #[must_use]
    pub fn of(name: &str, pool: &PoolFold, field: &Field, from: usize, count: usize) -> Self {
        let (fit, order) = (&field.fit, field.order());
        let chosen = order.iter().enumerate().skip(from.saturating_sub(1)).take(count);
        let share = fit.draw_share();
        let separated =
            SEPARATED.map(|elo| Separated { elo, games: games_to_separate(f64::from(elo), share.value) }).to_vec();
        Self {
            standings: 1,
            pool: name.to_owned(),
            games: pool.played,
            players: order.len(),
            side: fit.side().into(),
            draw_share: share.into(),
            separated,
            rows: chosen.map(|(at, place)| Row::of(at + 1, *place, field)).collect(),
        }
    }
}

impl Row {
    fn of(rank: usize, place: usize, field: &Field) -> Self {
        let player = &field.players[place];
        let Strength { rating: Estimate { value, low, high }, is_bounded } = field.fit.strengths()[place];
        let tally = &player.tally;
        let rating = tally.newest.map(|(_, rating)| rating);
        let [south, north] = [tally.sides.south, tally.sides.north];
        Self {
            rank,
            bot: player.name.to_string(),
            version: player.version.clone(),
            house: Brain::named(player.name.as_str()).is_some(),
            rating: value,
            rating_low: low,
            rating_high: high,
            bounded: is_bounded,
            glicko: rating.map(|rating| rating.rating),
            glicko_rd: rating.map(|rating| rating.rd),
            provisional: rating.is_none_or(|rating| rating.rd > PROVISIONAL_RD),
            games: tally.points().games(),
            south_games: south.games(),
            south_score: score(south),
            north_games: north.games(),
            north_score: score(north),
            time_forfeits: tally.forfeits.time_forfeit,
            illegal_moves: tally.forfeits.illegal_move,
            resignations: tally.forfeits.resignation,
            accuracy: ratio(tally.loss, tally.plies),
            plies: tally.plies,
        }
    }
}

/// Games won, drawn and lost, and the share of the points.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Score {
    pub games: u64,
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    pub score: Option<f64>,
}

impl From<Points> for Score {
    fn from(points: Points) -> Self {
        let Points { wins, draws, losses } = points;
        Self { games: points.games(), wins, draws, losses, score: score(points) }
    }
}
