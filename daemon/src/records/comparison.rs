//! The archive beside a database: each of its lines must be the database's.

use super::verify::missing;
use super::{Findings, counted};
use crate::store::journal::Journal;
use crate::store::{ArchiveLine, ArchiveLines, DataDir, GROUP, Line, StoreError, is_of, reached};
use serde::Deserialize;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// An archive on its way through the lines of its database.
#[derive(Debug)]
pub struct Comparison {
    data: DataDir,
    rest: ArchiveLines,
    /// The next line of the archive.
    next: Option<ArchiveLine>,
    files: u64,
    file: PathBuf,
    /// The day that lines belong to: a wall clock may go back, an archive does not.
    day: String,
    /// The file and the day of the last line that was found in another's file.
    astray: Option<(PathBuf, String)>,
    equal: u64,
    /// Places of the database after the archive's end, the first and the last.
    behind: Option<(u64, u64)>,
    /// The place before the present one.
    before: u64,
    /// Places of the database in a row that the archive leaves out.
    missing: Option<(u64, u64)>,
}

fn not_begun(begun: &ArchiveLine) -> String {
    let (file, number) = (begun.file.display(), begun.number);
    format!("{file} line {number}: it has no end, and is not the beginning of the database's next game")
}

/// What names a record.
#[derive(Deserialize)]
struct Named {
    seq: u64,
    game: String,
}

fn named(text: &str) -> Option<Named> {
    serde_json::from_str(text).ok()
}

