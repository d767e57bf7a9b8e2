//! A hundred and one bots over real sockets, who come and go: nobody beyond its limit, nobody left waiting, nobody against itself.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod support;

use modiar_conformance::Peer;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};
use support::Daemon;

const POOL: &str = "[[pool]]\nname = \"quick\"\nbase_ms = 1500\nopenings = \"start\"\n";
const EVENING: Duration = Duration::from_secs(8);

/// What a bot does when it is its turn.
#[derive(Clone, Copy, PartialEq)]
enum Temper {
    /// Moves.
    Plays,
    /// Never makes a move.
    NeverStarts,
    /// Makes the first move of a game and no other.
    NeverFinishes,
}

/// One stay of a bot of a limit of games, from hello to leaving: the games that began.
fn stay(daemon: &Daemon, temper: Temper, limit: usize, ends: Instant) -> usize {
    let (mut bot, name) = daemon.guest(json!({"games": limit}));
    bot.send(&json!({"type": "seek", "pool": "quick"})).unwrap();
    let (mut begun, mut running) = (0, HashSet::new());
    while Instant::now() < ends {
        let Some(message) = next(&mut bot) else { continue };
        let game = message["game"].as_str().unwrap_or_default().to_owned();
        match message["type"].as_str().unwrap() {
            "started" => {
                let names = [&message["south"]["name"], &message["north"]["name"]];
                assert!(names[0] != names[1] && names.contains(&&json!(name)), "{message}");
                assert!(running.insert(game) && running.len() <= limit, "{name} plays {running:?}");
                begun += 1;
            }
            "turn" if temper == Temper::Plays || temper == Temper::NeverFinishes && message["ply"] == 1 => {
                bot.send(&json!({"type": "move", "game": game, "pit": message["legal"][0]})).unwrap();
            }
            "ended" => assert!(running.remove(&game), "{message}"),
            "error" => panic!("{message}"),
            _ => {}
        }
    }
    // Who was in a game leaves it to its clock.
    begun
}

fn next(bot: &mut Peer) -> Option<Value> {
    let line = bot.line_within(Duration::from_millis(100)).ok()?;
    Some(serde_json::from_str(&line).unwrap())
}

/// So many seeks were paired, and of them those that had waited at most so many seconds.
fn waits(daemon: &Daemon, most: &str) -> (u64, u64) {
    let metrics = daemon.get("/metrics").body;
    let value = |name: &str| metrics.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().parse().unwrap();
    let within = value(&format!("modiar_pairing_wait_seconds_bucket{{le=\"{most}\"}}"));
    (value("modiar_pairing_wait_seconds_count"), within)
}

#[test]
fn a_hundred_and_one_bots_come_and_go() {
    let daemon = Daemon::start_with(POOL, &[]);
    let ends = Instant::now() + EVENING;
    let games: Vec<usize> = thread::scope(|scope| {
        let bots: Vec<_> = (0..101_usize)
            .map(|number| {
                let daemon = &daemon;
                scope.spawn(move || {
                    let (mut games, limit) = (0, 1 + number % 3);
                    while Instant::now() < ends {
                        games += match number {
                            0 => stay(daemon, Temper::NeverStarts, limit, ends),
                            1 => stay(daemon, Temper::NeverFinishes, limit, ends),
                            // Some leave each second.
                            _ => {
                                let second = Duration::from_millis(1000 + 20 * number as u64);
                                stay(daemon, Temper::Plays, limit, ends.min(Instant::now() + second))
                            }
                        };
                    }
                    games
                })
            })
            .collect();
        bots.into_iter().map(|bot| bot.join().unwrap()).collect()
    });
    assert!(games.iter().all(|games| *games > 0), "somebody sat idle all evening: {games:?}");
    // `ladder.starvation`: 4 s, by the server's own clock, and more only where the machine is too busy to start games.
    let (paired, in_time) = waits(&daemon, "10.0");
    assert_eq!((paired, in_time), (paired, paired));
    let records = daemon.export();
    let seats = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let itself = seats.filter(|record| record["south"]["name"] == record["north"]["name"]).count();
    assert!(itself == 0 && records.lines().count() > 100, "{itself} of {}", records.lines().count());
    let (status, report) = daemon.run(&["games", "verify", "--data", daemon.data().to_str().unwrap()]);
    assert!(status.success(), "{report}");
}
