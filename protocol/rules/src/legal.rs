//! Which pits of a board may be played.

use crate::{Board, Pit, PitSet, Side};

impl Board {
    /// The pits that `side` may play on any ply but the first. Where there is none, the game is over
    /// (rules.end.immobile).
    #[inline]
    #[must_use]
    pub fn legal(self, side: Side) -> PitSet {
        self.legal_unless(side, |pit| self.slams(pit))
    }

    /// The pits of `side`'s row that hold two seeds or more and are not banned, and of these only those that
    /// feed, if he must feed and can.
    #[inline]
    pub(crate) fn legal_unless(self, side: Side, banned: impl Fn(Pit) -> bool) -> PitSet {
        let able: PitSet = Pit::row(side).into_iter().filter(|&pit| self.seeds(pit) > 1 && !banned(pit)).collect();
        if !self.is_row_empty(side.other()) {
            return able;
        }
        let feeding: PitSet = able.iter().filter(|&pit| self.feeds(pit)).collect(); // rules.feed.must
        if feeding.is_empty() { able } else { feeding } // rules.feed.if-able
    }

    /// Whether a move of `pit` passes a seed into the opponent's row.
    fn feeds(self, pit: Pit) -> bool {
        pit.index() % 3 + self.seeds(pit) > 3
    }

    /// Whether a move of `pit` would take the opponent's whole row (rules.slam.banned).
    #[inline]
    pub(crate) fn slams(self, pit: Pit) -> bool {
        self.sow(pit).slams(pit.owner().other())
    }
}
