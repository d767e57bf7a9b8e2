//! Reading a journal back: which games ran, and how much of it can be trusted (`session.kill`).

use super::entry::{Entry, FRAME, SavedGame, Slot};
use super::segment::{self, HEADER, Header, SEGMENT, segments};
use crate::store::StoreError;
use modiar_rules::BySide;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a journal tells at a start.
#[derive(Debug, Default)]
pub struct Recovered {
    /// The games that ran, as they began.
    pub games: Vec<SavedGame>,
    /// The kernel has run on since: whatever was told is in the journal.
    pub same_boot: bool,
    /// The daemon stopped in order.
    pub stopped: bool,
    /// Bytes at the end that had not reached the disk whole; cut.
    pub torn: u64,
    /// The number of the newest segment.
    pub(super) last: u64,
}

impl Recovered {
    /// Whether a daemon ran here, and stopped in order.
    #[must_use]
    pub const fn ended_in_order(&self) -> bool {
        self.stopped && self.is_there()
    }

    /// Whether there is a journal at all.
    #[must_use]
    pub const fn is_there(&self) -> bool {
        self.last > 0
    }

    /// Reads all segments of `folder`.
    ///
    /// # Errors
    /// A segment cannot be read, is foreign, or is damaged before a mark that says it was on the disk.
    pub(super) fn read(folder: &Path, boot: &str) -> Result<Self, StoreError> {
        let mut recovered = Self { stopped: true, same_boot: true, ..Self::default() };
        // What was before the first segment that is there was removed with its games.
        let (mut games, mut orphans, mut continued) = (BTreeMap::new(), BTreeSet::new(), true);
        let (mut damage, mut missing): (Option<Damage>, Option<String>) = (None, None);
        for path in segments(folder)? {
            let before = recovered.last;
            let bytes = segment::read(&path)?;
            let header = Header::read(&bytes).ok_or_else(|| fault(&path, "it is no segment of ours".into()))?;
            if (bytes.len() as u64) < SEGMENT {
                return Err(fault(&path, format!("it was cut short to {} bytes", bytes.len())));
            }
            recovered.last = header.number;
            if before > 0 && header.number <= before {
                return Err(fault(&path, format!("it says that it is segment {}, and so does another", header.number)));
            }
            if before > 0 && header.number != before + 1 {
                missing.get_or_insert(format!("the segments between {before} and {} are missing", header.number));
            }
            recovered.same_boot = header.boot == boot;
            let (entries, end) = read_entries(&bytes);
            if before == 0 && entries.is_empty() {
                // None is begun but in the course of the one before it, or with a snapshot.
                missing.get_or_insert(format!("the segment before {} is missing", header.number));
            }
            if entries.first() == Some(&Entry::Snapshot) {
                // It was on the disk before anything went on: what is before it was about to be removed.
                (damage, missing) = (None, None);
            } else if damage.is_some() || !continued && !entries.is_empty() {
                // What stood at the end of the segment before is missing: nothing after it can be told apart.
                let damage = damage.get_or_insert(Damage { path: path.clone(), end: HEADER, length: 0 });
                if entries.iter().any(|entry| matches!(entry, Entry::Synced(_))) {
                    return Err(damage.refused());
                }
                damage.length += (end - HEADER) as u64;
                continue;
            }
            continued = entries.last() == Some(&Entry::Continued);
            for entry in entries {
                recovered.stopped = entry == Entry::Stopped;
                apply(entry, &mut games, &mut orphans);
            }
            damage = damage.or(Damage::find(path, &bytes, end, recovered.same_boot)?);
        }
        // It is made before the one before it says that it goes on in it.
        if continued && recovered.last > 0 {
            missing.get_or_insert(format!("segment {}, in which it goes on, is missing", recovered.last + 1));
        } else if let Some(Slot(slot)) = orphans.first() {
            missing.get_or_insert(format!("the segment in which game {slot} began is missing"));
        }
        // A failure of power may undo that a game is over, and not the removal of the segment in which it began.
        if let Some(what) = missing.filter(|_| recovered.same_boot || recovered.stopped) {
            return Err(fault(folder, what));
        }
        recovered.torn = damage.map_or(0, |damage| damage.length);
        recovered.games = games.into_values().collect();
        let lost = !recovered.same_boot && !recovered.stopped;
        for game in &mut recovered.games {
            game.lost |= lost;
        }
        Ok(recovered)
    }
}

