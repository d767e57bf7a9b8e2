//! Games that outlive the daemon: killed, stopped, or robbed of its memory by a failure of power.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_protocol::limits::MISSED_WINDOW;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use support::process::wait_until;
use support::returning::{Pair, Returning};
use support::{Daemon, MODIAR, assert_quiet, journal};

/// Plies that lead round; after 21 of them the first position stands for the third time.
const LOOP: &str = "240315042315042315042";

/// One pool that charges every millisecond.
fn config(restart_wait_ms: u64, base_ms: u64) -> String {
    format!(
        "drain_ms = 0\nrestart_wait_ms = {restart_wait_ms}\n\
         [[pool]]\nname = \"strict\"\nbase_ms = {base_ms}\ngrace_ms = 0\nrated = false\nopenings = \"start\"\n"
    )
}

const PATIENT: u64 = 60_000;

fn again(daemon: Daemon, config: &str) -> Daemon {
    Daemon::start_in(daemon.kill(), config, &[])
}

/// A daemon killed in a game in which South is to move, and started again; nobody is back.
fn killed_after_four_plies(config: &str) -> (Daemon, Pair) {
    let daemon = Daemon::start_with(config, &[]);
    let mut pair = Pair::start(&daemon, "strict");
    pair.play(&LOOP[..4]);
    pair.south.peer.expect("turn").unwrap();
    (again(daemon, config), pair)
}

fn verify(daemon: &Daemon) {
    let (status, report) = daemon.run(&["games", "verify", "--data", daemon.data().to_str().unwrap()]);
    assert!(status.success(), "{report}");
}

/// The turn that South is told now, which tells it what it was told before, its clocks included.
fn turn_again(pair: &mut Pair, before: &Value, started: &Value) {
    assert_eq!(started["remaining_ms"], before["remaining_ms"]);
    assert_eq!(pair.south.peer.expect("turn").unwrap(), *before);
    assert_quiet(&mut pair.north.peer);
}

/// `session.kill`, `session.resume`, `clock.restart`
#[test]
fn a_killed_game_goes_on_at_its_last_ply_with_the_clocks_it_had() {
    let config = config(PATIENT, 5000);
    let daemon = Daemon::start_with(&config, &[]);
    let mut pair = Pair::start(&daemon, "strict");
    pair.play(&LOOP[..8]);
    let turn = pair.south.peer.expect("turn").unwrap();
    // South thinks, which a stop refunds.
    thread::sleep(Duration::from_millis(700));
    let daemon = again(daemon, &config);
    // Nobody is back, and nothing is charged.
    thread::sleep(Duration::from_millis(300));
    let started = pair.resume(&daemon);
    assert_eq!((started["moves"].as_str(), started["ply"].as_u64()), (Some(&LOOP[..8]), Some(9)));
    turn_again(&mut pair, &turn, &started);
    pair.answer(&LOOP[8..]);
    assert_eq!(pair.ended()["termination"], "repetition");
    let record = daemon.record(&pair.id);
    let charged = record["charged_us"][8].as_u64().unwrap();
    assert!(charged < 600_000, "what went before the stop was charged: {charged} us");
    verify(&daemon);
}

/// A second stop, after plies of the daemon between the two, and a forgiven pit.
#[test]
fn a_game_goes_on_after_every_stop() {
    let config = format!("{}illegal_moves = 1\n", config(PATIENT, 50_000));
    let mut daemon = Daemon::start_with(&config, &[]);
    let mut pair = Pair::start(&daemon, "strict");
    for ply in 0..6 {
        pair.play(&LOOP[ply..=ply]);
        if ply == 0 {
            pair.north.peer.expect("turn").unwrap();
            let illegal = json!({"type": "move", "game": pair.id, "pit": 0});
            pair.north.peer.send(&illegal).unwrap();
            assert_eq!(pair.north.peer.expect("error").unwrap()["code"], "illegal_move");
        } else if ply % 2 == 0 {
            pair.north.peer.expect("turn").unwrap();
        } else {
            pair.south.peer.expect("turn").unwrap();
        }
        daemon = if ply % 3 == 2 { Daemon::start_in(daemon.stop().2, &config, &[]) } else { again(daemon, &config) };
        assert_eq!(pair.resume(&daemon)["moves"], LOOP[..=ply]);
    }
    pair.play(&LOOP[6..7]);
    pair.north.peer.expect("turn").unwrap();
    let illegal = json!({"type": "move", "game": pair.id, "pit": 0});
    pair.north.peer.send(&illegal).unwrap();
    assert_eq!(pair.ended()["termination"], "illegal_move", "one pit was forgiven before the stops");
    verify(&daemon);
}

