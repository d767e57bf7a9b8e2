//! The ladder in memory: how every bot stands, in the order of ratings. The store's writer changes it after each commit,
//! before anybody is told of that.

use super::standing::{Standing, anchor};
use modiar_ladder::Rating;
use modiar_protocol::BotName;
use modiar_protocol::server::PoolRating;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// How a bot stands in a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The pool.
    pub pool: String,
    /// The bot.
    pub bot: BotName,
    /// How it stands.
    pub standing: Standing,
}

impl Row {
    /// What a row is found by.
    #[must_use]
    pub fn key(&self) -> (String, String) {
        (self.pool.clone(), self.bot.as_str().to_ascii_lowercase())
    }
}

/// How all bots stand.
#[derive(Debug, Default)]
pub struct Ratings(RwLock<HashMap<String, Pool>>);

/// The bots of a pool, by name and in their order.
#[derive(Debug, Default)]
struct Pool {
    standings: HashMap<BotName, Standing>,
    order: BTreeMap<Place, BotName>,
}

/// A place in the order: the higher rating first, of equal ones the lower name.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    rating: f64,
    name: BotName,
}

impl Eq for Place {}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        let [one, two] = [self, other].map(|place| place.name.as_str().bytes().map(|byte| byte.to_ascii_lowercase()));
        other.rating.total_cmp(&self.rating).then_with(|| one.cmp(two))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Pool {
    fn put(&mut self, bot: BotName, standing: Standing) {
        self.remove(&bot);
        let place = Place { rating: standing.rating.rating, name: bot.clone() };
        self.order.insert(place, bot.clone());
        self.standings.insert(bot, standing);
    }

    fn remove(&mut self, bot: &BotName) {
        if let Some(before) = self.standings.remove(bot) {
            self.order.remove(&Place { rating: before.rating.rating, name: bot.clone() });
        }
    }
}

impl Ratings {
    /// These rows and no others.
    pub fn replace(&self, rows: Vec<Row>) {
        let mut pools = self.write();
        pools.clear();
        put_all(&mut pools, rows);
    }

    /// These rows have changed, or are new.
    pub fn put(&self, rows: Vec<Row>) {
        if !rows.is_empty() {
            put_all(&mut self.write(), rows);
        }
    }

    /// A bot has no rating any more.
    pub fn remove(&self, bot: &BotName) {
        for pool in self.write().values_mut() {
            pool.remove(bot);
        }
    }

    /// The rating of a bot in a rated pool: that of which nothing is known where it has played no game there.
    #[must_use]
    pub fn of(&self, pool: &str, bot: &BotName) -> Rating {
        anchor(bot).unwrap_or_else(|| self.standing(pool, bot).unwrap_or_default().rating)
    }

    /// How a bot stands in a pool, where it has played there.
    #[must_use]
    pub fn standing(&self, pool: &str, bot: &BotName) -> Option<Standing> {
        self.read().get(pool)?.standings.get(bot).copied()
    }

    /// What a bot is told of itself: a line for each of these pools in which it stands.
    #[must_use]
    pub fn told<'a>(&self, pools: impl Iterator<Item = &'a str>, bot: &BotName) -> BTreeMap<String, PoolRating> {
        let told =
            |Standing { rating, tally }| PoolRating { rating: rating.rating, rd: rating.rd, games: tally.games() };
        pools.filter_map(|pool| Some((pool.to_owned(), told(self.standing(pool, bot)?)))).collect()
    }

    /// How many bots stand in a pool.
    #[must_use]
    pub fn count(&self, pool: &str) -> usize {
        self.read().get(pool).map_or(0, |pool| pool.standings.len())
    }

    /// A page of a pool's standings, the highest rating first: at most so many, from this place on, counted from 0.
    #[must_use]
    pub fn page(&self, pool: &str, from: usize, count: usize) -> Vec<(BotName, Standing)> {
        let pools = self.read();
        let Some(pool) = pools.get(pool) else { return Vec::new() };
        let bots = pool.order.values().skip(from).take(count);
        bots.filter_map(|bot| Some((bot.clone(), *pool.standings.get(bot)?))).collect()
    }

    fn read(&self) -> RwLockReadGuard<'_, HashMap<String, Pool>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<String, Pool>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn put_all(pools: &mut HashMap<String, Pool>, rows: Vec<Row>) {
    for Row { pool, bot, mut standing } in rows {
        // A row may be of another build, for which a house bot was stronger or weaker.
        standing.rating = anchor(&bot).unwrap_or(standing.rating);
        match pools.get_mut(&pool) {
            Some(known) => known.put(bot, standing),
            None => pools.entry(pool).or_default().put(bot, standing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(bot: &str, rating: f64) -> Row {
        let standing = Standing { rating: Rating { rating, ..Rating::default() }, ..Standing::default() };
        Row { pool: "blitz".to_owned(), bot: BotName::new(bot).unwrap(), standing }
    }

    fn order(ratings: &Ratings, from: usize, count: usize) -> Vec<String> {
        ratings.page("blitz", from, count).into_iter().map(|(bot, _)| bot.to_string()).collect()
    }

    #[test]
    fn standings_are_in_the_order_of_ratings_whatever_changes() {
        let ratings = Ratings::default();
        ratings.replace(vec![row("anna", 1500.0), row("Bert", 1600.0), row("carl", 1500.0), row("house-level1", 9.0)]);
        assert_eq!(order(&ratings, 0, 10), ["Bert", "anna", "carl", "house-level1"]);
        ratings.put(vec![row("BERT", 1400.0), row("dora", 1700.0)]);
        assert_eq!(order(&ratings, 0, 10), ["dora", "anna", "carl", "BERT", "house-level1"]);
        assert_eq!(order(&ratings, 1, 2), ["anna", "carl"]);
        assert_eq!((order(&ratings, 5, 2), order(&ratings, 0, 0)), (vec![], vec![]));
        ratings.remove(&BotName::new("Carl").unwrap());
        assert_eq!((order(&ratings, 2, 1), ratings.count("blitz")), (vec!["BERT".to_owned()], 4));
        ratings.replace(vec![row("anna", 1.0)]);
        assert_eq!(order(&ratings, 0, 10), ["anna"]);
    }

    #[test]
    fn a_bot_without_games_has_the_rating_of_which_nothing_is_known_and_a_house_bot_its_own() {
        let ratings = Ratings::default();
        ratings.put(vec![row("anna", 1600.0)]);
        let [anna, bert, house] = ["ANNA", "bert", "house-perfect"].map(|name| BotName::new(name).unwrap());
        assert_eq!(ratings.of("blitz", &anna).rating, 1600.0);
        assert_eq!([ratings.of("bullet", &anna), ratings.of("blitz", &bert)], [Rating::default(); 2]);
        assert_eq!(ratings.of("blitz", &house), anchor(&house).unwrap());
        let told = ratings.told(["blitz", "bullet"].into_iter(), &anna);
        assert_eq!(
            told.into_iter().map(|(pool, told)| (pool, told.games)).collect::<Vec<_>>(),
            [("blitz".to_owned(), 0)]
        );
    }
}
