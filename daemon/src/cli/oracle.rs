//! `modiar oracle`: what a position is worth under best play.

use super::place::Place;
use super::streams::{Input, Stdout, UNWRITABLE};
use crate::logging::note;
use crate::oracle;
use crate::records::{counted, quoted};
use anyhow::{Context as _, bail};
use clap::Args;
use modiar_oracle::{Bounds, FileError, Table, balanced_openings, solve};
use modiar_rules::{Position, Setup, Side, moves_text};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  modiar oracle '7.7.7-7.7.7 0-0 s 1'\n  modiar oracle < positions.txt\n  modiar oracle --openings\n\nA position is the pits 0 to 5, the seeds captured by South and North, the side to\nmove and the ply to be played. Values are margins over the seeds still in play, in seeds,\n[lo, hi]: they differ where endless play decides, which counts as worst and as best for\nthe side to move. daemon/ORACLE.md tells every field."
)]
pub(super) struct Oracle {
    /// A position; without one, positions are read from stdin, one a line
    #[arg(value_parser = parse_position)]
    position: Option<Position>,
    /// Solve the game and write the table to this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["position", "openings"])]
    build: Option<PathBuf>,
    /// List the balanced openings: 8 plies that best play leads to 21 : 21 from
    #[arg(long, conflicts_with = "position")]
    openings: bool,
}

/// The answer to a position.
#[derive(Serialize)]
struct Answer {
    position: String,
    value: [i8; 2],
    r#final: Final,
    moves: BTreeMap<u8, [i8; 2]>,
    best: Vec<u8>,
}

/// The seeds that each side ends with, from and to.
#[derive(Serialize)]
struct Final {
    south: [u8; 2],
    north: [u8; 2],
}

#[derive(Serialize)]
struct ListedOpening {
    moves: String,
    position: String,
    best: Vec<u8>,
    plies_to_come: u32,
}

impl Oracle {
    pub(super) fn run(self, place: &Place) -> anyhow::Result<ExitCode> {
        if let Some(path) = self.build {
            if let Err(FileError::Foreign(path)) = Table::read(&path) {
                bail!("{} is there and is no table of this version; remove it, or name another file", path.display());
            }
            solve().write(&path)?;
            note(&format!("the table was written to {}", path.display()));
            return Ok(ExitCode::SUCCESS);
        }
        let table = oracle::consult(&place.helpful_data());
        if self.openings {
            list_openings(&table)?;
        } else if let Some(position) = self.position {
            write_line(&answer(&table, position)?)?;
        } else {
            answer_all(&table, Input::stdin())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Answers positions, one a line.
fn answer_all(table: &Table, mut input: Input) -> anyhow::Result<()> {
    while let Some((number, line)) = input.line()? {
        let text = String::from_utf8_lossy(line);
        if text.trim().is_empty() {
            continue;
        }
        let position =
            parse_position(&text).with_context(|| format!("line {number}: {} is no position", quoted(&text)))?;
        write_line(&answer(table, position)?)?;
    }
    Ok(())
}

fn write_line(line: &impl Serialize) -> anyhow::Result<()> {
    let (mut stdout, line) = (Stdout(io::stdout()), serde_json::to_string(line)? + "\n");
    stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()).context(UNWRITABLE)
}

fn parse_position(text: &str) -> anyhow::Result<Position> {
    let position = Position::try_from(text.parse::<Setup>()?)?;
    let seeds = position.board().total();
    if seeds.is_multiple_of(2) {
        Ok(position)
    } else {
        bail!(
            "{} on the board: no game leads there, for seeds leave it in twos, fours and sixes",
            counted(seeds.into(), "seed", "seeds")
        )
    }
}

fn answer(table: &Table, position: Position) -> anyhow::Result<Answer> {
    let (value, moves) = table.value(&position).zip(table.moves(&position)).context("the table does not hold it")?;
    let best = table.best(&position).unwrap_or_default();
    Ok(Answer {
        position: position.to_string(),
        value: pair(value),
        r#final: ends(&position, value),
        moves: moves.iter().map(|valued| (valued.pit.index(), pair(valued.bounds))).collect(),
        best: best.iter().map(|pit| pit.index()).collect(),
    })
}

const fn pair(Bounds { lo, hi }: Bounds) -> [i8; 2] {
    [lo, hi]
}

/// What each side ends with, its captures included.
fn ends(position: &Position, Bounds { lo, hi }: Bounds) -> Final {
    let seeds = position.board().total();
    // The margin and the seeds in play are both even or both odd, and none is larger than the other.
    let share = |margin: i8| (seeds.cast_signed() + margin).cast_unsigned() / 2;
    let (mover, captured) = (position.side(), position.captured());
    let mine = [captured[mover] + share(lo), captured[mover] + share(hi)];
    let other = captured[mover.other()];
    let theirs = [other + seeds - share(hi), other + seeds - share(lo)];
    match mover {
        Side::South => Final { south: mine, north: theirs },
        Side::North => Final { south: theirs, north: mine },
    }
}

fn list_openings(table: &Table) -> anyhow::Result<()> {
    for opening in balanced_openings(table) {
        write_line(&ListedOpening {
            moves: moves_text(&opening.moves).to_string(),
            position: opening.position.to_string(),
            best: table.best(&opening.position).unwrap_or_default().iter().map(|pit| pit.index()).collect(),
            plies_to_come: opening.to_come,
        })?;
    }
    Ok(())
}
