//! The data directory: what stands where, and that one daemon at a time writes to it.

use super::StoreError;
use std::fmt::{self, Display};
use std::fs::{DirBuilder, File, TryLockError};
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

    /// Whether there is a database.
    ///
    /// # Errors
    /// Nobody tells this user: that is not the same as that there is none.
    pub fn has_database(&self) -> Result<bool, StoreError> {
        let path = self.database();
        path.try_exists().map_err(StoreError::io(path))
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

    /// Makes the directory, its owner's alone, and claims it for as long as the file lives.
    ///
    /// # Errors
    /// It cannot be made, or another daemon has it.
    pub fn claim(&self) -> Result<File, StoreError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(self.archive());
        made.map_err(StoreError::io(&self.0))?;
        let path = self.0.join("lock");
        let lock =
            File::options().create(true).truncate(false).write(true).open(&path).map_err(StoreError::io(&path))?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse { path: self.0.clone() }),
            Err(TryLockError::Error(error)) => Err(StoreError::Io { path, error }),
        }
    }
}

/// Makes an empty file that only its owner reads: a database holds the hashes of tokens.
pub(super) fn make_private(path: &Path) -> std::io::Result<()> {
    File::options().write(true).create_new(true).mode(0o600).open(path).map(drop)
}
