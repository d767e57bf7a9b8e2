//! A disk that fails: what could not be brought to it is not tried again, nothing is told of it, and the daemon stops.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_conformance::Peer;
use rusqlite::Connection;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::process::wait_until;
use support::programs::Program;
use support::returning::{Pair, Returning};
use support::strace::Strace;
use support::{Daemon, MODIAR, have, journal};

/// Plies that lead round; after 21 of them the first position stands for the third time.
const LOOP: &str = "240315042315042315042";
const SYNC: &str = "fsync,fdatasync";
/// What the daemon says to do.
const ADVICE: &str = "; see the system's log for what ails the disk, and ";

/// Has these calls on files of the data fail from now on; `how` may say more.
fn sabotage(daemon: &Daemon, files: &[&Path], calls: &str, how: &str) -> Strace {
    let inject = format!("inject={calls}:error=EIO{how}");
    let mut options = vec!["-o", "/dev/null", "-e", &inject];
    options.extend(files.iter().flat_map(|file| ["-P", file.to_str().unwrap()]));
    Strace::attach(daemon, &options)
}

fn pair(daemon: &Daemon) -> Pair {
    Pair::between(Returning::guest(daemon), Returning::guest(daemon), "blitz")
}

/// Its bots read that the daemon stops, and nothing else.
fn assert_seen_off(pair: &mut Pair) {
    for bot in [&mut pair.south, &mut pair.north] {
        let goodbye = bot.peer.expect("goodbye").unwrap();
        assert_eq!(goodbye["reason"], "draining", "{goodbye}");
        bot.peer.expect_close().unwrap();
    }
}

/// The daemon has stopped by itself and said once why, naming a file of its data; it starts again.
fn start_again(daemon: Daemon, strace: Strace, file: &str) -> Daemon {
    let named = format!("{}:", daemon.data().join(file).display());
    daemon.wait_for_end();
    let (status, log, folder) = daemon.wait();
    strace.finish();
    assert_eq!(status.code(), Some(3), "{log}");
    let said: Vec<&str> = log.lines().filter(|line| line.contains("the disk failed error=")).collect();
    assert_eq!(said.len(), 1, "{log}");
    assert!(said[0].contains(&named) && said[0].contains(ADVICE), "{log}");
    Daemon::start_in(folder, "", &[])
}

/// The database holds so many games, refereed again.
fn verify(daemon: &Daemon, games: usize) {
    let (status, report) = daemon.run(&["games", "verify", "--data", daemon.data().to_str().unwrap()]);
    assert!(status.success() && report.starts_with(&format!("{games} game")), "{report}");
}

fn resign(pair: &mut Pair) {
    let resign = json!({"type": "resign", "game": pair.id});
    pair.south.peer.send(&resign).unwrap();
}

/// The sync of one result fails. Another result that waits behind it is not tried, though its sync would come back well.
#[test]
fn no_result_is_told_once_a_sync_has_failed() {
    if !have("strace") {
        return;
    }
    let daemon = Daemon::start();
    let [mut told, mut failed, mut waiting] = [(); 3].map(|()| pair(&daemon));
    for pair in [&mut told, &mut failed, &mut waiting] {
        pair.play(&LOOP[..20]);
        pair.south.peer.expect("turn").unwrap();
    }
    resign(&mut told);
    told.ended();
    let log = daemon.data().join("modiar.db-wal");
    let written = || fs::metadata(&log).unwrap().modified().unwrap();
    let before = written();
    let strace = sabotage(&daemon, &[&log], SYNC, ":when=1:delay_enter=1000000");
    resign(&mut failed);
    wait_until("the sync is under way", || written() != before);
    resign(&mut waiting);
    assert_seen_off(&mut failed);
    assert_seen_off(&mut waiting);
    let daemon = start_again(daemon, strace, "modiar.db");
    for pair in [&mut failed, &mut waiting] {
        assert_eq!(pair.resume(&daemon)["moves"], LOOP[..20]);
    }
    assert!(daemon.export().contains(&told.id));
    verify(&daemon, 1);
}

