//! The journal of running games: every accepted ply is in the kernel's hands before anyone is told of it, and on the
//! disk within 20 ms, which nobody waits for (`session.kill`).

mod entry;
mod recover;
mod segment;
#[cfg(test)]
mod tests;

pub use entry::{Opening, SavedGame, SavedPly, SavedSeat, Slot};
pub use recover::Recovered;

use super::StoreError;
use entry::{Entry, FRAME};
use modiar_rules::Side;
use segment::{HEADER, Header, SEGMENT};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a ply may wait for the disk.
pub const SYNC_EVERY: Duration = Duration::from_millis(20);

/// The bytes of a mark.
const MARK: u64 = FRAME as u64 + 8;

/// The journal.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    boot: String,
    state: Mutex<State>,
    /// Held while the next segment is made: two that made one would make the same file.
    making: Mutex<()>,
}

#[derive(Debug)]
struct State {
    segment: Arc<File>,
    number: u64,
    /// Where the next entry goes.
    end: u64,
    /// How far a mark says that all is on the disk, the mark included.
    marked: u64,
    /// Full segments that have not been synced since.
    full: Vec<Arc<File>>,
    /// The next segment, made before it is needed.
    spare: Option<File>,
    /// The segment in which each running game began.
    running: BTreeMap<Slot, u64>,
    next: Slot,
    scratch: Vec<u8>,
}

impl State {
    /// What the disk lacks: the segment that is written to, those before it, and the place up to which it is written.
    fn unsynced(&mut self) -> Option<(Arc<File>, Vec<Arc<File>>, u64)> {
        let changed = self.end != self.marked || !self.full.is_empty();
        changed.then(|| (Arc::clone(&self.segment), std::mem::take(&mut self.full), self.end))
    }
}

impl Journal {
    /// Opens the journal in `folder` on the kernel of boot id `boot`, and tells what ran. The games go on in a fresh
    /// segment; what was before it is removed.
    ///
    /// # Errors
    /// It cannot be read or written, or is damaged where it had been on the disk.
    pub fn open(folder: &Path, boot: &str) -> Result<(Self, Recovered), StoreError> {
        let recovered = Self::look(folder, boot)?;
        Ok((Self::go_on(folder, boot, &recovered)?, recovered))
    }

    /// Tells what ran, and changes nothing.
    ///
    /// # Errors
    /// It cannot be read, or is damaged where it had been on the disk.
    pub fn look(folder: &Path, boot: &str) -> Result<Recovered, StoreError> {
        Recovered::read(folder, boot)
    }

