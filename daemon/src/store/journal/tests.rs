//! What a journal tells after every kind of stop.

use super::entry::{Entry, Opening, SavedPly, SavedSeat, Slot};
use super::segment::{HEADER, SEGMENT, segments};
use super::{Journal, Recovered};
use crate::clock::Micros;
use jiff::Timestamp;
use modiar_protocol::{BotName, GameId, GameRules, TimeControl};
use modiar_rules::{EndRules, Pit, Side};
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use tempfile::TempDir;
use uuid::Uuid;

fn opening(number: u128) -> Opening {
    let seat = |name| SavedSeat { name: BotName::new(name).unwrap(), resume: Some("hash".into()), version: None };
    Opening {
        slot: Slot(0),
        game: GameId::new(Uuid::from_u128(number)),
        pool: "blitz".into(),
        time: TimeControl { base_ms: 1, increment_ms: 2, grace_ms: 3, move_ms: None },
        rules: GameRules::new(EndRules::default(), 0),
        rated: false,
        opening: String::new(),
        seats: [seat("dice"), seat("coin")],
        started: Timestamp::UNIX_EPOCH,
    }
}

fn ply(pit: u8) -> SavedPly {
    SavedPly { pit: Pit::new(pit).unwrap(), elapsed: Micros(u64::from(pit) * 1000), own: Micros(7) }
}

fn open(folder: &TempDir) -> (Journal, Recovered) {
    Journal::open(folder.path(), "boot").unwrap()
}

/// The newest segment that holds entries.
fn newest(folder: &TempDir) -> PathBuf {
    segments(folder.path()).unwrap().pop().unwrap()
}

/// Where the entries of a segment end.
fn end_of(path: &PathBuf) -> u64 {
    let bytes = fs::read(path).unwrap();
    let mut at = HEADER;
    while let Some((_, length)) = Entry::read(&bytes[at..]) {
        at += length;
    }
    at as u64
}

fn overwrite(path: &PathBuf, at: u64, bytes: &[u8]) {
    File::options().write(true).open(path).unwrap().write_all_at(bytes, at).unwrap();
}

#[test]
fn a_killed_daemon_finds_every_ply() {
    let folder = TempDir::new().unwrap();
    let (journal, _) = open(&folder);
    let first = journal.opened(&mut opening(1)).unwrap();
    let second = journal.opened(&mut opening(2)).unwrap();
    for pit in [2, 4, 0] {
        journal.ply(first, ply(pit)).unwrap();
    }
    journal.forgiven(first, Side::North).unwrap();
    journal.over(&[second]).unwrap();
    let (_, recovered) = open(&folder);
    assert_eq!(recovered.games.len(), 1);
    let game = &recovered.games[0];
    assert_eq!(game.opening, Opening { slot: first, ..opening(1) });
    assert_eq!(game.plies, [2, 4, 0].map(ply));
    assert_eq!((game.forgiven.south, game.forgiven.north), (0, 1));
    assert!(recovered.same_boot && !recovered.stopped && recovered.torn == 0);
}

#[test]
fn an_idle_journal_can_be_synced_again_and_again() {
    let folder = TempDir::new().unwrap();
    let (journal, _) = open(&folder);
    let slot = journal.opened(&mut opening(1)).unwrap();
    for _ in 0..3 {
        journal.sync().unwrap();
    }
    journal.ply(slot, ply(0)).unwrap();
    assert_eq!(open(&folder).1.games[0].plies, [ply(0)]);
}

#[test]
fn what_was_recovered_is_recovered_again() {
    let folder = TempDir::new().unwrap();
    let (journal, _) = open(&folder);
    let slot = journal.opened(&mut opening(1)).unwrap();
    journal.ply(slot, ply(1)).unwrap();
    let games = open(&folder).1.games;
    let (journal, again) = open(&folder);
    assert_eq!(again.games, games);
    journal.ply(slot, ply(5)).unwrap();
    assert_eq!(open(&folder).1.games[0].plies, [1, 5].map(ply));
    assert_eq!(segments(folder.path()).unwrap().len(), 1, "older segments are gone");
}