/// `clock.restart`: while it is waited for those who may come back no clock runs, and after that it does.
#[test]
fn who_does_not_come_back_loses_on_time_only_after_the_wait() {
    const WAIT: u64 = 1500;
    let config = config(WAIT, 300);
    let (daemon, mut pair) = killed_after_four_plies(&config);
    let started = Instant::now();
    pair.north.resume(&daemon, &pair.id);
    let ended = pair.north.peer.expect("ended").unwrap();
    let took = started.elapsed();
    assert_eq!((ended["termination"].as_str(), ended["result"].as_str()), (Some("time_forfeit"), Some("north")));
    assert!(took > Duration::from_millis(WAIT), "{took:?}");
    assert_eq!(pair.south.missed(&daemon, &pair.id)["termination"], "time_forfeit");
    verify(&daemon);
}

/// `clock.restart`: who is back first does not set the other's clock going.
#[test]
fn who_comes_back_later_has_the_wait_and_then_all_its_time() {
    const WAIT: u64 = 2000;
    let config = config(WAIT, 600);
    for late in [false, true] {
        let (daemon, mut pair) = killed_after_four_plies(&config);
        let started = Instant::now();
        pair.south.resume(&daemon, &pair.id);
        pair.play(&LOOP[4..5]);
        if late {
            assert_eq!(pair.south.peer.expect("ended").unwrap()["termination"], "time_forfeit");
            assert!(started.elapsed() > Duration::from_millis(WAIT), "{:?}", started.elapsed());
        } else {
            thread::sleep(Duration::from_millis(1000));
            let resumed = pair.north.resume(&daemon, &pair.id);
            assert!(resumed["remaining_ms"]["north"].as_u64().unwrap() > 500, "{resumed}");
            pair.play(&LOOP[5..]);
            assert_eq!(pair.ended()["termination"], "repetition");
        }
        verify(&daemon);
    }
}

/// `clock.restart-nobody`, `record.unfinished`
#[test]
fn a_game_that_nobody_comes_back_to_is_aborted() {
    let config = config(200, 300);
    let (daemon, mut pair) = killed_after_four_plies(&config);
    let deadline = Instant::now() + Duration::from_secs(10);
    while daemon.export().is_empty() {
        assert!(Instant::now() < deadline, "the game is not aborted");
        thread::sleep(Duration::from_millis(20));
    }
    let ended = pair.missed(&daemon);
    assert_eq!((ended["termination"].as_str(), ended["result"].as_str()), (Some("aborted"), Some("none")));
    assert_eq!(ended["ply"], 4);
    let record = daemon.record(&pair.id);
    // `record.unfinished`
    assert!(record["unfinished_turn"]["elapsed_us"].as_u64() > Some(300_000), "{record}");
    verify(&daemon);
}

/// After a failure of power, plies that were told may be gone: nothing goes on, and what was stored stays as it was.
#[test]
fn another_boot_without_a_clean_stop_aborts_what_ran() {
    let config = config(PATIENT, 50_000);
    let daemon = Daemon::start_with(&config, &[]);
    let mut first = Pair::start(&daemon, "strict");
    first.play(LOOP);
    first.ended();
    let mut pair = Pair::between(first.south, first.north, "strict");
    pair.play(&LOOP[..5]);
    pair.north.peer.expect("turn").unwrap();
    let before = daemon.export();
    let folder = daemon.kill();
    journal::reboot(&folder.path().join("data"));
    let daemon = Daemon::start_in(folder, &config, &[]);
    let ended = pair.missed(&daemon);
    assert_eq!((ended["termination"].as_str(), ended["ply"].as_u64()), (Some("aborted"), Some(5)));
    let export = daemon.export();
    assert!(export.starts_with(&before) && export.lines().count() == 2, "{export}");
    verify(&daemon);
}

#[test]
fn another_boot_after_a_clean_stop_loses_nothing() {
    let config = config(PATIENT, 50_000);
    let daemon = Daemon::start_with(&config, &[]);
    let mut pair = Pair::start(&daemon, "strict");
    pair.play(&LOOP[..6]);
    let turn = pair.south.peer.expect("turn").unwrap();
    let (status, log, folder) = daemon.stop();
    assert!(status.success(), "{log}");
    journal::reboot(&folder.path().join("data"));
    let daemon = Daemon::start_in(folder, &config, &[]);
    let started = pair.resume(&daemon);
    turn_again(&mut pair, &turn, &started);
}

