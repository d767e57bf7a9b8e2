//! A disk without space, and one that cannot be written.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_protocol::limits::MISSED_WINDOW;
use serde_json::json;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};
use support::programs::{Outcome, Program};
use support::returning::{Pair, Returning};
use support::{Daemon, MODIAR, assert_quiet, journal, may_mount};
use tempfile::TempDir;

/// Plies that lead round; after 21 of them the first position stands for the third time.
const LOOP: &str = "240315042315042315042";
const CONFIG: &str = "drain_ms = 0\n[[pool]]\nname = \"blitz\"\nbase_ms = 60000\nrated = false\nopenings = \"start\"\n";
/// A segment of the journal.
const SEGMENT: u64 = 8 * 1024 * 1024;
/// That, and a little more.
const DISK: u64 = 12 * 1024 * 1024;

/// Fills the disk to its last byte; the file that does it.
fn fill(daemon: &Daemon) -> PathBuf {
    let path = daemon.data_within().join("filler");
    let mut filler = File::create(&path).unwrap();
    for size in [64 * 1024, 4096, 1] {
        while filler.write_all(&vec![1; size]).is_ok() {}
    }
    path
}

/// Waits until a challenge is answered `unavailable`: the daemon has seen that there is no space.
fn no_new_games(daemon: &Daemon) {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let (mut one, _) = daemon.guest(json!({}));
        let (mut other, name) = daemon.guest(json!({}));
        one.send(&json!({"type": "challenge", "opponent": name, "pool": "blitz"})).unwrap();
        let challenge = one.expect("challenge_sent").unwrap()["challenge"].clone();
        other.expect("challenged").unwrap();
        other.send(&json!({"type": "accept", "challenge": challenge})).unwrap();
        let answer = one.read().unwrap();
        if answer["type"] == "challenge_ended" {
            assert_eq!(answer["reason"], "unavailable");
            assert_eq!(other.expect("challenge_ended").unwrap()["reason"], "unavailable");
            return;
        }
        assert!(Instant::now() < deadline, "a new game started: {answer}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// `forfeit.durable`: no `ended` before it is stored, no new games, running ones go on; all of it when there is space.
#[test]
fn on_a_full_disk_results_wait_and_no_game_starts() {
    if !may_mount() {
        return;
    }
    let daemon = Daemon::start_on_small_disk(DISK, CONFIG);
    let mut other = daemon.game("blitz");
    let mut game = Pair::between(Returning::guest(&daemon), Returning::guest(&daemon), "blitz");
    game.play(&LOOP[..20]);
    let filler = fill(&daemon);
    game.play(&LOOP[20..]);
    no_new_games(&daemon);
    assert_eq!(daemon.wait_for_readiness(503), "disk full\n");
    assert_eq!(daemon.get("/healthz").status, 200);
    let (mut one, _) = daemon.guest(json!({}));
    let (mut two, _) = daemon.guest(json!({}));
    for peer in [&mut one, &mut two] {
        peer.send(&json!({"type": "seek", "pool": "blitz"})).unwrap();
        peer.expect("seeking").unwrap();
    }
    other.play(&LOOP[..8]);
    // Who comes back meanwhile is told that the game is there, and nothing of it.
    let welcome = game.north.come_back(&daemon);
    assert_eq!((&welcome["games"], &welcome["missed"]), (&json!([game.id]), &json!([])), "{welcome}");
    thread::sleep(Duration::from_millis(500));
    for peer in [&mut one, &mut two, &mut game.south.peer, &mut game.north.peer] {
        assert_quiet(peer);
    }
    fs::remove_file(filler).unwrap();
    let started = game.north.peer.expect("started").unwrap();
    assert_eq!((&started["moves"], &started["resumed"]), (&json!(LOOP), &json!(true)), "{started}");
    assert_eq!(game.ended()["termination"], "repetition");
    for peer in [&mut one, &mut two] {
        peer.expect("started").unwrap();
    }
    assert_eq!(daemon.wait_for_readiness(200), "ready\n");
    other.play(&LOOP[8..]);
    assert_eq!(other.ended()["termination"], "repetition");
    // The archive catches up after the results were told.
    assert_eq!(archived(&daemon), 2);
    let image = TempDir::new().unwrap();
    copy_all(&daemon.data_within(), image.path());
    let (status, report) = daemon.run(&["games", "verify", "--data", image.path().to_str().unwrap()]);
    assert!(status.success() && report.contains("2 games"), "{report}");
    let log = daemon.kill_for_log();
    assert!(log.contains("no new games: disk full") && log.contains("new games start again"), "{log}");
}

/// Another program that writes to the database is waited for as for space; the daemon stopped, as if the disk had failed.
#[test]
fn results_wait_for_another_program_that_holds_the_database() {
    let daemon = Daemon::start_with(CONFIG, &[]);
    let mut game = daemon.game("blitz");
    game.play(&LOOP[..20]);
    let database = rusqlite::Connection::open(daemon.data().join("modiar.db")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    game.play(&LOOP[20..]);
    // Longer than SQLite waits by itself.
    thread::sleep(Duration::from_secs(7));
    assert_quiet(&mut game.south);
    database.execute_batch("ROLLBACK").unwrap();
    assert_eq!(game.ended()["termination"], "repetition");
    assert!(daemon.kill_for_log().contains("end the other program that writes to it"));
}

/// `session.missed`: as long as what a bot has still to hear of cannot be stored the journal keeps the game, over the
/// window of 10 s too. A stop in order says so, and is none of a failed disk.
#[test]
fn what_is_unread_is_not_lost_while_it_cannot_be_stored() {
    thread::scope(|scope| {
        for in_order in [false, true] {
            scope.spawn(move || unread_is_kept(in_order));
        }
    });
}

/// Over a stop in order, or a kill.
fn unread_is_kept(in_order: bool) {
    let daemon = Daemon::start_with(CONFIG, &[]);
    let mut pair = Pair::start(&daemon, "blitz");
    pair.north.peer.send(&json!({"type": "resign", "game": pair.id})).unwrap();
    pair.north.peer.skip_to("ended").unwrap();
    let database = rusqlite::Connection::open(daemon.data().join("modiar.db")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    pair.south.peer = daemon.connect();
    thread::sleep(Duration::from_secs(13));
    let folder = if in_order {
        let (status, log, folder) = daemon.stop();
        assert!(status.success() && !log.contains("the disk failed"), "{log}");
        folder
    } else {
        daemon.kill()
    };
    drop(database);
    let daemon = Daemon::start_in(folder, CONFIG, &[]);
    assert_eq!(pair.south.missed(&daemon, &pair.id)["termination"], "resignation");
}

/// A bound on the size of files ended the process by a signal, without a word.
#[test]
fn a_file_that_may_not_grow_is_told() {
    let data = TempDir::new().unwrap();
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        "ulimit -f 2000; exec \"$0\" \"$@\"",
        MODIAR,
        "serve",
        "--bots",
        "127.0.0.1:0",
        "--http",
        "127.0.0.1:0",
    ]);
    shell.arg("--data").arg(data.path().join("data"));
    let outcome = Program::start(shell).finish();
    assert_eq!(outcome.status, Some(3), "{outcome:?}");
    assert!(outcome.stderr.contains("journal-0000000001.log") && outcome.stderr.contains("ulimit -f"), "{outcome:?}");
}

/// The lines of the archive, as soon as there are two.
fn archived(daemon: &Daemon) -> usize {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let files = fs::read_dir(daemon.data_within().join("archive")).unwrap();
        let lines = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap().lines().count()).sum();
        if lines >= 2 || Instant::now() > deadline {
            return lines;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_all(&path, &copy);
        } else if path.is_file() && entry.file_name() != "filler" {
            fs::copy(&path, copy).unwrap();
        }
    }
}

