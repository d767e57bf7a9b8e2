//! The report on a terminal, of 100 columns.

use super::report::Report;
use super::tables::{Column, Grid, Room, ratio, tables};
use crate::records::counted;
use std::fmt::Write as _;

/// Columns of a terminal that the report fits.
const WIDTH: usize = 100;
const ROOM: Room = Room { bots: 20, depth: 4, lines: 30 };

/// The report as text for people.
#[must_use]
pub fn text(report: &Report) -> String {
    let mut text = summary(report).map(|line| wrapped(&line)).concat();
    for grid in tables(report, ROOM).iter().filter(|grid| !grid.rows.is_empty()) {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n{}\n{}", grid.title, wrapped(&grid.note));
        write_rows(&mut text, grid);
    }
    text
}

/// What was played, in sentences.
pub(super) fn summary(report: &Report) -> [String; 3] {
    let totals = &report.totals;
    let span = match (&totals.first_ended, &totals.last_ended) {
        (Some(first), Some(last)) => format!(", ended {first} to {last}"),
        _ => String::new(),
    };
    let score = totals.score;
    let bots = counted(report.bots.len() as u64, "bot", "bots");
    let bots = if report.others.is_some() { format!("more than {bots}") } else { bots };
    let ends: Vec<String> = totals.terminations.iter().map(|(end, games)| format!("{end} {games}")).collect();
    let turns = ratio(totals.turning_points, totals.games).unwrap_or(0.0);
    [
        format!(
            "{}, {} of {}{span}.",
            counted(totals.games, "game", "games"),
            counted(totals.plies, "ply", "plies"),
            bots
        ),
        format!(
            "South won {}, North {}, {} drawn; {} without a result, which no score counts. Ends: {}.",
            score.wins,
            score.losses,
            score.draws,
            totals.no_result,
            if ends.is_empty() { "none".to_owned() } else { ends.join(", ") }
        ),
        format!(
            "A losing move in {}; {turns:.2} turning points a game, plies that gave away a win or a draw.",
            counted(totals.games_with_losing_move, "game", "games")
        ),
    ]
}

/// Breaks a text between words.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().filter(|line| line.len() + 1 + word.len() <= WIDTH);
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

fn write_rows(text: &mut String, grid: &Grid) {
    let names: Vec<String> = grid.columns.iter().map(|column| column.name.to_owned()).collect();
    for row in [&names].into_iter().chain(&grid.rows) {
        let cells: Vec<String> = grid.columns.iter().zip(row).map(|(column, cell)| padded(*column, cell)).collect();
        let _ = writeln!(text, "{}", cells.join(" ").trim_end());
    }
}

fn padded(Column { width, is_text, .. }: Column, cell: &str) -> String {
    if is_text { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
}
