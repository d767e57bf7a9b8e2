//! Tournaments from the host's command to the last result, with bots on real sockets.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

#[path = "tournament/bots.rs"]
mod bots;
mod support;

use bots::Temper::{Eager, Humble, Silent, Steady};
use bots::{Bots, Temper};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};
use support::process::wait_until;
use support::{Daemon, MODIAR};

/// Balanced openings, and quiet games that end soon.
const CONFIG: &str =
    "drain_ms = 0\n[[pool]]\nname = \"quick\"\nbase_ms = 20000\nincrement_ms = 100\nquiet_plies = 30\n";

/// A daemon with these bots registered, all of them there but those whose temper is `None`.
fn event(bots: &[(&str, Option<Temper>)]) -> (Daemon, HashMap<String, String>, Bots) {
    let daemon = Daemon::start_with(CONFIG, &[]);
    let names: Vec<&str> = bots.iter().map(|(name, _)| *name).collect();
    let tokens = Bots::register(&daemon, &names);
    let here: Vec<(&str, Temper)> = bots.iter().filter_map(|(name, temper)| Some((*name, (*temper)?))).collect();
    let here = Bots::come(&daemon, &tokens, &here);
    (daemon, tokens, here)
}

fn tournament(daemon: &Daemon, arguments: &str) -> String {
    let words: Vec<&str> = ["tournament"].into_iter().chain(arguments.split(' ')).collect();
    let (status, said) = daemon.run(&words);
    assert!(status.success(), "{arguments}: {said}");
    said
}

/// What `modiar tournament …` says where it cannot.
fn refused(daemon: &Daemon, arguments: &str, code: i32) -> String {
    let words: Vec<&str> = ["tournament"].into_iter().chain(arguments.split(' ')).collect();
    let (status, said) = daemon.run(&words);
    assert_eq!(status.code(), Some(code), "{arguments}: {said}");
    said
}

fn json(said: &str) -> Value {
    let line = said.lines().find(|line| line.starts_with(['{', '['])).unwrap_or_else(|| panic!("{said}"));
    serde_json::from_str(line).unwrap()
}

fn report(daemon: &Daemon, name: &str) -> Value {
    json(&tournament(daemon, &format!("show {name} --json")))
}

#[track_caller]
fn wait_for(daemon: &Daemon, name: &str, state: &str) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let report = report(daemon, name);
        if report["state"] == state {
            return report;
        }
        assert!(Instant::now() < deadline, "it is not {state}: {report}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The names of the standings, from the first to the last.
fn order(report: &Value) -> Vec<&str> {
    report["standings"].as_array().unwrap().iter().map(|line| line["bot"].as_str().unwrap()).collect()
}

fn column<'a>(report: &'a Value, key: &str) -> Vec<&'a Value> {
    report["standings"].as_array().unwrap().iter().map(|line| &line[key]).collect()
}

/// Its matches, over all rounds.
fn matches(report: &Value) -> Vec<&Value> {
    report["rounds"].as_array().unwrap().iter().flat_map(|round| round["matches"].as_array().unwrap()).collect()
}

/// The ids of its games, tries included.
fn ids(report: &Value) -> Vec<&str> {
    let games = matches(report).into_iter().flat_map(|met| met["games"].as_array().unwrap());
    games.filter_map(|game| game["id"].as_str()).collect()
}

fn records(daemon: &Daemon) -> HashMap<String, Value> {
    let records = daemon.export().lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>();
    records.into_iter().map(|record| (record["game"].as_str().unwrap().to_owned(), record)).collect()
}

/// Both games of each pair are of the same two on swapped sides, from one opening, and stored.
fn check_pairs(report: &Value, records: &HashMap<String, Value>) {
    for met in matches(report) {
        let games: Vec<&Value> =
            met["games"].as_array().unwrap().iter().filter_map(|game| records.get(game["id"].as_str()?)).collect();
        for pair in games.chunks(2) {
            let [one, other] = pair else { panic!("half a pair: {met}") };
            assert_eq!(one["south"]["name"], other["north"]["name"], "{met}");
            assert_eq!(one["north"]["name"], other["south"]["name"], "{met}");
            assert_eq!(one["opening"], other["opening"], "{met}");
            assert_eq!(one["opening"].as_str().unwrap().len(), 8, "{met}");
        }
    }
}

