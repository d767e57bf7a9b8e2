//! Those who are compared, and the fit of all their games.

use super::fold::{PoolFold, Tally};
use crate::house::Brain;
use modiar_ladder::{Fit, Games};
use modiar_protocol::BotName;
use std::collections::HashMap;

/// The players of a pool and how strong they are.
#[derive(Debug)]
pub struct Field {
    pub(super) players: Vec<Player>,
    /// By the players' places.
    pub(super) games: Games,
    pub(super) fit: Fit,
}

/// A bot, or one of its versions.
#[derive(Debug)]
pub(super) struct Player {
    pub name: BotName,
    /// Where versions are told apart: this one, nothing where it told none.
    pub version: Option<String>,
    pub tally: Tally,
}

impl Field {
    /// The bots of a pool; of those that `apart` names each version is a player of its own. House bots are the anchors.
    pub fn of(pool: &PoolFold, apart: impl Fn(&BotName) -> bool) -> Self {
        let (mut players, mut known) = (Vec::<Player>::new(), HashMap::new());
        let mut places = Vec::with_capacity(pool.entrants.len());
        for entrant in &pool.entrants {
            let version = entrant.version.clone().filter(|_| apart(&entrant.name));
            let place = *known.entry((&entrant.name, version.clone())).or_insert_with(|| {
                players.push(Player { name: entrant.name.clone(), version, tally: Tally::default() });
                players.len() - 1
            });
            players[place].tally.merge(entrant.tally.clone());
            places.push(place);
        }
        let mut games = Games::new(players.len());
        for (south, north, count) in pool.games.counts() {
            games.add_count(places[south], places[north], count);
        }
        let anchor = |(place, player): (usize, &Player)| Some((place, Brain::named(player.name.as_str())?.rating()));
        let anchors: Vec<_> = players.iter().enumerate().filter_map(anchor).collect();
        let fit = Fit::new(&games, &anchors);
        Self { players, games, fit }
    }

    /// The places of the players, the strongest first.
    pub(super) fn order(&self) -> Vec<usize> {
        let rating = |place: usize| self.fit.strengths()[place].rating.value;
        let mut order: Vec<usize> = (0..self.players.len()).collect();
        // Of equals the one whose name comes first, so that the order is always the same.
        let name = |place: usize| (self.players[place].name.as_str(), &self.players[place].version);
        order.sort_by(|one, other| rating(*other).total_cmp(&rating(*one)).then_with(|| name(*one).cmp(&name(*other))));
        order
    }

    /// The place of the bot of this name, where its versions are not told apart.
    pub(super) fn place(&self, name: &BotName) -> Option<usize> {
        self.players.iter().position(|player| player.name == *name)
    }

    /// The names of the bots, the strongest first.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.order().into_iter().map(|place| self.players[place].name.as_str()).collect()
    }
}
