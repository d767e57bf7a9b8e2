//! `schema.json`: the columns of the tables beside it, for programs.

use super::column::Head;
use super::{Format, SCHEMA_VERSION, Table, heads};
use serde::Serialize;

#[derive(Serialize)]
struct Schema {
    schema_version: i16,
    /// The program that wrote the files.
    server: &'static str,
    format: &'static str,
    analysis: bool,
    tables: Tables,
}

#[derive(Serialize)]
struct Tables {
    games: Vec<Head>,
    plies: Vec<Head>,
}

/// The text of the file.
///
/// # Errors
/// Only what `serde_json` could not write, which no column holds.
pub(super) fn text(format: Format, analysis: bool) -> serde_json::Result<String> {
    let schema = Schema {
        schema_version: SCHEMA_VERSION,
        server: crate::SERVER,
        format: format.as_str(),
        analysis,
        tables: Tables { games: heads(Table::Games, analysis), plies: heads(Table::Plies, analysis) },
    };
    Ok(serde_json::to_string_pretty(&schema)? + "\n")
}
