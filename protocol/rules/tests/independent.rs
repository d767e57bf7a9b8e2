//! The positions and games of a program that shares nothing with this one.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod common;

use common::{naive, pit, vectors};
use modiar_rules::{BySide, EndRules, Ending, Line, Pit, Position, Setup, Side, parse_moves};
use serde_json::Value;

/// `positions.jsonl` has no plies: North's are played at ply 2, South's at ply 3.
#[test]
fn positions_of_the_independent_program() {
    let mut moves = 0;
    for case in vectors::lines("positions.jsonl") {
        let (side, ply) = match vectors::text(&case, "side") {
            "south" => (Side::South, 3),
            _ => (Side::North, 2),
        };
        let setup = Setup { pits: vectors::pits(&case["pits"]), captured: captured_pair(&case["captured"]), side, ply };
        let position = Position::try_from(setup).unwrap();
        assert_eq!(position.legal(), vectors::pit_set(&case["legal"]), "{case}");
        for (digit, after) in case["after"].as_object().unwrap() {
            let played = position.play(pit(digit.parse().unwrap())).unwrap();
            assert_eq!(played.position.pits(), vectors::pits(&after["pits"]), "{case} {digit}");
            assert_eq!(played.position.captured(), captured_pair(&after["captured"]), "{case}");
            moves += 1;
        }
    }
    assert!(moves > 478, "only {moves} moves");
}

/// `[south, north]`.
fn captured_pair(value: &Value) -> BySide<u8> {
    BySide::new(vectors::number(&value[0]), vectors::number(&value[1]))
}

#[test]
fn games_of_the_independent_program() {
    for case in vectors::lines("games.jsonl") {
        let moves = parse_moves(vectors::text(&case, "moves")).unwrap();
        let line = Line::replay(EndRules::default(), moves).unwrap();
        assert_eq!(line.score(), vectors::by_side(&case["score"]), "{case}");
        assert_eq!(line.ending(), Some(Ending::Immobile), "{case}");
    }
}

/// The second implementation must agree with the independent program too, or it proves little.
#[test]
fn the_naive_rules_know_the_positions_of_the_independent_program() {
    for case in vectors::lines("positions.jsonl") {
        let (pits, mover) = (vectors::pits(&case["pits"]), usize::from(case["side"] == "north"));
        let legal = naive::legal(&pits, mover, false);
        let expected = vectors::pit_set(&case["legal"]);
        assert_eq!(legal, Pit::ALL.map(|pit| expected.contains(pit)), "{case}");
    }
}
