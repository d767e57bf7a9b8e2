//! The rules helper and the bots of a library, held to `spec/vectors`.

use crate::driver::Driver;
use serde_json::{Value, json};
use std::path::Path;

const START: &str = "7.7.7-7.7.7 0-0 s 1";

/// The cases of a file.
fn vectors(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() > 20, "{name} has {} cases", cases.len());
    cases
}

/// What is not as it should be, with the question.
struct Finds<'a>(&'a mut Driver, Vec<String>);

impl Finds<'_> {
    /// Asks, and compares the fields of the answer that `wanted` has.
    fn ask(&mut self, question: &Value, wanted: &Value) -> Value {
        let answer = self.0.ask(question);
        let differs = wanted.as_object().unwrap().iter().any(|(key, value)| answer[key] != *value);
        if differs {
            self.1.push(format!("{question}\n  is answered {answer}\n  and not      {wanted}"));
        }
        answer
    }

    fn legal(&mut self, position: &Value, legal: &Value) {
        self.ask(&json!({"op": "legal", "position": position}), &json!({"legal": legal}));
    }

    fn play(&mut self, position: &Value, pit: &Value, wanted: &Value) -> Value {
        self.ask(&json!({"op": "play", "position": position, "pit": pit}), wanted)
    }

    /// Plays a game from the start as far as it is legal, and the position it leads to.
    fn replay(&mut self, moves: &Value) -> Value {
        let mut position = json!(START);
        for pit in moves.as_str().unwrap().bytes() {
            position = self.play(&position, &json!(pit - b'0'), &json!({}))["after"].clone();
        }
        position
    }
}

/// All that the library gets wrong.
pub fn found(driver: &mut Driver) -> Vec<String> {
    let mut finds = Finds(driver, Vec::new());
    rules(&mut finds);
    invalid(&mut finds);
    positions(&mut finds);
    games(&mut finds);
    bots(&mut finds);
    finds.1
}

fn rules(finds: &mut Finds<'_>) {
    for case in vectors("rules.jsonl") {
        let position = &case["position"];
        if !case["moves"].is_null() {
            let after = finds.replay(&case["moves"]);
            if after != case["after"] {
                finds.1.push(format!("{case}: it leads to {after}"));
            }
            continue;
        }
        if !case["legal"].is_null() {
            finds.legal(position, &case["legal"]);
        }
        if !case["pit"].is_null() {
            finds.play(position, &case["pit"], &json!({"after": case["after"], "taken": case["taken"]}));
        }
        if !case["score"].is_null() {
            finds.ask(&json!({"op": "score", "position": position}), &json!({"score": case["score"]}));
        }
        if !case["pits"].is_null() {
            let fields = ["pits", "captured", "side", "ply"].map(|key| (key.to_owned(), case[key].clone()));
            let wanted = Value::Object(fields.into_iter().chain([("text".to_owned(), position.clone())]).collect());
            finds.ask(&json!({"op": "parse", "position": position}), &wanted);
        }
    }
}

fn invalid(finds: &mut Finds<'_>) {
    for case in vectors("rules-invalid.jsonl") {
        let (position, wanted) = (&case["position"], json!({"error": case["clause"]}));
        if position.is_null() {
            continue;
        }
        if case["pit"].is_null() {
            finds.ask(&json!({"op": "parse", "position": position}), &wanted);
        } else {
            finds.play(position, &case["pit"], &wanted);
        }
    }
}

fn positions(finds: &mut Finds<'_>) {
    let dots = |pits: &[Value]| pits.iter().map(Value::to_string).collect::<Vec<_>>().join(".");
    let text = |pits: &Value, captured: &Value, side: &str, ply: u8| {
        let (south, north) = pits.as_array().unwrap().split_at(3);
        json!(format!("{}-{} {}-{} {side} {ply}", dots(south), dots(north), captured[0], captured[1]))
    };
    for case in vectors("positions.jsonl") {
        let (side, other, ply) = if case["side"] == "south" { ("s", "n", 3) } else { ("n", "s", 2) };
        let position = text(&case["pits"], &case["captured"], side, ply);
        finds.legal(&position, &case["legal"]);
        for (pit, after) in case["after"].as_object().unwrap() {
            let after = text(&after["pits"], &after["captured"], other, ply + 1);
            finds.play(&position, &json!(pit.parse::<u8>().unwrap()), &json!({"after": after}));
        }
    }
}

fn games(finds: &mut Finds<'_>) {
    for case in vectors("games.jsonl") {
        let end = finds.replay(&case["moves"]);
        finds.legal(&end, &json!([]));
        finds.ask(&json!({"op": "score", "position": end}), &json!({"score": case["score"]}));
    }
}

/// `bots.greedy`, `bots.minimax`, `bots.worth`.
fn bots(finds: &mut Finds<'_>) {
    let cases = vectors("bots.jsonl");
    assert_eq!(cases.len(), 1000);
    assert!(cases.iter().filter(|case| case["tags"].is_array()).count() >= 300);
    for case in cases {
        let position = &case["position"];
        finds.ask(&json!({"op": "greedy", "position": position}), &json!({"pit": case["greedy"]}));
        finds.ask(
            &json!({"op": "minimax", "position": position, "depth": 6}),
            &json!({"pit": case["minimax"], "value": case["worth"]}),
        );
    }
}