    /// Goes on from what [`Self::look`] told.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn go_on(folder: &Path, boot: &str, recovered: &Recovered) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
        segment::remove_drafts(folder)?;
        let old = segment::segments(folder)?;
        let number = recovered.last + 1;
        let mut content = Vec::new();
        write_snapshot(&recovered.games, &mut content)?;
        let file = segment::create(folder, &Header { number, boot: boot.to_owned() }, &content)?;
        for path in old {
            fs::remove_file(&path).map_err(StoreError::io(path))?;
        }
        let end = (HEADER + content.len()) as u64;
        let slots = recovered.games.iter().map(|game| game.opening.slot);
        let next = Slot(slots.clone().max().map_or(0, |Slot(slot)| slot + 1));
        let running = slots.map(|slot| (slot, number)).collect();
        let state = State {
            segment: Arc::new(file),
            number,
            end,
            marked: end,
            full: Vec::new(),
            spare: None,
            running,
            next,
            scratch: Vec::new(),
        };
        let (folder, boot) = (folder.to_owned(), boot.to_owned());
        Ok(Self { folder, boot, state: Mutex::new(state), making: Mutex::default() })
    }

    /// A game begins. `opening` is given its slot.
    ///
    /// # Errors
    /// The disk is full: no game can begin.
    pub fn opened(&self, opening: &mut Opening) -> Result<Slot, StoreError> {
        let mut state = self.lock();
        opening.slot = state.next;
        self.append_written(&mut state, |out| entry::write_opening(opening, out))?;
        let number = state.number;
        state.running.insert(opening.slot, number);
        state.next.0 += 1;
        Ok(opening.slot)
    }

    /// A ply stands.
    ///
    /// # Errors
    /// The disk is full: the ply does not stand yet.
    pub fn ply(&self, slot: Slot, ply: SavedPly) -> Result<(), StoreError> {
        let bytes = entry::ply_bytes(slot, &ply);
        self.put(&mut self.lock(), &bytes)
    }

    /// An illegal pit of `side` was forgiven.
    ///
    /// # Errors
    /// As [`Self::ply`].
    pub fn forgiven(&self, slot: Slot, side: Side) -> Result<(), StoreError> {
        self.append(&mut self.lock(), &Entry::Forgiven(slot, side))
    }

    /// The bots of these sides are no longer who have their names.
    ///
    /// # Errors
    /// As [`Self::ply`].
    pub fn disowned(&self, sides: &[(Slot, Side)]) -> Result<(), StoreError> {
        let disowned = |(slot, side): &(Slot, Side)| Entry::Disowned(*slot, *side);
        self.append_written(&mut self.lock(), |scratch| {
            sides.iter().map(disowned).try_for_each(|entry| entry.write(scratch))
        })
    }

    /// The games' results are stored; segments without running games go.
    ///
    /// # Errors
    /// As [`Self::ply`]; a start then finds the results in the store.
    pub fn over(&self, slots: &[Slot]) -> Result<(), StoreError> {
        let mut state = self.lock();
        self.append_written(&mut state, |scratch| slots.iter().try_for_each(|slot| Entry::Over(*slot).write(scratch)))?;
        let began = slots.iter().filter_map(|slot| state.running.remove(slot)).min();
        // Who began first began in the oldest segment.
        let oldest = state.running.first_key_value().map_or(state.number, |(_, number)| *number);
        drop(state);
        if began.is_some_and(|began| began < oldest) { self.remove_before(oldest) } else { Ok(()) }
    }

    /// The daemon stops in order: the games that run go on at the next start, whatever becomes of the machine.
    ///
    /// # Errors
    /// The journal could not be synced.
    pub fn stopped(&self) -> Result<(), StoreError> {
        self.make_spare()?;
        let mut state = self.lock();
        self.append(&mut state, &Entry::Stopped)?;
        let full = std::mem::take(&mut state.full);
        let synced = full.iter().chain([&state.segment]).try_for_each(|file| file.sync_data());
        synced.map_err(|error| self.fault(state.number, error))
    }

    /// Writes the games that run into a file of their own, after a sync failed: what it lost may be in memory still, and no
    /// other sync of the same file would bring it to the disk. Nothing is appended any more.
    ///
    /// # Errors
    /// That failed too: what was there stays.
    pub fn rescue(&self) -> Result<(), StoreError> {
        Self::open(&self.folder, &self.boot).map(drop)
    }

    /// Brings to the disk what was appended since the last time, marks that, and makes the next segment ready. Whether
    /// there was anything.
    ///
    /// # Errors
    /// The disk failed: nothing can be trusted from here on. A full disk is no error: it is told by [`Self::has_room`].
    pub fn sync(&self) -> Result<bool, StoreError> {
        // Taken first, so that the lock is free while the disk works.
        let unsynced = self.lock().unsynced();
        let any = unsynced.is_some();
        if let Some((segment, full, end)) = unsynced {
            for file in full.iter().chain([&segment]) {
                file.sync_data().map_err(|error| self.fault(self.lock().number, error))?;
            }
            let mut state = self.lock();
            // A mark stands in the segment that it is about.
            let fits = state.end + MARK + FRAME as u64 <= SEGMENT;
            if fits && Arc::ptr_eq(&state.segment, &segment) && self.append(&mut state, &Entry::Synced(end)).is_ok() {
                state.marked = state.end;
            }
        }
        self.make_spare()?;
        Ok(any)
    }

    /// Whether the next segment is ready: where it is not, the disk is full.
    #[must_use]
    pub fn has_room(&self) -> bool {
        let state = self.lock();
        state.spare.is_some() || state.end + SEGMENT / 8 < SEGMENT
    }

    fn make_spare(&self) -> Result<(), StoreError> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let (wanted, number) = {
            let state = self.lock();
            (state.spare.is_none() && state.end > SEGMENT / 2, state.number + 1)
        };
        if !wanted {
            return Ok(());
        }
        match segment::create(&self.folder, &Header { number, boot: self.boot.clone() }, &[]) {
            Ok(file) => self.lock().spare = Some(file),
            Err(error) if error.is_full() => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn append(&self, state: &mut State, entry: &Entry) -> Result<(), StoreError> {
        self.append_written(state, |scratch| entry.write(scratch))
    }

    fn append_written(
        &self,
        state: &mut State,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), serde_json::Error>,
    ) -> Result<(), StoreError> {
        let mut scratch = std::mem::take(&mut state.scratch);
        scratch.clear();
        let put = write(&mut scratch).map_err(StoreError::from).and_then(|()| self.put(state, &scratch));
        state.scratch = scratch;
        put
    }

    /// Appends whole entries, in one write.
    fn put(&self, state: &mut State, entries: &[u8]) -> Result<(), StoreError> {
        // Room for what says that the journal goes on is always left.
        if state.end + (entries.len() + FRAME) as u64 > SEGMENT {
            self.turn_over(state)?;
        }
        // What is not written whole is written over.
        let written = state.segment.write_all_at(entries, state.end);
        written.map_err(|error| self.fault(state.number, error))?;
        state.end += entries.len() as u64;
        Ok(())
    }

    /// Goes on in the next segment. It is never made here, where others wait: as long as there is none, be the disk full or
    /// slow, nothing more fits.
    fn turn_over(&self, state: &mut State) -> Result<(), StoreError> {
        let number = state.number + 1;
        let Some(file) = state.spare.take() else {
            return Err(self.fault(number, io::Error::new(io::ErrorKind::StorageFull, "it is not made yet")));
        };
        let mut continued = Vec::with_capacity(FRAME);
        Entry::Continued.write(&mut continued)?;
        let written = state.segment.write_all_at(&continued, state.end);
        written.map_err(|error| self.fault(state.number, error))?;
        let full = std::mem::replace(&mut state.segment, Arc::new(file));
        state.full.push(full);
        state.number = number;
        state.end = HEADER as u64;
        state.marked = state.end;
        self.note_running(state)
    }

    /// What runs stands at the beginning of each segment, so that the loss of one before it is seen.
    fn note_running(&self, state: &mut State) -> Result<(), StoreError> {
        let mut entries = Vec::new();
        state.running.keys().try_for_each(|slot| Entry::Runs(*slot).write(&mut entries))?;
        let written = state.segment.write_all_at(&entries, state.end);
        written.map_err(|error| self.fault(state.number, error))?;
        state.end += entries.len() as u64;
        Ok(())
    }

    fn remove_before(&self, oldest: u64) -> Result<(), StoreError> {
        for path in segment::segments(&self.folder)? {
            let number = path.file_stem().and_then(|stem| stem.to_str()?.strip_prefix("journal-")?.parse::<u64>().ok());
            if number.is_some_and(|number| number < oldest) {
                fs::remove_file(&path).map_err(StoreError::io(path))?;
            }
        }
        Ok(())
    }

    fn fault(&self, number: u64, error: io::Error) -> StoreError {
        StoreError::Io { path: segment::path(&self.folder, number), error }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The games of a start; that power failed while some ran must outlast this start, should it be cut short.
fn write_snapshot(games: &[SavedGame], out: &mut Vec<u8>) -> Result<(), StoreError> {
    Entry::Snapshot.write(out)?;
    for game in games.iter().filter(|game| game.lost) {
        write_game(game, out)?;
    }
    Entry::Lost.write(out)?;
    for game in games.iter().filter(|game| !game.lost) {
        write_game(game, out)?;
    }
    Ok(())
}

fn write_game(game: &SavedGame, out: &mut Vec<u8>) -> Result<(), StoreError> {
    let slot = game.opening.slot;
    entry::write_opening(&game.opening, out)?;
    for ply in &game.plies {
        Entry::Ply(slot, *ply).write(out)?;
    }
    for side in Side::ALL {
        for _ in 0..game.forgiven[side] {
            Entry::Forgiven(slot, side).write(out)?;
        }
        if game.disowned[side] {
            Entry::Disowned(slot, side).write(out)?;
        }
    }
    Ok(())
}

/// The kernel's boot id: another one means that memory was lost.
///
/// # Errors
/// The system does not tell.
pub fn boot_id() -> Result<String, StoreError> {
    let path = "/proc/sys/kernel/random/boot_id";
    let id = fs::read_to_string(path).map_err(StoreError::io(path))?;
    Ok(id.trim().to_owned())
}