/// `session.guest-resume`: the name of a guest who has left is the next one's, over a kill too.
#[test]
fn of_two_guests_of_one_name_the_last_has_its_games() {
    let config = config(PATIENT, 50_000);
    let daemon = Daemon::start_with(&config, &[]);
    let other = Returning::registered(&daemon, "dice");
    let mut first = Pair::between(other, Returning::guest_named(&daemon, "foo"), "strict");
    first.south.peer.expect("turn").unwrap();
    first.north.peer.send(&json!({"type": "resign", "game": first.id})).unwrap();
    first.ended();
    first.north.peer.send(&json!({"type": "bye"})).unwrap();
    first.north.peer.expect("goodbye").unwrap();
    let Pair { south, north: left, .. } = first;
    let mut second = Pair::between(south, Returning::guest_named(&daemon, "foo"), "strict");
    second.south.peer.expect("turn").unwrap();
    let daemon = again(daemon, &config);
    assert_eq!(second.north.come_back(&daemon)["games"], json!([second.id]));
    second.north.peer.expect("started").unwrap();
    // Whoever had the name before is told that it is taken.
    let mut peer = daemon.connect();
    peer.send(&left.hello()).unwrap();
    assert_eq!(peer.read().unwrap()["code"], "name_taken");
    second.north.peer.send(&json!({"type": "resign", "game": second.id})).unwrap();
    second.north.peer.expect("ended").unwrap();
    // Where nobody plays any more it is the last one's too.
    let daemon = again(daemon, &config);
    assert_eq!(second.north.come_back(&daemon)["missed"][0]["game"], *second.id);
}

