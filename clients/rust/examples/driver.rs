//! Answers questions about this library: one JSON object a line on stdin, one a line on stdout.

#![allow(clippy::print_stdout)] // the answers

use modiar_client::{BySide, Decoder, Pit, Position, encode, protocol};
use serde_json::{Value, json};
use std::io::stdin;

fn main() -> std::io::Result<()> {
    for line in stdin().lines() {
        let answer = match serde_json::from_str(&line?) {
            Ok(question) => reply(&question).unwrap_or_else(|fault| json!({"error": fault})),
            Err(fault) => json!({"error": fault.to_string()}),
        };
        println!("{answer}");
    }
    Ok(())
}

fn reply(question: &Value) -> Result<Value, String> {
    match question["op"].as_str().unwrap_or_default() {
        "decode" => decode(&question["chunks"]),
        "encode" => {
            let message = protocol::client::decode(question["message"].to_string().as_bytes());
            let line = encode(&message.map_err(|error| error.to_string())?);
            Ok(json!({"line": String::from_utf8_lossy(&line)}))
        }
        op @ ("legal" | "parse" | "play" | "score" | "greedy" | "minimax") => {
            let text = question["position"].as_str().unwrap_or_default();
            let position = text.parse().map_err(|error: modiar_client::rules::PositionError| error.clause())?;
            about(op, position, question)
        }
        _ => Err("unknown op".to_owned()),
    }
}

fn about(op: &str, position: Position, question: &Value) -> Result<Value, String> {
    Ok(match op {
        "legal" => json!({"legal": position.legal().iter().map(|pit| pit.index()).collect::<Vec<u8>>()}),
        "parse" => json!({
            "pits": position.pits(), "captured": sides(position.captured()), "side": position.side().to_string(),
            "ply": position.ply(), "text": position.to_string(),
        }),
        "play" => {
            let pit = number(&question["pit"]).and_then(Pit::new).ok_or("pit: 0 to 5")?;
            let (after, taken) = position.play(pit).map_err(|illegal| illegal.clause)?;
            json!({"after": after.to_string(), "taken": taken})
        }
        "score" => json!({"score": sides(position.score())}),
        "greedy" => json!({"pit": position.greedy().map(Pit::index)}),
        _ => {
            let depth = number(&question["depth"]).map_or(modiar_client::DEPTH, u32::from);
            json!({"pit": position.minimax(depth).map(Pit::index), "value": position.value(depth)})
        }
    })
}

fn number(value: &Value) -> Option<u8> {
    value.as_u64().and_then(|number| u8::try_from(number).ok())
}

fn sides(BySide { south, north }: BySide<u8>) -> Value {
    json!({"south": south, "north": north})
}

fn decode(chunks: &Value) -> Result<Value, String> {
    let mut decoder = Decoder::new();
    let mut messages = Vec::new();
    for chunk in chunks.as_array().into_iter().flatten() {
        let bytes = bytes(chunk.as_str().unwrap_or_default()).ok_or("chunks are hex digits")?;
        messages.extend(decoder.feed(&bytes).map_err(|error| error.to_string())?);
    }
    Ok(json!({"messages": messages}))
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect()
}
