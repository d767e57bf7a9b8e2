//! Counts of lines of play, against `spec/vectors/perft.json`.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod common;

use common::{position, vectors};
use modiar_rules::{Position, perft};

#[test]
fn counts_are_those_of_the_vectors() {
    let cases = vectors::json("perft.json");
    let cases = cases.as_array().unwrap();
    for case in cases {
        let position = position(vectors::text(case, "position"));
        for (depth, lines) in case["lines"].as_object().unwrap() {
            let depth = depth.parse().unwrap();
            assert_eq!(Some(perft(&position, depth)), lines.as_u64(), "{position} depth {depth}");
        }
    }
    assert_eq!(cases[0]["position"], Position::START.to_string());
    assert!(cases[0]["lines"].as_object().unwrap().len() >= 12);
}

#[test]
fn an_ended_game_counts_only_as_itself() {
    let immobile = position("5.1.2-1.1.0 18-14 n 22");
    assert_eq!([0, 1, 2].map(|depth| perft(&immobile, depth)), [1, 0, 0]);
}
