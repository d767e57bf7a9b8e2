//! What two bots have had of each other in a pool: openings, sides, and games of a day.

use crate::clock::{Micros, Moment};
use crate::config::Pool;
use crate::ladder::Meeting;
use modiar_protocol::BotName;
use modiar_protocol::limits::PAIRS_REMEMBERED;
use modiar_protocol::server::Openings as Kind;
use modiar_rules::{Line, Pit};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::Arc;

/// Over which the games of two bots are counted (`ladder.cap`).
const DAY: Micros = Micros(86_400_000_000);

/// The meetings of a pool. Any two bots go through all of its openings in an order of their own, so that none comes again
/// before all have come (`ladder.openings`).
#[derive(Clone, Debug, Default)]
pub struct Meetings {
    /// None until the oracle's table stands: games then start from the start position.
    lines: Vec<Arc<[Pit]>>,
    /// Whether the table was looked at.
    known: bool,
    met: HashMap<Two, Met>,
}

/// Two bots, the lower name first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Two([BotName; 2]);

/// What two bots have had.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    openings: usize,
    /// Single games of the first as South less those of the second.
    southward: i32,
    /// When their day began, and their games since.
    day: Moment,
    games: u64,
}

impl Two {
    fn of(one: &BotName, other: &BotName) -> Self {
        let mut two = [one.clone(), other.clone()];
        two.sort_by_key(folded);
        Self(two)
    }

    /// Where these two begin in a list of `count`, and by which step they go through all of it: the same at every start.
    fn order(&self, count: usize) -> (usize, usize) {
        let names = self.0.iter().map(folded).collect::<Vec<_>>().join(" ");
        let hash = Sha256::digest(names);
        let [low, high] = [0, 4].map(|at| [hash[at], hash[at + 1], hash[at + 2], hash[at + 3]]);
        let [low, high] = [low, high].map(|half| u32::from_le_bytes(half) as usize);
        let mut step = 1 + high % count;
        while gcd(step, count) != 1 {
            step += 1;
        }
        (low % count, step)
    }
}

fn folded(name: &BotName) -> String {
    name.as_str().to_ascii_lowercase()
}

impl Meetings {
    /// From now on these openings, as far as a game of the pool can go on after them.
    pub fn use_lines(&mut self, lines: &[Arc<[Pit]>], pool: &Pool) {
        let goes_on = |line: &Arc<[Pit]>| {
            Line::replay(pool.rules.ends(), line.iter().copied()).is_ok_and(|line| line.ending().is_none())
        };
        let usable = if pool.openings == Kind::Balanced { lines } else { &[] };
        self.known = true;
        self.lines = usable.iter().filter(|line| goes_on(line)).cloned().collect();
    }

    /// Whether [`Self::next`] may still have more to choose from soon: the pool plays openings, and none are known yet.
    #[must_use]
    pub fn is_awaited(&self, pool: &Pool) -> bool {
        pool.openings == Kind::Balanced && !self.known
    }

    /// What two bots have had before the daemon started: of openings that is no more than they had games.
    pub fn recall(&mut self, meeting: &Meeting) {
        let [Ok(one), Ok(other)] = [0, 1].map(|at| BotName::new(&meeting.two[at])) else { return };
        let had = usize::try_from(meeting.openings).unwrap_or(usize::MAX);
        let met = self.met(&one, &other);
        met.openings = met.openings.max(had);
    }

    /// They play an opening in a game that no stored one tells of yet.
    pub fn opened(&mut self, [one, other]: &[BotName; 2]) {
        self.met(one, other).openings += 1;
    }

    /// The next opening of these two; empty where there is none.
    pub fn next(&mut self, one: &BotName, other: &BotName) -> Arc<[Pit]> {
        let count = self.lines.len();
        if count == 0 {
            return Arc::default();
        }
        let (first, step) = Two::of(one, other).order(count);
        let met = self.met(one, other);
        met.openings += 1;
        let at = (first + (met.openings - 1) % count * step) % count;
        Arc::clone(&self.lines[at])
    }

    /// The single games of `one` as South against `other` less those as North.
    #[must_use]
    pub fn southward(&self, one: &BotName, other: &BotName) -> i32 {
        let two = Two::of(one, other);
        let southward = self.met.get(&two).map_or(0, |met| met.southward);
        if two.0[0] == *one { southward } else { -southward }
    }

    /// They play a single game.
    pub fn single(&mut self, south: &BotName, north: &BotName) {
        let first = Two::of(south, north).0[0] == *south;
        self.met(south, north).southward += if first { 1 } else { -1 };
    }

    /// They were given so many games.
    pub fn count(&mut self, one: &BotName, other: &BotName, games: u64, now: Moment) {
        let met = self.met(one, other);
        if met.games == 0 || now.since(met.day) >= DAY {
            (met.day, met.games) = (now, 0);
        }
        met.games += games;
    }