/// `ladder.tournament-round-robin`, `ladder.tournament-pairs`
#[test]
fn four_bots_play_a_round_robin_to_its_end() {
    let (daemon, _, bots) =
        event(&[("anna", Some(Humble)), ("bert", Some(Humble)), ("carl", Some(Humble)), ("dora", Some(Humble))]);
    let said = tournament(&daemon, "add Cup --format round-robin --pool quick --bots all --seed 5");
    assert!(said.contains("'Cup': 4 players, 12 games; it starts at once"), "{said}");
    let report = wait_for(&daemon, "cup", "over");
    assert_eq!(order(&report), ["anna", "bert", "carl", "dora"]);
    assert_eq!(column(&report, "points"), [6.0, 4.0, 2.0, 0.0]);
    assert_eq!(column(&report, "won"), [6, 4, 2, 0]);
    assert_eq!(report["crosstable"][1], serde_json::json!([0.0, null, 2.0, 2.0]));
    let records = records(&daemon);
    let ids = ids(&report);
    assert_eq!((ids.len(), records.len()), (12, 12), "and no game besides");
    check_pairs(&report, &records);
    let (status, shown) = daemon.run(&["games", "show", ids[0]]);
    assert!(status.success() && shown.contains(ids[0]), "{shown}");
    let text = tournament(&daemon, "show Cup");
    for told in ["Cup: round-robin, 4 players, pool quick, over", "round 3", ids[11], "resignation"] {
        assert!(text.contains(told), "{told}: {text}");
    }
    let csv = tournament(&daemon, "show Cup --csv");
    assert!(csv.contains("round,match,game,south,north,outcome,termination,south_seeds,north_seeds,id\n"), "{csv}");
    assert_eq!(csv.lines().filter(|line| line.contains(",resignation,")).count(), 12, "{csv}");
    assert!(refused(&daemon, "cancel cup", 3).contains("'cup' is over already"));
    bots.leave();
}

/// `ladder.tournament-swiss`, `ladder.tournament-patience`: a match is lost by who does not come to it, and the others go on.
#[test]
fn a_swiss_goes_on_without_one_who_never_comes() {
    let (daemon, _, bots) = event(&[
        ("anna", Some(Humble)),
        ("bert", Some(Humble)),
        ("carl", Some(Humble)),
        ("dora", Some(Humble)),
        ("eve", None),
    ]);
    tournament(&daemon, "add sw --format swiss --pool quick --bots all --rounds 4 --patience 1");
    let report = wait_for(&daemon, "sw", "over");
    assert_eq!(report["rounds"].as_array().unwrap().len(), 4);
    let byes: HashSet<&str> =
        report["rounds"].as_array().unwrap().iter().map(|round| round["bye"].as_str().unwrap()).collect();
    assert_eq!(byes.len(), 4, "nobody rests twice");
    let (of_eve, others): (Vec<&Value>, Vec<&Value>) =
        matches(&report).into_iter().partition(|met| met["bots"].as_array().unwrap().contains(&"eve".into()));
    assert!(of_eve.len() >= 3 && of_eve.iter().all(|met| met["forfeited"] == serde_json::json!(["eve"])), "{of_eve:?}");
    assert!(others.iter().all(|met| met["forfeited"] == serde_json::json!([])), "{others:?}");
    let pairs: BTreeSet<Vec<&str>> = matches(&report)
        .into_iter()
        .map(|met| {
            let mut bots: Vec<&str> = met["bots"].as_array().unwrap().iter().map(|bot| bot.as_str().unwrap()).collect();
            bots.sort_unstable();
            bots
        })
        .collect();
    assert_eq!(pairs.len(), 8, "nobody meets the same twice");
    let eve = report["standings"].as_array().unwrap().iter().find(|line| line["bot"] == "eve").unwrap();
    assert_eq!((&eve["won"], eve["points"].as_f64()), (&0.into(), Some(2.0 * eve["byes"].as_f64().unwrap())));
    assert_eq!(eve["walkovers"], 2 * of_eve.len());
    assert!(tournament(&daemon, "show sw").contains("eve did not come"));
    assert_eq!(records(&daemon).len(), 2 * others.len());
    bots.leave();
}

