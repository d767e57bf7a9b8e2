//! One bot, version by version: did a change help?

use super::field::Field;
use super::fold::score;
use crate::analysis::ratio;
use modiar_ladder::{Estimate, Strength};
use modiar_protocol::BotName;
use serde::Serialize;

/// The versions of a bot, in the order of their first games, each as a player of its own among the other bots.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct History {
    pub pool: String,
    pub bot: String,
    pub versions: Vec<Build>,
}

/// A version.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Build {
    /// As its hellos told it; nothing where they told none.
    pub version: Option<String>,
    pub first_ended: Option<String>,
    pub last_ended: Option<String>,
    pub games: u64,
    pub score: Option<f64>,
    pub rating: f64,
    pub rating_low: f64,
    pub rating_high: f64,
    pub bounded: bool,
    /// The likelihood that it is stronger than the version before it, 0 to 1.
    pub superiority: Option<f64>,
    pub accuracy: Option<f64>,
}

impl History {
    /// Of a bot whose versions `field` tells apart. Nothing where it has no game.
    #[must_use]
    pub fn of(pool: &str, field: &Field, name: &BotName) -> Option<Self> {
        // Players stand in the order of their first games.
        let places: Vec<usize> = (0..field.players.len()).filter(|place| field.players[*place].name == *name).collect();
        let bot = field.players[*places.first()?].name.to_string();
        let before = std::iter::once(None).chain(places.iter().copied().map(Some));
        let versions = places.iter().zip(before).map(|(place, before)| Build::of(field, *place, before)).collect();
        Some(Self { pool: pool.to_owned(), bot, versions })
    }
}

impl Build {
    fn of(field: &Field, place: usize, before: Option<usize>) -> Self {
        let player = &field.players[place];
        let Strength { rating: Estimate { value, low, high }, is_bounded } = field.fit.strengths()[place];
        let points = player.tally.points();
        let [first, last] = player.tally.ended.clone().map_or([None, None], |ended| ended.map(Some));
        Self {
            version: player.version.clone(),
            first_ended: first,
            last_ended: last,
            games: points.games(),
            score: score(points),
            rating: value,
            rating_low: low,
            rating_high: high,
            bounded: is_bounded,
            superiority: before.map(|before| field.fit.superiority(place, before)),
            accuracy: ratio(player.tally.loss, player.tally.plies),
        }
    }
}
