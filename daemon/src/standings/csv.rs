//! Rows as CSV: a line of names, then a line a row, as an export writes them.

use serde::Serialize;

/// Rows of one shape.
///
/// # Errors
/// Only what the writer of CSV could not write, which no row holds.
pub fn to_csv(rows: &[impl Serialize]) -> anyhow::Result<String> {
    let mut writer = ::csv::WriterBuilder::new().from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
