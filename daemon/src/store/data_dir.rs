//! The data directory: what stands where, and that one daemon at a time writes to it.

use super::{StoreError, archive};
use std::ffi::OsString;
use std::fmt::{self, Display};
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// A data directory.
#[derive(Clone, Debug)]
pub struct DataDir(PathBuf);

/// The whole path: a relative one says nothing to who does not know where it is counted from.
impl Display for DataDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        std::path::absolute(&self.0).as_deref().unwrap_or(&self.0).display().fmt(f)
    }
}

impl DataDir {
    /// The directory at `path`, whether or not it exists.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The directory itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.0.join("modiar.db")
    }

    /// Whether there is a database with anything in it.
    ///
    /// # Errors
    /// Nobody tells this user: that is not the same as that there is none.
    pub fn has_database(&self) -> Result<bool, StoreError> {
        holds_data(&self.database())
    }

    /// Where a running daemon takes commands.
    #[must_use]
    pub fn control(&self) -> PathBuf {
        self.0.join("control.sock")
    }

    /// The folder of the journal of running games.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.0.join("journal")
    }

    /// The values of all layouts: derived, and made anew where it is missing.
    #[must_use]
    pub fn oracle(&self) -> PathBuf {
        self.0.join("oracle.table")
    }

    /// The folder of the daily archive files.
    #[must_use]
    pub fn archive(&self) -> PathBuf {
        self.0.join("archive")
    }

    /// Refuses a directory that has lost its database: SQLite would make an empty one, and delete the log that belongs to the
    /// lost one. One in which a first start was cut short passes.
    ///
    /// # Errors
    /// The database is missing or empty, and something shows that there was one.
    pub fn check(&self) -> Result<(), StoreError> {
        if self.has_database()? {
            return Ok(());
        }
        let database = self.database();
        if self.has_log()? {
            return Err(StoreError::LostDatabase { log: log_of(&database), database });
        }
        self.check_new()
    }

    /// Whether the database's log holds something.
    pub(super) fn has_log(&self) -> Result<bool, StoreError> {
        holds_data(&log_of(&self.database()))
    }

    /// Refuses a directory in which there was a database with something in it: there is none now.
    pub(super) fn check_new(&self) -> Result<(), StoreError> {
        // The journal's folder is made once the database is on the disk.
        let journal = Some(self.journal()).filter(|journal| journal.exists());
        match journal.or(self.first_archived()?) {
            Some(sign) => Err(StoreError::NoDatabase { database: self.database(), sign }),
            None => Ok(()),
        }
    }

    fn first_archived(&self) -> Result<Option<PathBuf>, StoreError> {
        if !self.archive().exists() {
            return Ok(None);
        }
        for file in archive::files(&self.archive())? {
            if holds_data(&file)? {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }

    /// Makes the journal's folder, which shows from then on that a database was made here.
    pub(super) fn mark(&self) -> Result<(), StoreError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(self.journal());
        made.map_err(StoreError::io(self.journal()))
    }

    /// Whether no daemon and no command is at work on it at this moment.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn is_at_rest(&self) -> Result<bool, StoreError> {
        let folder = match File::open(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            folder => folder.map_err(StoreError::io(&self.0))?,
        };
        match folder.try_lock_shared() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(StoreError::Io { path: self.0.clone(), error }),
        }
    }

    /// As [`Self::claim`], but waits for its turn where others have it.
    ///
    /// # Errors
    /// It cannot be made, or has lost its database.
    pub fn claim_in_turn(&self) -> Result<File, StoreError> {
        let claimed = self.make()?;
        claimed.lock().map_err(StoreError::io(&self.0))?;
        Ok(claimed)
    }

    /// The directory itself is what is claimed: a file in it may be removed by somebody who tidies up.
    fn make(&self) -> Result<File, StoreError> {
        self.check()?;
        let made = DirBuilder::new().recursive(true).mode(0o700).create(self.archive());
        made.map_err(StoreError::io(&self.0))?;
        File::open(&self.0).map_err(StoreError::io(&self.0))
    }

    /// Makes the directory, its owner's alone, and claims it for as long as the file lives.
    ///
    /// # Errors
    /// It cannot be made, has lost its database, or another daemon has it.
    pub fn claim(&self) -> Result<File, StoreError> {
        let claimed = self.make()?;
        match claimed.try_lock() {
            Ok(()) => Ok(claimed),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse { path: self.0.clone() }),
            Err(TryLockError::Error(error)) => Err(StoreError::Io { path: self.0.clone(), error }),
        }
    }
}

/// Whether a file is there and not empty.
fn holds_data(path: &Path) -> Result<bool, StoreError> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len() > 0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::Io { path: path.to_owned(), error }),
    }
}

/// SQLite's write-ahead log of a database.
pub(super) fn log_of(database: &Path) -> PathBuf {
    let mut log = OsString::from(database);
    log.push("-wal");
    log.into()
}

/// Makes an empty file that only its owner reads: a database holds the hashes of tokens.
pub(super) fn make_private(path: &Path) -> std::io::Result<()> {
    File::options().write(true).create_new(true).mode(0o600).open(path).map(drop)
}
