//! Who meets whom in a knockout: the seeds keep apart as long as they can, and the best of them rest where the field is no
//! power of two.

use super::Player;

/// The bracket as it stands before a round: each place holds a player, or nobody, and neighbours meet.
pub(super) type Bracket = Vec<Option<Player>>;

/// The bracket of the first round.
pub(super) fn first(order: &[Player]) -> Bracket {
    let mut seeds = vec![0];
    while seeds.len() < order.len() {
        let last = 2 * seeds.len() - 1;
        seeds = seeds.into_iter().flat_map(|seed| [seed, last - seed]).collect();
    }
    seeds.into_iter().map(|seed| order.get(seed).copied()).collect()
}

/// Who meets in this bracket.
pub(super) fn meeting(bracket: &[Option<Player>]) -> Vec<[Player; 2]> {
    let two = |places: &[Option<Player>]| Some([places.first().copied()??, places.get(1).copied()??]);
    bracket.chunks(2).filter_map(two).collect()
}

/// The bracket after the matches of a round, all over.
pub(super) fn next(bracket: &[Option<Player>], mut winners: impl Iterator<Item = Option<Player>>) -> Bracket {
    let next = bracket.chunks(2).map(|places| match places {
        [Some(_), Some(_)] => winners.next().flatten(),
        places => places.iter().copied().flatten().next(),
    });
    next.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds(players: usize) -> Vec<Option<usize>> {
        let order: Vec<Player> = (0..players).map(Player).collect();
        first(&order).into_iter().map(|player| player.map(|player| player.0 + 1)).collect()
    }

    #[test]
    fn the_first_two_meet_in_the_final_at_the_earliest_and_the_best_rest() {
        assert_eq!(seeds(8), [1, 8, 4, 5, 2, 7, 3, 6].map(Some));
        assert_eq!(seeds(5), [Some(1), None, Some(4), Some(5), Some(2), None, Some(3), None]);
        assert_eq!(seeds(1), [Some(1)]);
    }
}
