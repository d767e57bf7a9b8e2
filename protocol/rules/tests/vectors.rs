//! The vectors of `spec/vectors` that show a clause: what every implementation is held to.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod common;

use std::collections::BTreeSet;

use common::{position, vectors};
use modiar_rules::{EndRules, Line, Pit, PitSet, Position, Refusal, Side, moves_text, parse_moves};
use serde_json::Value;

/// The clauses that a position or a line can show.
const CLAUSES: [&str; 29] = [
    "rules.board.conserved",
    "rules.board.pits",
    "rules.board.start",
    "rules.capture.chain",
    "rules.capture.either-side",
    "rules.capture.even",
    "rules.capture.first-ply",
    "rules.end.immobile",
    "rules.end.majority",
    "rules.end.no-early-end",
    "rules.end.rank",
    "rules.end.scoop",
    "rules.end.winner",
    "rules.endless.opening",
    "rules.endless.quiet-plies",
    "rules.endless.repetition",
    "rules.feed.if-able",
    "rules.feed.must",
    "rules.move.empty-pit",
    "rules.move.own-row",
    "rules.move.singleton",
    "rules.slam.banned",
    "rules.slam.own-row",
    "rules.sow.every-pit",
    "rules.sow.origin-first",
    "rules.sow.single-lap",
    "rules.text.game",
    "rules.text.position",
    "rules.turn.south-first",
];

#[test]
fn every_clause_has_a_valid_vector() {
    let cases = [vectors::lines("rules.jsonl"), vectors::lines("endless.jsonl")].concat();
    let shown: BTreeSet<_> = cases.iter().map(|case| vectors::text(case, "clause")).collect();
    assert_eq!(shown, BTreeSet::from(CLAUSES));
}

#[test]
fn every_invalid_vector_names_a_known_clause_and_a_reason() {
    for case in vectors::lines("rules-invalid.jsonl") {
        assert!(CLAUSES.contains(&vectors::text(&case, "clause")), "{case}");
        assert!(!vectors::text(&case, "reason").is_empty(), "{case}");
    }
}

fn replay(case: &Value, rules: EndRules) -> Line {
    let moves = parse_moves(vectors::text(case, "moves")).unwrap();
    Line::replay(rules, moves).unwrap_or_else(|error| panic!("{case}: {error}"))
}

#[test]
fn rules_hold_as_their_vectors_show() {
    for case in vectors::lines("rules.jsonl") {
        match case.get("moves") {
            Some(_) => assert_game(&case),
            None => assert_position(&case),
        }
    }
}

/// A game's text leads to a position, and comes back as it was.
fn assert_game(case: &Value) {
    let line = replay(case, EndRules::default());
    assert_eq!(line.position().to_string(), vectors::text(case, "after"), "{case}");
    assert_eq!(moves_text(line.moves()).to_string(), vectors::text(case, "moves"));
}

/// Whatever a case says of its position; each says something.
fn assert_position(case: &Value) {
    let text = vectors::text(case, "position");
    let position = position(text);
    assert_eq!(position.to_string(), text);
    let said = [
        case.get("legal").map(|legal| assert_legal(position, legal)),
        case.get("pit").map(|pit| assert_played(position, vectors::pit(pit), case)),
        case.get("score").map(|_| assert_score(position, case)),
        case.get("ply").map(|_| assert_parts(position, case)),
    ];
    assert!(said.iter().any(Option::is_some), "{case} says nothing");
}

fn assert_legal(position: Position, legal: &Value) {
    assert_eq!(position.legal(), vectors::pit_set(legal), "{position}");
}

fn assert_played(position: Position, pit: Pit, case: &Value) {
    let played = position.play(pit).unwrap();
    assert_eq!(played.position.to_string(), vectors::text(case, "after"), "{case}");
    assert_eq!(played.taken, vectors::number::<u8>(&case["taken"]), "{case}");
}

fn assert_score(position: Position, case: &Value) {
    assert_eq!(position.legal(), PitSet::EMPTY, "{case}");
    let score = position.scoop();
    assert_eq!(score, vectors::by_side(&case["score"]), "{case}");
    let winner = Side::ALL.into_iter().find(|&side| score[side] > 21);
    assert_eq!(winner.map(|side| side.to_string()).as_deref(), case["winner"].as_str(), "{case}");
}

fn assert_parts(position: Position, case: &Value) {
    assert_eq!(position.pits(), vectors::pits(&case["pits"]), "{case}");
    assert_eq!(position.captured(), vectors::by_side(&case["captured"]), "{case}");
    assert_eq!(position.side().to_string(), vectors::text(case, "side"));
    assert_eq!(position.ply(), vectors::number::<u32>(&case["ply"]), "{case}");
}

#[test]
fn lines_end_as_their_vectors_show() {
    for case in vectors::lines("endless.jsonl") {
        let line = replay(&case, vectors::end_rules(&case["rules"]));
        let ending = line.ending().map(|ending| ending.to_string());
        assert_eq!(ending.as_deref(), case["ending"].as_str(), "{case}");
        assert_eq!(line.legal().is_empty(), ending.is_some(), "{case}");
        assert_eq!(line.position().to_string(), vectors::text(&case, "position"), "{case}");
        assert_eq!(line.score(), vectors::by_side(&case["score"]), "{case}");
        let winner = line.winner().map(|side| side.to_string());
        assert_eq!(winner.as_deref(), case["winner"].as_str(), "{case}");
    }
}

#[test]
fn invalid_vectors_are_refused_by_their_clause() {
    for case in vectors::lines("rules-invalid.jsonl") {
        let clause = vectors::text(&case, "clause");
        if case.get("pit").is_some() {
            assert_eq!(refused_move(&case), clause, "{case}");
        } else if case.get("position").is_some() {
            let text = vectors::text(&case, "position");
            assert_eq!(text.parse::<Position>().unwrap_err().clause(), clause, "{case}");
        } else if case.get("offset").is_some() {
            let error = parse_moves(vectors::text(&case, "moves")).unwrap_err();
            assert_eq!((error.clause(), error.offset), (clause, vectors::number(&case["offset"])));
        } else {
            assert_line_refused(&case, clause);
        }
    }
}

fn refused_move(case: &Value) -> &'static str {
    let position = position(vectors::text(case, "position"));
    position.play(vectors::pit(&case["pit"])).unwrap_err().reason.clause()
}

/// The last move of the line is the one refused: for the end that came before it, or as illegal.
fn assert_line_refused(case: &Value, clause: &str) {
    let moves = parse_moves(vectors::text(case, "moves")).unwrap();
    let error = Line::replay(vectors::end_rules(&case["rules"]), moves).unwrap_err();
    assert_eq!(error.ply, vectors::number::<u32>(&case["ply"]), "{case}");
    match error.refusal {
        Refusal::Over(ending) => assert_eq!(ending.to_string(), vectors::text(case, "over")),
        Refusal::Illegal(illegal) => assert_eq!(illegal.clause(), clause, "{case}"),
    }
}
