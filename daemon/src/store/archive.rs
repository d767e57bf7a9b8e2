//! The archive: the records as JSON lines, a file a UTC day, each line linked to the one before it by hash.
//!
//! It follows the database: a line is appended after its game is durable, and a start appends what is missing.

use super::{FOREIGN, Line, Store, StoreError, line_hash, line_text};
use modiar_protocol::Record;
use serde::Deserialize;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Take, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Most bytes of a line, with its end: no game that ends is nearly so long.
pub const LINE: u64 = 64 << 20;
/// Lines appended at once while catching up.
const PORTION: usize = 1024;

/// The daily files.
#[derive(Debug)]
pub struct Archive {
    folder: PathBuf,
    /// The newest file; a file's day never goes back.
    day: String,
    file: Option<File>,
    /// The bytes that the open file has by what was written here.
    length: u64,
}

impl Archive {
    /// Opens the archive in `folder` and brings it up to `store`.
    ///
    /// # Errors
    /// It cannot be read or written, is ahead of the store, or holds another history.
    pub fn open(folder: &Path, store: &dyn Store) -> Result<Self, StoreError> {
        let mut archive = Self { folder: folder.to_owned(), day: String::new(), file: None, length: 0 };
        archive.catch_up(store)?;
        Ok(archive)
    }

    /// Whether the archive in `folder` can follow `store`; nothing is changed.
    ///
    /// # Errors
    /// It cannot be read, is ahead of the store, or holds another history.
    pub fn check(folder: &Path, store: &dyn Store) -> Result<(), StoreError> {
        Tail::read(folder, store).map(drop)
    }

    /// Appends what `store` has and the archive lacks, a line torn by a crash or a full disk included.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn catch_up(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        fs::create_dir_all(&self.folder).map_err(StoreError::io(&self.folder))?;
        let Tail { day, reached, torn } = Tail::read(&self.folder, store)?;
        (self.day, self.file) = (day, None);
        for (path, whole) in torn {
            // An empty newest file would say nothing at the next start.
            let cut = || match whole {
                0 => fs::remove_file(&path),
                whole => File::options().write(true).open(&path)?.set_len(whole),
            };
            cut().map_err(StoreError::io(&path))?;
        }
        let mut missing = Vec::new();
        store.lines_after(reached, &mut |line| {
            missing.push(line);
            // In portions: a history of years is not held in memory.
            if missing.len() == PORTION { self.append(&std::mem::take(&mut missing)) } else { Ok(()) }
        })?;
        self.append(&missing)?;
        // So that it is seen whether somebody else changes it.
        if !self.day.is_empty() {
            self.opened()?;
        }
        Ok(())
    }

    /// Whether the open file is no longer as it was left: cut, written to, moved or removed by somebody else.
    #[must_use]
    pub fn was_changed(&self) -> bool {
        let Some(file) = &self.file else { return false };
        let named = || fs::metadata(self.path());
        let is_it =
            |open: &fs::Metadata| named().is_ok_and(|named| (named.dev(), named.ino()) == (open.dev(), open.ino()));
        !file.metadata().is_ok_and(|open| open.len() == self.length && is_it(&open))
    }

    /// Appends lines, one write a file.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn append(&mut self, lines: &[Line]) -> Result<(), StoreError> {
        let mut rest = lines;
        while let Some(first) = rest.first() {
            self.turn_to(&first.day);
            let same = rest.iter().take_while(|line| line.day <= self.day).count();
            let (now, later) = rest.split_at(same);
            let mut text = String::with_capacity(now.iter().map(|line| line.text.len() + 1).sum());
            text.extend(now.iter().flat_map(|line| [line.text.as_str(), "\n"]));
            self.write(text.as_bytes())?;
            rest = later;
        }
        Ok(())
    }

    fn turn_to(&mut self, day: &str) {
        if *day > *self.day {
            day.clone_into(&mut self.day);
            self.file = None;
        }
    }

    fn write(&mut self, text: &[u8]) -> Result<(), StoreError> {
        let path = self.path();
        self.opened()?.write_all(text).map_err(StoreError::io(path))?;
        self.length += text.len() as u64;
        Ok(())
    }

    /// The newest file, opened and made where that has not been done.
    fn opened(&mut self) -> Result<&mut File, StoreError> {
        let path = self.path();
        match &mut self.file {
            Some(file) => Ok(file),
            empty => {
                let file = File::options().create(true).append(true).open(&path).map_err(StoreError::io(&path))?;
                self.length = file.metadata().map_err(StoreError::io(&path))?.len();
                Ok(empty.insert(file))
            }
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(file_name(&self.day))
    }
}

