//! The embedded store: SQLite with a write-ahead log, every commit on the disk before it is acknowledged.

use super::ban::BanReason;
use super::data_dir::{log_of, make_private};
use super::{
    Account, Committed, DataDir, Dossiers, Head, Line, Owner, Store, StoreError, TokenHash, Unread, columns, dossiers,
    ladder, line_hash, line_text, migrate, unread,
};
use crate::ladder::{Carry, Event, Meeting, Row, SeasonName};
use jiff::Timestamp;
use modiar_protocol::{BotName, GameId, Record, ZERO_HASH};
use rusqlite::config::DbConfig;
use rusqlite::hooks::Wal;
use rusqlite::types::Type;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Row as SqlRow, params};
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a page of a database that is made: of records of a kilobyte a large one holds some, and is written at once.
const PAGE: i64 = 16 * 1024;
/// Bytes of the log from which on a commit brings it into the database.
const LOG: i64 = 4 << 20;

/// The games in `modiar.db`.
#[derive(Debug)]
pub struct SqliteStore {
    pub(super) path: PathBuf,
    pub(super) database: Connection,
    /// The log should be brought into the database.
    log_is_long: Arc<AtomicBool>,
}

impl SqliteStore {
    /// Opens the database of a claimed directory, making it where there is none.
    ///
    /// # Errors
    /// It cannot be opened, is foreign or newer, or would not be durable.
    pub fn open(data: &DataDir) -> Result<Self, StoreError> {
        let mut store = Self::look(data)?;
        store.settle(data)?;
        Ok(store)
    }

    /// Opens it to be read: what is there is left as it is until [`Self::settle`].
    ///
    /// # Errors
    /// It cannot be opened, is lost, foreign or newer.
    pub fn look(data: &DataDir) -> Result<Self, StoreError> {
        data.check()?;
        let path = data.database();
        // SQLite would let others read it. Where it cannot be made, opening it says why.
        let _ = make_private(&path);
        open_as(&path, &path, OpenFlags::default())?.of(data)
    }

    /// Refuses a file that ends within a page: SQLite would take the rest of that for zeroes. Where the log still has
    /// something for it, that may be no more than what a crash left.
    fn refuse_cut(&self, data: &DataDir) -> Result<(), StoreError> {
        let page = self.pragma("page_size").map_err(StoreError::sqlite(&self.path))?.cast_unsigned();
        let length = std::fs::metadata(&self.path).map_err(StoreError::io(&self.path))?.len();
        if length.is_multiple_of(page) || data.has_log()? {
            Ok(())
        } else {
            Err(StoreError::Cut { path: self.path.clone(), length })
        }
    }

    /// Refuses one that was cut, or holds nothing where it should: what it held stood in a log that is lost.
    fn of(self, data: &DataDir) -> Result<Self, StoreError> {
        if migrate::version(&self.database, &self.path)? == 0 {
            data.check_new()?;
        }
        self.refuse_cut(data)?;
        Ok(self)
    }

    /// Makes it ready for commits, and brings it to this program's form.
    ///
    /// # Errors
    /// It cannot be written, or would not be durable.
    pub fn settle(&mut self, data: &DataDir) -> Result<(), StoreError> {
        self.make_durable().map_err(StoreError::sqlite(&self.path))?;
        migrate::migrate(&self.database, &self.path)?;
        data.mark()
    }

    /// Has `work` ask the database, or change it.
    pub(super) fn ask<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        work(&self.database).map_err(StoreError::sqlite(&self.path))
    }

    fn pragma(&self, name: &str) -> rusqlite::Result<i64> {
        self.database.pragma_query_value(None, name, |row| row.get(0))
    }

    /// Sets what makes a commit last, and reads it back: SQLite takes wrong values without a word.
    fn make_durable(&mut self) -> rusqlite::Result<()> {
        self.database.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        // Of one that is there nothing is changed by this.
        self.database.pragma_update(None, "page_size", PAGE)?;
        self.database.pragma_update(None, "journal_mode", "wal")?;
        self.database.pragma_update(None, "synchronous", "full")?;
        let mode: String = self.database.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        if mode != "wal" || self.pragma("synchronous")? != 2 {
            return Err(rusqlite::Error::InvalidParameterName(
                "journal_mode wal with synchronous full is refused here".into(),
            ));
        }
        // Where a sync failed before the last end, memory may show more of the log than the disk has: what is told from
        // here on stands in the database itself.
        self.bring_log_in()?;
        // In place of SQLite's own, which would keep it to itself that a sync failed.
        let (due, page) = (Arc::clone(&self.log_is_long), self.pragma("page_size")?);
        self.database.wal_hook(Some(move |_: &mut Wal, pages| {
            due.store(i64::from(pages) * page >= LOG, Ordering::Relaxed);
            Ok(())
        }))
    }

    /// Makes a change, all of it or nothing.
    pub(super) fn change<T>(
        &mut self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let to_error = StoreError::sqlite(&self.path);
        let changed = (|| {
            let transaction = self.database.transaction()?;
            let changed = change(&transaction)?;
            transaction.commit().map(|()| changed)
        })();
        changed.map_err(to_error)
    }

    /// Brings the log into the database, as far as no reader needs it.
    fn bring_log_in(&self) -> rusqlite::Result<()> {
        self.database.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
    }
}

