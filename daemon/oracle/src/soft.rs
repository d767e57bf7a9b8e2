//! Play that errs by the size of the error.

use crate::Table;
use modiar_rules::{Pit, Position};

impl Table {
    /// A pit by the softmax of what each is sure to bring, at a `temperature` in seeds: one that keeps a seed more than
    /// another is played e^(1 / temperature) times as often. `chance`, from 0 on and below 1, decides. Nothing where the game is
    /// over.
    #[must_use]
    pub fn soft(&self, position: &Position, temperature: f64, chance: f64) -> Option<Pit> {
        let moves = self.moves(position)?;
        let best = moves.iter().map(|valued| valued.bounds.lo).max()?;
        let weights = moves.iter().map(|valued| (valued.pit, (f64::from(valued.bounds.lo - best) / temperature).exp()));
        let mut left = chance * weights.clone().map(|(_, weight)| weight).sum::<f64>();
        let chosen = weights.clone().find(|(_, weight)| {
            left -= weight;
            left < 0.0
        });
        // By rounding nothing may be left over for the last one that has a weight.
        chosen.or_else(|| weights.rev().find(|(_, weight)| *weight > 0.0)).map(|(pit, _)| pit)
    }
}
