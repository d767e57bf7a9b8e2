//! What a running daemon charges: for thinking, and not for its own standing still.
//!
//! No test here knows how fast this machine is: what may be charged follows from moments that were measured.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use modiar_conformance::Peer;
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};
use support::watch::{Sent, Start, TICK, micros};
use support::{Daemon, Game};

const POOLS: &str = r#"
[[pool]]
name = "short"
base_ms = 1500
[[pool]]
name = "long"
base_ms = 60000
increment_ms = 100
[[pool]]
name = "hasty"
base_ms = 60000
move_ms = 300
"#;
const SHORT: Duration = Duration::from_millis(1500);
const GRACE: Duration = Duration::from_millis(50);
/// How long the daemon stands still where a test stops it.
const STOP: Duration = Duration::from_secs(3);
/// Plies that lead round and capture nothing, South's the even places.
const LINE: &[u8] = b"240315042315";

/// A game in which South has played and North, who has `updates`, has read its turn.
fn at_second_ply(daemon: &Daemon, pool: &str) -> Game {
    let mut game = daemon.game_between(pool, json!({}), json!({"updates": true}));
    game.play("2");
    game.north.expect("moved").unwrap();
    game.north.expect("turn").unwrap();
    game
}

/// The same a ply later, where a late bot no longer aborts the game but loses it: South has read its second turn.
fn at_third_ply(daemon: &Daemon, pool: &str) -> (Game, Start) {
    let mut game = at_second_ply(daemon, pool);
    let start = north_plays(&mut game, 4);
    game.south.expect("turn").unwrap();
    (game, start)
}

/// North, whose turn was read, plays; when South's turn began.
fn north_plays(game: &mut Game, pit: u8) -> Start {
    let message = game.r#move(pit);
    let before = Instant::now();
    game.north.send(&message).unwrap();
    game.north.expect("moved").unwrap();
    Start { before, after: Instant::now() }
}

/// As [`at_third_ply`] in the short pool, the daemon stopped while South still has time.
fn stopped_in_time(daemon: &Daemon) -> (Game, Start) {
    loop {
        let (game, start) = at_third_ply(daemon, "short");
        daemon.freeze();
        if start.before.elapsed() < SHORT / 2 {
            return (game, start);
        }
        daemon.thaw(); // a slow machine: once more
    }
}

/// North gives up; the record.
fn record_after_resignation(daemon: &Daemon, game: &mut Game) -> Value {
    game.north.send(&json!({"type": "resign", "game": game.id})).unwrap();
    game.north.skip_to("ended").unwrap();
    daemon.record(&game.id)
}

/// The game ends by time; its record, and that it says so to both who are there.
fn lost_on_time(daemon: &Daemon, game: &mut Game, south: bool, result: &str) -> Value {
    let ended = game.north.skip_to("ended").unwrap();
    assert_eq!((&ended["termination"], &ended["result"]), (&json!("time_forfeit"), &json!(result)), "{ended}");
    if south {
        assert_eq!(game.south.skip_to("ended").unwrap(), ended);
    }
    daemon.record(&game.id)
}

/// The row `ordinary` of the clock's table (`clock.elapsed`, `clock.charged`, `clock.increment`): a bot that thinks a
/// second is charged that second less the grace; what the daemon itself was late is in `own_us`.
#[test]
fn a_second_of_thought_is_charged_less_the_grace() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let (mut game, start) = at_third_ply(&daemon, "long");
    sleep(Duration::from_secs(1));
    let message = game.r#move(0);
    let sent = Sent::now(&mut game.south, &message);
    assert_eq!(game.north.expect("moved").unwrap()["ply"], 3);
    let record = record_after_resignation(&daemon, &mut game);
    let elapsed = micros(&record["elapsed_us"][2]);
    sent.assert_elapsed(elapsed, start, TICK);
    assert_eq!(micros(&record["charged_us"][2]), elapsed - GRACE);
    let first = micros(&record["charged_us"][0]);
    let left = Duration::from_millis(60_200) - first - (elapsed - GRACE);
    assert_eq!(micros(&record["remaining_us"]["south"]), left);
}

/// The row `the server stood still for 3 s` (`clock.own`): the move lay in the kernel while the daemon was stopped,
/// twice as long as South had left; it is in time and costs what the bot thought.
#[test]
fn a_stop_of_the_daemon_is_not_charged() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let (mut game, start) = stopped_in_time(&daemon);
    let message = game.r#move(0);
    let sent = Sent::now(&mut game.south, &message);
    sleep(STOP);
    let stood = sent.after.elapsed();
    daemon.thaw();
    assert_eq!(game.north.expect("moved").unwrap()["ply"], 3);
    let record = record_after_resignation(&daemon, &mut game);
    sent.assert_elapsed(micros(&record["elapsed_us"][2]), start, TICK);
    assert!(micros(&record["own_us"][2]) + TICK >= stood, "{record}");
}