/// The place of the last line of the archive in `folder`; 0 where there is none that can be read.
#[must_use]
pub fn reached(folder: &Path) -> u64 {
    #[derive(Deserialize)]
    struct Placed {
        seq: u64,
    }
    let last = |path: &PathBuf| read_end(&mut open(path).ok()?).ok()?.last;
    let line = files(folder).ok().and_then(|files| files.iter().rev().find_map(last));
    line.and_then(|line| serde_json::from_str::<Placed>(&line).ok()).map_or(0, |placed| placed.seq)
}

/// Where an archive ends.
#[derive(Debug, Default)]
struct Tail {
    /// The day of its newest line.
    day: String,
    /// The place of its last whole line.
    reached: u64,
    /// The files after that line, and its own, where they end in a torn line: what a crash left, which comes again from the
    /// store. With what is whole of each, in bytes.
    torn: Vec<(PathBuf, u64)>,
}

impl Tail {
    fn read(folder: &Path, store: &dyn Store) -> Result<Self, StoreError> {
        let mut files = files(folder)?;
        let mut tail = Self::default();
        while let Some(path) = files.pop() {
            let End { last, whole, length } = read_end(&mut open(&path)?).map_err(StoreError::io(&path))?;
            if last.is_none() || whole < length {
                tail.torn.push((path.clone(), whole));
            }
            // A file without a line says nothing: the store's lines of before it stand in the files before it.
            if let Some(last) = last {
                tail.reached = Self::check(&path, &last, store)?;
                tail.day = day_of(&path);
                break;
            }
        }
        Ok(tail)
    }

    /// The place of a file's last line, which must be the store's line of that place.
    fn check(path: &Path, last: &str, store: &dyn Store) -> Result<u64, StoreError> {
        let fault = |what: String| StoreError::Archive { path: path.to_owned(), what };
        let record: Record =
            serde_json::from_str(last).map_err(|error| fault(format!("its last line is no record: {error}")))?;
        let head = store.head()?.map_or(0, |head| head.seq);
        if record.seq > head {
            return Err(StoreError::Older { path: path.to_owned(), archived: record.seq, stored: head });
        }
        let mut stored = None;
        store
            .lines_after(record.seq - 1, &mut |line| {
                stored = (line.seq == record.seq).then_some(line.text);
                Err(StoreError::Stopped) // one line is enough
            })
            .or_else(|error| if matches!(error, StoreError::Stopped) { Ok(()) } else { Err(error) })?;
        if stored.as_deref().map(line_hash) != Some(line_hash(last)) {
            return Err(fault(format!("its game {} is not the database's", record.seq)));
        }
        Ok(record.seq)
    }
}

/// A whole line of the archive, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveLine {
    /// Its file.
    pub file: PathBuf,
    /// Its number there, from 1.
    pub number: u64,
    /// The record, without a newline.
    pub text: String,
}

/// The lines that an archive has at one moment, oldest first: what is appended later is not read, nor is a last line that has
/// no end yet, where it may be being written.
#[derive(Debug)]
pub struct ArchiveLines {
    /// Nothing is being written.
    complete: bool,
    /// What stands behind its last end, where that may be being written.
    begun: Option<ArchiveLine>,
    files: std::vec::IntoIter<(PathBuf, u64)>,
    open: Option<(PathBuf, u64, BufReader<Take<File>>)>,
}

