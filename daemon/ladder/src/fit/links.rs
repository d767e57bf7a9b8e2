//! Who is tied to whom: only within such a group do the games bound a difference from both sides.

use super::games::Games;

/// By player: whether it is of the largest group of which each scored, through a chain of others perhaps, against each. Of
/// groups as large that of the lowest index; nobody where no group has two.
pub(super) fn main_group(games: &Games) -> Vec<bool> {
    let (mut scored, mut conceded) = (vec![Vec::new(); games.players()], vec![Vec::new(); games.players()]);
    for (south, north, count) in games.counts() {
        let mut beat = |winner: usize, loser: usize| {
            scored[winner].push(loser);
            conceded[loser].push(winner);
        };
        if count.south + count.draws > 0 {
            beat(south, north);
        }
        if count.north + count.draws > 0 {
            beat(north, south);
        }
    }
    let groups = groups(&finished(&scored), &conceded);
    let mut sizes = vec![0_usize; games.players()];
    groups.iter().for_each(|group| sizes[*group] += 1);
    let lowest = (0..games.players()).rev().max_by_key(|player| sizes[groups[*player]]);
    let main = lowest.map(|player| groups[player]).filter(|group| sizes[*group] > 1);
    groups.into_iter().map(|group| Some(group) == main).collect()
}

/// All players, each after those that it reaches (but for circles), as Kosaraju's first walk finishes them.
fn finished(edges: &[Vec<usize>]) -> Vec<usize> {
    let (mut order, mut seen) = (Vec::with_capacity(edges.len()), vec![false; edges.len()]);
    for start in 0..edges.len() {
        let mut walk = vec![(start, 0)];
        while let Some((player, next)) = walk.pop() {
            if next == 0 && std::mem::replace(&mut seen[player], true) {
                continue;
            }
            match edges[player].get(next) {
                Some(other) => walk.extend([(player, next + 1), (*other, 0)]),
                None => order.push(player),
            }
        }
    }
    order
}

/// By player the number of its group: Kosaraju's second walk, against the edges, from the last that finished.
fn groups(order: &[usize], edges: &[Vec<usize>]) -> Vec<usize> {
    let mut groups = vec![None; edges.len()];
    for (group, start) in order.iter().rev().enumerate() {
        let mut walk = vec![*start];
        while let Some(player) = walk.pop() {
            if groups[player].is_none() {
                groups[player] = Some(group);
                walk.extend(&edges[player]);
            }
        }
    }
    groups.into_iter().map(Option::unwrap_or_default).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    fn main(players: usize, wins: &[(usize, usize)]) -> Vec<usize> {
        let mut games = Games::new(players);
        wins.iter().for_each(|(winner, loser)| games.add(*loser, *winner, Outcome::Loss));
        (0..).zip(main_group(&games)).filter_map(|(player, main)| main.then_some(player)).collect()
    }

    #[test]
    fn a_circle_is_a_group_and_who_only_won_or_lost_is_outside() {
        assert_eq!(main(5, &[(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)]), [1, 2, 3]);
        assert_eq!(main(4, &[(0, 1), (1, 0), (2, 3), (3, 2)]), [0, 1]);
        assert_eq!(main(3, &[(0, 1), (1, 2)]), [0; 0]);
        assert_eq!(main(0, &[]), [0; 0]);
    }

    #[test]
    fn a_long_chain_is_walked_without_a_stack() {
        let wins: Vec<_> = (0..100_000).map(|player| (player, (player + 1) % 100_000)).collect();
        assert_eq!(main(100_000, &wins).len(), 100_000);
    }
}