/// A stop excuses nobody who was late by himself (`clock.flag`): the flag was due before the move was sent.
#[test]
fn a_late_bot_loses_although_the_daemon_stopped() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let (mut game, start) = stopped_in_time(&daemon);
    let late = start.after + SHORT + GRACE + 5 * TICK;
    sleep(late.saturating_duration_since(Instant::now()));
    let message = game.r#move(0);
    let sent = Sent::now(&mut game.south, &message);
    sleep(STOP - SHORT);
    daemon.thaw();
    let record = lost_on_time(&daemon, &mut game, true, "north");
    sent.assert_elapsed(micros(&record["unfinished_turn"]["elapsed_us"]), start, TICK);
    assert_eq!(record["moves"], "24");
}

/// Both games of two bots at the third ply, on one connection each.
fn two_at_third_ply(daemon: &Daemon) -> ([String; 2], Peer, Peer, Start) {
    let (mut south, _) = daemon.guest(json!({"games": 2}));
    let (mut north, name) = daemon.guest(json!({"games": 2, "updates": true}));
    let games = [(); 2].map(|()| {
        south.send(&json!({"type": "challenge", "opponent": name, "pool": "short", "side": "south"})).unwrap();
        south.expect("challenge_sent").unwrap();
        let challenge = north.expect("challenged").unwrap()["challenge"].clone();
        north.send(&json!({"type": "accept", "challenge": challenge})).unwrap();
        north.expect("started").unwrap();
        south.expect("started").unwrap();
        south.expect("turn").unwrap()["game"].as_str().unwrap().to_owned()
    });
    both_move(&mut south, &games, 2);
    for _ in &games {
        north.expect("moved").unwrap();
        north.expect("turn").unwrap();
    }
    let before = Instant::now();
    both_move(&mut north, &games, 4);
    for _ in &games {
        north.expect("moved").unwrap();
        south.expect("turn").unwrap();
    }
    (games, south, north, Start { before, after: Instant::now() })
}

/// The same pit in both games, in one packet.
fn both_move(peer: &mut Peer, games: &[String; 2], pit: u8) -> Sent {
    let message = |game| format!("{}\n", json!({"type": "move", "game": game, "pit": pit}));
    let packet: String = games.iter().map(message).collect();
    let before = Instant::now();
    peer.send_bytes(packet.as_bytes()).unwrap();
    Sent { before, after: Instant::now() }
}

/// As [`two_at_third_ply`], the daemon stopped while South still has time; when it was.
fn two_stopped_in_time(daemon: &Daemon) -> ([String; 2], Peer, Peer, Start, Instant) {
    loop {
        let (games, south, north, start) = two_at_third_ply(daemon);
        let stopped = daemon.freeze();
        if start.before.elapsed() < SHORT / 2 {
            return (games, south, north, start, stopped);
        }
        daemon.thaw();
    }
}

fn both_resigned(daemon: &Daemon, games: &[String; 2], north: &mut Peer) -> [Value; 2] {
    for game in games {
        north.send(&json!({"type": "resign", "game": game})).unwrap();
        north.skip_to("ended").unwrap();
    }
    [0, 1].map(|at: usize| daemon.record(&games[at]))
}

/// Two games on one connection, the two moves of one packet read after a stop: neither pays for it
/// (`clock.shared-read`, `clock.own-several`). To the earlier line the whole stop is refunded, as if it had been sent
/// when that began, and whatever else the heart has missed.
#[test]
fn a_stop_is_not_charged_to_either_of_two_moves_in_one_packet() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let (games, mut south, mut north, start, stopped) = two_stopped_in_time(&daemon);
    let missed = daemon.heart_waited();
    let sent = both_move(&mut south, &games, 0);
    sleep(STOP);
    daemon.thaw();
    for _ in &games {
        assert_eq!(north.expect("moved").unwrap()["ply"], 3);
        north.expect("turn").unwrap();
    }
    let [earlier, last] = both_resigned(&daemon, &games, &mut north).map(|record| micros(&record["elapsed_us"][2]));
    Sent { before: stopped, ..sent }.assert_elapsed(earlier, start, TICK + missed);
    sent.assert_elapsed(last, start, TICK);
}

