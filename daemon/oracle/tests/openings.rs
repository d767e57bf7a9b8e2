//! The balanced openings.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod common;

use common::table;
use modiar_oracle::balanced_openings;
use modiar_rules::{EndRules, Line};

#[test]
fn balanced_openings_are_played_to_a_draw() {
    let openings = balanced_openings(table());
    assert_eq!(openings.len(), 331);
    for opening in openings {
        assert_eq!(opening.moves.len(), 8);
        let mut line = Line::replay(EndRules::default(), opening.moves).unwrap();
        assert_eq!(line.position(), opening.position);
        assert!(opening.position.legal().len() > 1);
        for _ in 0..opening.to_come {
            assert_eq!(line.ending(), None);
            line.play(table().perfect(&line.position()).unwrap()).unwrap();
        }
        assert!(line.ending().is_some() && opening.to_come >= 6);
        assert_eq!(line.winner(), None, "{}", opening.position);
    }
}
