//! A failure of power: what was acknowledged is on the disk. A killed process shows nothing of this, for the kernel
//! still has what it wrote.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

#[path = "power/disk.rs"]
mod disk;
mod support;

use disk::{Disk, STRACE};
use modiar::store::{DataDir, SqliteStore};
use rusqlite::Connection;
use serde_json::json;
use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::thread;
use support::strace::Strace;
use support::{Daemon, MODIAR, have};
use tempfile::TempDir;

const GAMES: usize = 220;
const FILES: [&str; 3] = ["modiar.db", "modiar.db-wal", "modiar.db-journal"];
/// Names the folder in which the child is to commit, and how.
const CHILD: &str = "MODIAR_POWER_CHILD";
const MODE: &str = "MODIAR_POWER_MODE";

/// What the images of all moments lack.
struct Losses {
    acknowledged: usize,
    missing: usize,
    /// The last image.
    last: TempDir,
}

/// Fails the power after every acknowledgement; `acknowledges` tells which games a written text acknowledges.
fn fail_power(mut disk: Disk, trace: &str, acknowledges: impl Fn(&str) -> Vec<String>) -> Losses {
    let mut told = HashSet::new();
    let mut losses = Losses { acknowledged: 0, missing: 0, last: TempDir::new().unwrap() };
    for line in trace.lines() {
        let Some(said) = disk.follow(line) else { continue };
        let before = told.len();
        told.extend(acknowledges(&String::from_utf8_lossy(&said)));
        if told.len() > before {
            losses.last = TempDir::new().unwrap();
            disk.fail(losses.last.path(), &FILES);
            let there = stored(&losses.last.path().join("modiar.db"));
            losses.missing = losses.missing.max(told.iter().filter(|game| !there.contains(*game)).count());
        }
    }
    losses.acknowledged = told.len();
    losses
}

/// The games in an image of the database; none where it cannot be read.
fn stored(path: &Path) -> HashSet<String> {
    let read = || -> rusqlite::Result<HashSet<String>> {
        Connection::open(path)?.prepare("SELECT id FROM games")?.query_map([], |row| row.get(0))?.collect()
    };
    read().unwrap_or_default()
}

/// The games whose `ended` stands in these lines.
fn ended(lines: &str) -> Vec<String> {
    let messages = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    messages.filter(|message| message["type"] == "ended").map(|ended| ended["game"].as_str().unwrap().into()).collect()
}

/// `forfeit.durable`
#[test]
fn every_ended_that_was_sent_is_on_the_disk() {
    if !have("strace") {
        return;
    }
    let daemon = Daemon::start();
    let disk = Disk::of(&daemon.data(), &FILES);
    let report = daemon.data().join("../calls");
    let strace = Strace::attach(&daemon, &[&STRACE[..], &["-o", report.to_str().unwrap()]].concat());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..GAMES / 4 {
                    let mut game = daemon.game("blitz");
                    game.north.send(&json!({"type": "resign", "game": game.id})).unwrap();
                    game.north.expect("ended").unwrap();
                }
            });
        }
    });
    let folder = daemon.kill();
    strace.finish();
    let losses = fail_power(disk, &fs::read_to_string(&report).unwrap(), ended);
    drop(folder);
    println!("full: acknowledged={} missing={}", losses.acknowledged, losses.missing);
    assert!(losses.acknowledged >= 200, "{}", losses.acknowledged);
    assert_eq!(losses.missing, 0);
    let output = Command::new(MODIAR).args(["games", "verify", "--data"]).arg(losses.last.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// What the child does, once told where: a game a commit, and a word after each.
#[test]
fn commits_of_the_child() {
    let (Some(folder), Ok(mode)) = (std::env::var_os(CHILD), std::env::var(MODE)) else { return };
    let data = DataDir::new(folder);
    let _claim = data.claim().unwrap();
    drop(SqliteStore::open(&data).unwrap());
    let database = Connection::open(data.database()).unwrap();
    database.pragma_update(None, "journal_mode", "wal").unwrap();
    database.pragma_update(None, "synchronous", mode).unwrap();
    let sql = "INSERT INTO games (id, pool, south, north, rated, started, ended, result, termination, record, hash)
               VALUES (?1, 'blitz', 'a', 'b', 0, '', '', 'draw', 'immobile', ?2, '')";
    for number in 0..GAMES {
        let id = format!("game-{number}");
        database.execute(sql, [&id, &"record ".repeat(200)]).unwrap();
        let mut stdout = std::io::stdout();
        stdout.write_all(format!("ack {id}\n").as_bytes()).unwrap();
        stdout.flush().unwrap();
    }
}

fn losses_of_child(mode: &str) -> Losses {
    let folder = TempDir::new().unwrap();
    let report = folder.path().join("calls");
    let mut command = Command::new("strace");
    command.arg("-f").args(STRACE).arg("-o").arg(&report).arg(std::env::current_exe().unwrap());
    command.args(["--exact", "commits_of_the_child", "--nocapture"]);
    let output = command.env(CHILD, folder.path().join("data")).env(MODE, mode).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let acknowledges = |said: &str| said.strip_prefix("ack ").map(|id| id.trim_end().to_owned()).into_iter().collect();
    fail_power(Disk::default(), &fs::read_to_string(report).unwrap(), acknowledges)
}

/// The test above would see it, were the database not told to wait for the disk.
#[test]
fn with_less_than_full_syncs_results_are_lost() {
    if !have("strace") {
        return;
    }
    for (mode, loses) in [("full", false), ("normal", true)] {
        let Losses { acknowledged, missing, .. } = losses_of_child(mode);
        println!("{mode}: acknowledged={acknowledged} missing={missing}");
        assert_eq!((acknowledged, missing > 0), (GAMES, loses), "{mode}: {missing} missing");
    }
}
