//! The order of the players before the first round, and what else is left to chance.

use super::{Plan, Player};

/// A number of the seed's, one for each `what` (`SplitMix64`).
pub(super) const fn chance(seed: u64, what: u64) -> u64 {
    let mut bits = seed.wrapping_add(what.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The players, the best rated first, those of one rating by chance.
pub(super) fn seeded(plan: &Plan) -> Vec<Player> {
    let mut order: Vec<Player> = (0..plan.ratings.len()).map(Player).collect();
    let lot = |player: &Player| chance(plan.seed, player.0 as u64);
    order.sort_by(|one, other| {
        plan.ratings[other.0].total_cmp(&plan.ratings[one.0]).then_with(|| lot(one).cmp(&lot(other)))
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tournament::Format;

    #[test]
    fn the_best_come_first_and_of_equals_the_seed_decides() {
        let plan =
            |seed| Plan { format: Format::Knockout, ratings: vec![1500.0, 1700.0, 1500.0, 1500.0], pairs: 1, seed };
        let orders: std::collections::BTreeSet<_> = (0..50).map(|seed| seeded(&plan(seed))).collect();
        assert_eq!(orders.len(), 6);
        assert!(orders.iter().all(|order| order[0] == Player(1)));
    }
}