impl Comparison {
    /// With the archive of `data` as it is now. To be made before the database is read: that is never behind.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn new(data: &DataDir) -> Result<Self, StoreError> {
        // Nothing is being written, and the daemon stopped in order: then the archive has all.
        // The kernel that the journal is of matters to games that ran, of which none does.
        let ended = || Journal::look(&data.journal(), "").is_ok_and(|recovered| recovered.ended_in_order());
        let complete = data.is_at_rest()? && ended();
        let mut comparison = Self {
            data: data.clone(),
            rest: ArchiveLines::of(&data.archive(), complete)?,
            next: None,
            files: 0,
            file: PathBuf::new(),
            day: String::new(),
            astray: None,
            equal: 0,
            behind: None,
            before: 0,
            missing: None,
        };
        comparison.step()?;
        Ok(comparison)
    }

    /// Looks for the next line of the database; what differs goes to `findings`.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn compare(&mut self, line: &Line, findings: &mut Findings) -> Result<(), StoreError> {
        let before = std::mem::replace(&mut self.before, line.seq);
        while let Some(next) = self.next.as_ref().filter(|next| next.text != line.text) {
            let next = named(&next.text);
            let is_its_game = next.as_ref().zip(named(&line.text)).is_some_and(|(next, line)| next.game == line.game);
            let place = next.map_or(line.seq, |named| named.seq);
            if place > line.seq && !is_its_game {
                self.missing = Some((self.missing.map_or(line.seq, |(first, _)| first), line.seq));
                return Ok(());
            }
            self.tell_missing(findings);
            let at = self.place();
            self.step()?;
            if place > before && place < line.seq && !is_its_game {
                findings.found(format!("{at}: the database lacks the game at place {place}"));
            } else if place < line.seq && !is_its_game {
                findings.found(format!("{at}: its place {place} does not follow"));
            } else if self.next.as_ref().is_some_and(|next| next.text == line.text) {
                findings.found(format!("{at}: the database has no such line"));
            } else {
                let game = named(&line.text).map(|named| format!("{} ", named.game)).unwrap_or_default();
                findings.found(format!("{at}: it is not the database's game {game}at place {}", line.seq));
                return Ok(());
            }
        }
        self.tell_missing(findings);
        if self.next.is_none() {
            if let Some(begun) = self.rest.take_begun().filter(|begun| !line.text.starts_with(&begun.text)) {
                findings.found(not_begun(&begun));
            }
            self.behind = Some((self.behind.map_or(line.seq, |(first, _)| first), line.seq));
            return Ok(());
        }
        self.equal += 1;
        self.check_day(line, findings);
        self.step()
    }

    /// The day of a line's end, or a later one where the clock went back, names its file. Of lines that stand together in
    /// another the first is told.
    fn check_day(&mut self, line: &Line, findings: &mut Findings) {
        if line.day > self.day {
            self.day.clone_from(&line.day);
        }
        let told = self.astray.as_ref().is_some_and(|(file, day)| (file, day) == (&self.file, &self.day));
        if !told && !is_of(&self.file, &self.day) {
            findings.found(format!("{}: it belongs into the file of {}", self.place(), self.day));
            self.astray = Some((self.file.clone(), self.day.clone()));
        }
    }

    /// After the last line of the database: what is left over, and what was compared.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn end(mut self, findings: &mut Findings) -> Result<(), StoreError> {
        self.tell_missing(findings);
        while let Some(next) = &self.next {
            let game = named(&next.text).map_or("a line".to_owned(), |named| format!("game {}", named.game));
            findings.found(format!("{}: {game}, which the database lacks", self.place()));
            self.step()?;
        }
        if let Some(begun) = self.rest.take_begun() {
            findings.found(not_begun(&begun));
        }
        let why = self.behind.map(|behind| self.why_not_behind(behind)).transpose()?.flatten();
        let Self { files, equal, behind, .. } = self;
        let verb = |count| if count == 1 { "is" } else { "are" };
        let of_the_database = || {
            let (lines, files) = (counted(equal, "line", "lines"), counted(files, "file", "files"));
            format!("archive: {lines} in {files} {} the database's", verb(equal))
        };
        if let (Some((first, last)), Some(why)) = (behind, why) {
            findings.found(format!("the archive: {} at its end, {why}", missing(first, last)));
        }
        findings.note(match (files, behind) {
            (0, _) => "archive: there is none beside the database".to_owned(),
            (_, Some((first, last))) if why.is_none() => {
                let later = "were not in it when it was read, and are by now, or will be with the next start";
                let places = if first == last { format!("{first}") } else { format!("{first} to {last}") };
                format!("{}; places {places} {later}", of_the_database())
            }
            _ => of_the_database(),
        });
        Ok(())
    }

    /// Why the archive should have what it lacks at its end; none where it has it by now, or may be on its way there.
    fn why_not_behind(&self, (first, last): (u64, u64)) -> Result<Option<&'static str>, StoreError> {
        if self.waits_for(last)? {
            return Ok(None);
        }
        if !self.data.is_at_rest()? {
            return Ok(Some("and whoever is at work on the data does not write them: see the daemon's log"));
        }
        let journal = Journal::look(&self.data.journal(), "");
        // A copy that was put here has neither an archive nor a journal yet.
        let is_its = self.files > 0 || !journal.as_ref().is_ok_and(|recovered| !recovered.is_there());
        Ok(if journal.is_ok_and(|recovered| recovered.ended_in_order()) {
            Some("though the daemon stopped in order")
        } else if is_its && last - first >= GROUP as u64 {
            Some("more than one commit leaves to be written")
        } else {
            None
        })
    }

    /// Whether the archive has the game at `last` by now. Who is at work on the data is waited for, as long as it gets on.
    fn waits_for(&self, last: u64) -> Result<bool, StoreError> {
        /// How often it is looked, and for how long without anything new.
        const LOOK: Duration = Duration::from_millis(100);
        const LOOKS: u32 = 30;
        let (mut newest, mut looks) = (0, 0);
        loop {
            let reached = reached(&self.data.archive());
            if reached >= last || looks == LOOKS || self.data.is_at_rest()? {
                return Ok(reached >= last);
            }
            looks = if reached > newest { 0 } else { looks + 1 };
            newest = reached;
            thread::sleep(LOOK);
        }
    }

    fn step(&mut self) -> Result<(), StoreError> {
        self.next = self.rest.next().transpose()?;
        if let Some(next) = self.next.as_ref().filter(|next| next.file != self.file) {
            self.file.clone_from(&next.file);
            self.files += 1;
        }
        Ok(())
    }

    fn tell_missing(&mut self, findings: &mut Findings) {
        if let Some((first, last)) = self.missing.take() {
            findings.found(format!("{}: {} before it", self.place(), missing(first, last)));
        }
    }

    fn place(&self) -> String {
        self.next
            .as_ref()
            .map_or_else(|| "the archive".to_owned(), |next| format!("{} line {}", next.file.display(), next.number))
    }
}
