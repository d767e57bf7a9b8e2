//! Which balanced opening two bots play next.

use crate::config::Pool;
use modiar_protocol::BotName;
use modiar_protocol::limits::PAIRS_REMEMBERED;
use modiar_protocol::server::Openings as Kind;
use modiar_rules::{Line, Pit};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// The openings of a pool. Any two bots go through all of them in an order of their own, so that none comes again before
/// all have come.
#[derive(Clone, Debug)]
pub struct Openings {
    /// None until the oracle's table stands: games then start from the start position.
    lines: Vec<Arc<[Pit]>>,
    /// Whether the table was looked at.
    known: bool,
    seed: u64,
    /// How many openings two bots had, the lower name first.
    had: HashMap<[BotName; 2], usize>,
}

impl Openings {
    /// No openings yet.
    #[must_use]
    pub fn none(seed: u64) -> Self {
        Self { lines: Vec::new(), known: false, seed, had: HashMap::new() }
    }

    /// From now on these, as far as a game of the pool can go on after them.
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

    /// The next opening of these two; empty where there is none.
    pub fn next(&mut self, one: &BotName, other: &BotName) -> Arc<[Pit]> {
        if self.lines.is_empty() {
            return Arc::default();
        }
        let mut names = [one.clone(), other.clone()];
        names.sort_by_key(|name| name.as_str().to_ascii_lowercase());
        let (first, step) = self.order(&names);
        if self.had.len() >= PAIRS_REMEMBERED {
            self.had.clear();
        }
        let had = self.had.entry(names).or_default();
        *had += 1;
        let at = (first + (*had - 1) * step) % self.lines.len();
        Arc::clone(&self.lines[at])
    }

    /// Where two bots begin in the list, and by which step they go through all of it.
    fn order(&self, names: &[BotName; 2]) -> (usize, usize) {
        let mut hasher = DefaultHasher::new();
        (self.seed, names).hash(&mut hasher);
        let [a, b, c, d, e, f, g, h] = hasher.finish().to_le_bytes();
        let [low, high] = [[a, b, c, d], [e, f, g, h]].map(|half| u32::from_le_bytes(half) as usize);
        let (count, mut step) = (self.lines.len(), 1 + high % self.lines.len());
        while gcd(step, count) != 1 {
            step += 1;
        }
        (low % count, step)
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

    fn names() -> [BotName; 3] {
        ["anna", "bert", "carl"].map(|name| BotName::new(name).unwrap())
    }

    #[test]
    fn two_bots_play_all_openings_before_one_comes_again() {
        let (pool, [anna, bert, carl]) = (&Config::default().pools[0], names());
        let mut orders = HashSet::new();
        for seed in 0..20 {
            let mut openings = Openings::none(seed);
            openings.use_lines(&lines(), pool);
            let order: Vec<_> = (0..6).map(|_| openings.next(&anna, &bert)).collect();
            assert_eq!(order.iter().collect::<HashSet<_>>().len(), 6);
            openings.next(&carl, &anna);
            // The order of the two does not matter, nor what others played meanwhile.
            assert_eq!(openings.next(&bert, &anna), order[0]);
            orders.insert(order);
        }
        assert!(orders.len() > 5, "chance decides");
    }

    #[test]
    fn an_opening_that_ends_the_game_is_not_used_and_a_pool_without_openings_has_none() {
        let mut pool = Config::default().pools[0].clone();
        let [anna, bert, _] = names();
        let mut openings = Openings::none(1);
        assert_eq!(openings.next(&anna, &bert).len(), 0, "the table does not stand yet");
        pool.rules.quiet_plies = 2;
        openings.use_lines(&lines(), &pool);
        assert_eq!(openings.next(&anna, &bert).len(), 0, "two plies without a capture end this pool's games");
        pool.rules.quiet_plies = 3;
        openings.use_lines(&lines(), &pool);
        assert_eq!(openings.next(&anna, &bert).len(), 2);
        pool.openings = Kind::Start;
        openings.use_lines(&lines(), &pool);
        assert_eq!(openings.next(&anna, &bert).len(), 0);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut openings = Openings::none(1);
        openings.use_lines(&lines(), &Config::default().pools[0]);
        let [anna, ..] = names();
        for number in 0..=PAIRS_REMEMBERED {
            openings.next(&anna, &BotName::new(&format!("bot-{number}")).unwrap());
        }
        assert_eq!(openings.had.len(), 1);
    }
}