/// The entries of a segment up to the first that is not whole, and where they end.
fn read_entries(bytes: &[u8]) -> (Vec<Entry>, usize) {
    let (mut entries, mut at) = (Vec::new(), HEADER);
    while let Some((entry, length)) = bytes.get(at..).and_then(Entry::read) {
        at += length;
        entries.push(entry);
    }
    (entries, at)
}

/// `orphans` are the games that go on and have not begun: when they are over, the segment in which they began is removed.
fn apply(entry: Entry, games: &mut BTreeMap<Slot, SavedGame>, orphans: &mut BTreeSet<Slot>) {
    match entry {
        Entry::Opened(opening) => {
            let game = SavedGame {
                opening: *opening,
                plies: Vec::new(),
                forgiven: BySide::default(),
                disowned: BySide::default(),
                lost: false,
            };
            games.insert(game.opening.slot, game);
        }
        Entry::Ply(slot, ply) => match games.get_mut(&slot) {
            Some(game) => game.plies.push(ply),
            None => drop(orphans.insert(slot)),
        },
        Entry::Forgiven(slot, side) => match games.get_mut(&slot) {
            Some(game) => game.forgiven[side] += 1,
            None => drop(orphans.insert(slot)),
        },
        Entry::Disowned(slot, side) => {
            if let Some(game) = games.get_mut(&slot) {
                game.disowned[side] = true;
            }
        }
        Entry::Runs(slot) => {
            if !games.contains_key(&slot) {
                orphans.insert(slot);
            }
        }
        Entry::Over(slot) => {
            games.remove(&slot);
            orphans.remove(&slot);
        }
        Entry::Snapshot => {
            games.clear();
            orphans.clear();
        }
        Entry::Lost => games.values_mut().for_each(|game| game.lost = true),
        Entry::Synced(_) | Entry::Stopped | Entry::Continued => {}
    }
}

/// Bytes after the last whole entry of a segment: a torn tail, if nothing shows that they had been on the disk. What a
/// later mark or segment shows to have been there is refused: nobody can say what it held.
struct Damage {
    path: PathBuf,
    end: usize,
    length: u64,
}

impl Damage {
    fn find(path: PathBuf, bytes: &[u8], end: usize, same_boot: bool) -> Result<Option<Self>, StoreError> {
        let tail = &bytes[end..];
        let Some(last) = tail.iter().rposition(|byte| *byte != 0) else { return Ok(None) };
        let damage = Self { path, end, length: last as u64 + 1 };
        // A kernel that has run on has all that was written: what it lost is the last that was, at most.
        if marked_later(tail, end) || same_boot && goes_on_behind(tail) {
            return Err(damage.refused());
        }
        Ok(Some(damage))
    }

    fn refused(&self) -> StoreError {
        fault(&self.path, format!("it is damaged at byte {}, which had been on the disk", self.end))
    }
}

fn fault(path: &Path, what: String) -> StoreError {
    StoreError::Journal { path: path.to_owned(), what }
}

/// Whether a whole entry stands behind the one at the front, which is not.
fn goes_on_behind(tail: &[u8]) -> bool {
    let length = tail.get(4..6).map_or(0, |length| usize::from(u16::from_le_bytes([length[0], length[1]])));
    tail.get(FRAME + length..).and_then(Entry::read).is_some()
}

/// Whether a mark in the tail says that the place where reading stopped had been synced.
fn marked_later(tail: &[u8], end: usize) -> bool {
    (1..tail.len().saturating_sub(FRAME)).any(|at| {
        let looks_like_a_mark = tail[at + 4..at + 7] == [8, 0, 5];
        looks_like_a_mark && matches!(Entry::read(&tail[at..]), Some((Entry::Synced(length), _)) if length > end as u64)
    })
}