#[test]
fn another_boot_and_an_orderly_stop_are_seen() {
    let folder = TempDir::new().unwrap();
    open(&folder).0.opened(&mut opening(1)).unwrap();
    let (journal, recovered) = Journal::open(folder.path(), "another").unwrap();
    assert!(!recovered.same_boot && !recovered.stopped);
    journal.stopped().unwrap();
    let (journal, recovered) = Journal::open(folder.path(), "third").unwrap();
    assert!(!recovered.same_boot && recovered.stopped && recovered.games.len() == 1);
    drop(journal);
    assert!(!open(&folder).1.stopped, "a stop counts once");
}

#[test]
fn a_torn_tail_is_cut() {
    let folder = TempDir::new().unwrap();
    let (journal, _) = open(&folder);
    let slot = journal.opened(&mut opening(1)).unwrap();
    journal.ply(slot, ply(2)).unwrap();
    journal.sync().unwrap();
    journal.ply(slot, ply(4)).unwrap();
    let path = newest(&folder);
    let end = end_of(&path);
    for torn in 1..30 {
        overwrite(&path, end - torn, &[0xa5]);
        let recovered = Recovered::read(folder.path(), "boot").unwrap();
        assert_eq!(recovered.games[0].plies, [ply(2)], "{torn}");
        assert!(recovered.torn > 0);
    }
}

#[test]
fn damage_before_a_mark_is_refused() {
    let folder = TempDir::new().unwrap();
    let (journal, _) = open(&folder);
    let slot = journal.opened(&mut opening(1)).unwrap();
    journal.ply(slot, ply(2)).unwrap();
    let damaged = end_of(&newest(&folder)) - 1;
    journal.sync().unwrap();
    journal.ply(slot, ply(4)).unwrap();
    overwrite(&newest(&folder), damaged, &[0xa5]);
    let error = Recovered::read(folder.path(), "boot").unwrap_err().to_string();
    assert!(error.contains("damaged at byte"), "{error}");
}

#[test]
fn a_full_segment_is_followed_by_another_and_goes_with_its_games() {
    let folder = TempDir::new().unwrap();
    let (journal, _) = open(&folder);
    let long = journal.opened(&mut opening(1)).unwrap();
    let plies = SEGMENT / 32 + 10;
    for number in 0..plies {
        if number == plies * 3 / 4 {
            journal.sync().unwrap();
        }
        journal.ply(long, ply(3)).unwrap();
    }
    journal.sync().unwrap();
    assert_eq!(segments(folder.path()).unwrap().len(), 2);
    let recovered = Recovered::read(folder.path(), "boot").unwrap();
    assert_eq!(recovered.games[0].plies.len() as u64, plies);
    journal.over(&[long]).unwrap();
    assert_eq!(segments(folder.path()).unwrap().len(), 1);
}

/// The next segment takes as long as the disk does: meanwhile nothing more fits, and nobody else makes it.
#[test]
fn what_finds_no_next_segment_waits_for_it() {
    let folder = TempDir::new().unwrap();
    let (journal, _) = open(&folder);
    let slot = journal.opened(&mut opening(1)).unwrap();
    let mut plies = 0;
    let error = loop {
        match journal.ply(slot, ply(3)) {
            Ok(()) => plies += 1,
            Err(error) => break error,
        }
    };
    assert!(error.is_full(), "{error}");
    assert!(!journal.has_room() && journal.opened(&mut opening(2)).is_err());
    assert_eq!(segments(folder.path()).unwrap().len(), 1);
    journal.sync().unwrap();
    assert!(journal.has_room());
    journal.ply(slot, ply(4)).unwrap();
    let (_, recovered) = open(&folder);
    assert_eq!((recovered.games[0].plies.len(), recovered.games[0].plies.last()), (plies + 1, Some(&ply(4))));
}