/// Bytes that come later in a stop make the data young: for the move before them the heartbeat tells of the stop
/// (`clock.own-several`). By the age of the data alone this move would be lost. How much of its own delay the daemon
/// sees so depends on how soon after the stop it reads, and is not asserted.
#[test]
fn a_line_behind_a_move_does_not_make_the_stop_the_bots() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let (mut game, _) = stopped_in_time(&daemon);
    game.south.send(&game.r#move(0)).unwrap();
    sleep(STOP);
    game.south.send(&json!({"type": "ping"})).unwrap();
    daemon.thaw();
    assert_eq!(game.north.expect("moved").unwrap()["ply"], 3);
    game.south.expect("pong").unwrap();
    let record = record_after_resignation(&daemon, &mut game);
    assert!(micros(&record["own_us"][2]) > STOP / 2, "{record}");
}

/// What one read has no room for has waited as long (`clock.own-clamp`): a move behind much that the bot said in a stop.
#[test]
fn a_move_behind_a_full_read_is_not_charged_for_a_stop() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let (mut game, _) = stopped_in_time(&daemon);
    let ping = format!("{{\"type\":\"ping\",\"filler\":\"{}\"}}\n", "x".repeat(3900));
    game.south.send_bytes(ping.repeat(9).as_bytes()).unwrap();
    game.south.send(&game.r#move(0)).unwrap();
    sleep(STOP);
    daemon.thaw();
    assert_eq!(game.north.expect("moved").unwrap()["ply"], 3);
    let record = record_after_resignation(&daemon, &mut game);
    assert!(micros(&record["own_us"][2]) > STOP / 2, "{record}");
}

/// The daemon is stopped over the deadline, and the bytes are in the kernel since before it: when it goes on, its
/// timer and its sockets are ready together, and the kernel is asked before a flag falls (`clock.flag-confirmed`).
/// Thirty games at once, three times.
#[test]
fn a_flag_is_confirmed_by_the_kernel() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let mut games = Vec::from_iter((0..30).map(|_| at_second_ply(&daemon, "short")));
    let mut judged = 0;
    for round in 1..=3 {
        let (north, south) = (LINE[2 * round - 1] - b'0', LINE[2 * round] - b'0');
        let turns = Vec::from_iter(games.iter_mut().map(|game| north_plays(game, north)));
        daemon.freeze();
        let sent = Vec::from_iter(games.iter_mut().map(|game| {
            let message = game.r#move(south);
            Sent::now(&mut game.south, &message)
        }));
        sleep(SHORT + GRACE + 5 * TICK); // all turns began before this, so that all deadlines are over
        daemon.thaw();
        // On a slow machine a bot may have been late itself: its game proves nothing.
        let mut in_time = sent.iter().zip(&turns).map(|(sent, turn)| sent.after - turn.before < SHORT);
        games.retain(|_| in_time.next().unwrap());
        for game in &mut games {
            assert_eq!(game.north.expect("moved").unwrap()["ply"], 2 * round + 1);
            game.north.expect("turn").unwrap();
        }
        judged += games.len();
    }
    assert!(judged >= 30, "only {judged} moves came in time");
}

/// South's flag is due in one game, North's in another, and North's move lies in the kernel behind much else that it said:
/// whoever asks for South's flag must not take North's for confirmed (`clock.flag-confirmed`, `clock.flag-mover`).
#[test]
fn a_look_at_the_flag_of_one_bot_leaves_its_opponents_alone() {
    let daemon = Daemon::start_with(POOLS, &[]);
    // It takes long to see that so many keys differ, and all of it is one read.
    let keys: String = (0..450).map(|key| format!(",\"{key}\":0")).collect();
    let pings = format!("{{\"type\":\"ping\"{keys}}}\n").repeat(3);
    let mut pairs = loop {
        let mut pairs = Vec::from_iter((0..8).map(|_| two_at_third_ply(&daemon)));
        for (games, south, north, _) in &mut pairs {
            south.send(&json!({"type": "move", "game": games[1], "pit": 0})).unwrap();
            north.expect("moved").unwrap();
            north.expect("turn").unwrap();
        }
        daemon.freeze();
        for (games, _, north, _) in &mut pairs {
            let r#move = json!({"type": "move", "game": games[1], "pit": 3});
            north.send_bytes(format!("{pings}{move}\n").as_bytes()).unwrap();
        }
        if pairs[0].3.before.elapsed() < SHORT {
            break pairs;
        }
        daemon.thaw(); // a slow machine: once more
    };
    sleep(SHORT + GRACE + 5 * TICK); // all deadlines are over
    daemon.thaw();
    for ([waits, played], south, ..) in &mut pairs {
        for _ in 0..2 {
            let news = south.read().unwrap();
            let awaited = if news["game"] == *waits { "ended" } else { "turn" };
            assert!(news["type"] == awaited && (news["game"] == *waits || news["game"] == *played), "{news}");
        }
    }
}

