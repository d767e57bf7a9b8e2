//! The rated games of each pool, added up by bot and version.

use crate::analysis::{Folding, Forfeits, GameAnalysis, Points, outcome, seat};
use crate::ladder::Season;
use modiar_ladder::{Games, Outcome};
use modiar_protocol::{BotName, GameResult, Record, SeatRating};
use modiar_rules::{BySide, Side};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Versions of a bot that are told apart in a pool; those that come after so many are added up as one.
pub const VERSIONS: usize = 100;
/// What those are called.
const FURTHER: &str = "(further)";
/// Games of two that are shown.
const LAST: usize = 10;

/// The rated games of all pools in a season.
#[derive(Clone, Debug)]
pub struct Rated {
    season: Season,
    pools: BTreeMap<String, PoolFold>,
    /// Two whose last games are kept.
    watched: Option<[BotName; 2]>,
}

impl Rated {
    /// No game yet of those of this season; of the games of these two the last will be kept.
    #[must_use]
    pub const fn of(season: Season, watched: Option<[BotName; 2]>) -> Self {
        Self { season, pools: BTreeMap::new(), watched }
    }

    /// A pool with rated games.
    #[must_use]
    pub fn pool(&self, name: &str) -> Option<&PoolFold> {
        self.pools.get(name)
    }

    /// Their names, those of most games first.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut pools: Vec<_> = self.pools.iter().collect();
        pools.sort_by_key(|(_, pool)| std::cmp::Reverse(pool.played));
        pools.into_iter().map(|(name, _)| name.as_str()).collect()
    }
}

impl Folding for Rated {
    fn takes(&self, record: &Record) -> bool {
        let Season { after, to, removed, .. } = &self.season;
        if record.seq <= *after || to.is_some_and(|to| record.seq > to) {
            return false;
        }
        // Whoever has its name later is somebody else.
        let is_gone = |name| removed.get(name).is_some_and(|removed| record.seq <= *removed);
        if is_gone(&record.south.name) || is_gone(&record.north.name) {
            return false;
        }
        // No guest has a rating, and no game without a result changes one: such a record is not the daemon's.
        record.rated && record.result != GameResult::None && !record.south.guest && !record.north.guest
    }

    fn add(&mut self, _: u64, record: &Record, game: &GameAnalysis) {
        let watched = self.watched.as_ref().is_some_and(|two| {
            let seats = [&record.south.name, &record.north.name];
            seats == [&two[0], &two[1]] || seats == [&two[1], &two[0]]
        });
        let pool = self.pools.entry(record.pool.clone()).or_default();
        pool.add(record, game);
        if watched {
            pool.keep(LastGame::from(record));
        }
    }

    fn merge(&mut self, later: Self) {
        for (name, pool) in later.pools {
            self.pools.entry(name).or_default().merge(pool);
        }
    }
}

/// A game of the two that are watched.
#[derive(Clone, Debug)]
pub(super) struct LastGame {
    pub game: String,
    pub ended: String,
    pub south: BotName,
    pub result: GameResult,
    pub termination: &'static str,
}

impl From<&Record> for LastGame {
    fn from(record: &Record) -> Self {
        Self {
            game: record.game.to_string(),
            ended: record.ended.clone(),
            south: record.south.name.clone(),
            result: record.result,
            termination: record.termination.as_str(),
        }
    }
}

/// The rated games of one pool.
#[derive(Clone, Debug, Default)]
pub struct PoolFold {
    pub(super) played: u64,
    pub(super) entrants: Vec<Entrant>,
    places: HashMap<BotName, HashMap<Option<String>, usize>>,
    /// By the places of the entrants.
    pub(super) games: Games,
    pub(super) last: VecDeque<LastGame>,
}

/// A bot with one of its versions.
#[derive(Clone, Debug)]
pub(super) struct Entrant {
    pub name: BotName,
    /// What its hellos told; nothing where they told none.
    pub version: Option<String>,
    pub tally: Tally,
}

/// What rated games add up to for one of the two.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub sides: BySide<Points>,
    pub forfeits: Forfeits,
    pub loss: u64,
    pub plies: u64,
    /// After the last game, and that game's place.
    pub newest: Option<(u64, SeatRating)>,
    /// When the first and the last of them ended.
    pub ended: Option<[String; 2]>,
}