impl Store for SqliteStore {
    fn commit(
        &mut self,
        records: &mut [Record],
        unread: &[Unread],
        dossiers: &Dossiers,
    ) -> Result<Committed, StoreError> {
        let to_error = StoreError::sqlite(&self.path);
        let mut lines = Vec::with_capacity(records.len());
        let stored: rusqlite::Result<Vec<_>> = (|| {
            let transaction = self.database.transaction()?;
            let first = || Head { seq: 0, hash: ZERO_HASH.to_owned() };
            let (Head { mut seq, hash: mut prev }, mut ladder) =
                (newest(&transaction)?.unwrap_or_else(first), ladder::Changes::of(&transaction));
            for record in records {
                record.seq = seq + 1;
                record.prev.clone_from(&prev);
                let after = ladder.rate(record)?;
                let text = record.to_line().map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
                let hash = line_hash(&text);
                if columns::insert(&transaction, record, &text, &hash)? {
                    (seq, prev) = (record.seq, hash.clone());
                    after.iter().for_each(|after| ladder.keep(record, after));
                    lines.push(Line { seq, day: day(&record.ended), text, hash });
                } else if let Some(Ok(stored)) =
                    stored_line(&transaction, record.game)?.map(|line| serde_json::from_str(&line))
                {
                    *record = stored;
                }
            }
            let standings = ladder.write()?;
            unread.iter().try_for_each(|(bot, games)| unread::put(&transaction, bot, games))?;
            dossiers::put(&transaction, dossiers)?;
            transaction.commit()?;
            match self.log_is_long.load(Ordering::Relaxed).then(|| self.bring_log_in()) {
                Some(Err(error)) if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) => Err(error),
                // Where there is no room it is tried again with the next commit.
                _ => Ok(standings),
            }
        })();
        Ok(Committed { lines, standings: stored.map_err(to_error)? })
    }

    fn head(&self) -> Result<Option<Head>, StoreError> {
        newest(&self.database).map_err(StoreError::sqlite(&self.path))
    }

    fn lines_after(&self, after: u64, each: &mut dyn FnMut(Line) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let to_error = StoreError::sqlite(&self.path);
        let mut read = || -> rusqlite::Result<Result<(), StoreError>> {
            let mut query =
                self.database.prepare("SELECT seq, ended, record, hash FROM games WHERE seq > ?1 ORDER BY seq")?;
            let mut rows = query.query([after.cast_signed()])?;
            while let Some(row) = rows.next()? {
                let day = day(&text(row, 1)?);
                let line = Line { seq: seq(row)?, day, text: text(row, 2)?, hash: text(row, 3)? };
                if let Err(error) = each(line) {
                    return Ok(Err(error));
                }
            }
            Ok(Ok(()))
        };
        read().map_err(to_error)?
    }

    fn record(&self, game: GameId) -> Result<Option<Record>, StoreError> {
        let line = stored_line(&self.database, game).map_err(StoreError::sqlite(&self.path))?;
        Ok(line.map(|line| serde_json::from_str(&line)).transpose()?)
    }

    fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        let sql = "SELECT name, token, created, banned, owner FROM bots";
        let read =
            || -> rusqlite::Result<Vec<Account>> { self.database.prepare(sql)?.query_map([], account)?.collect() };
        read().map_err(StoreError::sqlite(&self.path))
    }

    fn put_account(&mut self, account: &Account) -> Result<(), StoreError> {
        let sql = "INSERT INTO bots (name, token, created, banned, owner) VALUES (?1, ?2, ?3, ?4, ?5)
                   ON CONFLICT (name) DO UPDATE
                   SET token = excluded.token, banned = excluded.banned, owner = excluded.owner";
        let row = params![
            account.name.as_str(),
            account.token.as_str(),
            account.created,
            account.banned.as_ref().map(BanReason::as_str),
            account.owner.as_ref().map(Owner::as_str)
        ];
        self.database.execute(sql, row).map(drop).map_err(StoreError::sqlite(&self.path))
    }

    fn remove_account(&mut self, name: &BotName) -> Result<(), StoreError> {
        self.change(|transaction| {
            transaction.execute("DELETE FROM bots WHERE name = ?1", [name.as_str()])?;
            unread::delete(transaction, name)?;
            ladder::remove(transaction, newest_seq(transaction)?, this_moment(), name)
        })
    }

    fn disown(&mut self, name: &BotName) -> Result<(), StoreError> {
        self.change(|transaction| {
            unread::delete(transaction, name)?;
            ladder::remove(transaction, newest_seq(transaction)?, this_moment(), name)
        })
    }

    fn standings(&self) -> Result<Vec<Row>, StoreError> {
        ladder::ratings(&self.database).map_err(StoreError::sqlite(&self.path))
    }

    fn meetings(&self, most: usize) -> Result<Vec<Meeting>, StoreError> {
        ladder::newest_meetings(&self.database, most).map_err(StoreError::sqlite(&self.path))
    }

    fn sides(&self) -> Result<HashMap<String, i64>, StoreError> {
        ladder::sides(&self.database).map_err(StoreError::sqlite(&self.path))
    }

    fn rating_events(&self) -> Result<Vec<Event>, StoreError> {
        ladder::events(&self.database).map_err(StoreError::sqlite(&self.path))
    }

    fn begin_season(&mut self, name: SeasonName, carry: Carry) -> Result<Vec<Row>, StoreError> {
        self.change(|transaction| {
            ladder::begin_season(transaction, newest_seq(transaction)?, this_moment(), name, carry)
        })
    }

    fn recent(&self, since: &str) -> Result<Vec<Record>, StoreError> {
        let rows = unread::recent(&self.database, since).map_err(StoreError::sqlite(&self.path))?;
        rows.iter().map(|record| Ok(serde_json::from_str(record)?)).collect()
    }

    fn unread(&self) -> Result<Vec<(BotName, Record)>, StoreError> {
        let rows = unread::all(&self.database).map_err(StoreError::sqlite(&self.path))?;
        // A name that is none is nobody's.
        let known = rows.into_iter().filter_map(|(bot, record)| Some((BotName::new(&bot).ok()?, record)));
        known.map(|(bot, record)| Ok((bot, serde_json::from_str(&record)?))).collect()
    }
}