/// The newline is what ends a move (`clock.stop`): its text before the deadline does not help, and what comes after the
/// flag is told that the game is over.
#[test]
fn text_without_its_newline_is_no_move() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let (mut game, _) = at_third_ply(&daemon, "short");
    game.south.send_bytes(game.r#move(0).to_string().as_bytes()).unwrap();
    lost_on_time(&daemon, &mut game, true, "north");
    game.south.send_bytes(b"\n").unwrap();
    assert_eq!(game.south.expect("error").unwrap()["code"], "game_over");
}

/// A bot that says nothing loses when more is charged than it had, and not before (`clock.flag`, `clock.flag-mover`).
#[test]
fn the_flag_of_a_silent_bot_falls() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let (mut game, _) = at_third_ply(&daemon, "short");
    let record = lost_on_time(&daemon, &mut game, true, "north");
    let turn = &record["unfinished_turn"];
    assert!(micros(&turn["charged_us"]) > micros(&record["remaining_us"]["south"]), "{record}");
    assert_eq!(micros(&turn["charged_us"]), micros(&turn["elapsed_us"]) - GRACE);
}

/// `move_ms` bounds each move, however much time is left (`clock.flag`).
#[test]
fn one_move_may_not_take_longer_than_the_pool_says() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let (mut game, _) = at_third_ply(&daemon, "hasty");
    let record = lost_on_time(&daemon, &mut game, true, "north");
    assert!(micros(&record["unfinished_turn"]["charged_us"]) > Duration::from_millis(300), "{record}");
    assert!(micros(&record["remaining_us"]["south"]) > Duration::from_secs(50), "{record}");
}

/// A bot whose connection is gone has its clock running (`session.bye`): whether it went in its own turn
/// or in the other's, its flag falls, and only its own (`clock.start-away`, `clock.flag-away`).
#[test]
fn the_clock_of_a_bot_that_went_away_runs() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let (mut left, start) = at_third_ply(&daemon, "short");
    let (mut leaving, _) = at_third_ply(&daemon, "short");
    drop(std::mem::replace(&mut left.south, daemon.connect()));
    leaving.south.send(&leaving.r#move(0)).unwrap();
    leaving.north.expect("moved").unwrap();
    leaving.north.expect("turn").unwrap();
    leaving.south.send(&json!({"type": "bye"})).unwrap();
    leaving.south.expect("goodbye").unwrap();
    leaving.south.expect_close().unwrap();
    north_plays(&mut leaving, 3);

    let record = lost_on_time(&daemon, &mut left, false, "north");
    let fell = start.before.elapsed();
    let elapsed = micros(&record["unfinished_turn"]["elapsed_us"]);
    assert!(elapsed > SHORT + GRACE && elapsed <= fell, "{record}");
    let record = lost_on_time(&daemon, &mut leaving, false, "north");
    assert_eq!(record["moves"], "2403");
}

/// A check of an absent side's flag that comes late by some time waits as long again (`clock.flag-away`): the bot may
/// be on its way back.
#[test]
fn a_late_check_of_an_absent_bot_waits_as_long_again() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let (mut game, start) = stopped_in_time(&daemon);
    drop(std::mem::replace(&mut game.south, daemon.connect()));
    let deadline = start.after + SHORT + GRACE;
    sleep(STOP);
    let late = deadline.elapsed();
    daemon.thaw();
    let record = lost_on_time(&daemon, &mut game, false, "north");
    let elapsed = micros(&record["unfinished_turn"]["elapsed_us"]);
    assert!(elapsed >= SHORT + GRACE + 2 * late, "{elapsed:?}, the check was late by {late:?}: {record}");
}

/// Who does not play his first ply aborts the game (`forfeit.no-show`, `forfeit.none-unrated`), South as North.
#[test]
fn a_first_ply_that_does_not_come_aborts_the_game() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let mut south = daemon.game("short");
    let mut north = daemon.game("short");
    north.play("2");
    for (game, moves) in [(&mut south, ""), (&mut north, "2")] {
        let ended = game.north.skip_to("ended").unwrap();
        assert_eq!(game.south.skip_to("ended").unwrap(), ended);
        assert_eq!((&ended["termination"], &ended["result"]), (&json!("aborted"), &json!("none")));
        let record = daemon.record(&game.id);
        assert_eq!((&record["moves"], &record["rated"]), (&json!(moves), &json!(false)));
        assert!(micros(&record["unfinished_turn"]["charged_us"]) > SHORT, "{record}");
    }
}