/// A stop needs room too.
#[test]
fn a_stop_at_the_end_of_a_segment_is_kept() {
    let folder = TempDir::new().unwrap();
    let (journal, _) = open(&folder);
    let slot = journal.opened(&mut opening(1)).unwrap();
    while journal.ply(slot, ply(3)).is_ok() {}
    journal.stopped().unwrap();
    assert!(open(&folder).1.stopped);
}

#[test]
fn a_spare_segment_does_not_hide_a_torn_tail() {
    let folder = TempDir::new().unwrap();
    let (journal, _) = open(&folder);
    let slot = journal.opened(&mut opening(1)).unwrap();
    for _ in 0..SEGMENT / 32 / 2 + 10 {
        journal.ply(slot, ply(3)).unwrap();
    }
    journal.sync().unwrap();
    let paths = segments(folder.path()).unwrap();
    assert_eq!(paths.len(), 2, "the next segment is ready");
    journal.ply(slot, ply(4)).unwrap();
    overwrite(&paths[0], end_of(&paths[0]) - 1, &[0xa5]);
    let recovered = Recovered::read(folder.path(), "boot").unwrap();
    assert!(recovered.torn > 0 && recovered.games[0].plies.last() == Some(&ply(3)));
}

#[test]
fn a_foreign_file_is_refused() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("journal-0000000001.log"), b"something else").unwrap();
    assert!(Journal::open(folder.path(), "boot").is_err());
}

/// A start that is cut short before the games are aborted must not make the next one trust them.
#[test]
fn a_failure_of_power_is_remembered_until_its_games_are_over() {
    let folder = TempDir::new().unwrap();
    let (journal, _) = open(&folder);
    journal.opened(&mut opening(1)).unwrap();
    let start = || Journal::open(folder.path(), "another boot").unwrap();
    assert!(start().1.games[0].lost);
    let (journal, recovered) = start();
    assert!(recovered.same_boot && recovered.games[0].lost, "the second start trusts it");
    journal.opened(&mut opening(2)).unwrap();
    let (_, recovered) = start();
    assert_eq!(recovered.games.iter().map(|game| game.lost).collect::<Vec<_>>(), [true, false]);
}

/// A start that was killed before it had removed what it had read.
#[test]
fn a_start_that_was_cut_short_is_started_again() {
    let folder = TempDir::new().unwrap();
    let (journal, _) = open(&folder);
    let slot = journal.opened(&mut opening(1)).unwrap();
    journal.ply(slot, ply(2)).unwrap();
    let old = newest(&folder);
    overwrite(&old, end_of(&old), b"torn");
    let kept = fs::read(&old).unwrap();
    drop(open(&folder));
    fs::write(&old, kept).unwrap();
    let (_, recovered) = open(&folder);
    assert_eq!((recovered.games.len(), recovered.games[0].plies.len()), (1, 1));
}

/// Fills one segment and begins the next.
fn two_segments(folder: &TempDir) -> (Journal, Slot) {
    let (journal, _) = open(folder);
    let slot = journal.opened(&mut opening(1)).unwrap();
    while journal.ply(slot, ply(2)).is_ok() {}
    journal.sync().unwrap();
    journal.ply(slot, ply(2)).unwrap();
    (journal, slot)
}

/// A ply, and that the journal goes on.
const LAST: usize = 32 + 7;

/// The disk may have the second segment before the first: what is missing of that cuts off all that follows.
#[test]
fn what_follows_a_gap_is_not_read() {
    // Part of the last entry, or the last ply whole and with it that the journal goes on.
    for gap in [&b"torn"[..], &[0; LAST]] {
        let folder = TempDir::new().unwrap();
        let (journal, slot) = two_segments(&folder);
        journal.ply(slot, ply(4)).unwrap();
        let first = segments(folder.path()).unwrap().remove(0);
        overwrite(&first, end_of(&first) - gap.len() as u64, gap);
        journal.opened(&mut opening(2)).unwrap();
        let (_, recovered) = Journal::open(folder.path(), "another boot").unwrap();
        assert_eq!(recovered.games.len(), 1, "{gap:?}");
        assert!(recovered.games[0].plies.iter().all(|played| *played == ply(2)), "{gap:?}");
        assert!(recovered.torn > 0, "{gap:?}");
    }
}

