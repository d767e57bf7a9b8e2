//! Perfect play: it keeps its value, and it comes to an end.
//!
//! To keep the value is not enough: from thousands of layouts both sides can keep it for ever, and what the end by
//! repetition then gives to whom is another matter. So of the moves that keep it the one is played that is nearest to a
//! capture or the end. With each pair of plies that comes nearer or the value rises, so no position comes twice.

use crate::{Layout, Table, ValuedMove};
use modiar_rules::{Pit, Position};
use std::cmp::Reverse;

impl Table {
    /// The pit of perfect play. Nothing where the game is over, or where the seeds in play are odd in number.
    #[must_use]
    pub fn perfect(&self, position: &Position) -> Option<Pit> {
        let moves = self.moves(position)?;
        let quality = |valued: &ValuedMove| (valued.bounds.lo, Reverse(self.delay(position, valued)), valued.bounds.hi);
        // Of equals the lowest pit.
        moves.iter().rev().max_by_key(|valued| quality(valued)).map(|valued| valued.pit)
    }

    /// How long the opponent can hold out after this move without making things better for its mover.
    fn delay(&self, position: &Position, valued: &ValuedMove) -> u8 {
        let mut next = *position;
        if next.play_unchecked(valued.pit) > 0 {
            return 0;
        }
        let replies = Layout::of(&next).steps().filter(|step| step.taken == 0);
        let held = replies.filter(|step| self.bounds(step.next).is_some_and(|bounds| bounds.lo == valued.bounds.lo));
        held.filter_map(|step| Some(self.progress(step.next)?.saturating_add(1))).max().unwrap_or(0)
    }
}
