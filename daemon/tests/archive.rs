//! The archive beside the database: the same records, in order, linked by hash, a file a day.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod support;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::{Daemon, MODIAR};

/// Plays so many games to a resignation.
fn play(daemon: &Daemon, games: usize) {
    for _ in 0..games {
        let mut game = daemon.game("blitz");
        game.play("2");
        game.north.expect("turn").unwrap();
        let resign = json!({"type": "resign", "game": game.id});
        game.north.send(&resign).unwrap();
        game.ended();
    }
}

fn archive(data: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(data.join("archive")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// All lines of the archive, the files in order.
fn lines(data: &Path) -> Vec<String> {
    let text: String = archive(data).iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    assert!(text.ends_with('\n') || text.is_empty());
    text.lines().map(str::to_owned).collect()
}

fn hex(line: &str) -> String {
    Sha256::digest(line).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `record.archive`, `record.prev`, `record.seq`.
#[test]
fn the_archive_is_what_export_writes_and_each_line_names_the_one_before() {
    let daemon = Daemon::start();
    play(&daemon, 3);
    let exported = daemon.export();
    let (_, _, data) = daemon.stop();
    let data = data.path().join("data");
    let lines = lines(&data);
    assert_eq!(lines, exported.lines().collect::<Vec<_>>());
    let mut prev = "0".repeat(64);
    for (at, line) in lines.iter().enumerate() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["seq"], at + 1);
        assert_eq!(record["prev"], json!(prev));
        let day = &record["ended"].as_str().unwrap()[..10];
        assert!(archive(&data).iter().any(|path| path.ends_with(format!("games-{day}.jsonl"))));
        prev = hex(line);
    }
}

/// `record.archive`: a start appends what is missing, a torn line included.
#[test]
fn a_start_brings_the_archive_up_to_date() {
    for damage in ["", "torn", "gone"] {
        let daemon = Daemon::start();
        play(&daemon, 3);
        let (_, _, data) = daemon.stop();
        let folder = data.path().join("data");
        let before = lines(&folder);
        let file = archive(&folder).pop().unwrap();
        match damage {
            "torn" => fs::write(&file, format!("{}\n{}", before[0], &before[1][..40])).unwrap(),
            "gone" => fs::remove_file(&file).unwrap(),
            _ => fs::write(&file, "").unwrap(),
        }
        let daemon = Daemon::start_in(data, "", &[]);
        play(&daemon, 1);
        let (_, _, data) = daemon.stop();
        let after = lines(&data.path().join("data"));
        assert_eq!((after.len(), &after[..3]), (4, &before[..]), "{damage}");
    }
}

/// An archive that holds more than the database, or another history, is not written to: the start says so and fails.
#[test]
fn an_archive_of_another_history_is_refused() {
    let daemon = Daemon::start();
    play(&daemon, 2);
    let (_, _, data) = daemon.stop();
    let folder = data.path().join("data");
    let file = archive(&folder).pop().unwrap();
    let good = lines(&folder);
    let altered = good[1].replacen("\"rated\":false", "\"rated\":true", 1);
    let ahead = good[1].replacen("\"seq\":2", "\"seq\":3", 1);
    for (last, what) in
        [(altered, "is not the database's"), (ahead, "ends with game 3"), ("{}".to_owned(), "is no record")]
    {
        fs::write(&file, format!("{}\n{last}\n", good[0])).unwrap();
        let mut command = Command::new(MODIAR);
        command.args(["serve", "--bots", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"]).arg(&folder);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{log}");
        assert!(log.contains(what) && log.contains("games-"), "{what}: {log}");
        assert!(output.stdout.is_empty(), "it never listened");
    }
}
