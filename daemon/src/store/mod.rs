//! What lasts. One writer; a finish is acknowledged only when it is on the disk; the archive follows.

mod accounts;
mod archive;
mod ban;
mod claim;
mod columns;
mod data_dir;
mod dossiers;
mod folded;
pub mod journal;
mod ladder;
mod migrate;
mod owner;
mod sqlite;
mod token;
mod tournaments;
mod unread;
mod writer;

pub use accounts::{Account, AccountError, Accounts};
pub use archive::{Archive, ArchiveLine, ArchiveLines, LINE, is_of, reached};
pub use ban::BanReason;
pub use claim::Claim;
pub use data_dir::DataDir;
pub use dossiers::read_dossier;
pub use folded::{find_misrated, read_seasons, read_standings};
pub use owner::Owner;
pub use sqlite::{Copied, SqliteStore, back_up, count_games, find_damage, find_misfiled, read_record, read_records};
pub use token::{TokenHash, new_token};
pub use tournaments::{
    StoredTournament, TournamentForfeit, TournamentGame, TournamentName, TournamentState, TournamentStore,
    look_at_tournaments,
};
pub use writer::{GROUP, StoreHandle, Stored, start};

use crate::ladder::{Carry, Event, Meeting, Row, SeasonName};
use jiff::Timestamp;
use modiar_protocol::limits::{MISSED_WINDOW, TOLD_GAMES};
use modiar_protocol::{BotName, GameId, Record};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Where finished games are kept. The second implementation will be PostgreSQL.
pub trait Store: TournamentStore + Send {
    /// Stores finished games, all or none, durably, in this order. Each gets its place and its link to the one before it;
    /// the lines come back as they are to stand in the archive. A game stored before is not stored again, and has no line.
    /// With them, what bots have to hear of from now on, the evidence of forfeits, and what the games make of ratings: each record is given those of its
    /// sides before it and after it (`ladder.transaction`). One that was stored before becomes what is stored.
    ///
    /// # Errors
    /// Nothing was stored.
    fn commit(
        &mut self,
        records: &mut [Record],
        unread: &[Unread],
        dossiers: &Dossiers,
    ) -> Result<Committed, StoreError>;

    /// The newest game.
    ///
    /// # Errors
    /// The store cannot be read.
    fn head(&self) -> Result<Option<Head>, StoreError>;

    /// The lines of the games after `seq`, in order, each given to `each`.
    ///
    /// # Errors
    /// The store cannot be read, or `each` failed.
    fn lines_after(&self, seq: u64, each: &mut dyn FnMut(Line) -> Result<(), StoreError>) -> Result<(), StoreError>;

    /// A stored game.
    ///
    /// # Errors
    /// The store cannot be read.
    fn record(&self, game: GameId) -> Result<Option<Record>, StoreError>;

    /// All registered bots.
    ///
    /// # Errors
    /// The store cannot be read.
    fn accounts(&self) -> Result<Vec<Account>, StoreError>;

    /// Stores a registered bot, or what changed of it, durably.
    ///
    /// # Errors
    /// Nothing was stored.
    fn put_account(&mut self, account: &Account) -> Result<(), StoreError>;

    /// Removes a registered bot, and its ratings with it.
    ///
    /// # Errors
    /// Nothing was removed.
    fn remove_account(&mut self, name: &BotName) -> Result<(), StoreError>;

    /// Somebody else is to have the name: what an earlier owner had still to hear of is nobody's, and his ratings are over.
    ///
    /// # Errors
    /// Nothing was changed.
    fn disown(&mut self, name: &BotName) -> Result<(), StoreError>;

    /// How all bots stand.
    ///
    /// # Errors
    /// The store cannot be read.
    fn standings(&self) -> Result<Vec<Row>, StoreError>;

    /// Who has met whom: those who met last, so many at most.
    ///
    /// # Errors
    /// The store cannot be read.
    fn meetings(&self, most: usize) -> Result<Vec<Meeting>, StoreError>;

    /// The games of each registered bot as South less those as North, by its name in lower case.
    ///
    /// # Errors
    /// The store cannot be read.
    fn sides(&self) -> Result<HashMap<String, i64>, StoreError>;

    /// The events of the ladder, in order.
    ///
    /// # Errors
    /// The store cannot be read.
    fn rating_events(&self) -> Result<Vec<Event>, StoreError>;

    /// Begins a season after the newest game; how all bots stand then.
    ///
    /// # Errors
    /// Nothing was changed.
    fn begin_season(&mut self, name: SeasonName, carry: Carry) -> Result<Vec<Row>, StoreError>;