/// A mark in the second segment says that the first was on the disk.
#[test]
fn a_gap_that_had_been_on_the_disk_is_refused() {
    let folder = TempDir::new().unwrap();
    let (journal, slot) = two_segments(&folder);
    journal.ply(slot, ply(4)).unwrap();
    journal.sync().unwrap();
    let first = segments(folder.path()).unwrap().remove(0);
    overwrite(&first, end_of(&first) - LAST as u64, &[0; LAST]);
    let refused = Journal::open(folder.path(), "boot").unwrap_err().to_string();
    assert!(refused.contains("damaged"), "{refused}");
}

#[test]
fn a_segment_that_was_cut_short_is_refused() {
    let folder = TempDir::new().unwrap();
    drop(open(&folder));
    let path = newest(&folder);
    File::options().write(true).open(&path).unwrap().set_len(SEGMENT / 2).unwrap();
    let refused = Journal::open(folder.path(), "boot").unwrap_err().to_string();
    assert!(refused.contains("cut short"), "{refused}");
}

/// The segment of the start goes when its games are over; those after it stand for themselves.
#[test]
fn a_journal_whose_first_segments_are_gone_is_whole() {
    let folder = TempDir::new().unwrap();
    let (journal, slot) = two_segments(&folder);
    journal.opened(&mut opening(2)).unwrap();
    journal.over(&[slot]).unwrap();
    journal.sync().unwrap();
    assert_eq!(segments(folder.path()).unwrap().len(), 1);
    let (_, recovered) = open(&folder);
    assert_eq!((recovered.games.len(), recovered.torn), (1, 0));
}

/// The kernel that ran on still has all that was written: a segment that is not there was taken away. After a failure of power
/// a removal may have lasted, and what allowed it not.
#[test]
fn a_lost_segment_is_refused() {
    for (lost, what) in [(0, "in which game 0 began"), (1, "between 1 and 3"), (2, "segment 3, in which it goes on")] {
        let folder = TempDir::new().unwrap();
        let (journal, slot) = two_segments(&folder);
        while journal.ply(slot, ply(2)).is_ok() {}
        journal.sync().unwrap();
        journal.ply(slot, ply(2)).unwrap();
        let three = segments(folder.path()).unwrap();
        assert_eq!(three.len(), 3);
        std::fs::remove_file(&three[lost]).unwrap();
        let refused = Journal::open(folder.path(), "boot").unwrap_err().to_string();
        assert!(refused.contains(what), "{refused}");
        assert!(Journal::open(folder.path(), "another boot").is_ok(), "{what}");
    }
}

/// What began in a lost segment is missed although nothing of it stands in what is left.
#[test]
fn a_lost_segment_is_refused_where_its_games_were_silent_since() {
    let folder = TempDir::new().unwrap();
    let (journal, _) = open(&folder);
    journal.opened(&mut opening(1)).unwrap();
    let busy = journal.opened(&mut opening(2)).unwrap();
    while journal.ply(busy, ply(2)).is_ok() {}
    journal.sync().unwrap();
    let three = journal.opened(&mut opening(3)).unwrap();
    journal.over(&[busy]).unwrap();
    let two = segments(folder.path()).unwrap();
    fs::remove_file(&two[0]).unwrap();
    let refused = Journal::open(folder.path(), "boot").unwrap_err().to_string();
    assert!(refused.contains("in which game 0 began"), "{refused}");
    // The last segment alone, made and not begun.
    journal.over(&[three]).unwrap();
    while journal.ply(Slot(0), ply(2)).is_ok() {}
    journal.sync().unwrap();
    fs::remove_file(&two[1]).unwrap();
    let refused = Journal::open(folder.path(), "boot").unwrap_err().to_string();
    assert!(refused.contains("the segment before 3 is missing"), "{refused}");
}

