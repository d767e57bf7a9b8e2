//! Lines of play that lead to what a check is about.

use modiar_rules::{EndRules, Ending, Line, Pit, Position};

/// Plies from the start within which a position is looked for.
const DEEPEST: u32 = 16;
/// Random games that are tried for an end.
const GAMES: usize = 100_000;
/// A game is short enough to be played here.
const LONGEST: usize = 60;

/// A shortest line, of two plies at least, to a position in which `wanted` finds a pit; and the pit.
#[must_use]
pub fn line_to(wanted: &dyn Fn(&Position) -> Option<Pit>) -> Option<(Vec<Pit>, Pit)> {
    (2..DEEPEST).find_map(|plies| {
        let mut moves = Vec::new();
        let pit = search(Position::START, plies, &mut moves, wanted)?;
        Some((moves, pit))
    })
}

fn search(
    position: Position,
    plies: u32,
    moves: &mut Vec<Pit>,
    wanted: &dyn Fn(&Position) -> Option<Pit>,
) -> Option<Pit> {
    if plies == 0 {
        return wanted(&position);
    }
    for pit in position.legal() {
        moves.push(pit);
        let mut next = position;
        next.play_unchecked(pit);
        if let Some(found) = search(next, plies - 1, moves, wanted) {
            return Some(found);
        }
        moves.pop();
    }
    None
}

/// A game of random legal plies that ends so by these rules, if one is found.
#[must_use]
pub fn line_ending(rules: EndRules, wanted: Ending) -> Option<Vec<Pit>> {
    let mut dice = Dice(1);
    (0..GAMES).map(|_| random(rules, &mut dice)).find_map(|line| {
        (line.ending() == Some(wanted) && line.moves().len() <= LONGEST).then(|| line.moves().to_vec())
    })
}

/// The longest of some random games that end by these rules.
pub(crate) fn long_line(rules: EndRules) -> Vec<Pit> {
    let mut dice = Dice(7);
    let lines = (0..500).map(|_| random(rules, &mut dice)).filter(|line| line.ending().is_some());
    lines.map(|line| line.moves().to_vec()).max_by_key(Vec::len).unwrap_or_default()
}

/// A random game to its end, or to more plies than are played here.
fn random(rules: EndRules, dice: &mut Dice) -> Line {
    /// Rules may have no end.
    const MOST: usize = 300;
    let mut line = Line::new(rules);
    while line.ending().is_none() && line.moves().len() < MOST {
        let legal: Vec<Pit> = line.legal().iter().collect();
        let Some(pit) = legal.get(dice.below(legal.len())) else { break };
        if line.play(*pit).is_err() {
            break;
        }
    }
    line
}

/// Numbers from a seed: the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// A number below this one; 0 below 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default().checked_rem(end).unwrap_or_default()
    }

    /// Bytes of all kinds.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).filter_map(|_| u8::try_from(self.below(256)).ok()).collect()
    }

    /// Puts them in another order.
    pub(crate) fn shuffle<T>(&mut self, values: &mut [T]) {
        for end in (1..values.len()).rev() {
            values.swap(end, self.below(end + 1));
        }
    }
}
