//! The rules helper and the lines, by spec/vectors and the examples of spec/schema.

#![allow(clippy::unwrap_used)] // a test fails so

use modiar_client::{Decoder, Pit, Position};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn spec(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec").join(path)
}

fn cases(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(spec("vectors").join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn position(case: &Value) -> Position {
    case["position"].as_str().unwrap().parse().unwrap()
}

fn pit(value: &Value) -> Option<Pit> {
    value.as_u64().and_then(|index| Pit::new(index.try_into().unwrap()))
}

fn pits(value: &Value) -> Vec<Pit> {
    value.as_array().unwrap().iter().filter_map(pit).collect()
}

/// `bots.random` chooses of the legal pits, `bots.greedy` and `bots.minimax` as said, at a depth of 6 by `bots.worth`.
#[test]
fn the_reference_bots_play_as_in_the_vectors() {
    let cases = cases("bots.jsonl");
    assert!(cases.len() >= 1000);
    for case in cases {
        let position = position(&case);
        assert_eq!(position.legal(), pits(&case["legal"]), "{case}");
        assert_eq!(position.greedy(), pit(&case["greedy"]), "{case}");
        assert_eq!(position.minimax(6), pit(&case["minimax"]), "{case}");
        assert_eq!(i64::from(position.value(6)), case["worth"], "{case}");
    }
}

#[test]
fn moves_are_played_and_refused_as_in_the_vectors() {
    for case in cases("rules.jsonl").iter().filter(|case| case["pit"].is_u64()) {
        let (after, taken) = position(case).play(pit(&case["pit"]).unwrap()).unwrap();
        assert_eq!(
            (after.to_string().as_str(), u64::from(taken)),
            (case["after"].as_str().unwrap(), case["taken"].as_u64().unwrap())
        );
    }
    for case in cases("rules-invalid.jsonl").iter().filter(|case| case["pit"].is_u64()) {
        let illegal = position(case).play(pit(&case["pit"]).unwrap()).unwrap_err();
        assert_eq!(illegal.clause, case["clause"], "{case}");
        assert_eq!(position(case).clause(illegal.pit), Some(illegal.clause));
    }
}

#[test]
fn every_example_of_a_server_s_message_is_decoded() {
    let mut seen = 0;
    for file in fs::read_dir(spec("schema/examples/server/valid")).unwrap() {
        let mut line = fs::read(file.unwrap().path()).unwrap();
        let said: Value = serde_json::from_slice(&line).unwrap();
        line = said.to_string().into_bytes();
        line.extend(b"\r\n");
        let (head, tail) = line.split_at(line.len() / 2);
        let mut decoder = Decoder::new();
        assert_eq!(decoder.feed(head), Ok(Vec::new()));
        let messages = decoder.feed(tail).unwrap();
        assert_eq!(serde_json::to_value(messages).unwrap(), serde_json::json!([said]));
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}