fn newest(database: &Connection) -> rusqlite::Result<Option<Head>> {
    let mut query = database.prepare_cached("SELECT seq, hash FROM games ORDER BY seq DESC LIMIT 1")?;
    query.query_row([], |row| Ok(Head { seq: seq(row)?, hash: row.get(1)? })).optional()
}

fn newest_seq(database: &Connection) -> rusqlite::Result<u64> {
    Ok(newest(database)?.map_or(0, |head| head.seq))
}

/// As records tell time.
fn this_moment() -> String {
    format!("{:.6}", Timestamp::now())
}

fn stored_line(database: &Connection, game: GameId) -> rusqlite::Result<Option<String>> {
    let mut query = database.prepare_cached("SELECT record FROM games WHERE id = ?1")?;
    query.query_row([game.as_str()], |row| row.get(0)).optional()
}

fn account(row: &SqlRow<'_>) -> rusqlite::Result<Account> {
    let name: String = row.get(0)?;
    let name =
        BotName::new(&name).map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))?;
    Ok(Account {
        name,
        token: TokenHash::stored(row.get(1)?),
        created: row.get(2)?,
        banned: row.get::<_, Option<String>>(3)?.map(BanReason::stored),
        owner: row.get::<_, Option<String>>(4)?.as_deref().map(Owner::stored),
    })
}

/// What a copy of a database holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Finished games.
    pub games: u64,
    /// Registered bots.
    pub bots: u64,
}

/// Copies the database of `data` to `copy`, as it is at this moment; a running daemon goes on.
///
/// # Errors
/// There is no database, `copy` exists, or it cannot be written.
pub fn back_up(data: &DataDir, copy: &Path) -> Result<Copied, StoreError> {
    let store = open_beside(data)?;
    // The copy counts as writing; the database itself is only read.
    store.database.pragma_update(None, "query_only", false).map_err(StoreError::sqlite(&store.path))?;
    migrate::back_up(&store.database, &store.path, copy)?;
    // Of the copy: the daemon goes on meanwhile.
    let copied = open_as(copy, copy, OpenFlags::SQLITE_OPEN_READ_ONLY)?.database;
    let count = |table: &str| {
        // The first schema has no bots.
        let rows = match copied.table_exists(None, table) {
            Ok(false) => return Ok(0),
            Ok(true) => copied.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0)),
            Err(error) => Err(error),
        };
        rows.map(i64::cast_unsigned).map_err(StoreError::sqlite(copy))
    };
    Ok(Copied { games: count("games")?, bots: count("bots")? })
}

