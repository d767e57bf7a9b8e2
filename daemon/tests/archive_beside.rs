//! The archive beside a daemon that runs, and what stands in its folder beside it.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use serde_json::json;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use support::process::wait_until;
use support::programs::{Outcome, Program};
use support::{Daemon, MODIAR};
use tempfile::TempDir;

fn play(daemon: &Daemon) {
    let mut game = daemon.game("blitz");
    game.play("2");
    game.north.expect("turn").unwrap();
    game.north.send(&json!({"type": "resign", "game": game.id})).unwrap();
    game.ended();
}

/// Three games are played, and the daemon stopped in order.
fn three_games() -> TempDir {
    let daemon = Daemon::start();
    (0..3).for_each(|_| play(&daemon));
    daemon.stop().2
}

fn newest(data: &Path) -> PathBuf {
    let mut files: Vec<PathBuf> =
        fs::read_dir(data.join("archive")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.pop().unwrap()
}

fn verify(arguments: &[&str]) -> Outcome {
    let mut command = std::process::Command::new(MODIAR);
    command.args(["games", "verify"]).args(arguments);
    Program::start(command).finish()
}

fn verify_data(data: &Path) -> Outcome {
    verify(&["--data", data.to_str().unwrap()])
}

/// What somebody cuts or removes while the daemon runs comes back with the next game: it went on behind the gap, or into a file
/// without a name.
#[test]
fn what_is_taken_from_the_archive_of_a_running_daemon_comes_back() {
    let daemon = Daemon::start();
    let data = daemon.data();
    (0..2).for_each(|_| play(&daemon));
    let takes: [fn(&Path); 4] = [
        |path| fs::write(path, "").unwrap(),
        |path| fs::remove_file(path).unwrap(),
        |path| fs::rename(path, path.with_file_name("aside")).unwrap(),
        |path| {
            let text = fs::read_to_string(path).unwrap();
            fs::write(path, &text[..text.len() - 100]).unwrap();
        },
    ];
    let path = newest(&data);
    let lines = || fs::read_to_string(&path).unwrap_or_default();
    for (take, games) in takes.into_iter().zip(2..) {
        wait_until("the archive has the last game", || lines().lines().count() == games);
        take(&path);
        play(&daemon);
        wait_until("the archive is whole", || lines() == daemon.export());
    }
    // And before the first game after a start.
    let daemon = Daemon::start_in(daemon.stop().2, "", &[]);
    fs::remove_dir_all(data.join("archive")).unwrap();
    play(&daemon);
    wait_until("the archive is whole", || lines() == daemon.export());
    assert!(daemon.kill_for_log().contains("by another program; what it lacks at its end is written again"));
}

/// A file of a day to come that holds nothing is nobody's: the games of today do not go into it.
#[test]
fn an_empty_file_of_a_day_to_come_takes_no_games() {
    let folder = three_games();
    let data = folder.path().join("data");
    let today = newest(&data);
    File::create(data.join("archive/games-2090-01-01.jsonl")).unwrap();
    let daemon = Daemon::start_in(folder, "", &[]);
    play(&daemon);
    let (_, _, folder) = daemon.stop();
    assert_eq!(newest(&data), today);
    let outcome = verify_data(&data);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    drop(folder);
}

/// A pipe would be waited for without end.
#[test]
fn a_pipe_in_the_place_of_a_file_is_refused() {
    let folder = three_games();
    let data = folder.path().join("data");
    for (name, said) in
        [("archive/games-2090-01-01.jsonl", "it is no file"), ("journal/journal-0000000009.log", "it is no file")]
    {
        let made = std::process::Command::new("mkfifo").arg(data.join(name)).status().unwrap();
        assert!(made.success());
        let serve = Program::start({
            let mut command = std::process::Command::new(MODIAR);
            command.args(["serve", "--bots", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"]).arg(&data);
            command
        });
        let outcome = serve.finish();
        assert!(outcome.status == Some(3) && outcome.stderr.contains(said), "{outcome:?}");
        if name.starts_with("archive") {
            let outcome = verify_data(&data);
            assert!(outcome.status == Some(3) && outcome.stderr.contains(said), "{outcome:?}");
        }
        fs::remove_file(data.join(name)).unwrap();
    }
}

/// Nothing is not good: a broken pipe, an archive that was cut to nothing.
#[test]
fn a_file_without_a_game_is_not_all_good() {
    let folder = TempDir::new().unwrap();
    for text in ["", "\n\n"] {
        let path = folder.path().join("games.jsonl");
        fs::write(&path, text).unwrap();
        let outcome = verify(&[path.to_str().unwrap()]);
        let told = outcome.stdout.contains("games.jsonl holds no game");
        assert!(outcome.status == Some(1) && told && !outcome.stdout.contains("good"), "{outcome:?}");
    }
    let fresh = Daemon::start().stop().2;
    let outcome = verify_data(&fresh.path().join("data"));
    assert!(outcome.status == Some(0) && outcome.stdout.contains("0 plies: nothing to verify"), "{outcome:?}");
}

/// The archive is good where the database has lost games, and each finding names what is there.
#[test]
fn a_game_that_the_database_lacks_is_not_the_archive_s_fault() {
    let folder = three_games();
    let data = folder.path().join("data");
    let database = rusqlite::Connection::open(data.join("modiar.db")).unwrap();
    database.execute("DELETE FROM games WHERE seq = 2", []).unwrap();
    let outcome = verify_data(&data);
    assert!(outcome.status == Some(1) && outcome.stdout.contains("line 2: the database lacks the game at place 2"));
    assert!(outcome.stdout.contains("the game at place 2 is missing before it"), "{outcome:?}");
    // One that is no record has its place all the same.
    database.execute("UPDATE games SET record = 'nonsense', seq = 2 WHERE seq = 1", []).unwrap();
    let outcome = verify_data(&data);
    assert!(outcome.stdout.contains("game at place 2: no record"), "{outcome:?}");
    assert!(!outcome.stdout.contains("places 1 to 2 are missing before it"), "{outcome:?}");
}