    /// The games that they were given within their day.
    #[must_use]
    pub fn of_the_day(&self, one: &BotName, other: &BotName, now: Moment) -> u64 {
        let met = self.met.get(&Two::of(one, other)).filter(|met| now.since(met.day) < DAY);
        met.map_or(0, |met| met.games)
    }

    fn met(&mut self, one: &BotName, other: &BotName) -> &mut Met {
        let two = Two::of(one, other);
        if self.met.len() >= PAIRS_REMEMBERED && !self.met.contains_key(&two) {
            self.met.clear();
        }
        self.met.entry(two).or_default()
    }
}

const fn gcd(mut a: usize, mut b: usize) -> usize {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use modiar_rules::parse_moves;
    use std::collections::HashSet;

    const LINES: [&str; 6] = ["24", "23", "14", "13", "04", "03"];

    fn lines() -> Vec<Arc<[Pit]>> {
        LINES.map(|moves| parse_moves(moves).unwrap().into()).into()
    }

    fn name(name: &str) -> BotName {
        BotName::new(name).unwrap()
    }

    fn meetings() -> Meetings {
        let mut meetings = Meetings::default();
        meetings.use_lines(&lines(), &Config::default().pools[0]);
        meetings
    }

    #[test]
    fn two_bots_play_all_openings_before_one_comes_again() {
        let (anna, carl) = (name("anna"), name("carl"));
        let mut orders = HashSet::new();
        for number in 0..20 {
            let (mut meetings, bert) = (meetings(), name(&format!("bert-{number}")));
            let order: Vec<_> = (0..6).map(|_| meetings.next(&anna, &bert)).collect();
            assert_eq!(order.iter().collect::<HashSet<_>>().len(), 6);
            meetings.next(&carl, &anna);
            // The order of the two does not matter, nor how they are spelt, nor what others played meanwhile.
            assert_eq!(meetings.next(&name(&format!("Bert-{number}")), &anna), order[0]);
            orders.insert(order);
        }
        assert!(orders.len() > 5, "not all begin alike");
    }

    /// What the database tells is at least what they had: a pair of games has one opening.
    #[test]
    fn after_a_restart_the_openings_go_on() {
        let (anna, bert) = (name("anna"), name("bert"));
        let mut before = meetings();
        let had: HashSet<_> = (0..2).map(|_| before.next(&anna, &bert)).collect();
        let mut after = meetings();
        let two = ["anna", "bert"].map(str::to_owned);
        after.recall(&Meeting { pool: String::new(), two, openings: 3, southward: 0, last: 9 });
        assert!((0..3).all(|_| !had.contains(&after.next(&bert, &anna))));
    }

    #[test]
    fn an_opening_that_ends_the_game_is_not_used_and_a_pool_without_openings_has_none() {
        let mut pool = Config::default().pools[0].clone();
        let [anna, bert] = ["anna", "bert"].map(name);
        let mut meetings = Meetings::default();
        assert_eq!(meetings.next(&anna, &bert).len(), 0, "the table does not stand yet");
        pool.rules.quiet_plies = 2;
        meetings.use_lines(&lines(), &pool);
        assert_eq!(meetings.next(&anna, &bert).len(), 0, "two plies without a capture end this pool's games");
        pool.rules.quiet_plies = 3;
        meetings.use_lines(&lines(), &pool);
        assert_eq!(meetings.next(&anna, &bert).len(), 2);
        pool.openings = Kind::Start;
        meetings.use_lines(&lines(), &pool);
        assert_eq!(meetings.next(&anna, &bert).len(), 0);
    }

    #[test]
    fn sides_are_counted_for_either_and_games_for_a_day() {
        let (mut meetings, [anna, bert]) = (meetings(), ["anna", "bert"].map(name));
        meetings.single(&bert, &anna);
        assert_eq!([meetings.southward(&bert, &anna), meetings.southward(&anna, &bert)], [1, -1]);
        let late = Moment(5) + DAY;
        meetings.count(&anna, &bert, 2, Moment(5));
        meetings.count(&bert, &anna, 1, Moment(DAY.0 - 1));
        assert_eq!(meetings.of_the_day(&anna, &bert, Moment(DAY.0)), 3);
        assert_eq!(meetings.of_the_day(&anna, &bert, late), 0);
        meetings.count(&anna, &bert, 1, late);
        assert_eq!(meetings.of_the_day(&anna, &bert, late), 1);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (mut meetings, anna) = (meetings(), name("anna"));
        for number in 0..=PAIRS_REMEMBERED {
            meetings.next(&anna, &name(&format!("bot-{number}")));
        }
        assert_eq!(meetings.met.len(), 1);
    }
}