/// What was decided and not stored was told to nobody; what the disk held then ends the game at the next start.
#[test]
fn a_daemon_that_dies_on_a_full_disk_has_told_nothing_that_is_not_stored() {
    if !may_mount() {
        return;
    }
    let daemon = Daemon::start_on_small_disk(DISK, CONFIG);
    let mut pair = Pair::between(Returning::guest(&daemon), Returning::guest(&daemon), "blitz");
    pair.play(&LOOP[..20]);
    fill(&daemon);
    pair.play(&LOOP[20..]);
    no_new_games(&daemon);
    for bot in [&mut pair.south, &mut pair.north] {
        assert_quiet(&mut bot.peer);
    }
    let image = TempDir::new().unwrap();
    copy_all(&daemon.data_within(), &image.path().join("data"));
    // Stopped in order it ends too, though a result still waits.
    let begun = Instant::now();
    let (_, log, _) = daemon.stop();
    assert!(begun.elapsed() < Duration::from_secs(20), "{log}");
    for bot in [&mut pair.south, &mut pair.north] {
        bot.peer.expect("notice").unwrap();
        bot.peer.expect("goodbye").unwrap();
        bot.peer.expect_close().unwrap();
    }
    let daemon = Daemon::start_in(image, CONFIG, &[]);
    let ended = pair.missed(&daemon);
    assert_eq!((ended["termination"].as_str(), ended["ply"].as_u64()), (Some("repetition"), Some(21)));
}