#[test]
fn a_segment_that_is_there_twice_is_refused() {
    let folder = TempDir::new().unwrap();
    drop(open(&folder));
    let path = newest(&folder);
    fs::copy(&path, folder.path().join("journal-0000000002.log")).unwrap();
    let refused = Journal::open(folder.path(), "boot").unwrap_err().to_string();
    assert!(refused.contains("it is segment 1, and so does another"), "{refused}");
}

/// A flipped bit of the boot id would be another boot, on which all that ran is aborted.
#[test]
fn a_damaged_header_is_refused() {
    let folder = TempDir::new().unwrap();
    let (journal, _) = open(&folder);
    journal.opened(&mut opening(1)).unwrap();
    let path = newest(&folder);
    for at in 0..HEADER as u64 {
        let before = fs::read(&path).unwrap()[usize::try_from(at).unwrap()];
        overwrite(&path, at, &[before ^ 1]);
        let refused = Journal::open(folder.path(), "boot").unwrap_err().to_string();
        assert!(refused.contains("no segment of ours"), "{at}: {refused}");
        overwrite(&path, at, &[before]);
    }
    // One that was made before headers had a checksum.
    overwrite(&path, HEADER as u64 - 4, &[0; 4]);
    assert_eq!(open(&folder).1.games.len(), 1);
}

/// The kernel that ran on has all that was written: a ply that is damaged before a whole one is no torn tail.
#[test]
fn damage_before_what_was_written_later_is_refused_on_the_same_boot() {
    let folder = TempDir::new().unwrap();
    let (journal, _) = open(&folder);
    let slot = journal.opened(&mut opening(1)).unwrap();
    journal.ply(slot, ply(2)).unwrap();
    let damaged = end_of(&newest(&folder)) - 1;
    journal.ply(slot, ply(4)).unwrap();
    overwrite(&newest(&folder), damaged, &[0xa5]);
    let refused = Journal::look(folder.path(), "boot").unwrap_err().to_string();
    assert!(refused.contains("damaged at byte"), "{refused}");
    let recovered = Journal::look(folder.path(), "another boot").unwrap();
    assert!(recovered.torn > 0 && recovered.games[0].lost && recovered.games[0].plies.is_empty());
}

/// Whose name is somebody else's hears nothing more, over any number of starts; the other side does.
#[test]
fn a_side_whose_name_is_somebody_else_s_stays_so() {
    let folder = TempDir::new().unwrap();
    let (journal, _) = open(&folder);
    let slot = journal.opened(&mut opening(1)).unwrap();
    journal.disowned(&[(slot, Side::North)]).unwrap();
    for _ in 0..3 {
        let (_, recovered) = open(&folder);
        assert_eq!((recovered.games[0].disowned.south, recovered.games[0].disowned.north), (false, true));
    }
}

/// A start that was killed while it removed what its snapshot had made void: the segments before it may be any of them.
#[test]
fn what_stands_before_a_snapshot_is_void() {
    for left in [[true, false], [false, true], [true, true], [false, false]] {
        let folder = TempDir::new().unwrap();
        let (journal, _) = open(&folder);
        let slot = journal.opened(&mut opening(1)).unwrap();
        for _ in 0..SEGMENT / 32 * 3 / 4 {
            journal.ply(slot, ply(2)).unwrap();
        }
        journal.sync().unwrap();
        let before = segments(folder.path()).unwrap();
        assert_eq!(before.len(), 2);
        let kept: Vec<Vec<u8>> = before.iter().map(|path| fs::read(path).unwrap()).collect();
        drop(open(&folder));
        for ((path, bytes), left) in before.iter().zip(&kept).zip(left) {
            if left {
                fs::write(path, bytes).unwrap();
            }
        }
        assert_eq!(open(&folder).1.games.len(), 1, "{left:?}");
    }
}