/// Nor does it where a start between found its port taken, or could not say where it listens.
#[test]
fn a_start_that_opens_no_door_leaves_the_games_as_they_were() {
    let config = config(PATIENT, 50_000);
    let daemon = Daemon::start_with(&config, &[]);
    let mut pair = Pair::start(&daemon, "strict");
    pair.play(&LOOP[..6]);
    let turn = pair.south.peer.expect("turn").unwrap();
    let folder = daemon.stop().2;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for option in ["--bots", "--http"] {
        journal::reboot(&folder.path().join("data"));
        let mut command = Command::new(MODIAR);
        command.args(["serve", "--data", "data", option, &address]).current_dir(folder.path());
        let other = if option == "--bots" { "--http" } else { "--bots" };
        let output = command.args([other, "127.0.0.1:0"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(3) && said.contains("cannot be used"), "{said}");
    }
    journal::reboot(&folder.path().join("data"));
    let mut command = Command::new(MODIAR);
    command.args(["serve", "--data", "data", "--bots", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
    command.current_dir(folder.path()).stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(3) && said.contains("stdout cannot be written"), "{said}");
    journal::reboot(&folder.path().join("data"));
    let daemon = Daemon::start_in(folder, &config, &[]);
    let started = pair.resume(&daemon);
    turn_again(&mut pair, &turn, &started);
}

/// `session.drain-suspend`: the turn that ran when the daemon stopped is not charged for the time the stop takes, though
/// South keeps its connection open to read the goodbye.
#[test]
fn a_stop_takes_nobody_s_time() {
    let config = config(PATIENT, 400);
    let daemon = Daemon::start_with(&config, &[]);
    let mut pair = Pair::start(&daemon, "strict");
    pair.play(&LOOP[..2]);
    let turn = pair.south.peer.expect("turn").unwrap();
    let (status, log, folder) = daemon.stop();
    assert!(status.success(), "{log}");
    for bot in [&mut pair.south, &mut pair.north] {
        assert_eq!(bot.peer.expect("notice").unwrap()["code"], "draining");
        assert_eq!(bot.peer.expect("goodbye").unwrap()["reason"], "draining");
        bot.peer.expect_close().unwrap();
    }
    let daemon = Daemon::start_in(folder, &config, &[]);
    assert_eq!(daemon.export(), "");
    let started = pair.resume(&daemon);
    turn_again(&mut pair, &turn, &started);
}

/// `session.drain-suspend`
#[test]
fn a_second_sigterm_suspends_at_once_and_a_kill_while_draining_loses_nothing() {
    let config = config(PATIENT, 50_000).replace("drain_ms = 0", "drain_ms = 60000");
    let daemon = Daemon::start_with(&config, &[]);
    let mut pair = Pair::start(&daemon, "strict");
    pair.play(&LOOP[..4]);
    pair.south.peer.expect("turn").unwrap();
    daemon.signal(libc::SIGTERM);
    for bot in [&mut pair.south, &mut pair.north] {
        assert_eq!(bot.peer.expect("notice").unwrap()["code"], "draining");
    }
    // Games go on while it drains.
    pair.answer(&LOOP[4..6]);
    pair.south.peer.expect("turn").unwrap();
    let begun = Instant::now();
    let (status, log, folder) = daemon.stop();
    assert!(status.success() && begun.elapsed() < Duration::from_secs(10), "{log}");
    assert!(log.contains("a second signal stops at once"), "{log}");
    let daemon = Daemon::start_in(folder, &config, &[]);
    assert_eq!(pair.resume(&daemon)["moves"], LOOP[..6]);

    pair.south.peer.expect("turn").unwrap();
    daemon.signal(libc::SIGTERM);
    pair.south.peer.expect("notice").unwrap();
    pair.answer(&LOOP[6..7]);
    pair.north.peer.skip_to("turn").unwrap();
    let daemon = again(daemon, &config);
    assert_eq!(pair.resume(&daemon)["moves"], LOOP[..7]);
}

/// Holds the database so that no result can be stored; a commit waits for it some seconds.
fn hold(daemon: &Daemon) -> Connection {
    let holder = Connection::open(daemon.data().join("modiar.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    holder
}

/// `session.kill-final`
#[test]
fn a_final_ply_in_the_journal_ends_its_game_once() {
    let config = config(PATIENT, 50_000);
    let daemon = Daemon::start_with(&config, &[]);
    let mut pair = Pair::start(&daemon, "strict");
    pair.play(&LOOP[..20]);
    let holder = hold(&daemon);
    pair.play(&LOOP[20..]);
    assert_quiet(&mut pair.north.peer);
    assert_quiet(&mut pair.south.peer);
    let folder = daemon.kill();
    drop(holder);
    let daemon = Daemon::start_in(folder, &config, &[]);
    let ended = pair.missed(&daemon);
    assert_eq!((ended["termination"].as_str(), ended["ply"].as_u64()), (Some("repetition"), Some(21)));
    let daemon = again(daemon, &config);
    assert_eq!(daemon.export().lines().count(), 1);
    verify(&daemon);
}

/// `session.kill-final`: what was not committed has not happened, and nobody has heard of it.
#[test]
fn a_resignation_that_was_not_stored_has_not_happened() {
    let config = config(PATIENT, 50_000);
    let daemon = Daemon::start_with(&config, &[]);
    let mut pair = Pair::start(&daemon, "strict");
    pair.play(&LOOP[..4]);
    let turn = pair.south.peer.expect("turn").unwrap();
    let holder = hold(&daemon);
    pair.north.peer.send(&json!({"type": "resign", "game": pair.id})).unwrap();
    assert_quiet(&mut pair.north.peer);
    assert_quiet(&mut pair.south.peer);
    let folder = daemon.kill();
    drop(holder);
    let daemon = Daemon::start_in(folder, &config, &[]);
    let started = pair.resume(&daemon);
    turn_again(&mut pair, &turn, &started);
}

/// `session.missed`, `forfeit.once`: the journal may hold a game whose result is stored. Its guest can come back for it.
#[test]
fn a_stored_game_that_the_journal_still_holds_is_told_and_not_played_again() {
    let config = config(PATIENT, 50_000);
    let daemon = Daemon::start_with(&config, &[]);
    let mut pair = Pair::start(&daemon, "strict");
    pair.play(&LOOP[..20]);
    pair.south.peer.expect("turn").unwrap();
    let copy = daemon.data().join("../journal-copy");
    journal::copy(&daemon.data(), &copy);
    pair.answer(&LOOP[20..]);
    let ended = pair.ended();
    let before = daemon.export();
    let folder = daemon.kill();
    journal::put_back(&folder.path().join("data"), &copy);
    let daemon = Daemon::start_in(folder, &config, &[]);
    assert_eq!(pair.missed(&daemon), ended);
    assert_eq!(daemon.export(), before);
}

/// `session.missed`, over restarts: however long before a kill its game ended, a registered bot that was away hears of it,
/// until it has read that; then no more.
#[test]
fn a_registered_bot_hears_of_what_ended_while_it_was_away_after_a_restart_too() {
    let config = config(PATIENT, 50_000);
    let daemon = Daemon::start_with(&config, &[]);
    let mut pair = Pair::start(&daemon, "strict");
    drop(std::mem::replace(&mut pair.south.peer, daemon.connect()));
    wait_until("it is away", || daemon.metrics()["modiar_connections_closed_total{reason=\"eof\"}"] > 0.0);
    pair.north.peer.send(&json!({"type": "resign", "game": pair.id})).unwrap();
    let ended = pair.north.peer.expect("ended").unwrap();
    // The journal has the game no longer.
    thread::sleep(MISSED_WINDOW + Duration::from_secs(1));
    let daemon = again(again(daemon, &config), &config);
    assert_eq!(pair.south.missed(&daemon, &pair.id), ended);
    // It has said nothing since its welcome: that may be lost.
    let daemon = again(daemon, &config);
    assert_eq!(pair.south.missed(&daemon, &pair.id), ended);
    pair.south.peer.send(&json!({"type": "ping"})).unwrap();
    pair.south.peer.expect("pong").unwrap();
    assert_eq!(unread(&daemon), 0);
    let daemon = again(daemon, &config);
    assert_eq!(pair.south.come_back(&daemon)["missed"], json!([]));
}

/// How many ends are kept to be told again, once there are none or the patience is over.
fn unread(daemon: &Daemon) -> u32 {
    let deadline = Instant::now() + Duration::from_secs(10);
    let database = Connection::open(daemon.data().join("modiar.db")).unwrap();
    loop {
        let unread = database.query_row("SELECT count(*) FROM unread", [], |row| row.get(0)).unwrap();
        if unread == 0 || Instant::now() > deadline {
            return unread;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// `session.missed`: the oldest end first, whichever game began first.
#[test]
fn what_was_missed_is_told_in_the_order_of_the_ends() {
    let config = config(PATIENT, 50_000);
    let daemon = Daemon::start_with(&config, &[]);
    let token = daemon.register("dice");
    let hello = json!({"type": "hello", "protocol": 1, "name": "dice", "token": token, "games": 3});
    let mut dice = daemon.connect();
    dice.send(&hello).unwrap();
    dice.expect("welcome").unwrap();
    let mut others: Vec<_> = (0..3).map(|_| (daemon.guest(json!({})).0, Value::Null)).collect();
    for (other, game) in &mut others {
        other.send(&json!({"type": "challenge", "opponent": "dice", "pool": "strict", "side": "south"})).unwrap();
        other.expect("challenge_sent").unwrap();
        let challenge = dice.expect("challenged").unwrap()["challenge"].clone();
        dice.send(&json!({"type": "accept", "challenge": challenge})).unwrap();
        *game = dice.expect("started").unwrap()["game"].clone();
    }
    drop(dice);
    others.rotate_right(1);
    let mut ended = Vec::new();
    for (other, game) in &mut others {
        other.send(&json!({"type": "resign", "game": game})).unwrap();
        ended.push(other.skip_to("ended").unwrap());
    }
    let daemon = again(daemon, &config);
    let mut dice = daemon.connect();
    dice.send(&hello).unwrap();
    assert_eq!(dice.expect("welcome").unwrap()["missed"], json!(ended));
}

/// `forfeit.server-error`: its plies cannot be played, though the journal is whole. Another game goes on.
#[test]
fn a_game_that_cannot_be_brought_back_ends_with_server_error() {
    let config = config(PATIENT, 50_000);
    let daemon = Daemon::start_with(&config, &[]);
    let mut other = daemon.game("strict");
    other.play("2");
    let mut pair = Pair::start(&daemon, "strict");
    pair.play(&LOOP[..6]);
    pair.south.peer.expect("turn").unwrap();
    let folder = daemon.kill();
    journal::alter(&journal::newest(&folder.path().join("data")), |bytes| {
        let place = journal::entries(bytes).into_iter().rfind(|place| place.kind == journal::PLY).unwrap();
        // South's pit where North played.
        bytes[place.end - 1] = 0;
        journal::seal(bytes, &place);
    });
    let daemon = Daemon::start_in(folder, &config, &[]);
    let ended = pair.missed(&daemon);
    assert_eq!((ended["termination"].as_str(), ended["result"].as_str()), (Some("server_error"), Some("none")));
    assert_eq!(ended["ply"], 5);
    let (mut watcher, _) = daemon.guest(json!({}));
    watcher.send(&json!({"type": "watch", "game": other.id})).unwrap();
    assert_eq!(watcher.expect("started").unwrap()["moves"], "2");
    verify(&daemon);
}