/// `session.missed`: what a bot has to hear of is kept as soon as there is room; what the host asks for meanwhile is refused
/// whole.
#[test]
fn what_cannot_be_kept_now_is_kept_later_or_refused() {
    if !may_mount() {
        return;
    }
    let daemon = Daemon::start_on_small_disk(DISK, CONFIG);
    let (status, token) = admin(&daemon, &["bot", "add", "coin"]);
    assert!(status.success(), "{token}");
    let coin = Returning::owner(&daemon, "coin", token.lines().find(|line| line.starts_with("modiar-")).unwrap());
    let mut pair = Pair::between(coin, Returning::guest(&daemon), "blitz");
    pair.south.peer.expect("turn").unwrap();
    let mut other = Pair::between(Returning::guest(&daemon), Returning::guest(&daemon), "blitz");
    pair.north.peer.send(&json!({"type": "resign", "game": pair.id})).unwrap();
    let ended = pair.ended();
    let filler = fill(&daemon);
    drop(std::mem::replace(&mut pair.south.peer, daemon.connect()));
    other.north.peer.send(&json!({"type": "resign", "game": other.id})).unwrap();
    daemon.wait_for_readiness(503);
    for command in [&["bot", "token", "coin"][..], &["bot", "ban", "coin"], &["bot", "add", "late"]] {
        let (status, said) = admin(&daemon, command);
        assert!(status.code() == Some(3) && said.contains("nothing was changed"), "{command:?}: {said}");
    }
    thread::sleep(MISSED_WINDOW + Duration::from_secs(1));
    fs::remove_file(filler).unwrap();
    other.north.peer.skip_to("ended").unwrap();
    daemon.wait_for_readiness(200);
    let image = TempDir::new().unwrap();
    copy_all(&daemon.data_within(), &image.path().join("data"));
    let daemon = Daemon::start_in(image, CONFIG, &[]);
    assert_eq!(pair.south.missed(&daemon, &pair.id), ended);
}

/// A command for the daemon, whose disk nobody else sees.
fn admin(daemon: &Daemon, command: &[&str]) -> (ExitStatus, String) {
    let data = daemon.data_within();
    daemon.run(&[command, &["--data", data.to_str().unwrap()]].concat())
}

