//! Everybody against everybody, by the circle method: one stays, the others go round.

use super::Player;

/// Who meets whom in a round, from 0; of an odd number one rests. Each cycle lets all meet once.
pub(super) fn round(order: &[Player], round: usize) -> Vec<[Player; 2]> {
    let places = order.len().next_multiple_of(2);
    let Some(moving) = places.checked_sub(1).filter(|moving| *moving > 0) else { return Vec::new() };
    let (turn, cycle) = (round % moving, round / moving);
    let at = |place: usize| if place == 0 { 0 } else { 1 + (place - 1 + turn) % moving };
    let met = (0..places / 2).filter_map(|place| {
        let (one, other) = (*order.get(at(place))?, *order.get(at(moving - place))?);
        // So that nobody begins as South all the time.
        Some(if (place + turn + cycle).is_multiple_of(2) { [one, other] } else { [other, one] })
    });
    met.collect()
}

/// Rounds of so many cycles.
pub(super) const fn rounds(players: usize, cycles: usize) -> usize {
    if players < 2 { 0 } else { (players.next_multiple_of(2) - 1) * cycles }
}

/// The one whom the challenger of a gauntlet meets in a round, from 0: the best first.
pub(super) fn gauntlet(order: &[Player], challenger: Player, round: usize) -> Vec<[Player; 2]> {
    let others: Vec<Player> = order.iter().copied().filter(|player| *player != challenger).collect();
    let Some(other) = others.get(round % others.len().max(1)) else { return Vec::new() };
    vec![if round.is_multiple_of(2) { [challenger, *other] } else { [*other, challenger] }]
}
