//! The table as a file: a line that says what it is, the checksum of the rest, a byte of value for each layout and a byte of
//! progress for each, and the upper bounds that differ, five bytes each.

use crate::index::LAYOUTS;
use crate::table::Table;
use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What every such file is called in its first line. The number changes with the form of what follows, and with the rules.
pub const NAME: &str = "modiar-oracle 1";

/// The most bytes that upper bounds take.
const OPEN: usize = 5 * LAYOUTS;

/// Why a file gives no table.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum FileError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} is no table of this version of modiar; remove it and build it again", .0.display())]
    Foreign(PathBuf),
    #[error("{} was changed or cut: its checksum does not hold; remove it and build it again", .0.display())]
    Damaged(PathBuf),
}

impl FileError {
    /// Whether there is no such file at all.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

impl Table {
    /// Reads a table that [`Self::write`] wrote.
    ///
    /// # Errors
    /// There is no such file, or it is another's, of another version, or not as it was written.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let of_read = |source: io::Error| match source.kind() {
            io::ErrorKind::UnexpectedEof => FileError::Damaged(path.to_owned()),
            _ => FileError::Io { path: path.to_owned(), source },
        };
        // A pipe would be waited for without an end.
        if !fs::metadata(path).map_err(of_read)?.is_file() {
            return Err(FileError::Foreign(path.to_owned()));
        }
        let mut file = File::open(path).map_err(of_read)?;
        let mut head = Vec::new();
        (&file).take(NAME.len() as u64 + 1).read_to_end(&mut head).map_err(of_read)?;
        if head.strip_suffix(b"\n") != Some(NAME.as_bytes()) {
            return Err(FileError::Foreign(path.to_owned()));
        }
        let (mut sum, mut values, mut progress, mut open) = ([0; 32], vec![0; LAYOUTS], vec![0; LAYOUTS], Vec::new());
        for part in [&mut sum[..], &mut values, &mut progress] {
            file.read_exact(part).map_err(of_read)?;
        }
        (&file).take(OPEN as u64 + 1).read_to_end(&mut open).map_err(of_read)?;
        if checksum([&values, &progress, &open]) != sum {
            return Err(FileError::Damaged(path.to_owned()));
        }
        let (bounds, _) = open.as_chunks();
        let open = bounds.iter().map(|[a, b, c, d, hi]| (u32::from_le_bytes([*a, *b, *c, *d]), hi.cast_signed()));
        Ok(Self { values, progress, open: open.collect() })
    }

    /// Writes it to `path`: under another name first, so that nobody finds half of it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        // More than one may be writing it.
        name.push(format!(".new-{}", std::process::id()));
        let unfinished = path.with_file_name(name);
        let write = || {
            if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is something that is no regular file"));
            }
            self.write_to(&unfinished)?;
            fs::rename(&unfinished, path)
        };
        write().map_err(|source| {
            // Half a table is of no use; where there is none there is nothing to remove.
            let _ = fs::remove_file(&unfinished);
            FileError::Io { path: path.to_owned(), source }
        })
    }

    fn write_to(&self, path: &Path) -> io::Result<()> {
        let bounds = self.open.iter().flat_map(|(number, hi)| {
            let [a, b, c, d] = number.to_le_bytes();
            [a, b, c, d, hi.cast_unsigned()]
        });
        let open: Vec<u8> = bounds.collect();
        let parts = [&self.values[..], &self.progress, &open];
        let mut file = File::create(path)?;
        for part in [NAME.as_bytes(), b"\n", &checksum(parts)].into_iter().chain(parts) {
            file.write_all(part)?;
        }
        file.sync_all()
    }
}

fn checksum(parts: [&[u8]; 3]) -> [u8; 32] {
    let mut digest = Sha256::new();
    parts.into_iter().for_each(|part| digest.update(part));
    digest.finalize().into()
}
