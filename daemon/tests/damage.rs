//! Data that are damaged, foreign, newer, or another daemon's: a refusal that names the path, never an empty start.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::programs::Program;
use support::{Daemon, MODIAR, journal};
use tempfile::TempDir;

/// Data of a daemon that was killed: two games stored, one running.
struct Data(TempDir);

impl Data {
    fn new() -> Self {
        let daemon = Daemon::start();
        for _ in 0..2 {
            let mut game = daemon.game("blitz");
            game.play("240315042315042315042");
            game.ended();
        }
        let mut game = daemon.game("blitz");
        game.play("2403150423");
        game.south.expect("turn").unwrap();
        // A mark in the journal says that the ply before is on the disk.
        std::thread::sleep(std::time::Duration::from_millis(100));
        Self(daemon.kill())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("data")
    }

    fn database(&self) -> PathBuf {
        self.path().join("modiar.db")
    }

    fn archive(&self) -> PathBuf {
        let mut files = fs::read_dir(self.path().join("archive")).unwrap();
        files.next().unwrap().unwrap().path()
    }

    /// All of it in the database's one file.
    fn checkpoint(&self) {
        let database = Connection::open(self.database()).unwrap();
        database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = Command::new(MODIAR).args(arguments).env("MODIAR_DATA", self.path()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// What the directory holds, but for what says nothing: the lock, the oracle's table, and the index of the database's log.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let folders = ["", "archive", "journal"].map(|folder| self.path().join(folder));
        let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
        let paths = entries.map(|entry| entry.unwrap().path());
        let paths = paths.filter(|path| {
            path.is_file() && !["oracle.table", "modiar.db-shm"].iter().any(|name| path.ends_with(name))
        });
        paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    }

    /// A daemon does not start here, says why, and leaves all as it is.
    #[track_caller]
    fn is_refused(&self, path: &Path, why: &str) {
        let before = self.files();
        let mut command = Command::new(MODIAR);
        command.args(["serve", "--bots", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"]).arg(self.path());
        let outcome = Program::start(command).finish();
        assert_eq!(outcome.status, Some(3), "{outcome:?}");
        assert_eq!(outcome.stdout, "", "it listened");
        let said = &outcome.stderr[outcome.stderr.find("modiar: ").unwrap()..];
        assert!(said.contains(path.to_str().unwrap()), "{said}");
        assert!(said.contains(why), "{said}");
        let after = self.files();
        let changed = before.iter().filter(|(path, text)| after.get(*path) != Some(*text)).map(|(path, _)| path);
        assert_eq!(changed.collect::<Vec<_>>(), Vec::<&PathBuf>::new(), "they were changed");
        assert!(after.keys().all(|path| before.contains_key(path)), "made: {:?}", after.keys());
    }
}

fn flip(path: &Path, at: usize) {
    journal::alter(path, |bytes| bytes[at] ^= 0x10);
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let data = Data::new();
    fs::remove_file(data.database()).unwrap();
    Connection::open(data.database()).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    data.is_refused(&data.database(), "another program");
}

#[test]
fn a_newer_schema_is_left_alone() {
    let data = Data::new();
    Connection::open(data.database()).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    data.is_refused(&data.database(), "schema 99");
    assert_eq!(data.run(&["games", "export"]).0, Some(3));
    assert_eq!(data.run(&["bot", "add", "dice"]).0, Some(3));
}

#[test]
fn what_is_no_database_is_left_alone() {
    let data = Data::new();
    data.checkpoint();
    fs::write(data.database(), "no database, and long enough to be looked at: ".repeat(100)).unwrap();
    data.is_refused(&data.database(), "not a database");
}

#[test]
fn a_lost_database_is_no_empty_start() {
    let data = Data::new();
    for file in ["modiar.db", "modiar.db-wal", "modiar.db-shm"] {
        let _ = fs::remove_file(data.path().join(file));
    }
    let (journal, journal_before) = (data.path().join("journal"), data.path().join("journal-before"));
    let (archive, archive_before) = (data.path().join("archive"), data.path().join("archive-before"));
    let is_lost = |sign: &Path| {
        data.is_refused(&data.database(), "is missing or holds nothing");
        data.is_refused(sign, "restore a backup, or move the rest away");
        for command in [&["games", "verify"][..], &["games", "export"], &["bot", "add", "dice"], &["bot", "list"]] {
            let before = data.files();
            assert_eq!(data.run(command), (Some(3), String::new()), "{command:?}");
            assert_eq!(data.files(), before, "{command:?}");
        }
    };
    // Missing, and then cut to nothing; the games that ran are a sign, and so are those that were finished.
    is_lost(&journal);
    fs::write(data.database(), "").unwrap();
    is_lost(&journal);
    fs::rename(&journal, &journal_before).unwrap();
    is_lost(&data.archive());
    fs::remove_file(data.database()).unwrap();
    is_lost(&data.archive());
    // Without a sign it is a first start.
    fs::rename(&archive, &archive_before).unwrap();
    let daemon = Daemon::start_in(data.0, "", &[]);
    assert_eq!(daemon.export(), "");
}

/// Its accounts were gone without a word, for no game had been finished.
#[test]
fn a_lost_database_without_games_is_no_empty_start() {
    for cut in [true, false] {
        let data = Data(TempDir::new().unwrap());
        assert_eq!(data.run(&["bot", "add", "dice"]).0, Some(0));
        data.checkpoint();
        if cut {
            fs::write(data.database(), "").unwrap();
        } else {
            fs::remove_file(data.database()).unwrap();
        }
        data.is_refused(&data.database(), "is missing or holds nothing");
        assert_eq!(data.run(&["bot", "list"]).0, Some(3));
    }
}

/// SQLite deletes a log whose database is not there, and in it stood results that had been told.
#[test]
fn the_log_of_a_lost_database_is_kept() {
    let data = Data::new();
    let (_, export) = data.run(&["games", "export"]);
    assert_eq!(export.lines().count(), 2);
    let log = data.path().join("modiar.db-wal");
    assert!(fs::metadata(&log).unwrap().len() > 0);
    let database = fs::read(data.database()).unwrap();
    for empty in [false, true] {
        fs::remove_file(data.database()).unwrap();
        if empty {
            fs::write(data.database(), "").unwrap();
        }
        data.is_refused(&log, "put the database back");
        data.is_refused(&data.database(), "put the database back");
        let copy = data.path().join("../copy.db");
        let backup = ["backup", copy.to_str().unwrap()];
        for command in [
            &["games", "verify"][..],
            &["games", "export"],
            &["games", "show", "g0"],
            &["bot", "add", "dice"],
            &["bot", "list"],
            &backup,
        ] {
            let before = data.files();
            assert_eq!(data.run(command), (Some(3), String::new()), "{command:?}");
            assert_eq!(data.files(), before, "{command:?}");
        }
        fs::write(data.database(), &database).unwrap();
        assert_eq!(data.run(&["games", "export"]).1, export);
    }
}

/// Whatever a first start had made when it was cut short, the next one makes the rest.
#[test]
fn a_first_start_that_was_cut_short_is_made_up_for() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    fs::create_dir_all(data.join("archive")).unwrap();
    fs::write(data.join("modiar.db"), "").unwrap();
    fs::write(data.join("modiar.db-wal"), "").unwrap();
    let daemon = Daemon::start_in(folder, "", &[]);
    daemon.register("dice");
}

/// `kill -9` at any moment of it.
#[test]
fn a_first_start_that_is_killed_is_no_lost_database() {
    for step in 0..40 {
        let folder = TempDir::new().unwrap();
        let mut command = Command::new(MODIAR);
        command
            .args(["serve", "--bots", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"])
            .arg(folder.path().join("data"));
        let daemon = Program::start(command);
        std::thread::sleep(std::time::Duration::from_millis(step));
        daemon.signal(9);
        daemon.finish();
        drop(Daemon::start_in(folder, "", &[]));
    }
}

#[test]
fn a_lost_log_of_the_database_is_no_shorter_history() {
    let data = Data::new();
    fs::remove_file(data.path().join("modiar.db-wal")).unwrap();
    data.is_refused(&data.database(), "is missing or holds nothing");
    assert_eq!(data.run(&["games", "export"]), (Some(3), String::new()));
}

#[test]
fn a_database_cut_short_is_refused() {
    let data = Data::new();
    data.checkpoint();
    let length = fs::metadata(data.database()).unwrap().len();
    for left in [length - 1, length - 4096, length / 2, 4096, 100] {
        journal::alter(&data.database(), |bytes| bytes.truncate(usize::try_from(left).unwrap()));
        data.is_refused(&data.database(), "");
    }
}

/// A byte anywhere in the database: the games are all there as they were, or it is said that they are not.
#[test]
fn a_flipped_byte_in_the_database_is_found() {
    let data = Data::new();
    data.checkpoint();
    let (_, export) = data.run(&["games", "export"]);
    assert_eq!(export.lines().count(), 2);
    let whole = fs::read(data.database()).unwrap();
    let mut found = 0;
    for step in 0..160 {
        let at = step * whole.len() / 160 + step * 13 % 64;
        flip(&data.database(), at);
        let (read, now) = data.run(&["games", "export"]);
        let verified = data.run(&["games", "verify", "--data", data.path().to_str().unwrap()]).0;
        assert!(now == export || read != Some(0) || verified != Some(0), "byte {at}: {now}");
        found += u32::from(now != export);
        fs::write(data.database(), &whole).unwrap();
        for file in ["modiar.db-wal", "modiar.db-shm"] {
            let _ = fs::remove_file(data.path().join(file));
        }
    }
    assert!(found >= 3, "only {found} were of consequence");
}

/// SQLite copies a damaged row as it stands, and no game tells of one in the table of bots: a backup of it could not be used,
/// and verifying said that all was good.
#[test]
fn a_flipped_byte_among_the_bots_is_no_backup_and_not_all_good() {
    let data = Data::new();
    for name in ["dice", "anna", "gnubg"] {
        assert_eq!(data.run(&["bot", "add", name]).0, Some(0));
    }
    data.checkpoint();
    let whole = fs::read(data.database()).unwrap();
    // In the table, and in its index.
    let rows: Vec<usize> = (0..whole.len()).filter(|at| whole[*at..].starts_with(b"dice")).collect();
    assert_eq!(rows.len(), 2);
    let (place, copy) = (data.path(), data.path().join("../copy.db"));
    let mut found = 0;
    // The header of the row, where the types of its columns stand, and what is before that.
    for at in rows.iter().flat_map(|row| row - 8..*row) {
        flip(&data.database(), at);
        if data.run(&["bot", "list"]).0 != Some(0) {
            found += 1;
            let output = Command::new(MODIAR).arg("backup").arg(&copy).arg("--data").arg(&place).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(3), "byte {at}: {said}");
            assert!(said.contains("modiar.db") && said.contains("restore a backup"), "byte {at}: {said}");
            assert!(!copy.exists());
            let (status, verified) = data.run(&["games", "verify"]);
            assert!(status != Some(0) && !verified.contains("all good"), "byte {at}: {verified}");
            let mut command = Command::new(MODIAR);
            command.args(["serve", "--bots", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"]).arg(&place);
            let outcome = Program::start(command).finish();
            assert!(outcome.status == Some(3) && outcome.stderr.contains("restore a backup"), "byte {at}: {outcome:?}");
        }
        data.checkpoint();
        fs::write(data.database(), &whole).unwrap();
    }
    assert!(found >= 2, "only {found} were of consequence");
}

#[test]
fn a_damaged_journal_is_refused() {
    let data = Data::new();
    let segment = journal::newest(&data.path());
    let whole = fs::read(&segment).unwrap();
    let plies: Vec<usize> =
        journal::entries(&whole).iter().filter(|place| place.kind == journal::PLY).map(|place| place.end - 1).collect();
    for at in [plies[0], plies[5] - 20, plies[9]] {
        flip(&segment, at);
        data.is_refused(&segment, "damaged at byte");
        fs::write(&segment, &whole).unwrap();
    }
    flip(&segment, 3);
    data.is_refused(&segment, "no segment of ours");
    fs::write(&segment, "theirs").unwrap();
    data.is_refused(&segment, "no segment of ours");
    // Cut short, it may have held more.
    fs::write(&segment, &whole[..plies[4] + 1]).unwrap();
    data.is_refused(&segment, "cut short");
    fs::write(&segment, &whole).unwrap();
    let daemon = Daemon::start_in(data.0, "", &[]);
    assert_eq!(daemon.export().lines().count(), 2);
}

#[test]
fn a_damaged_archive_is_refused() {
    let data = Data::new();
    let archive = data.archive();
    let whole = fs::read(&archive).unwrap();
    let end = whole.len();
    flip(&archive, end - 100);
    data.is_refused(&archive, "");
    fs::write(&archive, "theirs\n").unwrap();
    data.is_refused(&archive, "no record");
    let mut ahead = whole.clone();
    let last = String::from_utf8_lossy(&whole).lines().last().unwrap().replace("\"seq\":2", "\"seq\":3");
    ahead.extend_from_slice(last.as_bytes());
    ahead.push(b'\n');
    fs::write(&archive, ahead).unwrap();
    data.is_refused(&archive, "ends with game 3, the database with 2");
    // A line torn by a crash is no damage: it comes again from the database.
    fs::write(&archive, &whole[..end - 50]).unwrap();
    let daemon = Daemon::start_in(data.0, "", &[]);
    assert_eq!(fs::read(&archive).unwrap(), whole);
    drop(daemon);
}

#[test]
fn one_directory_is_one_daemon_s() {
    let daemon = Daemon::start();
    let mut command = Command::new(MODIAR);
    command.args(["serve", "--bots", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"]).arg(daemon.data());
    let outcome = Program::start(command).finish();
    assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(3), ""), "{outcome:?}");
    assert!(outcome.stderr.contains(&format!("{} is used by another daemon", daemon.data().display())), "{outcome:?}");
    let mut game = daemon.game("blitz");
    game.play("24");
}