    /// The records of the games that registered bots have still to hear of, in the order of their ends.
    ///
    /// # Errors
    /// They cannot be read.
    fn unread(&self) -> Result<Vec<(BotName, Record)>, StoreError>;

    /// The games that ended since this time, RFC 3339, of each registered bot as many of the newest as a welcome may tell.
    ///
    /// # Errors
    /// They cannot be read.
    fn recent(&self, since: &str) -> Result<Vec<Record>, StoreError>;
}

/// What a commit made.
#[derive(Debug, Default)]
pub struct Committed {
    /// The lines of the games, as they are to stand in the archive.
    pub lines: Vec<Line>,
    /// How the bots stand whose standings they changed.
    pub standings: Vec<Row>,
}

/// Forfeited games, each with its evidence as JSON.
pub type Dossiers = [(GameId, String)];

/// A registered bot, and the stored games whose ends it has still to hear of: these and no others.
pub type Unread = (BotName, Vec<GameId>);

/// The newest game of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its place.
    pub seq: u64,
    /// The hash of its line.
    pub hash: String,
}

/// A record as it stands in the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its place.
    pub seq: u64,
    /// The UTC day of its end, `2026-11-30`.
    pub day: String,
    /// The record, without a newline.
    pub text: String,
    /// The hash that it had when it was stored.
    pub hash: String,
}

/// Whose end a start may have to tell again.
#[derive(Debug, Default)]
pub struct Untold {
    /// Of the games that the journal still has: those that are stored.
    pub stored: HashMap<GameId, Record>,
    /// Games of registered bots that ended in the [`MISSED_WINDOW`] before the newest end, where the journal may lack some.
    pub recent: Vec<Record>,
    /// What registered bots have still to hear of, in the order of the ends.
    pub unread: Vec<(BotName, Record)>,
}

impl Untold {
    /// As a start finds it.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn find(store: &dyn Store, recovered: &journal::Recovered) -> Result<Self, StoreError> {
        let mut stored = HashMap::new();
        for saved in &recovered.games {
            if let Some(record) = store.record(saved.opening.game)? {
                stored.insert(record.game, record);
            }
        }
        // What the journal has no room for, what it may have lost when power failed, and all where it was moved away.
        let known = recovered.is_there() && (recovered.same_boot || recovered.stopped);
        let has_all = known && stored.len() < TOLD_GAMES;
        let recent = if has_all { Vec::new() } else { Self::recent(store)? };
        Ok(Self { stored, recent, unread: store.unread()? })
    }

    fn recent(store: &dyn Store) -> Result<Vec<Record>, StoreError> {
        let Some(Head { seq, .. }) = store.head()? else { return Ok(Vec::new()) };
        let mut newest = None;
        store.lines_after(seq - 1, &mut |line| {
            newest = serde_json::from_str::<Record>(&line.text)?.ended.parse::<Timestamp>().ok();
            Ok(())
        })?;
        let since = newest.and_then(|newest| newest.checked_sub(MISSED_WINDOW).ok());
        since.map_or_else(|| Ok(Vec::new()), |since| store.recent(&format!("{since:.6}")))
    }
}

/// The hash that links records: SHA-256 of a line without its newline, in hex.
#[must_use]
pub fn line_hash(text: impl AsRef<[u8]>) -> String {
    use std::fmt::Write as _;
    Sha256::digest(text).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Stands in a line for what is not the store's: a control character is in no record, so that the line is none either, nor has
/// the hash of one.
const FOREIGN: char = '\u{1a}';

/// A line as text, whatever a failing disk or a forger has made of it: what is no UTF-8 is [`FOREIGN`].
fn line_text(bytes: &[u8]) -> String {
    bytes.utf8_chunks().fold(String::with_capacity(bytes.len()), |mut text, chunk| {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(FOREIGN);
        }
        text
    })
}