/// A ply waits for space in the journal, the game is given up, and its result waits too: when there is space the game is
/// finished, once (`forfeit.once`). So that few plies fill the journal's segment, another game in it is very long.
#[test]
fn a_game_given_up_while_its_ply_waits_for_space_is_finished_once() {
    if !may_mount() {
        return;
    }
    let config = CONFIG.to_owned()
        + "[[pool]]\nname = \"endless\"\nbase_ms = 60000\nopenings = \"start\"\nrepetition = 0\nquiet_plies = 0\n";
    let daemon = Daemon::start_with(&config, &[]);
    let mut pair = Pair::start(&daemon, "blitz");
    pair.play(&LOOP[..2]);
    pair.south.peer.expect("turn").unwrap();
    let mut long = daemon.game("endless");
    long.play(&LOOP[..12]);
    long.south.expect("turn").unwrap();
    let folder = daemon.kill();
    journal::lengthen(&folder.path().join("data"), 6, 64);
    let daemon = Daemon::start_on_copy(DISK + SEGMENT, folder, &config);
    pair.resume(&daemon);
    pair.south.peer.expect("turn").unwrap();
    let waiting = LOOP[2..].chars().any(|pit| waits_for_space(&mut pair, pit));
    assert!(waiting, "there was space for the whole game");
    let filler = fill(&daemon);
    // The result may find room in the database's log at once, or wait for space as the ply does.
    pair.south.peer.send(&json!({"type": "resign", "game": pair.id})).unwrap();
    pair.south.peer.send(&json!({"type": "ping"})).unwrap();
    let first = pair.south.peer.read().unwrap();
    let told = first["type"] == "ended";
    if told {
        pair.south.peer.expect("pong").unwrap();
    }
    fs::remove_file(daemon.data_within().join("kept")).unwrap();
    fs::remove_file(filler).unwrap();
    let ended = if told { first } else { pair.south.peer.expect("ended").unwrap() };
    assert_eq!(ended["termination"], "resignation");
    assert_eq!(pair.north.peer.expect("ended").unwrap(), ended);
    for bot in [&mut pair.south, &mut pair.north] {
        assert_quiet(&mut bot.peer);
    }
    assert_eq!(daemon.metrics()["modiar_invariant_failures_total{invariant=\"one_end\"}"], 0.0);
    // It was tried again fifty times a second.
    assert_eq!(daemon.kill_for_log().matches("a ply waits for space").count(), 1);
}

/// Plays a pit whose turn was read; whether the ply waits for space, so that nobody is told of it.
fn waits_for_space(pair: &mut Pair, pit: char) -> bool {
    pair.answer(&pit.to_string());
    let (mover, other) =
        if pit < '3' { (&mut pair.south, &mut pair.north) } else { (&mut pair.north, &mut pair.south) };
    assert_quiet(&mut mover.peer);
    other.peer.send(&json!({"type": "ping"})).unwrap();
    let told = other.peer.read().unwrap()["type"] == "turn";
    if told {
        other.peer.expect("pong").unwrap();
    }
    !told
}

#[test]
fn data_that_cannot_be_written_are_refused() {
    if !may_mount() {
        return;
    }
    let daemon = Daemon::start();
    let data = daemon.data();
    let folder = daemon.kill();
    let outcome = run_read_only(&data, &["serve", "--bots", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(3), ""), "{outcome:?}");
    assert!(outcome.stderr.contains(data.to_str().unwrap()), "{outcome:?}");
    assert!(outcome.stderr.contains("mounted so that it can be written"), "{outcome:?}");
    drop(folder);
}

/// Runs a command of the daemon's binary that finds its data on a disk that cannot be written.
fn run_read_only(data: &Path, arguments: &[&str]) -> Outcome {
    let mut command = Command::new("unshare");
    let mount = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" && exec \"$@\"";
    command.args(["-m", "sh", "-c", mount]).arg(data).arg(MODIAR).args(arguments).arg("--data").arg(data);
    Program::start(command).finish()
}

/// With the database's log, as a killed daemon leaves it, and without, as a stopped one does.
#[test]
fn games_are_read_where_nothing_can_be_written() {
    if !may_mount() {
        return;
    }
    let daemon = Daemon::start();
    let mut game = daemon.game("blitz");
    game.play(LOOP);
    game.ended();
    let (export, data) = (daemon.export(), daemon.data());
    let are_read = || {
        assert_eq!(run_read_only(&data, &["games", "export"]).lines(), export.lines().collect::<Vec<_>>());
        assert!(run_read_only(&data, &["games", "verify"]).lines()[0].starts_with("1 game, 21 plies: "));
        assert!(run_read_only(&data, &["games", "show", &game.id]).lines().len() > LOOP.len());
        let outcome = run_read_only(&data, &["bot", "add", "dice"]);
        assert_eq!(outcome.status, Some(3), "{outcome:?}");
    };
    let folder = daemon.kill();
    assert!(data.join("modiar.db-wal").exists());
    are_read();
    let (_, log, folder) = Daemon::start_in(folder, "", &[]).stop();
    assert!(!data.join("modiar.db-wal").exists(), "{log}");
    are_read();
    drop(folder);
}
