//! The columns that games are searched by: each follows from the record beside it.

use modiar_protocol::Record;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, params_from_iter};

const COLUMNS: usize = 10;

/// The columns of `games` that a record tells, with what it says of each.
fn columns(record: &Record) -> [(&'static str, ValueRef<'_>); COLUMNS] {
    const fn text(text: &str) -> ValueRef<'_> {
        ValueRef::Text(text.as_bytes())
    }
    [
        ("seq", ValueRef::Integer(record.seq.cast_signed())),
        ("id", text(record.game.as_str())),
        ("pool", text(&record.pool)),
        ("south", text(record.south.name.as_str())),
        ("north", text(record.north.name.as_str())),
        ("rated", ValueRef::Integer(record.rated.into())),
        ("started", text(&record.started)),
        ("ended", text(&record.ended)),
        ("result", text(record.result.as_str())),
        ("termination", text(record.termination.as_str())),
    ]
}

/// Inserts a game; false if it was there.
pub(super) fn insert(database: &Connection, record: &Record, line: &str, hash: &str) -> rusqlite::Result<bool> {
    let sql =
        "INSERT INTO games (seq, id, pool, south, north, rated, started, ended, result, termination, record, hash)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (id) DO NOTHING";
    let told = columns(record).map(|(_, value)| value);
    let kept = [line, hash].map(|text| ValueRef::Text(text.as_bytes()));
    let row = told.into_iter().chain(kept).map(ToSqlOutput::Borrowed);
    Ok(database.prepare_cached(sql)?.execute(params_from_iter(row))? == 1)
}

/// Tells of each row in which a column is not what its record says: its place, and the column.
pub(super) fn misfiled(database: &Connection, found: &mut dyn FnMut(i64, &'static str)) -> rusqlite::Result<()> {
    let sql = "SELECT seq, id, pool, south, north, rated, started, ended, result, termination, record
               FROM games ORDER BY seq";
    let mut query = database.prepare(sql)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(column) = misfiled_column(row)? {
            found(row.get(0)?, column);
        }
    }
    Ok(())
}

/// None too where the record is none: that is another fault.
fn misfiled_column(row: &Row<'_>) -> rusqlite::Result<Option<&'static str>> {
    // No reading in the order of places from 1 comes by it.
    if row.get::<_, i64>(0)? < 1 {
        return Ok(Some("seq"));
    }
    let line = row.get_ref(COLUMNS)?.as_bytes().unwrap_or_default();
    let Ok(record) = serde_json::from_slice::<Record>(line) else { return Ok(None) };
    for (at, (column, value)) in columns(&record).into_iter().enumerate() {
        if row.get_ref(at)? != value {
            return Ok(Some(column));
        }
    }
    Ok(None)
}
