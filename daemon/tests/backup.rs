//! Copies of the database, and databases of older programs.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use support::programs::{Outcome, Program};
use support::{Daemon, MODIAR, may_mount};
use tempfile::TempDir;

/// Plies that lead round; after 21 of them the first position stands for the third time.
const LOOP: &str = "240315042315042315042";

const COPIES: u32 = 5;

fn play(daemon: &Daemon, games: usize) {
    for _ in 0..games {
        let mut game = daemon.game("blitz");
        game.play(LOOP);
        game.ended();
    }
}

fn serve(data: &Path) -> Outcome {
    let mut command = Command::new(MODIAR);
    command.args(["serve", "--bots", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"]).arg(data);
    Program::start(command).finish()
}

/// A directory with this database alone: what verifying it says.
fn verify(copy: &Path) -> String {
    let folder = TempDir::new().unwrap();
    fs::copy(copy, folder.path().join("modiar.db")).unwrap();
    let output = Command::new(MODIAR).args(["games", "verify", "--data"]).arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_backup_under_load_is_whole() {
    let daemon = Daemon::start();
    daemon.register("dice");
    let copies = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // The second bound is for a copy that fails.
                (0..300).take_while(|_| copies.load(Ordering::Relaxed) < COPIES).for_each(|_| play(&daemon, 1));
            });
        }
        play(&daemon, 1);
        for number in 0..COPIES {
            let copy = daemon.data().join(format!("../copy-{number}.db"));
            let (status, said) = daemon.run(&["backup", copy.to_str().unwrap()]);
            assert!(status.success(), "{said}");
            assert!(verify(&copy).contains("all good"));
            let bots: i64 =
                Connection::open(&copy).unwrap().query_row("SELECT count(*) FROM bots", [], |row| row.get(0)).unwrap();
            assert_eq!(bots, 1);
            copies.fetch_add(1, Ordering::Relaxed);
        }
    });
}

#[test]
fn a_file_that_exists_is_no_place_for_a_backup() {
    let daemon = Daemon::start();
    let copy = daemon.data().join("../copy.db");
    fs::write(&copy, "kept").unwrap();
    let (status, said) = daemon.run(&["backup", copy.to_str().unwrap()]);
    assert!(status.code() == Some(3) && said.contains("exists"), "{said}");
    assert_eq!(fs::read(&copy).unwrap(), b"kept");
}

/// Of two at the same time one has the name; a file or link that somebody left beside it is not written through.
#[test]
fn two_backups_to_one_file_do_not_meet() {
    let daemon = Daemon::start();
    play(&daemon, 40);
    let folder = TempDir::new().unwrap();
    let (copy, other) = (folder.path().join("copy.db"), folder.path().join("other"));
    fs::write(&other, "kept").unwrap();
    std::os::unix::fs::symlink(&other, folder.path().join("copy.db.draft")).unwrap();
    for _ in 0..5 {
        let backup = || daemon.run(&["backup", copy.to_str().unwrap()]);
        let (one, two) = thread::scope(|scope| {
            let one = scope.spawn(backup);
            (backup(), one.join().unwrap())
        });
        let good = [&one, &two].iter().filter(|(status, said)| status.success() || !said.contains("exists")).count();
        assert_eq!(good, 1, "{one:?} {two:?}");
        assert!(verify(&copy).contains("40 games"), "{one:?} {two:?}");
        fs::remove_file(&copy).unwrap();
    }
    assert_eq!(fs::read(&other).unwrap(), b"kept");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no draft is left");
    let (status, said) = daemon.run(&["backup", folder.path().join("absent/copy.db").to_str().unwrap()]);
    assert!(status.code() == Some(3) && said.contains("see that its folder is there"), "{said}");
}