/// Where no sync comes back well the log of the database is left with a result that only memory may have: it is brought
/// to the disk before anybody reads of it.
#[test]
fn what_a_failed_sync_left_is_synced_before_it_is_told() {
    if !have("strace") {
        return;
    }
    let daemon = Daemon::start();
    let mut pair = pair(&daemon);
    pair.south.peer.expect("turn").unwrap();
    let database = daemon.data().join("modiar.db");
    let [log, itself] = [daemon.data().join("modiar.db-wal"), database.clone()];
    let strace = sabotage(&daemon, &[&log, &itself], SYNC, "");
    resign(&mut pair);
    assert_seen_off(&mut pair);
    let daemon = start_again(daemon, strace, "modiar.db");
    let alone = daemon.data().join("../alone.db");
    fs::copy(&database, &alone).unwrap();
    let count = "SELECT count(*) FROM games WHERE id = ?1";
    let stored: u32 = Connection::open(alone).unwrap().query_row(count, [&pair.id], |row| row.get(0)).unwrap();
    assert_eq!(stored, 1);
    assert_eq!(pair.missed(&daemon)["termination"], "resignation");
}

/// SQLite brings its log into the database after a thousand pages, and would keep it to itself that this failed.
#[test]
fn a_database_that_cannot_be_synced_stops_the_daemon() {
    if !have("strace") {
        return;
    }
    let daemon = Daemon::start();
    let strace = sabotage(&daemon, &[&daemon.data().join("modiar.db")], SYNC, "");
    let mut running = pair(&daemon);
    running.play(&LOOP[..10]);
    running.south.peer.expect("turn").unwrap();
    let mut games = 0;
    while games < 2_000 && finish_one(&daemon).is_some() {
        games += 1;
    }
    assert!((50..2_000).contains(&games), "{games}");
    assert_seen_off(&mut running);
    let daemon = start_again(daemon, strace, "modiar.db");
    assert_eq!(running.resume(&daemon)["moves"], LOOP[..10]);
    // The last was stored, though it was told to nobody.
    verify(&daemon, games + 1);
}

/// Two guests play a game to its end, if the daemon lives so long.
fn finish_one(daemon: &Daemon) -> Option<()> {
    let [mut south, mut north] = [(); 2].map(|()| Peer::connect(daemon.bots).ok());
    let (south, north) = (south.as_mut()?, north.as_mut()?);
    for peer in [&mut *south, &mut *north] {
        peer.send(&json!({"type": "hello", "protocol": 1})).ok()?;
        peer.expect("welcome").ok()?;
        peer.send(&json!({"type": "seek", "pool": "bullet"})).ok()?;
        peer.expect("seeking").ok()?;
    }
    let game = south.expect("started").ok()?["game"].clone();
    south.send(&json!({"type": "resign", "game": game})).ok()?;
    south.skip_to("ended").ok().map(drop)
}

/// A bot that is registered is on the disk before it has its token.
#[test]
fn no_token_is_told_once_a_sync_has_failed() {
    if !have("strace") {
        return;
    }
    let daemon = Daemon::start();
    let strace = sabotage(&daemon, &[&daemon.data().join("modiar.db-wal")], SYNC, "");
    let (status, said) = daemon.run(&["bot", "add", "dice"]);
    assert!(!status.success() && said.contains(ADVICE), "{said}");
    start_again(daemon, strace, "modiar.db").register("coin");
}

/// What a failed sync of the journal may have lost is written again from memory, to another file.
#[test]
fn plies_outlive_a_failed_sync_of_the_journal() {
    if !have("strace") {
        return;
    }
    let daemon = Daemon::start();
    let mut pair = pair(&daemon);
    pair.play(&LOOP[..10]);
    pair.south.peer.expect("turn").unwrap();
    let segment = journal::newest(&daemon.data());
    let strace = sabotage(&daemon, &[&segment], SYNC, "");
    pair.answer(&LOOP[10..11]);
    // It was told of the ply before that was known to be lost.
    pair.north.peer.expect("turn").unwrap();
    assert_seen_off(&mut pair);
    let (data, next) = (daemon.data(), segment.with_file_name("journal-0000000002.log"));
    daemon.wait_for_end();
    let (_, log, folder) = daemon.wait();
    strace.finish();
    assert!(log.contains(segment.to_str().unwrap()) && log.contains(ADVICE), "{log}");
    assert_eq!(journal::segments(&data), [next], "{log}");
    let daemon = Daemon::start_in(folder, "", &[]);
    assert_eq!(pair.resume(&daemon)["moves"], LOOP[..11]);
}