/// `ladder.tournament-knockout`
#[test]
fn six_bots_play_a_knockout() {
    let names = ["anna", "bert", "carl", "dora", "emil", "fred"];
    let (daemon, _, bots) = event(&names.map(|name| (name, Some(Humble))));
    tournament(&daemon, "add ko --format knockout --pool quick --bots anna,bert,carl,dora,emil,fred --pairs 2");
    let report = wait_for(&daemon, "ko", "over");
    let sizes: Vec<usize> =
        report["rounds"].as_array().unwrap().iter().map(|round| round["matches"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [2, 2, 1]);
    assert_eq!(order(&report)[0], "anna");
    let mut out: Vec<Option<u64>> = column(&report, "out").iter().map(|out| out.as_u64()).collect();
    out.sort();
    assert_eq!(out, [None, Some(1), Some(1), Some(2), Some(2), Some(3)]);
    assert!(matches(&report).iter().all(|met| met["games"].as_array().unwrap().len() == 4));
    check_pairs(&report, &records(&daemon));
    bots.leave();
}

/// `ladder.tournament-gauntlet`
#[test]
fn a_new_version_meets_each_of_the_others() {
    let (daemon, _, bots) =
        event(&[("anna", Some(Humble)), ("bert", Some(Humble)), ("carl", Some(Humble)), ("dora", Some(Humble))]);
    tournament(&daemon, "add v2 --format gauntlet --pool quick --challenger bert --bots all --cycles 2");
    let report = wait_for(&daemon, "v2", "over");
    assert_eq!(matches(&report).len(), 6);
    assert!(matches(&report).iter().all(|met| met["bots"].as_array().unwrap().contains(&"bert".into())));
    let bert = report["standings"].as_array().unwrap().iter().find(|line| line["bot"] == "bert").unwrap();
    assert_eq!((&bert["won"], &bert["lost"]), (&8.into(), &4.into()), "anna is the better one");
    bots.leave();
}

/// `ladder.tournament-aborted`: a game that one does not show up for is tried once more, and then lost.
#[test]
fn who_never_moves_loses_a_game_after_the_second_try() {
    let config = CONFIG.replace("base_ms = 20000", "base_ms = 300");
    let daemon = Daemon::start_with(&config, &[]);
    let tokens = Bots::register(&daemon, &["anna", "mute"]);
    let bots = Bots::come(&daemon, &tokens, &[("anna", Steady), ("mute", Silent)]);
    tournament(&daemon, "add cup --format round-robin --pool quick --bots anna,mute");
    let report = wait_for(&daemon, "cup", "over");
    let met = matches(&report)[0];
    let games = met["games"].as_array().unwrap();
    let told: Vec<(u64, &str)> =
        games.iter().map(|game| (game["game"].as_u64().unwrap(), game["outcome"].as_str().unwrap())).collect();
    let walkovers: Vec<&str> = if met["bots"][0] == "anna" {
        vec!["walkover_south", "walkover_north"]
    } else {
        vec!["walkover_north", "walkover_south"]
    };
    assert_eq!(
        told,
        [(1, "none"), (1, "none"), (1, walkovers[0]), (2, "none"), (2, "none"), (2, walkovers[1])],
        "{report}"
    );
    assert_eq!((order(&report), column(&report, "points")), (vec!["anna", "mute"], vec![&2.0.into(), &0.0.into()]));
    assert_eq!(column(&report, "walkovers"), [2, 2]);
    bots.leave();
}

/// `ladder.tournament-called`: bots that look for games all the time, one at once, come to their matches all the same.
#[test]
fn bots_that_play_on_in_the_pool_come_to_their_matches() {
    let (daemon, _, bots) =
        event(&[("anna", Some(Eager)), ("bert", Some(Eager)), ("carl", Some(Eager)), ("dora", Some(Eager))]);
    wait_until("they play", || records(&daemon).len() > 3);
    tournament(&daemon, "add cup --format round-robin --pool quick --bots all");
    let report = wait_for(&daemon, "cup", "over");
    let (records, ids) = (records(&daemon), ids(&report));
    assert!(ids.iter().all(|id| records.contains_key(*id)));
    check_pairs(&report, &records);
    assert!(records.len() > ids.len(), "their seeks went on");
    bots.leave();
}

/// A bot that is in two tournaments, one game at once, plays in both.
#[test]
fn two_tournaments_of_the_same_bots_are_played_at_once() {
    let (daemon, _, bots) = event(&[("anna", Some(Humble)), ("bert", Some(Humble)), ("carl", Some(Humble))]);
    tournament(&daemon, "add one --format round-robin --pool quick --bots all --cycles 3");
    tournament(&daemon, "add two --format knockout --pool quick --bots all");
    let [one, two] = ["one", "two"].map(|name| wait_for(&daemon, name, "over"));
    assert_eq!((order(&one), order(&two)[0]), (vec!["anna", "bert", "carl"], "anna"));
    assert_eq!((ids(&one).len(), ids(&two).len()), (18, 4));
    assert_eq!(records(&daemon).len(), 22);
    bots.leave();
}

/// `ladder.tournament-restart`: killed again and again, it plays each game once and counts it once.
#[test]
fn a_tournament_outlives_the_daemon_and_no_game_is_lost_or_doubled() {
    const GAMES: usize = 24;
    let names = ["anna", "bert", "carl", "dora"];
    let (mut daemon, _, bots) = event(&names.map(|name| (name, Some(Steady))));
    let address = daemon.bots;
    tournament(&daemon, "add cup --format round-robin --pool quick --bots all --cycles 2");
    let mut killed = 0;
    for after in [1, 3, 5, 8, 11, 14, 17, 20, 22] {
        wait_until("games are played", || records(&daemon).len() >= after);
        if report(&daemon, "cup")["state"] == "over" {
            break;
        }
        let data = daemon.kill();
        killed += 1;
        daemon = Daemon::start_at(&address.to_string(), data, CONFIG, &[]);
    }
    assert!(killed > 4, "it was over after {killed} kills");
    let report = wait_for(&daemon, "cup", "over");
    let records = records(&daemon);
    let ids: Vec<&str> = ids(&report);
    assert_eq!((ids.len(), ids.iter().collect::<HashSet<_>>().len(), records.len()), (GAMES, GAMES, GAMES));
    assert!(ids.iter().all(|id| records.contains_key(*id)));
    check_pairs(&report, &records);
    let mut points = HashMap::from(names.map(|name| (name, 0.0)));
    for record in records.values() {
        let [south, north] = match record["result"].as_str().unwrap() {
            "south" => [1.0, 0.0],
            "north" => [0.0, 1.0],
            _ => [0.5, 0.5],
        };
        *points.get_mut(record["south"]["name"].as_str().unwrap()).unwrap() += south;
        *points.get_mut(record["north"]["name"].as_str().unwrap()).unwrap() += north;
    }
    for line in report["standings"].as_array().unwrap() {
        assert_eq!(line["points"], points[line["bot"].as_str().unwrap()], "{line}");
    }
    for ledger in bots.leave() {
        assert_eq!(ledger.played.len(), GAMES / 2);
        assert!(ledger.played.iter().all(|id| ids.contains(&id.as_str())));
        let began: HashSet<&String> = ledger.began.iter().collect();
        assert_eq!(began.len(), ledger.began.len(), "none began twice");
        assert_eq!(ledger.ended.keys().cloned().collect::<HashSet<_>>(), ledger.played);
    }
    let (status, said) = daemon.run(&["games", "verify"]);
    assert!(status.success(), "{said}");
}

/// `ladder.tournament-cancel`
#[test]
fn a_cancelled_tournament_starts_no_more_games_and_its_running_ones_go_on() {
    let (daemon, _, bots) = event(&[("anna", Some(Steady)), ("bert", Some(Steady)), ("carl", None)]);
    tournament(&daemon, "add later --format swiss --pool quick --bots all --at 2999-01-01T00:00:00Z");
    let report = report(&daemon, "later");
    assert_eq!((&report["state"], &report["rounds"]), (&"planned".into(), &serde_json::json!([])));
    tournament(&daemon, "cancel LATER");
    assert_eq!(self::report(&daemon, "later")["state"], "cancelled");
    assert!(refused(&daemon, "cancel later", 3).contains("'later' is cancelled already"));

    tournament(&daemon, "add long --format round-robin --pool quick --bots anna,bert --cycles 100");
    wait_until("it is played", || records(&daemon).len() > 2);
    tournament(&daemon, "cancel long");
    // The game that ran is the last.
    let open = ids(&self::report(&daemon, "long")).len();
    wait_until("its last game ends", || {
        let said = daemon.run(&["tournament", "show", "long", "--json"]).1;
        matches(&json(&said))
            .iter()
            .flat_map(|met| met["games"].as_array().unwrap().clone())
            .all(|game| game["outcome"] != "open" || !bots_play(&daemon, game["id"].as_str()))
    });
    let stored = records(&daemon).len();
    tournament(&daemon, "add after --format knockout --pool quick --bots anna,bert");
    let after = wait_for(&daemon, "after", "over");
    assert_eq!(records(&daemon).len(), stored + ids(&after).len(), "nothing of the cancelled one came after");
    assert!(open >= stored);
    bots.leave();
}

/// Whether the daemon has a game that is not stored: it counts those that run.
fn bots_play(daemon: &Daemon, id: Option<&str>) -> bool {
    id.is_some_and(|id| !records(daemon).contains_key(id))
        && daemon.get("/metrics").body.contains("modiar_games_running 1")
}

/// `ladder.tournament-name`: what cannot be had is refused with what to do, beside a daemon and without one.
#[test]
fn what_cannot_be_had_is_refused_in_words_that_help() {
    let (daemon, _, bots) = event(&[("anna", None), ("bert", None)]);
    let cases = [
        ("add cup --format swiss --pool slow --bots all", "there is no pool 'slow'; there are quick"),
        ("add cup --format swiss --pool quick --bots anna,nobody", "no bot 'nobody' is registered"),
        ("add cup --format swiss --pool quick --bots anna", "players: 1, and it takes 2 to 256"),
        ("add cup --format gauntlet --pool quick --bots all", "needs --challenger"),
        ("show cup", "there is no tournament 'cup'; `modiar tournament list` shows them all"),
        ("cancel cup", "there is no tournament 'cup'"),
    ];
    for (arguments, told) in cases {
        let said = refused(&daemon, arguments, 3);
        assert!(said.contains(told), "{arguments}: {said}");
    }
    for (arguments, told) in [
        ("add cup --format chess --pool quick --bots all", "round-robin, swiss, knockout, gauntlet"),
        ("add c/up --format swiss --pool quick --bots all", "'c/up' is no name of a tournament: 1 to 40"),
        ("add cup --format swiss --pool quick --bots all --at noon", "write it as 2026-12-06T18:00:00Z"),
        ("add cup --format swiss --pool quick --bots a", "'a' is no name: 2 to 24"),
    ] {
        let said = refused(&daemon, arguments, 2);
        assert!(said.contains(told), "{arguments}: {said}");
    }
    tournament(&daemon, "add cup --format swiss --pool quick --bots all --at 2999-01-01T00:00:00Z");
    let said = refused(&daemon, "add CUP --format swiss --pool quick --bots all", 3);
    assert!(said.contains("there is a tournament 'CUP' already"), "{said}");
    bots.leave();
    let (_, _, folder) = daemon.stop();
    let run = |arguments: &str| {
        let output = std::process::Command::new(MODIAR)
            .args(arguments.split(' '))
            .args(["--config", folder.path().join("modiar.toml").to_str().unwrap()])
            .env("MODIAR_DATA", folder.path().join("data"))
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run("tournament add cup --format swiss --pool quick --bots all");
    assert!(code == Some(3) && said.contains("there is a tournament 'cup' already"), "{said}");
    let (code, said) = run("tournament add cup2 --format swiss --pool slow --bots all");
    assert!(code == Some(3) && said.contains("there are quick"), "{said}");
    let (code, said) = run("tournament list");
    assert!(code == Some(0) && said.contains("planned    swiss"), "{said}");
}

/// What is added without a daemon is played by the next one; who is removed or banned meanwhile has withdrawn.
#[test]
fn what_was_added_without_a_daemon_is_played_at_the_next_start() {
    let (daemon, tokens, bots) = event(&[("anna", None), ("bert", None), ("carl", None), ("dora", None)]);
    bots.leave();
    let (_, _, folder) = daemon.stop();
    let run = |arguments: &str| {
        let status = std::process::Command::new(MODIAR)
            .args(arguments.split(' '))
            .args(["--config", folder.path().join("modiar.toml").to_str().unwrap()])
            .env("MODIAR_DATA", folder.path().join("data"))
            .status();
        assert!(status.unwrap().success(), "{arguments}");
    };
    run("tournament add cup --format round-robin --pool quick --bots all");
    run("bot remove carl");
    // Who has the name from now on is somebody else.
    run("bot add carl");
    run("bot ban dora --reason cheats");
    let daemon = Daemon::start_in(folder, CONFIG, &[]);
    let bots = Bots::come(&daemon, &tokens, &[("anna", Humble), ("bert", Humble)]);
    let report = wait_for(&daemon, "cup", "over");
    assert_eq!(order(&report)[..2], ["anna", "bert"]);
    assert_eq!(column(&report, "withdrawn"), [false, false, true, true]);
    assert_eq!(ids(&report).len(), 2, "nobody waits for who is gone");
    bots.leave();
}
