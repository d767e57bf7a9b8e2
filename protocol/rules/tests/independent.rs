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

/// Every answer of `quiz.jsonl`, by the referee and by the naive rules.
#[test]
fn the_quiz_is_right_by_both() {
    for case in vectors::lines("quiz.jsonl") {
        let position: Position = vectors::text(&case, "position").parse().unwrap();
        let (pits, mover, answer) = (position.pits(), usize::from(position.side() == Side::North), &case["answer"]);
        let legal = vectors::pit_set(&answer["legal"]);
        assert_eq!(position.legal(), legal, "{case}");
        let naive = naive::legal(&pits, mover, position.ply() == 1);
        assert_eq!(naive, Pit::ALL.map(|pit| legal.contains(pit)), "{case}");
        let after = answer["after"].as_array().unwrap();
        assert_eq!(after.len(), legal.len(), "{case}");
        for (pit, after) in legal.iter().zip(after) {
            assert_led_to(position, pit, after);
        }
        assert_eq!(answer.get("score").is_some(), legal.is_empty(), "{case}");
        if let Some(score) = answer.get("score") {
            let naive = [0, 1].map(|side| position.captured()[Side::ALL[side]] + naive::row(&pits, side));
            assert_eq!(position.scoop(), vectors::by_side(score), "{case}");
            assert_eq!(BySide::new(naive[0], naive[1]), vectors::by_side(score), "{case}");
        }
    }
}

fn assert_led_to(position: Position, pit: Pit, after: &Value) {
    let mover = position.side();
    let naive =
        naive::outcome(position.pits(), usize::from(mover == Side::North), pit.index().into(), position.ply() == 1);
    let mut captured = position.captured();
    captured[mover] += naive.taken;
    assert_eq!(naive.pits, vectors::pits(&after["pits"]), "{position} {pit}");
    assert_eq!(captured, vectors::by_side(&after["captured"]), "{position} {pit}");
    let played = position.play(pit).unwrap().position;
    assert_eq!((played.pits(), played.captured()), (naive.pits, captured), "{position} {pit}");
    assert_eq!(played.side().to_string(), vectors::text(after, "side"), "{position} {pit}");
}