/// A ply that cannot be written is told to nobody, and a game that cannot be written does not begin.
#[test]
fn nothing_is_played_that_the_journal_does_not_take() {
    if !have("strace") {
        return;
    }
    let daemon = Daemon::start();
    let mut pair = pair(&daemon);
    pair.play(&LOOP[..10]);
    pair.south.peer.expect("turn").unwrap();
    let strace = sabotage(&daemon, &[&journal::newest(&daemon.data())], "pwrite64", "");
    pair.answer(&LOOP[10..11]);
    assert_seen_off(&mut pair);
    let daemon = start_again(daemon, strace, "journal/journal-0000000001.log");
    assert_eq!(pair.resume(&daemon)["moves"], LOOP[..10]);

    let mut seekers = [(); 2].map(|()| Returning::guest(&daemon));
    let strace = sabotage(&daemon, &[&journal::newest(&daemon.data())], "pwrite64", "");
    for bot in &mut seekers {
        bot.peer.send(&json!({"type": "seek", "pool": "bullet"})).unwrap();
        bot.peer.expect("seeking").unwrap();
    }
    for bot in &mut seekers {
        assert_eq!(bot.peer.expect("goodbye").unwrap()["reason"], "draining");
    }
    let daemon = start_again(daemon, strace, "journal/journal-0000000003.log");
    assert_eq!(pair.resume(&daemon)["moves"], LOOP[..10]);
}

/// The archive follows the database: where it cannot be written results are told all the same, and its lines come later.
#[test]
fn an_archive_that_cannot_be_written_is_brought_up_later() {
    if !have("strace") {
        return;
    }
    let daemon = Daemon::start();
    finish_one(&daemon).unwrap();
    let archive = archive(&daemon.data());
    let strace = sabotage(&daemon, &[&archive], "write", ":when=1");
    for _ in 0..2 {
        finish_one(&daemon).unwrap();
    }
    wait_until("the archive is brought up", || lines(&archive) == 3);
    let (status, log, _folder) = daemon.stop();
    strace.finish();
    assert!(status.success() && log.contains("the archive could not be written"), "{log}");
}

/// The archive's file with its first game, which follows what is told of that.
fn archive(data: &Path) -> PathBuf {
    let file = || fs::read_dir(data.join("archive")).unwrap().next().map(|entry| entry.unwrap().path());
    wait_until("the archive follows", || file().is_some_and(|path| lines(&path) == 1));
    file().unwrap()
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).unwrap().lines().count()
}

/// Whatever cannot be read or synced at a start: it is no start, says which file it is, and spoils nothing for the next.
#[test]
fn a_start_on_a_disk_that_fails_is_refused() {
    if !have("strace") {
        return;
    }
    let daemon = Daemon::start();
    finish_one(&daemon).unwrap();
    let mut pair = pair(&daemon);
    pair.play(&LOOP[..10]);
    pair.south.peer.expect("turn").unwrap();
    let data = daemon.data();
    let (database, archive, segment) = (data.join("modiar.db"), archive(&data), journal::newest(&data));
    let draft = segment.with_file_name("journal-0000000002.draft");
    let folder = daemon.kill();
    for (path, calls, named) in [
        (&database, "pread64", &database),
        (&data.join("modiar.db-wal"), "pread64", &database),
        (&data.join("modiar.db-wal"), SYNC, &database),
        (&database, SYNC, &database),
        (&archive, "read", &archive),
        (&segment, "read", &segment),
        (&draft, "write", &draft.with_extension("log")),
        (&draft, SYNC, &draft.with_extension("log")),
        (&data.join("journal"), SYNC, &draft.with_extension("log")),
    ] {
        let mut command = Command::new("strace");
        command.args(["-f", "-o", "/dev/null", "-P"]).arg(path).args(["-e", &format!("inject={calls}:error=EIO")]);
        // One that starts all the same is not left behind.
        command
            .args(["timeout", "20", MODIAR, "serve", "--bots", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"])
            .arg(&data);
        let outcome = Program::start(command).finish();
        let case = format!("{calls} of {}: {outcome:?}", path.display());
        assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(3), ""), "{case}");
        let said = outcome.stderr.lines().last().unwrap();
        assert!(said.contains(&format!("modiar: {}: ", named.display())) && said.contains(ADVICE), "{case}");
    }
    let daemon = Daemon::start_in(folder, "", &[]);
    assert_eq!(pair.resume(&daemon)["moves"], LOOP[..10]);
    verify(&daemon, 1);
}
