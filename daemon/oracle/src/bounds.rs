//! What a layout is worth.

/// Between which margins, in seeds, the side to move ends under best play: its own seeds less the opponent's, of those in
/// play. `lo` counts endless play as worst for it, `hi` as best; where they are equal endless play decides nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Bounds {
    /// The margin it can be sure of.
    pub lo: i8,
    /// The margin it may hope for.
    pub hi: i8,
}

impl Bounds {
    /// A margin that endless play does not touch.
    #[must_use]
    pub const fn exact(margin: i8) -> Self {
        Self { lo: margin, hi: margin }
    }

    /// Whether endless play decides nothing.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        self.lo == self.hi
    }

    /// What a move is worth that takes `taken` seeds and leaves the opponent a layout worth this.
    #[must_use]
    pub const fn after(self, taken: u8) -> Self {
        Self { lo: taken.cast_signed() - self.hi, hi: taken.cast_signed() - self.lo }
    }

    /// What two choices are worth together to who has them.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { lo: self.lo.max(other.lo), hi: self.hi.max(other.hi) }
    }
}