impl PoolFold {
    fn add(&mut self, record: &Record, game: &GameAnalysis) {
        self.played += 1;
        let places = [Side::South, Side::North].map(|side| {
            let place = self.place(&seat(record, side).name, seat(record, side).version.as_deref());
            self.entrants[place].tally.add(side, record, game);
            place
        });
        let for_south = match record.result {
            GameResult::South => Outcome::Win,
            GameResult::North => Outcome::Loss,
            GameResult::Draw | GameResult::None => Outcome::Draw,
        };
        self.games.add(places[0], places[1], for_south);
    }

    fn keep(&mut self, game: LastGame) {
        self.last.push_back(game);
        if self.last.len() > LAST {
            self.last.pop_front();
        }
    }

    fn place(&mut self, name: &BotName, version: Option<&str>) -> usize {
        let versions = self.places.entry(name.clone()).or_default();
        let version = version.map(ToOwned::to_owned);
        let version = match versions.get(&version) {
            Some(place) => return *place,
            None if versions.len() < VERSIONS => version,
            None => Some(FURTHER.to_owned()),
        };
        *versions.entry(version.clone()).or_insert_with(|| {
            self.entrants.push(Entrant { name: name.clone(), version, tally: Tally::default() });
            self.entrants.len() - 1
        })
    }

    fn merge(&mut self, later: Self) {
        self.played += later.played;
        let mut places = Vec::with_capacity(later.entrants.len());
        for Entrant { name, version, tally } in later.entrants {
            let place = self.place(&name, version.as_deref());
            self.entrants[place].tally.merge(tally);
            places.push(place);
        }
        for (south, north, count) in later.games.counts() {
            self.games.add_count(places[south], places[north], count);
        }
        later.last.into_iter().for_each(|game| self.keep(game));
    }
}

impl Tally {
    fn add(&mut self, side: Side, record: &Record, game: &GameAnalysis) {
        let Some(outcome) = outcome(record, side) else { return };
        self.sides[side].add(outcome);
        if outcome == crate::analysis::Outcome::Loss {
            self.forfeits.add(record.termination);
        }
        for ply in game.of_bot(side) {
            self.plies += 1;
            self.loss += u64::from(ply.loss());
        }
        if let Some(rating) = record.rating_after {
            self.newest = Some((record.seq, if side == Side::South { rating.south } else { rating.north }));
        }
        self.span([record.ended.clone(), record.ended.clone()]);
    }

    fn span(&mut self, [first, last]: [String; 2]) {
        let first = self.ended.take().map_or(first, |[first, _]| first);
        self.ended = Some([first, last]);
    }

    /// Takes what another did, later or at the same time.
    pub(super) fn merge(&mut self, other: Self) {
        for side in Side::ALL {
            self.sides[side].merge(&other.sides[side]);
        }
        self.forfeits.merge(&other.forfeits);
        self.loss += other.loss;
        self.plies += other.plies;
        let seq = |newest: &Option<(u64, SeatRating)>| newest.map(|(seq, _)| seq);
        if seq(&other.newest) > seq(&self.newest) {
            self.newest = other.newest;
        }
        if let Some(ended) = other.ended {
            self.span(ended);
        }
    }

    pub(super) fn points(&self) -> Points {
        let mut points = self.sides.south;
        points.merge(&self.sides.north);
        points
    }
}

/// The share of the points, 0 to 1; nothing without games.
pub(super) fn score(points: Points) -> Option<f64> {
    crate::analysis::ratio(points.half_points(), 2 * points.games())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bot_of_ever_new_versions_takes_no_more_room_than_a_hundred() {
        let mut pool = PoolFold::default();
        let name = BotName::new("restless").unwrap();
        let places: Vec<usize> = (0..300).map(|build| pool.place(&name, Some(&build.to_string()))).collect();
        assert_eq!((pool.entrants.len(), places[VERSIONS - 1], places[299]), (VERSIONS + 1, VERSIONS - 1, VERSIONS));
        assert_eq!(pool.place(&name, Some("7")), 7, "those that are known stay apart");
        let mut both = PoolFold::default();
        both.merge(pool.clone());
        both.merge(pool);
        assert_eq!(both.entrants.len(), VERSIONS + 1);
    }
}
