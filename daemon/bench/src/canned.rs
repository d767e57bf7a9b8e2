//! The moves that every game of the benchmark plays.

/// The first nine plies.
const LEAD: [u8; 9] = [2, 4, 0, 3, 1, 5, 0, 4, 2];
/// What comes round after them for ever, by no side's capture.
const ROUND: [u8; 6] = [3, 1, 5, 0, 4, 2];

/// The pit of a ply, from 1. Where a third standing ends a game, this one ends with ply 21.
pub const fn pit(ply: usize) -> u8 {
    let at = ply.saturating_sub(1);
    if at < LEAD.len() { LEAD[at] } else { ROUND[(at - LEAD.len()) % ROUND.len()] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use modiar_rules::{EndRules, Ending, Line, Pit};

    fn plies(count: usize) -> impl Iterator<Item = Pit> {
        (1..=count).map(|ply| Pit::new(pit(ply)).unwrap())
    }

    #[test]
    fn it_never_ends_where_nothing_ends_it() {
        let rules = EndRules { repetition: 0, quiet_plies: 0, majority: false };
        assert_eq!(Line::replay(rules, plies(1000)).unwrap().ending(), None);
    }

    #[test]
    fn it_ends_with_ply_21_by_the_default_rules() {
        let line = Line::replay(EndRules::default(), plies(21)).unwrap();
        assert_eq!(line.ending(), Some(Ending::Repetition));
    }
}
