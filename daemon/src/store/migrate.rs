//! The database's form: each step in a transaction, after a backup of what was there.

use super::StoreError;
use super::data_dir::make_private;
use rusqlite::Connection;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The steps; the version of a database is how many it has taken.
const STEPS: [&str; 7] = [
    include_str!("migrations/1-games.sql"),
    include_str!("migrations/2-bots.sql"),
    include_str!("migrations/3-unread.sql"),
    include_str!("migrations/4-ladder.sql"),
    include_str!("migrations/5-owners.sql"),
    include_str!("migrations/6-tournaments.sql"),
    include_str!("migrations/7-dossiers.sql"),
];
/// The version this program writes.
pub(super) const SCHEMA: i64 = STEPS.len() as i64;
/// Marks the file as ours: "MODI".
const APPLICATION: i64 = 0x4d4f_4449;

/// Refuses the database of another program, and that of a newer one of ours; tells its version.
pub(super) fn version(database: &Connection, path: &Path) -> Result<i64, StoreError> {
    let pragma =
        |name| database.pragma_query_value::<i64, _>(None, name, |row| row.get(0)).map_err(StoreError::sqlite(path));
    let (application, found) = (pragma("application_id")?, pragma("user_version")?);
    let tables: i64 = database
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(StoreError::sqlite(path))?;
    if application != APPLICATION && tables > 0 {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    if found > SCHEMA {
        return Err(StoreError::NewerSchema { path: path.to_owned(), found, known: SCHEMA });
    }
    Ok(found)
}

/// Takes the steps that `database` lacks. An older one is copied first, beside itself.
pub(super) fn migrate(database: &Connection, path: &Path) -> Result<(), StoreError> {
    let found = version(database, path)?;
    if found > 0 && found < SCHEMA {
        let copy = free_name(path, found);
        back_up(database, path, &copy)?;
        tracing::info!(backup = %copy.display(), from = found, to = SCHEMA, "the database is brought to a new schema");
    }
    for (at, step) in (1..).zip(STEPS).filter(|(at, _)| *at > found) {
        let sql = format!(
            "BEGIN IMMEDIATE; {step} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {at}; COMMIT;"
        );
        database.execute_batch(&sql).map_err(StoreError::sqlite(path))?;
    }
    Ok(())
}

/// A step that failed is tried again at the next start, and its backup stays.
fn free_name(path: &Path, found: i64) -> PathBuf {
    let first = PathBuf::from(format!("{}.schema-{found}", path.display()));
    let later = (2..).map(|number| PathBuf::from(format!("{}-{number}", first.display())));
    std::iter::once(first.clone()).chain(later).find(|name| !name.exists()).unwrap_or(first)
}

/// Copies the database, as it is at this moment, to a file that does not exist yet, and brings that to the disk.
pub(super) fn back_up(database: &Connection, path: &Path, copy: &Path) -> Result<(), StoreError> {
    refuse_existing(copy)?;
    // Its own of each that writes one.
    let draft = PathBuf::from(format!("{}.draft-{}", copy.display(), std::process::id()));
    // The name that was given: nobody knows of a draft.
    make_private(&draft).map_err(StoreError::io(copy))?;
    let whole = refuse_damaged(database, path);
    let copied = whole.and_then(|()| write_draft(database, path, copy, &draft)).and_then(|()| {
        publish(&draft, copy).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => StoreError::Exists { path: copy.to_owned() },
            _ => StoreError::io(copy)(error),
        })
    });
    if copied.is_err() {
        // On a full disk it would take the room that the next try needs.
        remove_draft(&draft);
    }
    copied
}

/// SQLite copies a damaged row as it stands.
fn refuse_damaged(database: &Connection, path: &Path) -> Result<(), StoreError> {
    match damage(database).map_err(StoreError::sqlite(path))? {
        Some(what) => Err(StoreError::Damaged { path: path.to_owned(), what }),
        None => Ok(()),
    }
}

/// The first that SQLite finds wrong with the pages of a database, its indexes and the types of its columns.
pub(super) fn damage(database: &Connection) -> rusqlite::Result<Option<String>> {
    let found: String = database.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    Ok((found != "ok").then(|| found.lines().collect::<Vec<_>>().join(" ")))
}

fn refuse_existing(copy: &Path) -> Result<(), StoreError> {
    if copy.try_exists().map_err(StoreError::io(copy))? {
        return Err(StoreError::Exists { path: copy.to_owned() });
    }
    Ok(())
}

/// Gives the draft its name, where nobody has a file of that name meanwhile.
fn publish(draft: &Path, copy: &Path) -> io::Result<()> {
    File::open(draft)?.sync_all()?;
    match std::fs::hard_link(draft, copy) {
        Ok(()) => std::fs::remove_file(draft)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        // Not every file system has a second name for a file.
        Err(_) => std::fs::rename(draft, copy)?,
    }
    let folder = copy.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

fn write_draft(database: &Connection, path: &Path, copy: &Path, draft: &Path) -> Result<(), StoreError> {
    let name = draft.to_string_lossy();
    database.execute("VACUUM INTO ?1", [&*name]).map(drop).map_err(|error| {
        let at_fault = if is_of_the_source(&error) { path } else { copy };
        StoreError::Sqlite { path: at_fault.to_owned(), error }
    })
}

/// Whether the database could not be read, rather than its copy not be written.
fn is_of_the_source(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_IOERR_READ, SQLITE_IOERR_SHORT_READ, SQLITE_NOTADB};
    error.sqlite_error().is_some_and(|error| match error.extended_code {
        SQLITE_IOERR_READ | SQLITE_IOERR_SHORT_READ => true,
        code => [SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_NOTADB].contains(&(code & 0xff)),
    })
}

/// Removes a draft with SQLite's own file for it, as far as they are there.
fn remove_draft(draft: &Path) {
    let journal = PathBuf::from(format!("{}-journal", draft.display()));
    for file in [draft, &journal] {
        let _ = std::fs::remove_file(file);
    }
}
