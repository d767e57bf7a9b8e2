//! The ladder from outside: what bots are told of ratings, seasons, removed bots, and ratings made anew.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar::ladder::{Row, SeasonName};
use modiar::store::{DataDir, read_seasons, read_standings};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};
use support::returning::Returning;
use support::{Daemon, MODIAR, PLAIN_POOLS, assert_quiet};

/// What two new bots have after a game: the winner, the loser, and the deviation of both.
const WON: f64 = 1662.310894;
const LOST: f64 = 1337.689106;
const RD: f64 = 290.318964;

fn daemon() -> Daemon {
    Daemon::start_with(PLAIN_POOLS, &[])
}

fn two(daemon: &Daemon) -> [Returning; 2] {
    ["anna", "Bert"].map(|name| Returning::registered(daemon, name))
}

/// A game by challenge in `blitz`, the first as South: what the second was asked, and what both read at the start.
fn begin([south, north]: &mut [Returning; 2], rated: bool) -> [Value; 3] {
    let terms = json!({"type": "challenge", "opponent": north.name, "pool": "blitz", "side": "south", "rated": rated});
    south.peer.send(&terms).unwrap();
    south.peer.expect("challenge_sent").unwrap();
    let challenged = north.peer.expect("challenged").unwrap();
    north.peer.send(&json!({"type": "accept", "challenge": challenged["challenge"]})).unwrap();
    let started = [&mut *south, &mut *north].map(|bot| bot.peer.expect("started").unwrap());
    south.peer.expect("turn").unwrap();
    let [one, other] = started;
    [challenged, one, other]
}

/// The second resigns: what both read at the end.
fn resign([south, north]: &mut [Returning; 2], game: &Value) -> [Value; 2] {
    north.peer.send(&json!({"type": "resign", "game": game})).unwrap();
    [south, north].map(|bot| bot.peer.expect("ended").unwrap())
}

/// A rated game that the first wins.
fn win(two: &mut [Returning; 2]) -> [Value; 2] {
    let [_, started, _] = begin(two, true);
    resign(two, &started["game"])
}

fn modiar(data: &Path, arguments: &[&str]) -> Output {
    Command::new(MODIAR).args(arguments).arg("--data").arg(data).output().unwrap()
}

