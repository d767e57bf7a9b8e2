//! Counting lines of play: the quickest way to find out that two implementations differ.

use crate::Position;

/// The number of lines of exactly `depth` plies from `position`, 1 for depth 0.
///
/// A line that ends sooner because its mover has no legal move counts for nothing. Repetition, quiet
/// plies and majority end no line here. From the start: 3, 9, 26, 72, 187, 522, 1364, 3477, 8685, …
#[must_use]
pub fn perft(position: &Position, depth: u32) -> u64 {
    let legal = position.legal();
    match depth {
        0 => 1,
        1 => legal.len() as u64,
        _ => legal.iter().map(|pit| perft(&after(*position, pit), depth - 1)).sum(),
    }
}

fn after(mut position: Position, pit: crate::Pit) -> Position {
    position.play_unchecked(pit);
    position
}
