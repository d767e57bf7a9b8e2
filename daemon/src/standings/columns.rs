//! Tables on a terminal: names at the left, figures at the right.

use std::fmt::Write as _;

/// Columns of a terminal that every text fits.
pub(super) const WIDTH: usize = 100;

/// A column: its name and its width; texts stand left, figures right.
#[derive(Clone, Copy, Debug)]
pub(super) enum Column {
    Text(&'static str, usize),
    Figure(&'static str, usize),
}

/// The names of the columns, then the rows.
pub(super) fn table(columns: &[Column], rows: &[Vec<String>]) -> String {
    let names = columns.iter().map(|column| match column {
        Column::Text(name, _) | Column::Figure(name, _) => (*name).to_owned(),
    });
    let mut text = String::new();
    for row in [&names.collect()].into_iter().chain(rows) {
        let cells: Vec<String> = columns.iter().zip(row).map(|(column, cell)| padded(*column, cell)).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", cells.join(" ").trim_end());
    }
    text
}

fn padded(column: Column, cell: &str) -> String {
    match column {
        Column::Text(_, width) => format!("{cell:<width$}"),
        Column::Figure(_, width) => format!("{cell:>width$}"),
    }
}

/// A version as a cell: what a bot said of itself moves no cursor, and is no longer than the column.
pub(super) fn version(version: Option<&str>, width: usize) -> String {
    let Some(version) = version else { return "-".to_owned() };
    let told = version.escape_debug().to_string();
    match told.char_indices().nth(width) {
        Some(_) => told.chars().take(width - 1).chain(['…']).collect(),
        None => told,
    }
}

/// A rating and half its interval, or `open` where the games do not bound it.
pub(super) fn rating(value: f64, low: f64, high: f64, bounded: bool) -> String {
    if bounded { format!("{value:.0} ± {:.0}", (high - low) / 2.0) } else { format!("{value:.0} ± open") }
}

/// A fraction as per cent with one place.
pub(super) fn percent(fraction: Option<f64>) -> String {
    fraction.map_or_else(|| "-".to_owned(), |fraction| format!("{:.1}", 100.0 * fraction))
}

/// Seeds a ply.
pub(super) fn seeds(mean: Option<f64>) -> String {
    mean.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.3}"))
}
