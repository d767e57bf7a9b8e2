//! What several test programs share.

#![allow(dead_code)] // each program uses its part

pub(crate) mod naive;
pub(crate) mod vectors;

use modiar_rules::{Pit, PitSet, Position};

pub(crate) fn pit(index: u8) -> Pit {
    Pit::new(index).unwrap()
}

pub(crate) fn position(text: &str) -> Position {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn set(indices: &[u8]) -> PitSet {
    indices.iter().copied().map(pit).collect()
}

/// The position as the other side sees it: its board turned by half a round.
pub(crate) fn mirrored(mut pits: [u8; 6]) -> [u8; 6] {
    pits.rotate_left(3);
    pits
}