/// Gives each stored record's line to `each`, in order; works beside a running daemon.
///
/// # Errors
/// There is no database, or it cannot be read, or `each` failed.
pub fn read_records(data: &DataDir, each: &mut dyn FnMut(Line) -> Result<(), StoreError>) -> Result<(), StoreError> {
    open_beside(data)?.lines_after(0, each)
}

/// Tells of each game that is filed under something else than its record says: its place, and the column of the database.
///
/// # Errors
/// As [`read_records`].
pub fn find_misfiled(data: &DataDir, found: &mut dyn FnMut(i64, &'static str)) -> Result<(), StoreError> {
    let store = open_beside(data)?;
    columns::misfiled(&store.database, found).map_err(StoreError::sqlite(&store.path))
}

/// What the database's pages say of damage: the first that SQLite finds.
///
/// # Errors
/// As [`read_records`].
pub fn find_damage(data: &DataDir) -> Result<Option<String>, StoreError> {
    let store = open_beside(data)?;
    migrate::damage(&store.database).map_err(StoreError::sqlite(&store.path))
}

/// How many games are stored.
///
/// # Errors
/// As [`read_records`].
pub fn count_games(data: &DataDir) -> Result<u64, StoreError> {
    let store = open_beside(data)?;
    let count = store.database.query_row("SELECT count(*) FROM games", [], |row| row.get::<_, i64>(0));
    count.map(i64::cast_unsigned).map_err(StoreError::sqlite(&store.path))
}

/// The lines of the games whose ids begin so, two at most.
///
/// # Errors
/// There is no database, or it cannot be read.
pub fn read_record(data: &DataDir, id: &str) -> Result<Vec<String>, StoreError> {
    let store = open_beside(data)?;
    let sql = "SELECT record FROM games WHERE substr(id, 1, length(?1)) = ?1 LIMIT 2";
    let read = || -> rusqlite::Result<Vec<String>> {
        store.database.prepare(sql)?.query_map([id], |row| row.get(0))?.collect()
    };
    read().map_err(StoreError::sqlite(&store.path))
}

/// Opens the database without a claim to the directory: nothing is written to it.
pub(super) fn open_beside(data: &DataDir) -> Result<SqliteStore, StoreError> {
    let path = data.database();
    data.check()?;
    if !data.has_database()? {
        return Err(StoreError::NoData { path: data.path().to_owned() });
    }
    let opened = match open_as(&path, &path, OpenFlags::SQLITE_OPEN_READ_WRITE) {
        // A directory that cannot be written has no place for the index of the log; without a log there is no need of it.
        Err(StoreError::Sqlite { error, .. })
            if error.sqlite_error_code() == Some(ErrorCode::CannotOpen)
                && log_of(&path).try_exists().is_ok_and(|there| !there) =>
        {
            open_as(&path, &unchanging(&path), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
        }
        opened => opened,
    };
    opened?.of(data)
}

fn open_as(path: &Path, name: &Path, flags: OpenFlags) -> Result<SqliteStore, StoreError> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(name, flags).map_err(StoreError::sqlite(path))?;
    if log_of(path).exists() {
        // Or whoever closes it last would bring the log in.
        let kept = database.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        kept.map_err(StoreError::sqlite(path))?;
    }
    migrate::version(&database, path)?;
    Ok(SqliteStore { path: path.to_owned(), database, log_is_long: Arc::default() })
}

/// The URI by which SQLite is told that nobody writes to the file.
fn unchanging(path: &Path) -> PathBuf {
    let escaped: String = path.as_os_str().as_bytes().iter().map(|byte| format!("%{byte:02x}")).collect();
    format!("file:{escaped}?immutable=1").into()
}

fn text(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(line_text(row.get_ref(column)?.as_bytes()?))
}

fn seq(row: &SqlRow<'_>) -> rusqlite::Result<u64> {
    row.get::<_, i64>(0).map(i64::cast_unsigned)
}

/// The day of a time in RFC 3339.
fn day(time: &str) -> String {
    time.chars().take("2026-11-30".len()).collect()
}
