//! A folder of tables: two files a month, by the day of each game's end, and what tells about them.

use super::{Format, RowWriter, Rows, Table, heads, open, schema};
use anyhow::{Context as _, bail};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Most months from the first to the last: what lies further apart a wrong clock wrote.
const MOST_MONTHS: i32 = 1200;

/// Months since the year 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Month(i32);

impl Month {
    fn of(us: i64) -> Self {
        let day = TimeZone::UTC.to_datetime(Timestamp::from_microsecond(us).unwrap_or_default());
        Self(i32::from(day.year()) * 12 + i32::from(day.month()) - 1)
    }

    /// `2026-11`.
    fn text(self) -> String {
        format!("{:04}-{:02}", self.0.div_euclid(12), self.0.rem_euclid(12) + 1)
    }
}

/// The folder while it is written. Its files are complete once `SHA256SUMS` is there, which comes last.
pub struct Months {
    folder: PathBuf,
    format: Format,
    analysis: bool,
    /// The months that have games. A wall clock may go back, so that none is closed before the end.
    open: BTreeMap<Month, [Box<dyn RowWriter>; 2]>,
    /// That of the last game: of it alone rows may wait in memory.
    current: Option<Month>,
}

impl Months {
    /// Begins in `folder`, which is made where there is none.
    ///
    /// # Errors
    /// It is not empty, or cannot be made.
    pub fn new(folder: &Path, format: Format, analysis: bool) -> anyhow::Result<Self> {
        let unusable = || format!("{}; choose a directory that can be", unwritable(folder));
        fs::create_dir_all(folder).with_context(unusable)?;
        if fs::read_dir(folder).with_context(unusable)?.next().is_some() {
            bail!("{} is not empty; choose another directory, or empty it", folder.display());
        }
        Ok(Self { folder: folder.to_owned(), format, analysis, open: BTreeMap::new(), current: None })
    }

    /// Takes a game.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn add(&mut self, rows: &Rows) -> anyhow::Result<()> {
        let month = Month::of(rows.ended_us());
        if self.current != Some(month) {
            self.turn_to(month)?;
        }
        if let Some(writers) = self.open.get_mut(&month) {
            for (table, writer) in Table::ALL.into_iter().zip(writers) {
                rows.each(table, |row| writer.row(row)).with_context(|| unwritable(&self.folder))?;
            }
        }
        Ok(())
    }

    fn turn_to(&mut self, month: Month) -> anyhow::Result<()> {
        for writer in self.current.and_then(|current| self.open.get_mut(&current)).into_iter().flatten() {
            writer.rest().with_context(|| unwritable(&self.folder))?;
        }
        if !self.open.contains_key(&month) {
            let writers = self.begin(month)?;
            self.open.insert(month, writers);
        }
        self.current = Some(month);
        Ok(())
    }

    fn begin(&self, month: Month) -> anyhow::Result<[Box<dyn RowWriter>; 2]> {
        let writer = |table: Table| -> anyhow::Result<Box<dyn RowWriter>> {
            let path = self.folder.join(format!("{}-{}.{}", table.as_str(), month.text(), self.format.as_str()));
            let file = File::create_new(&path).with_context(|| unwritable(&path))?;
            open(self.format, &heads(table, self.analysis), Box::new(file)).with_context(|| unwritable(&path))
        };
        Ok([writer(Table::Games)?, writer(Table::Plies)?])
    }

    /// Ends all files, writes those of the months between that had no game, and what tells about them.
    ///
    /// # Errors
    /// A file cannot be written, or the games lie further apart than any that a right clock dates.
    pub fn finish(mut self) -> anyhow::Result<()> {
        let ends = self.open.keys().next().zip(self.open.keys().next_back()).map(|(first, last)| (*first, *last));
        if let Some((Month(first), Month(last))) = ends {
            if last - first >= MOST_MONTHS {
                let (from, to) = (Month(first).text(), Month(last).text());
                bail!(
                    "the games lie between {from} and {to}: some clock was wrong; leave the wrong ones out by --since"
                );
            }
            for month in (first..=last).map(Month) {
                let writers = self.open.remove(&month).map_or_else(|| self.begin(month), Ok)?;
                writers.into_iter().try_for_each(RowWriter::finish).with_context(|| unwritable(&self.folder))?;
            }
        }
        self.tell().with_context(|| unwritable(&self.folder))
    }

    /// Writes what tells about the files.
    fn tell(&self) -> anyhow::Result<()> {
        fs::write(self.folder.join("schema.json"), schema::text(self.format, self.analysis)?)?;
        self.write_sums()
    }

    fn write_sums(&self) -> anyhow::Result<()> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        let mut sums = String::new();
        for name in names {
            for byte in sha256(&self.folder.join(&name))? {
                write!(sums, "{byte:02x}")?;
            }
            writeln!(sums, "  {name}")?;
        }
        let mut file = File::create_new(self.folder.join("SHA256SUMS"))?;
        Ok(file.write_all(sums.as_bytes())?)
    }
}

fn unwritable(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}

/// The hash of a file, read a part at a time.
fn sha256(path: &Path) -> std::io::Result<[u8; 32]> {
    let (mut digest, mut file) = (Sha256::new(), File::open(path)?);
    let mut part = vec![0; 1 << 16];
    loop {
        match std::io::Read::read(&mut file, &mut part)? {
            0 => return Ok(digest.finalize().into()),
            read => digest.update(&part[..read]),
        }
    }
}