/// Why the store does not serve. Each is a reason to stop: what cannot be stored is not told.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum StoreError {
    #[error("{path}: {error}; {}", Fault::of_io(error).advice())]
    Io { path: PathBuf, error: io::Error },
    #[error("{path}: {error}; {}", Fault::of_sqlite(error).advice())]
    Sqlite { path: PathBuf, error: rusqlite::Error },
    #[error(
        "{path} is used by another daemon, or by a command that is at work on it; stop that, or wait until it is done"
    )]
    InUse { path: PathBuf },
    #[error(
        "{path} has schema {found}, this program knows up to {known}; use the program that wrote it or a newer one"
    )]
    NewerSchema { path: PathBuf, found: i64, known: i64 },
    #[error("{path} is a database of another program; choose another --data")]
    Foreign { path: PathBuf },
    #[error(
        "{path} does not follow the database: {what}; move it away to have it written anew, or restore the database"
    )]
    Archive { path: PathBuf, what: String },
    #[error(
        "{path} ends with game {archived}, the database with {stored}: that is older; put the newer one back, or, where a backup \
         is to stand, move the folders archive and journal away"
    )]
    Older { path: PathBuf, archived: u64, stored: u64 },
    #[error("{path}: {what}; move it away to start without it: the games that ran are lost, finished ones not")]
    Journal { path: PathBuf, what: String },
    #[error("{path} exists; choose a file that does not")]
    Exists { path: PathBuf },
    #[error(
        "{database} is missing or empty, and {log} holds what was written last: it was not opened, for then SQLite would \
         delete that; put the database back, or move both away and restore a backup"
    )]
    LostDatabase { database: PathBuf, log: PathBuf },
    #[error(
        "{database} is missing or holds nothing, and {sign} shows that a daemon has run here; restore a backup, or move the rest \
         away to begin anew"
    )]
    NoDatabase { database: PathBuf, sign: PathBuf },
    #[error("{path} was cut short to {length} bytes, within a page; restore a backup")]
    Cut { path: PathBuf, length: u64 },
    #[error("{path} is damaged: {what}; {}", Fault::Damaged.advice())]
    Damaged { path: PathBuf, what: String },
    #[error("there is no data in {path}; name the --data of a daemon that has run")]
    NoData { path: PathBuf },
    #[error("the writer has stopped")]
    Stopped,
    #[error("a stored record is not as it was written: {0}; `modiar games verify` tells which, a backup restores it")]
    Json(#[from] serde_json::Error),
}

impl StoreError {
    pub(crate) fn sqlite(path: &Path) -> impl FnOnce(rusqlite::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Sqlite { path, error }
    }

    /// Whether it is only that there is no room, on the disk or for one more open file, or that another program holds the
    /// database: then waiting may help.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self.fault(), Some(Fault::Full | Fault::NoFiles | Fault::Busy))
    }

    /// Whether the disk could not do what it should: what it holds is not known.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.fault() == Some(Fault::Failed)
    }

    fn fault(&self) -> Option<Fault> {
        match self {
            Self::Io { error, .. } => Some(Fault::of_io(error)),
            Self::Sqlite { error, .. } => Some(Fault::of_sqlite(error)),
            _ => None,
        }
    }

    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { path, error }
    }
}

/// What kind of fault the system told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Full,
    /// Another program holds the database.
    Busy,
    NoFiles,
    TooLarge,
    Failed,
    ReadOnly,
    Damaged,
    Missing,
    Other,
}

impl Fault {
    fn of_io(error: &io::Error) -> Self {
        match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded, _) => Self::Full,
            (_, Some(libc::EMFILE | libc::ENFILE)) => Self::NoFiles,
            (io::ErrorKind::ReadOnlyFilesystem, _) => Self::ReadOnly,
            (io::ErrorKind::FileTooLarge, _) => Self::TooLarge,
            (_, Some(libc::EIO)) => Self::Failed,
            (io::ErrorKind::NotFound, _) => Self::Missing,
            _ => Self::Other,
        }
    }

    fn of_sqlite(error: &rusqlite::Error) -> Self {
        use rusqlite::Error::{FromSqlConversionFailure, InvalidColumnType};
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            // The columns have their types, and what is written to them is looked at before.
            _ if matches!(error, InvalidColumnType(..) | FromSqlConversionFailure(..)) => Self::Damaged,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(ErrorCode::SystemIoFailure) => Self::Failed,
            // What the schema asks for holds in all that is written; where it does not a row is not what it was.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation) => {
                Self::Damaged
            }
            _ => Self::Other,
        }
    }

    /// What to do about it.
    const fn advice(self) -> &'static str {
        match self {
            Self::Full => "make room, some 8 MB at least",
            Self::Busy => "end the other program that writes to it",
            Self::NoFiles => "raise the limit of open files",
            Self::TooLarge => "raise the limit on a file's size (ulimit -f)",
            Self::Failed => "see the system's log for what ails the disk, and start again when it is sound",
            Self::ReadOnly => "have the disk mounted so that it can be written, or choose another --data",
            Self::Damaged => "see the system's log for what ails the disk, and restore a backup if it is sound",
            Self::Missing => "see that its folder is there",
            Self::Other => "see that it is there, ours, and can be read and written",
        }
    }
}