impl ArchiveLines {
    /// Those of the archive in `folder`; none where there is no such folder. `complete`: nobody writes to it.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(folder: &Path, complete: bool) -> Result<Self, StoreError> {
        let files = if folder.try_exists().map_err(StoreError::io(folder))? { files(folder)? } else { Vec::new() };
        let sized = files.into_iter().map(|path| match fs::metadata(&path) {
            Ok(metadata) => Ok((path, metadata.len())),
            Err(error) => Err(StoreError::Io { path, error }),
        });
        Ok(Self { complete, begun: None, files: sized.collect::<Result<Vec<_>, _>>()?.into_iter(), open: None })
    }

    /// What stands behind the last line's end, once all lines were read: the beginning of one that is being written.
    pub const fn take_begun(&mut self) -> Option<ArchiveLine> {
        self.begun.take()
    }

    fn read(&mut self) -> Result<Option<ArchiveLine>, StoreError> {
        loop {
            if let Some((path, number, reader)) = &mut self.open {
                let mut line = Vec::new();
                reader.take(LINE).read_until(b'\n', &mut line).map_err(StoreError::io(&*path))?;
                if line.len() as u64 == LINE {
                    let what = format!("line {} is longer than {LINE} bytes", *number + 1);
                    return Err(StoreError::Archive { path: path.clone(), what });
                }
                let whole = line.pop_if(|last| *last == b'\n').is_some();
                let may_grow = !self.complete && self.files.len() == 0;
                if whole || !line.is_empty() {
                    *number += 1;
                    let mut text = line_text(&line);
                    if !whole && !may_grow {
                        text.push(FOREIGN);
                    } else if !whole {
                        // Half a character may be on its way too.
                        text.truncate(text.strip_suffix(FOREIGN).unwrap_or(&text).len());
                    }
                    let line = ArchiveLine { file: path.clone(), number: *number, text };
                    if whole || !may_grow {
                        return Ok(Some(line));
                    }
                    self.begun = Some(line);
                }
            }
            let Some((path, length)) = self.files.next() else { return Ok(None) };
            let file = open(&path)?;
            self.open = Some((path, 0, BufReader::new(file.take(length))));
        }
    }
}

impl Iterator for ArchiveLines {
    type Item = Result<ArchiveLine, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// The archive's files, oldest first.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = fs::read_dir(folder).map_err(StoreError::io(folder))?;
    let mut files: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_of_a_day(path)).collect();
    files.sort();
    Ok(files)
}

/// Opens one of the files to be read. A pipe would be waited for.
fn open(path: &Path) -> Result<File, StoreError> {
    if fs::metadata(path).map_err(StoreError::io(path))?.is_file() {
        File::open(path).map_err(StoreError::io(path))
    } else {
        Err(StoreError::Archive { path: path.to_owned(), what: "it is no file".into() })
    }
}

/// Whether it is `games-2026-11-30.jsonl`: what else lies in the folder is somebody else's.
fn is_of_a_day(path: &Path) -> bool {
    let day = day_of(path);
    day.len() == "2026-11-30".len() && day.parse::<jiff::civil::Date>().is_ok() && is_of(path, &day)
}

/// Whether it is the archive's file of `day`.
#[must_use]
pub fn is_of(path: &Path, day: &str) -> bool {
    path.file_name().is_some_and(|name| *name == *file_name(day))
}

fn file_name(day: &str) -> String {
    format!("games-{day}.jsonl")
}

fn day_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.strip_prefix("games-").unwrap_or_default().to_owned()
}

/// How a file ends.
struct End {
    /// Its last whole line, without the newline.
    last: Option<String>,
    /// The bytes up to the end of that line.
    whole: u64,
    length: u64,
}

fn read_end(file: &mut File) -> std::io::Result<End> {
    const STEP: u64 = 64 * 1024;
    let length = file.metadata()?.len();
    let mut step = STEP;
    loop {
        let from = length.saturating_sub(step);
        let mut tail = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        file.read_to_end(&mut tail)?;
        let end = tail.iter().rposition(|byte| *byte == b'\n');
        let start = end
            .and_then(|end| tail[..end].iter().rposition(|byte| *byte == b'\n'))
            .map(|at| at + 1)
            .or((from == 0).then_some(0));
        match (start, end) {
            (Some(start), Some(end)) => {
                let last = Some(String::from_utf8_lossy(&tail[start..end]).into_owned());
                return Ok(End { last, whole: from + end as u64 + 1, length });
            }
            (Some(_), None) => return Ok(End { last: None, whole: 0, length }),
            _ => step *= 2,
        }
    }
}