/// It named the daemon's database as what was full, and left its drafts to fill the disk.
#[test]
fn a_backup_to_a_full_disk_names_the_file_and_leaves_nothing_behind() {
    if !may_mount() {
        return;
    }
    let daemon = Daemon::start();
    play(&daemon, 60);
    let disk = TempDir::new().unwrap();
    let mut command = Command::new("unshare");
    let steps = "mount -t tmpfs -o size=64k none \"$0\"; \"$@\"; echo \"status $?\"; ls -A \"$0\"";
    command.args(["-m", "sh", "-c", steps]).arg(disk.path()).arg(MODIAR).arg("backup");
    command.arg(disk.path().join("copy.db")).arg("--data").arg(daemon.data());
    let outcome = Program::start(command).finish();
    assert_eq!(outcome.stdout, "status 3\n", "{outcome:?}");
    let said = outcome.stderr.lines().last().unwrap();
    assert!(said.contains("copy.db: ") && said.contains("full; make room"), "{said}");
    assert!(!said.contains("modiar.db"), "{said}");
}

/// As `modiar backup --help` says.
#[test]
fn a_backup_is_restored_once_archive_and_journal_are_out_of_the_way() {
    let daemon = Daemon::start();
    play(&daemon, 2);
    let before = daemon.export();
    let copy = daemon.data().join("../copy.db");
    let (status, said) = daemon.run(&["backup", copy.to_str().unwrap()]);
    assert!(status.success(), "{said}");
    play(&daemon, 1);
    let (_, _, folder) = daemon.stop();
    let data = folder.path().join("data");
    fs::copy(&copy, data.join("modiar.db")).unwrap();
    for file in ["modiar.db-wal", "modiar.db-shm"] {
        let _ = fs::remove_file(data.join(file));
    }
    let outcome = serve(&data);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(3), ""), "{outcome:?}");
    let told = "ends with game 3, the database with 2";
    assert!(outcome.stderr.contains(told) && outcome.stderr.contains("archive and journal away"), "{outcome:?}");
    for folder in ["archive", "journal"] {
        fs::rename(data.join(folder), data.join(format!("{folder}-before"))).unwrap();
    }
    let daemon = Daemon::start_in(folder, "", &[]);
    assert_eq!(daemon.export(), before);
    let archived: String = fs::read_dir(data.join("archive"))
        .unwrap()
        .map(|file| fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    assert_eq!(archived, before);
    play(&daemon, 1);
}

/// A database as the first program left it, with two games; and what they are.
fn first_schema() -> (TempDir, PathBuf, String) {
    let daemon = Daemon::start();
    play(&daemon, 2);
    let export = daemon.export();
    let (_, _, folder) = daemon.stop();
    let path = folder.path().join("data/modiar.db");
    let database = Connection::open(&path).unwrap();
    database.execute_batch("DROP TABLE bots; DROP TABLE unread; PRAGMA user_version = 1").unwrap();
    (folder, path, export)
}

fn schema(path: &Path) -> i64 {
    Connection::open(path).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn an_older_database_is_brought_up_and_kept_beside() {
    let (folder, path, export) = first_schema();
    let daemon = Daemon::start_in(folder, "", &[]);
    assert_eq!(daemon.export(), export);
    daemon.register("dice");
    let backup = path.with_extension("db.schema-1");
    assert_eq!((schema(&backup), schema(&path)), (1, 4));
    let games: i64 =
        Connection::open(&backup).unwrap().query_row("SELECT count(*) FROM games", [], |row| row.get(0)).unwrap();
    assert_eq!(games, 2);
}

/// All or nothing; and once the reason is gone, the next start does it.
#[test]
fn a_step_that_fails_changes_nothing_and_is_taken_at_the_next_start() {
    let (folder, path, export) = first_schema();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE bots (theirs)").unwrap();
    for _ in 0..2 {
        let outcome = serve(&folder.path().join("data"));
        assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(3), ""), "{outcome:?}");
        assert!(outcome.stderr.contains(path.to_str().unwrap()) && outcome.stderr.contains("bots"), "{outcome:?}");
        assert_eq!(schema(&path), 1);
    }
    Connection::open(&path).unwrap().execute_batch("DROP TABLE bots").unwrap();
    let daemon = Daemon::start_in(folder, "", &[]);
    assert_eq!((daemon.export(), schema(&path)), (export, 4));
}