fn done(data: &Path, arguments: &[&str]) -> String {
    let output = modiar(data, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn refusal(data: &Path, arguments: &[&str]) -> String {
    let output = modiar(data, arguments);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Name, rating, deviation and games of each bot.
fn standings(data: &Path, season: Option<&str>) -> Vec<(String, f64, f64, u64)> {
    let season = season.map(|name| SeasonName::try_from(name.to_owned()).unwrap());
    let rows = read_standings(&DataDir::new(data), season.as_ref()).unwrap().unwrap();
    let told = |Row { bot, standing, .. }: Row| {
        (bot.to_string(), standing.rating.rating, standing.rating.rd, standing.tally.games())
    };
    rows.into_iter().map(told).collect()
}

/// `ladder.told`, `ladder.transaction`, `record.ratings-read`, `record.rating-after`
#[test]
fn both_are_told_what_a_rated_game_did_to_them_and_who_watches_is_not() {
    let daemon = daemon();
    let mut two = two(&daemon);
    let [challenged, started, _] = begin(&mut two, true);
    assert_eq!((&challenged["rated"], &challenged["from"]), (&json!(true), &json!({"name": "anna", "rating": 1500.0})));
    let player = |name: &str| json!({"name": name, "guest": false, "rating": 1500.0});
    assert_eq!(
        (&started["rated"], &started["south"], &started["north"]),
        (&json!(true), &player("anna"), &player("Bert"))
    );
    let mut watcher = Returning::guest(&daemon);
    watcher.peer.send(&json!({"type": "watch", "game": started["game"]})).unwrap();
    assert_eq!(watcher.peer.expect("started").unwrap()["north"], player("Bert"));
    let [south, north] = resign(&mut two, &started["game"]);
    assert_eq!(south["rating"], json!({"before": 1500.0, "after": WON, "rd": RD}));
    assert_eq!(north["rating"], json!({"before": 1500.0, "after": LOST, "rd": RD}));
    let seen = watcher.peer.expect("ended").unwrap();
    assert_eq!((seen.get("rating"), &seen["result"]), (None, &json!("south")));

    let record = daemon.record(started["game"].as_str().unwrap());
    let after = |rating: f64| json!({"rating": rating, "rd": RD, "volatility": 0.06});
    assert_eq!(record["rating_after"], json!({"south": after(WON), "north": after(LOST)}));
    assert_eq!((&record["rated"], &record["south"]["rd"]), (&json!(true), &json!(350.0)));

    let [anna, _] = &mut two;
    let welcome = anna.come_back(&daemon);
    assert_eq!(welcome["bot"]["ratings"], json!({"blitz": {"rating": WON, "rd": RD, "games": 1}}));
    let [challenged, ..] = begin(&mut two, true);
    assert_eq!(challenged["from"]["rating"], WON);
}

/// `session.challenge-refused`, `session.guest-unrated`, `ladder.counts`
#[test]
fn a_rated_challenge_needs_a_rated_pool_and_two_accounts() {
    let daemon = daemon();
    let (mut two, mut guest) = (two(&daemon), Returning::guest(&daemon));
    let [anna, bert] = &mut two;
    let cases = [("practice", &bert.name), ("blitz", &guest.name)];
    for (pool, opponent) in cases {
        let terms = json!({"type": "challenge", "opponent": opponent, "pool": pool, "rated": true});
        anna.peer.send(&terms).unwrap();
        let error = anna.peer.expect("error").unwrap();
        assert_eq!((&error["code"], &error["field"]), (&json!("bad_field"), &json!("rated")), "{error}");
    }
    guest.peer.send(&json!({"type": "challenge", "opponent": "anna", "pool": "blitz"})).unwrap();
    guest.peer.expect("challenge_sent").unwrap();
    let challenged = anna.peer.expect("challenged").unwrap();
    assert_eq!(challenged["from"], json!({"name": guest.name}), "a guest has no rating");
    anna.peer.send(&json!({"type": "accept", "challenge": challenged["challenge"]})).unwrap();
    let started = anna.peer.expect("started").unwrap();
    assert_eq!(started["rated"], false);
    guest.peer.send(&json!({"type": "resign", "game": started["game"]})).unwrap();
    let ended = anna.peer.skip_to("ended").unwrap();
    assert_eq!(ended.get("rating"), None, "{ended}");
    let record = daemon.record(started["game"].as_str().unwrap());
    let ratings =
        ["south", "north"].map(|side| record[side].get("rating").is_some() == (record[side]["name"] == "anna"));
    assert_eq!((ratings, record.get("rating_after")), ([true, true], None), "{record}");
    assert_eq!(standings(&daemon.data(), None), []);
}

/// `ladder.counts`
#[test]
fn a_casual_game_of_two_accounts_is_on_record_with_their_ratings_and_changes_none() {
    let daemon = daemon();
    let mut two = two(&daemon);
    win(&mut two);
    let [challenged, started, _] = begin(&mut two, false);
    assert_eq!((&challenged["from"]["rating"], &started["rated"]), (&json!(WON), &json!(false)));
    let [south, north] = resign(&mut two, &started["game"]);
    assert_eq!(south, north);
    let record = daemon.record(started["game"].as_str().unwrap());
    assert_eq!((&record["south"]["rating"], record.get("rating_after")), (&json!(WON), None), "{record}");
    let after = [("anna".to_owned(), WON, RD, 1), ("Bert".to_owned(), LOST, RD, 1)];
    assert_eq!(standings(&daemon.data(), None), after);
}

/// `session.missed`, `ladder.told`: from the record, after a kill; and a game that is restored is rated as its pool is now.
#[test]
fn an_end_that_was_missed_tells_its_rating_and_a_restored_game_is_rated_as_its_pool_is() {
    let daemon = daemon();
    let mut two = two(&daemon);
    let [_, started, _] = begin(&mut two, true);
    let game = started["game"].as_str().unwrap().to_owned();
    two[0].peer.send(&json!({"type": "bye"})).unwrap();
    two[0].peer.expect("goodbye").unwrap();
    two[0].peer.expect_close().unwrap();
    two[1].peer.send(&json!({"type": "resign", "game": game})).unwrap();
    two[1].peer.expect("ended").unwrap();
    let daemon = Daemon::start_in(daemon.kill(), PLAIN_POOLS, &[]);
    let rating = json!({"before": 1500.0, "after": WON, "rd": RD});
    assert_eq!(two[0].missed(&daemon, &game)["rating"], rating);
    assert_eq!(two[1].missed(&daemon, &game)["rating"]["after"], LOST);

    let [_, started, _] = begin(&mut two, true);
    let game = started["game"].as_str().unwrap().to_owned();
    let unrated = PLAIN_POOLS.replacen("openings", "rated = false\nopenings", 1);
    let daemon = Daemon::start_in(daemon.kill(), &unrated, &[]);
    two[0].come_back(&daemon);
    let started = two[0].peer.expect("started").unwrap();
    assert_eq!((&started["rated"], started["south"].get("rating")), (&json!(false), None), "{started}");
    two[0].peer.expect("turn").unwrap();
    two[1].come_back(&daemon);
    two[1].peer.expect("started").unwrap();
    resign(&mut two, &json!(game));
    let record = daemon.record(&game);
    assert_eq!((&record["rated"], record["south"].get("rating")), (&json!(false), None), "{record}");
    assert_eq!(two[0].come_back(&daemon)["bot"]["ratings"], json!({}), "an unrated pool has none");
}

/// `ladder.season`, `ladder.season-half`, `ladder.season-name`, `ladder.season-standings`
#[test]
fn a_season_takes_over_what_it_says_and_the_old_standings_stay() {
    let daemon = daemon();
    let (data, mut two) = (daemon.data(), two(&daemon));
    win(&mut two);
    done(&data, &["season", "begin", "2027-spring", "--carry", "half"]);
    // At once, in the running daemon.
    let welcome = two[0].come_back(&daemon);
    let half = 1500.0 + (WON - 1500.0) / 2.0;
    assert_eq!(welcome["bot"]["ratings"], json!({"blitz": {"rating": half, "rd": RD, "games": 0}}));
    let [_, started, _] = begin(&mut two, true);
    assert_eq!(started["south"]["rating"], half);
    let [south, _] = resign(&mut two, &started["game"]);
    assert_eq!(south["rating"]["before"], half);
    let spring = standings(&data, None);
    done(&data, &["season", "begin", "summer_1.0"]);
    assert_eq!(two[0].come_back(&daemon)["bot"]["ratings"], json!({}));
    let [south, _] = win(&mut two);
    assert_eq!(south["rating"], json!({"before": 1500.0, "after": WON, "rd": RD}));

    let first = [("anna".to_owned(), WON, RD, 1), ("Bert".to_owned(), LOST, RD, 1)];
    assert_eq!((standings(&data, Some("first")), standings(&data, Some("2027-Spring"))), (first.to_vec(), spring));
    assert_eq!((standings(&data, Some("summer_1.0")), standings(&data, None)), (first.to_vec(), first.to_vec()));
    assert_eq!(read_standings(&DataDir::new(&data), Some(&"autumn".to_owned().try_into().unwrap())).unwrap(), None);

    let told: Value = serde_json::from_str(&done(&data, &["season", "list", "--json"])).unwrap();
    let games: Vec<_> = told.as_array().unwrap().iter().map(|season| [&season["after"], &season["to"]]).collect();
    assert_eq!(games, [[&json!(0), &json!(1)], [&json!(1), &json!(2)], [&json!(2), &Value::Null]], "{told}");
    assert_eq!(read_seasons(&DataDir::new(&data)).unwrap().len(), 3);
    for (name, why) in [("SUMMER_1.0", "there is a season"), ("first", "there is a season")] {
        let refused = refusal(&data, &["season", "begin", name]);
        assert!(refused.contains(why), "{refused}");
    }
    for wrong in [&["season", "begin", "a b"][..], &["season", "begin", "x", "--carry", "all"]] {
        assert_eq!(modiar(&data, wrong).status.code(), Some(2), "{wrong:?}");
    }
    // Without a daemon too, and all of it is the fold.
    let folder = daemon.stop().2;
    let data = folder.path().join("data");
    done(&data, &["season", "begin", "offline"]);
    assert!(done(&data, &["season", "list"]).contains("offline"));
    assert_eq!(standings(&data, None), []);
    done(&data, &["games", "verify"]);
    done(&data, &["standings", "--rebuild"]);
}

/// `ladder.removal`: what a removed bot had won is nobody's, whatever game of it was still running.
#[test]
fn who_has_the_name_of_a_removed_bot_begins_anew() {
    let daemon = daemon();
    let (data, mut two) = (daemon.data(), two(&daemon));
    win(&mut two);
    let [_, started, _] = begin(&mut two, true);
    done(&data, &["bot", "remove", "anna"]);
    assert_eq!(standings(&data, None), [("Bert".to_owned(), LOST, RD, 1)]);
    two[0].peer.expect("goodbye").unwrap();
    // Its game runs on, and ends after it was removed.
    two[1].peer.send(&json!({"type": "resign", "game": started["game"]})).unwrap();
    let ended = two[1].peer.expect("ended").unwrap();
    assert_eq!(ended["rating"], json!(null), "it counts for nobody");
    assert_eq!(standings(&data, None), [("Bert".to_owned(), LOST, RD, 1)]);

    let mut anna = Returning::registered(&daemon, "Anna");
    assert_eq!(anna.come_back(&daemon)["bot"]["ratings"], json!({}));
    assert_eq!(standings(&data, None).len(), 1);
    assert_quiet(&mut anna.peer);
    two[0] = anna;
    let [south, _] = win(&mut two);
    assert_eq!(south["rating"]["before"], 1500.0);
    done(&data, &["games", "verify"]);
    let folder = daemon.stop().2;
    let data = folder.path().join("data");
    assert_eq!(
        standings(&data, None).into_iter().map(|row| (row.0, row.3)).collect::<Vec<_>>(),
        [("Anna".into(), 1), ("Bert".into(), 2)]
    );
    done(&data, &["standings", "--rebuild"]);
}

/// The same over a kill: the journal knows.
#[test]
fn a_game_whose_bot_was_removed_counts_for_nobody_after_a_kill_either() {
    let daemon = daemon();
    let mut two = two(&daemon);
    let [_, started, _] = begin(&mut two, true);
    done(&daemon.data(), &["bot", "remove", "anna"]);
    let daemon = Daemon::start_in(daemon.kill(), PLAIN_POOLS, &[]);
    two[1].come_back(&daemon);
    two[1].peer.expect("started").unwrap();
    two[1].peer.send(&json!({"type": "resign", "game": started["game"]})).unwrap();
    assert_eq!(two[1].peer.expect("ended").unwrap()["rating"], json!(null));
    assert_eq!(standings(&daemon.data(), None), []);
}

/// `ladder.rebuild`
#[test]
fn ratings_that_are_not_what_the_games_lead_to_are_found_and_made_anew() {
    let daemon = daemon();
    let mut two = two(&daemon);
    win(&mut two);
    win(&mut two);
    let refused = refusal(&daemon.data(), &["standings", "--rebuild"]);
    assert!(refused.contains("games verify"), "{refused}");
    done(&daemon.data(), &["games", "verify"]);
    let folder = daemon.stop().2;
    let data = folder.path().join("data");
    done(&data, &["standings", "--rebuild"]);
    let right = standings(&data, None);
    let alter = |sql: &str| {
        let database = rusqlite::Connection::open(data.join("modiar.db")).unwrap();
        assert_eq!(database.execute(sql, []).unwrap(), 1, "{sql}");
    };
    let cases = [
        ("UPDATE ratings SET rating = rating + 0.000001 WHERE bot = 'anna'", "ratings of anna in blitz"),
        ("UPDATE ratings SET south_won = 1, south_drawn = 1 WHERE bot = 'anna'", "ratings of anna in blitz"),
        ("DELETE FROM ratings WHERE bot = 'bert'", "ratings of bert in blitz: missing"),
        (
            "INSERT INTO ratings SELECT pool, 'carl', 1600, rd, volatility, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM ratings LIMIT 1",
            "carl",
        ),
        ("UPDATE meetings SET southward = 0", "meetings of anna and bert in blitz"),
    ];
    for (sql, told) in cases {
        alter(sql);
        let found = modiar(&data, &["games", "verify"]);
        assert_eq!(found.status.code(), Some(1), "{sql}: {found:?}");
        assert!(String::from_utf8(found.stdout).unwrap().contains(told), "{sql}");
        let rebuilt = modiar(&data, &["standings", "--rebuild"]);
        assert_eq!(rebuilt.status.code(), Some(1), "{sql}: {rebuilt:?}");
        assert_eq!(
            String::from_utf8(rebuilt.stdout).unwrap().lines().filter(|row| row.contains(told)).count(),
            1,
            "{sql}"
        );
        done(&data, &["standings", "--rebuild"]);
        done(&data, &["games", "verify"]);
        assert_eq!(standings(&data, None), right);
    }
    // Of a record the rating that it says it read; its hash tells too.
    alter(
        "UPDATE games SET record = replace(record, '\"rating\":1662.310894,\"rd\"', '\"rating\":1662.310895,\"rd\"') WHERE seq = 2",
    );
    let report = String::from_utf8(modiar(&data, &["games", "verify"]).stdout).unwrap();
    assert!(
        report.contains("south had 1662.310894 rd 290.318964 volatility 0.06 before it, not 1662.310895"),
        "{report}"
    );
}
