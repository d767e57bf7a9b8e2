//! One round of a Swiss (`ladder.tournament-swiss`).
//!
//! From the top down each gets the first opponent that it should have with whom all the others can still be paired: the
//! largest matching of those left tells. So a round without a rematch is found wherever there is one, and where there is
//! none, one with as few as can be.

use super::matching::largest;
use super::{Player, Points};

/// A player before a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entrant {
    pub player: Player,
    pub points: Points,
    /// Rounds that it rested in.
    pub byes: usize,
}

/// Who meets whom, and who rests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Round {
    pub matches: Vec<[Player; 2]>,
    pub bye: Option<Player>,
}

/// The round of these, the best first: by points, then as they are seeded.
pub(super) fn round(mut field: Vec<Entrant>, met: impl Fn(Player, Player) -> bool) -> Round {
    let bye = if field.len().is_multiple_of(2) { None } else { Some(rest(&mut field, &met)) };
    let mut rematches = lacking(&field, &met);
    let mut matches = Vec::new();
    while field.len() > 1 {
        let first = field.remove(0);
        let fits = |at: &usize| {
            let again = usize::from(met(first.player, field[*at].player));
            again <= rematches && lacking(&without(&field, *at), &met) <= rematches - again
        };
        // Of as few rematches as there must be one way is always left.
        let at = wanted(&first, &field).into_iter().find(fits).unwrap_or(0);
        let second = field.remove(at);
        rematches -= rematches.min(usize::from(met(first.player, second.player)));
        matches.push([first.player, second.player]);
    }
    Round { matches, bye }
}

/// The lowest of those who have rested least, without whom the others can be paired with the fewest rematches.
fn rest(field: &mut Vec<Entrant>, met: &impl Fn(Player, Player) -> bool) -> Player {
    let least = field.iter().map(|entrant| entrant.byes).min().unwrap_or(0);
    let may = || (0..field.len()).rev().filter(|at| field[*at].byes == least);
    let rematches = |at: &usize| lacking(&without(field, *at), met);
    // The first is nearly always one; of equals the first is taken.
    let at = may().find(|at| rematches(at) == 0).or_else(|| may().min_by_key(rematches)).unwrap_or(0);
    field.remove(at).player
}

fn without(field: &[Entrant], at: usize) -> Vec<Entrant> {
    field.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, entrant)| entrant.clone()).collect()
}

/// How many pairs of these must be rematches.
fn lacking(field: &[Entrant], met: &impl Fn(Player, Player) -> bool) -> usize {
    let mate = largest(field.len(), |one, other| !met(field[one].player, field[other].player));
    mate.iter().filter(|mate| mate.is_none()).count() / 2
}

/// Whom the first should meet, in this order: of its own points the one half the group below it, then those after that,
/// then those before; then who has fewer points, the best first.
fn wanted(first: &Entrant, field: &[Entrant]) -> Vec<usize> {
    let group = field.iter().take_while(|entrant| entrant.points == first.points).count();
    // Of an odd group the upper half is the smaller one, and the lowest is left over.
    let half = group.div_ceil(2).saturating_sub(1);
    (half..group).chain((0..half).rev()).chain(group..field.len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(points: &[u64]) -> Vec<Entrant> {
        let entrant = |(at, points): (usize, &u64)| Entrant { player: Player(at), points: Points(*points), byes: 0 };
        points.iter().enumerate().map(entrant).collect()
    }

    fn pairs(round: &Round) -> Vec<[usize; 2]> {
        round.matches.iter().map(|two| two.map(|player| player.0)).collect()
    }

    #[test]
    fn the_upper_half_of_a_group_meets_the_lower_and_the_lowest_of_an_odd_group_goes_down() {
        let met = |_, _| false;
        assert_eq!(pairs(&round(field(&[0; 8]), met)), [[0, 4], [1, 5], [2, 6], [3, 7]]);
        assert_eq!(pairs(&round(field(&[4, 4, 4, 0, 0, 0]), met)), [[0, 1], [2, 3], [4, 5]]);
    }

    #[test]
    fn the_lowest_who_has_not_rested_rests() {
        let mut five = field(&[4, 4, 4, 0, 0]);
        five[4].byes = 1;
        assert_eq!(round(five, |_, _| false).bye, Some(Player(3)));
    }

    #[test]
    fn who_could_not_be_paired_else_is_paired_first() {
        // 2 and 3 have met all but 0 and 1: those two must not have each other.
        let met = |one: Player, other: Player| one.0 > 1 && other.0 > 1;
        assert_eq!(pairs(&round(field(&[4, 4, 0, 0]), met)), [[0, 2], [1, 3]]);
    }

    #[test]
    fn there_are_no_more_rematches_than_must_be() {
        // Two groups of three that have met one another within: one game in each would leave two for a rematch.
        let met = |one: Player, other: Player| one.0 / 3 == other.0 / 3;
        let round = round(field(&[4, 4, 4, 0, 0, 0]), met);
        assert!(round.matches.iter().all(|[one, other]| !met(*one, *other)), "{round:?}");
        assert_eq!(super::round(field(&[0, 0]), |_, _| true).matches, [[Player(0), Player(1)]]);
    }
}
