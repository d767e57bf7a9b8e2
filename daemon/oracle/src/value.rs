//! What a position of a game is worth, and each of its moves.

use crate::{Bounds, Layout, Table};
use modiar_rules::{Pit, PitSet, Position};
use std::cmp::Ordering;

/// A legal move and its worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValuedMove {
    /// The pit.
    pub pit: Pit,
    /// The margin that it leads to for the side that makes it, of the seeds in play before it.
    pub bounds: Bounds,
}

impl Table {
    /// The legal moves of a position with their worth, in the order of the pits. Nothing where its seeds in play are odd in
    /// number, for no game leads there.
    #[must_use]
    pub fn moves(&self, position: &Position) -> Option<Vec<ValuedMove>> {
        let valued = |pit| Some(ValuedMove { pit, bounds: self.after(position, pit)?.0 });
        position.legal().into_iter().map(valued).collect()
    }

    /// What a position is worth to the side to move: its margin of the seeds in play.
    #[must_use]
    pub fn value(&self, position: &Position) -> Option<Bounds> {
        if position.ply() > 1 {
            return self.bounds(Layout::of(position));
        }
        // The first ply captures nothing and bans nothing: the table does not hold it.
        let moves = self.moves(position)?;
        let best = moves.into_iter().map(|valued| valued.bounds).reduce(Bounds::or);
        Some(best.unwrap_or_else(|| Bounds::exact(Layout::of(position).scoop())))
    }

    /// The pits that keep what the side to move is sure of.
    #[must_use]
    pub fn best(&self, position: &Position) -> Option<PitSet> {
        let moves = self.moves(position)?;
        let lo = moves.iter().map(|valued| valued.bounds.lo).max();
        Some(moves.iter().filter(|valued| Some(valued.bounds.lo) == lo).map(|valued| valued.pit).collect())
    }

    /// What a legal pit is worth, and where it leads.
    fn after(&self, position: &Position, pit: Pit) -> Option<(Bounds, Position)> {
        let mut next = *position;
        let taken = next.play_unchecked(pit);
        Some((self.bounds(Layout::of(&next))?.after(taken), next))
    }
}

/// What a move cost its mover, and where it led.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Judgement {
    /// What the position was worth to the mover.
    pub before: Bounds,
    /// What the move left of it.
    pub after: Bounds,
    /// The pits that keep what the mover was sure of.
    pub best: PitSet,
    /// How many pits were legal: 1 is a forced ply.
    pub choices: u8,
    /// The position after the move.
    pub next: Position,
}

impl Judgement {
    /// The seeds that the mover gave away: 0 for a best pit.
    #[must_use]
    pub const fn loss(&self) -> i8 {
        self.before.lo - self.after.lo
    }
}

impl Table {
    /// Judges a legal pit. Nothing where it is not legal, or where the seeds in play are odd in number.
    #[inline]
    #[must_use]
    pub fn judge(&self, position: &Position, pit: Pit) -> Option<Judgement> {
        let (mut before, mut played, mut best, mut choices) = (None::<Bounds>, None, PitSet::EMPTY, 0);
        for legal in position.legal() {
            let (bounds, next) = self.after(position, legal)?;
            match before.map(|known| bounds.lo.cmp(&known.lo)) {
                None | Some(Ordering::Greater) => best = PitSet::from_iter([legal]),
                Some(Ordering::Equal) => best.insert(legal),
                Some(Ordering::Less) => {}
            }
            before = Some(before.map_or(bounds, |known| known.or(bounds)));
            if legal == pit {
                played = Some((bounds, next));
            }
            choices += 1;
        }
        let (after, next) = played?;
        Some(Judgement { before: before?, after, best, choices, next })
    }
}
