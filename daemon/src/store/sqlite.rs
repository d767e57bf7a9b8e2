//! The embedded store: SQLite with a write-ahead log, every commit on the disk before it is acknowledged.

use super::{DataDir, Head, Line, Store, StoreError, line_hash};
use modiar_protocol::{GameId, Record, ZERO_HASH};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};
use std::path::{Path, PathBuf};

/// The version of `schema.sql`.
const SCHEMA: i64 = 1;
/// Marks the file as ours: "MODI".
const APPLICATION: i64 = 0x4d4f_4449;

/// The games in `modiar.db`.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    database: Connection,
}

impl SqliteStore {
    /// Opens the database of a claimed directory, making it where there is none.
    ///
    /// # Errors
    /// It cannot be opened, is foreign or newer, or would not be durable.
    pub fn open(data: &DataDir) -> Result<Self, StoreError> {
        let path = data.database();
        let database = Connection::open(&path).map_err(at(&path))?;
        let store = Self { path, database };
        store.check_ours()?;
        store.make_durable().and_then(|()| store.migrate()).map_err(at(&store.path))?;
        Ok(store)
    }

    fn pragma(&self, name: &str) -> rusqlite::Result<i64> {
        self.database.pragma_query_value(None, name, |row| row.get(0))
    }

    fn check_ours(&self) -> Result<(), StoreError> {
        check_ours(&self.database, &self.path)
    }

    /// Sets what makes a commit last, and reads it back: SQLite takes wrong values without a word.
    fn make_durable(&self) -> rusqlite::Result<()> {
        self.database.pragma_update(None, "journal_mode", "wal")?;
        self.database.pragma_update(None, "synchronous", "full")?;
        let mode: String = self.database.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        if mode != "wal" || self.pragma("synchronous")? != 2 {
            return Err(rusqlite::Error::InvalidParameterName(
                "journal_mode wal with synchronous full is refused here".into(),
            ));
        }
        Ok(())
    }

    fn migrate(&self) -> rusqlite::Result<()> {
        if self.pragma("user_version")? == SCHEMA {
            return Ok(());
        }
        let schema = include_str!("schema.sql");
        self.database.execute_batch(&format!(
            "BEGIN IMMEDIATE; {schema} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA}; COMMIT;"
        ))
    }
}

impl Store for SqliteStore {
    fn commit(&mut self, records: Vec<Record>) -> Result<Vec<Line>, StoreError> {
        let Head { mut seq, hash: mut prev } = self.head()?.unwrap_or(Head { seq: 0, hash: ZERO_HASH.to_owned() });
        let to_error = at(&self.path);
        let mut lines = Vec::with_capacity(records.len());
        let stored: rusqlite::Result<()> = (|| {
            let transaction = self.database.transaction()?;
            for record in records {
                let record = Record { seq: seq + 1, prev: prev.clone(), ..record };
                let text = record.to_line().map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
                let hash = line_hash(&text);
                if insert(&transaction, &record, &text, &hash)? {
                    (seq, prev) = (record.seq, hash);
                    lines.push(Line { seq, day: day(&record.ended), text });
                }
            }
            transaction.commit()
        })();
        stored.map_err(to_error)?;
        Ok(lines)
    }

    fn head(&self) -> Result<Option<Head>, StoreError> {
        let newest = "SELECT seq, hash FROM games ORDER BY seq DESC LIMIT 1";
        let mut query = self.database.prepare_cached(newest).map_err(at(&self.path))?;
        query.query_row([], |row| Ok(Head { seq: seq(row)?, hash: row.get(1)? })).optional().map_err(at(&self.path))
    }

    fn lines_after(&self, after: u64, each: &mut dyn FnMut(Line) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let to_error = at(&self.path);
        let mut read = || -> rusqlite::Result<Result<(), StoreError>> {
            let mut query =
                self.database.prepare("SELECT seq, ended, record FROM games WHERE seq > ?1 ORDER BY seq")?;
            let mut rows = query.query([after.cast_signed()])?;
            while let Some(row) = rows.next()? {
                let line = Line { seq: seq(row)?, day: day(&row.get::<_, String>(1)?), text: row.get(2)? };
                if let Err(error) = each(line) {
                    return Ok(Err(error));
                }
            }
            Ok(Ok(()))
        };
        read().map_err(to_error)?
    }
}

/// Inserts a game; false if it was there.
fn insert(database: &Connection, record: &Record, text: &str, hash: &str) -> rusqlite::Result<bool> {
    let sql =
        "INSERT INTO games (seq, id, pool, south, north, rated, started, ended, result, termination, record, hash)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (id) DO NOTHING";
    let inserted = database.prepare_cached(sql)?.execute(params![
        record.seq.cast_signed(),
        record.game.as_str(),
        record.pool,
        record.south.name.as_str(),
        record.north.name.as_str(),
        record.rated,
        record.started,
        record.ended,
        record.result.as_str(),
        record.termination.as_str(),
        text,
        hash,
    ])?;
    Ok(inserted == 1)
}

/// Gives each stored record's line to `each`, in order; works beside a running daemon.
///
/// # Errors
/// There is no database, or it cannot be read, or `each` failed.
pub fn read_records(data: &DataDir, each: &mut dyn FnMut(Line) -> Result<(), StoreError>) -> Result<(), StoreError> {
    open_beside(data)?.lines_after(0, each)
}

/// The line of one game: by its id, or by a beginning that only one has.
///
/// # Errors
/// There is no database, or it cannot be read.
pub fn read_record(data: &DataDir, id: &str) -> Result<Option<String>, StoreError> {
    let store = open_beside(data)?;
    let sql = "SELECT record FROM games WHERE substr(id, 1, length(?1)) = ?1 LIMIT 2";
    let read = || -> rusqlite::Result<Vec<String>> {
        store.database.prepare(sql)?.query_map([id], |row| row.get(0))?.collect()
    };
    let mut found = read().map_err(at(&store.path))?;
    let whole = id.len() == GameId::NOWHERE.as_str().len();
    Ok(if found.len() == 1 || whole { found.pop() } else { None })
}

/// Opens the database to read, without a claim to the directory.
fn open_beside(data: &DataDir) -> Result<SqliteStore, StoreError> {
    let path = data.database();
    if !path.exists() {
        return Err(StoreError::NoData { path: data.path().to_owned() });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(&path, flags).map_err(at(&path))?;
    check_ours(&database, &path)?;
    database.pragma_update(None, "query_only", true).map_err(at(&path))?;
    Ok(SqliteStore { path, database })
}

/// Refuses the database of another program, and that of a newer one of ours.
fn check_ours(database: &Connection, path: &Path) -> Result<(), StoreError> {
    let pragma = |name| database.pragma_query_value::<i64, _>(None, name, |row| row.get(0)).map_err(at(path));
    let (application, found) = (pragma("application_id")?, pragma("user_version")?);
    let tables: i64 =
        database.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(at(path))?;
    if application != APPLICATION && tables > 0 {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    if found > SCHEMA {
        return Err(StoreError::NewerSchema { path: path.to_owned(), found, known: SCHEMA });
    }
    Ok(())
}

fn at(path: &Path) -> impl FnOnce(rusqlite::Error) -> StoreError + use<> {
    let path = path.to_owned();
    move |error| StoreError::Sqlite { path, error }
}

fn seq(row: &Row<'_>) -> rusqlite::Result<u64> {
    row.get::<_, i64>(0).map(i64::cast_unsigned)
}

/// The day of a time in RFC 3339.
fn day(time: &str) -> String {
    time.chars().take("2026-11-30".len()).collect()
}
