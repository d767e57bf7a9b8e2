//! How games began: a tree of their first plies.

use super::bot::{Points, outcome};
use super::{GameAnalysis, Outcome};
use modiar_protocol::Record;
use modiar_rules::{Pit, Side};

/// Plies of the tree: a balanced opening has as many, and no more than 5,660 lines are so long or shorter.
pub const DEPTH: usize = 8;

/// The games that began with a line.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Line {
    pub games: u64,
    /// South's.
    pub points: Points,
    /// Where the lines stand that are a ply longer, by the pit's place in its row; 0 where there is none.
    longer: [u32; 3],
}

/// All lines, the empty one first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Openings(Vec<Line>);

impl Default for Openings {
    fn default() -> Self {
        Self(vec![Line::default()])
    }
}

impl Openings {
    pub(super) fn add(&mut self, record: &Record, game: &GameAnalysis) {
        let outcome = outcome(record, Side::South);
        let mut at = 0;
        self.count(at, outcome);
        for ply in game.plies.iter().take(DEPTH) {
            at = self.longer(at, usize::from(ply.pit.index() % 3));
            self.count(at, outcome);
        }
    }

    fn count(&mut self, at: usize, outcome: Option<Outcome>) {
        self.0[at].games += 1;
        if let Some(outcome) = outcome {
            self.0[at].points.add(outcome);
        }
    }

    /// Where the line stands that goes on from the one at `at`; it is made where there is none.
    fn longer(&mut self, at: usize, pit: usize) -> usize {
        let known = self.0[at].longer[pit];
        if known != 0 {
            return known as usize;
        }
        let new = self.0.len();
        self.0.push(Line::default());
        self.0[at].longer[pit] = u32::try_from(new).unwrap_or(0);
        new
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.merge_from(0, other, 0);
    }

    fn merge_from(&mut self, here: usize, other: &Self, there: usize) {
        let line = other.0[there];
        self.0[here].games += line.games;
        self.0[here].points.merge(&line.points);
        for (pit, longer) in line.longer.into_iter().enumerate().filter(|(_, longer)| *longer != 0) {
            let here = self.longer(here, pit);
            self.merge_from(here, other, longer as usize);
        }
    }

    /// The line without a ply: all games.
    pub(super) fn root(&self) -> Line {
        self.0[0]
    }

    /// The lines that are a ply longer, with that ply, which is of `side`.
    pub(super) fn after(&self, line: Line, side: Side) -> impl Iterator<Item = (Pit, Line)> {
        let first = if side == Side::South { 0 } else { 3 };
        let there = (first..).zip(line.longer).filter(|(_, at)| *at != 0);
        there.filter_map(|(pit, at)| Some((Pit::new(pit)?, self.0[at as usize])))
    }
}
