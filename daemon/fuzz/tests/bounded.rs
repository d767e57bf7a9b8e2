//! The targets on stable Rust, within a bound: the kept corpus, the spec's vectors, and seeded mutations of both.
//! `MODIAR_FUZZ_RUNS` and `MODIAR_FUZZ_SEED` ask for more, or for others.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

use modiar_fuzz::{Mutator, run};
use serde_json::Value;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Mutations of an ordinary run, for each target.
const RUNS: u64 = 30_000;

fn lines(path: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn unhex(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().map(|digit| u8::try_from(digit.to_digit(16).unwrap()).unwrap()).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn hex(input: &[u8]) -> String {
    input.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The inputs that `corpus.jsonl` keeps for a target: a text, or bytes in hex.
fn kept(target: &str) -> Vec<Vec<u8>> {
    let of_target = lines("corpus.jsonl").into_iter().filter(|kept| kept["target"] == target);
    of_target.map(|kept| bytes(&kept)).collect()
}

fn bytes(line: &Value) -> Vec<u8> {
    match line["text"].as_str().or(line["line"].as_str()) {
        Some(text) => text.as_bytes().to_vec(),
        None => unhex(line["hex"].as_str().unwrap()),
    }
}

/// Runs the inputs, then mutations of them.
fn fuzz(target: &str, inputs: &[Vec<u8>]) {
    let number = |variable| std::env::var(variable).ok().map(|text| text.parse::<u64>().unwrap());
    let mut mutator = Mutator::new(number("MODIAR_FUZZ_SEED").unwrap_or(1));
    let mutated = (0..number("MODIAR_FUZZ_RUNS").unwrap_or(RUNS)).map(|_| mutator.mutate(inputs));
    for input in inputs.iter().cloned().chain(mutated) {
        if catch_unwind(AssertUnwindSafe(|| run(target, &input))).is_err() {
            let keep = serde_json::json!({ "target": target, "hex": hex(&input) });
            panic!(
                "keep this in daemon/fuzz/corpus.jsonl once it is mended:\n{keep}\n{}",
                String::from_utf8_lossy(&input)
            );
        }
    }
}

#[test]
fn codec() {
    let vectors = lines("../../spec/vectors/lines.jsonl").iter().map(bytes).collect();
    fuzz("codec", &[kept("codec"), vectors].concat());
}

#[test]
fn lines_of_a_stream() {
    fuzz("lines", &kept("lines"));
}

#[test]
fn texts() {
    let games = lines("../../spec/vectors/games.jsonl");
    let games = games.iter().map(|game| game["moves"].as_str().unwrap().as_bytes().to_vec()).collect();
    fuzz("texts", &[kept("texts"), games].concat());
}

#[test]
fn machines() {
    fuzz("machines", &kept("machines"));
}
