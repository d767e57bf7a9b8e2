//! The board, asked on stdin.
#![allow(clippy::print_stdout)] // answers are what it is for

use super::USAGE;
use super::board::{Board, FAULTS, Fault};
use serde_json::{Value, json};
use std::io::{self, BufRead as _};
use std::process::ExitCode;

const SIDES: [&str; 2] = ["south", "north"];

/// Answers until there are no more questions.
pub fn run(arguments: &[String]) -> ExitCode {
    let fault = match arguments {
        [] => None,
        [option, value] if option == "--fault" => match FAULTS.iter().find(|(name, _)| name == value) {
            Some((_, fault)) => Some(*fault),
            None => return USAGE.into(),
        },
        _ => return USAGE.into(),
    };
    let lines = io::stdin().lock().lines().map_while(Result::ok);
    for line in lines {
        let Some(board) = serde_json::from_str(&line).ok().and_then(|question| board(&question)) else {
            return ExitCode::FAILURE;
        };
        println!("{}", answer(board, fault));
    }
    ExitCode::SUCCESS
}

fn board(question: &Value) -> Option<Board> {
    let seeds = |value: &Value| value.as_u64().and_then(|seeds| u8::try_from(seeds).ok());
    let pits: Option<Vec<u8>> = question["pits"].as_array()?.iter().map(seeds).collect();
    let [south, north] = SIDES.map(|side| seeds(&question["captured"][side]));
    Some(Board {
        pits: pits?.try_into().ok()?,
        captured: [south?, north?],
        mover: SIDES.iter().position(|side| question["side"] == *side)?,
        ply: question["ply"].as_u64()?,
    })
}

fn answer(board: Board, fault: Option<Fault>) -> Value {
    let answer = board.answer(fault);
    let by_side = |[south, north]: [u8; 2]| json!({"south": south, "north": north});
    let after = answer
        .after
        .iter()
        .map(|after| json!({"pits": after.pits, "captured": by_side(after.captured), "side": SIDES[after.mover]}));
    let mut told = json!({"legal": answer.legal, "after": after.collect::<Vec<_>>()});
    if let Some(score) = answer.score {
        told["score"] = by_side(score);
    }
    told
}
