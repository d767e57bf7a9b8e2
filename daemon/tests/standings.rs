//! `modiar standings`: what it tells of a small ladder of real games, from a real database.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

#[path = "../bench/benches/games/mod.rs"]
mod games;
mod support;

use games::Dice;
use modiar::store::{DataDir, SqliteStore, Store as _};
use modiar_ladder::{Outcome, Rating};
use modiar_oracle::{Opening, Table, balanced_openings, solve};
use modiar_protocol::{GameResult, Record, RecordSeat, SeatRating, Sides, Termination};
use modiar_rules::{EndRules, Line, Side, moves_text};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use support::{MODIAR, project};
use tempfile::TempDir;

/// Name, version and temperature; ada changed.
const BOTS: [(&str, Option<&str>, f64); 6] = [
    ("ada", Some("1\u{1b}[2J,\"x\""), 9.0),
    ("ada", Some("2"), 1.2),
    ("barbara", Some("7"), 3.0),
    ("Carol", None, 14.0),
    ("house-level4", None, 5.95),
    ("house-level6", None, 2.9),
];
const GAMES: u64 = 1200;

struct Ladder {
    table: Table,
    openings: Vec<Opening>,
    dice: Dice,
    ratings: HashMap<&'static str, Rating>,
    records: Vec<Record>,
}

impl Ladder {
    fn unit(&mut self) -> f64 {
        f64::from(u32::try_from(self.dice.below(1 << 30)).unwrap()) / f64::from(1 << 30)
    }

    fn play(&mut self, seats: [usize; 2], opening: usize) -> Line {
        let mut line = Line::replay(EndRules::default(), self.openings[opening].moves.iter().copied()).unwrap();
        while line.ending().is_none() {
            let position = line.position();
            let temperature = BOTS[seats[usize::from(position.side() == Side::North)]].2;
            let chance = self.unit();
            line.play(self.table.soft(&position, temperature, chance).unwrap()).unwrap();
        }
        line
    }

    /// A rated game of two, rated as the finishing transaction does. Every fiftieth is lost on time by South.
    fn add(&mut self, seats: [usize; 2], opening: usize) {
        let line = self.play(seats, opening);
        let number = self.records.len() as u64 + 1;
        let mut record = games::record_of(number, &line, &mut self.dice);
        record.opening = moves_text(&self.openings[opening].moves).to_string();
        for times in [&mut record.elapsed_us, &mut record.own_us, &mut record.charged_us] {
            times.drain(..8);
        }
        if number.is_multiple_of(50) {
            (record.result, record.termination) = (GameResult::North, Termination::TimeForfeit);
        }
        let two = seats.map(|bot| BOTS[bot]);
        [record.south, record.north] = two.map(|(name, version, _)| seat(name, version));
        (record.rated, record.ended) = (true, format!("2026-11-30T{:02}:{:02}:00.000000Z", number / 60, number % 60));
        let after = self.rate(two.map(|(name, ..)| name), record.result);
        record.rating_after = Some(after);
        self.records.push(record);
    }

    fn rate(&mut self, names: [&'static str; 2], result: GameResult) -> Sides<SeatRating> {
        let outcome = match result {
            GameResult::South => Outcome::Win,
            GameResult::North => Outcome::Loss,
            _ => Outcome::Draw,
        };
        let before = names.map(|name| *self.ratings.entry(name).or_default());
        let south = before[0].after(before[1], outcome);
        let north = before[1].after(before[0], outcome.other());
        self.ratings.extend([(names[0], south), (names[1], north)]);
        let told = |Rating { rating, rd, volatility }| SeatRating { rating, rd, volatility };
        Sides { south: told(south), north: told(north) }
    }
}

fn seat(name: &str, version: Option<&str>) -> RecordSeat {
    let (name, version) = (name.to_owned().try_into().unwrap(), version.map(ToOwned::to_owned));
    RecordSeat { name, guest: false, version, rating: None, rd: None, volatility: None }
}

/// Ada plays its first version in the first half. Then games that count for nothing, and one of another pool.
fn records() -> Vec<Record> {
    let table = solve();
    let openings = balanced_openings(&table);
    let mut ladder = Ladder { openings, table, dice: Dice(3), ratings: HashMap::new(), records: Vec::new() };
    for pair in 0..GAMES / 2 {
        let ada = usize::from(pair >= GAMES / 4);
        let here = [ada, 2, 3, 4, 5];
        let one = usize::try_from(pair % 5).unwrap();
        let other = (one + 1 + usize::try_from(pair / 5 % 4).unwrap()) % 5;
        let opening = usize::try_from(pair).unwrap() % ladder.openings.len();
        ladder.add([here[one], here[other]], opening);
        ladder.add([here[other], here[one]], opening);
    }
    let mut records = ladder.records;
    for change in [
        (|record| record.rated = false) as fn(&mut Record),
        |record| record.south.guest = true,
        |record| (record.result, record.termination) = (GameResult::None, Termination::Aborted),
        |record| record.pool = "bullet".to_owned(),
    ] {
        let mut record = records[0].clone();
        record.game = modiar_protocol::GameId::new(uuid::Uuid::from_u128(records.len() as u128 + 1));
        record.seq = records.len() as u64 + 1;
        change(&mut record);
        records.push(record);
    }
    records
}

/// A data directory with these games and the table of the solved game, and the records.
static LADDER: LazyLock<(TempDir, Vec<Record>)> = LazyLock::new(|| {
    let folder = TempDir::new().unwrap();
    let data = DataDir::new(folder.path());
    let mut records = records();
    SqliteStore::open(&data).unwrap().commit(&mut records, &[], &[]).unwrap();
    solve().write(&data.oracle()).unwrap();
    (folder, records)
});

#[track_caller]
fn standings_of(data: &Path, arguments: &[&str], status: i32) -> (String, String) {
    let output = Command::new(MODIAR).arg("standings").args(arguments).arg("--data").arg(data).output().unwrap();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[track_caller]
fn standings(arguments: &[&str]) -> String {
    standings_of(LADDER.0.path(), arguments, 0).0
}

#[track_caller]
fn json_of(arguments: &[&str]) -> Value {
    serde_json::from_str(&standings(&[arguments, &["--json"]].concat())).unwrap()
}

/// The rated games of the pool that this side of a bot had.
fn count(bot: &str, counts: impl Fn(&Record, bool) -> bool) -> u64 {
    let records = LADDER.1[..usize::try_from(GAMES).unwrap()].iter();
    let seats = records.flat_map(|record| [(record, true), (record, false)]);
    let own = seats.filter(|(record, south)| {
        let seat = if *south { &record.south } else { &record.north };
        seat.name.as_str() == bot && counts(record, *south)
    });
    own.count() as u64
}

#[test]
fn bots_are_ranked_by_the_fit_over_the_rated_games_of_the_pool() {
    let told = json_of(&[]);
    assert_eq!((&told["pool"], &told["games"], &told["players"]), (&json!("blitz"), &json!(GAMES), &json!(5)));
    let rows = told["rows"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| row["bot"].as_str().unwrap()).collect();
    // Ada's two versions are one bot here, and add up to less than barbara.
    assert_eq!(names.len(), 5);
    assert_eq!(names[4], "Carol");
    for row in rows {
        let bot = row["bot"].as_str().unwrap();
        assert_eq!(row["south_games"], count(bot, |_, south| south), "{bot}");
        assert_eq!(row["games"], count(bot, |_, _| true), "{bot}");
        let late = |record: &Record, south| south && record.termination == Termination::TimeForfeit;
        assert_eq!(row["time_forfeits"], count(bot, late), "{bot}");
        assert_eq!(row["house"], bot.starts_with("house-"), "{bot}");
        let [low, rating, high] = ["rating_low", "rating", "rating_high"].map(|end| row[end].as_f64().unwrap());
        assert!(low < rating && rating < high && high - low < 200.0, "{row}");
    }
    let of = |bot: &str, field: &str| rows.iter().find(|row| row["bot"] == bot).unwrap()[field].as_f64().unwrap();
    // The anchors keep their weighed mean: where one is above its constant the other is below.
    let [lower, upper] = [("house-level4", 1500.0), ("house-level6", 1670.0)].map(|(bot, is)| of(bot, "rating") - is);
    assert!(lower * upper < 0.0 && lower.abs() + upper.abs() < 100.0, "{lower} {upper}");
    // As measured over many games, 1.15 and 0.41.
    assert!(
        (0.9..1.4).contains(&of("house-level4", "accuracy")) && (0.3..0.5).contains(&of("house-level6", "accuracy"))
    );
    assert_eq!(told["separated"][1]["elo"], 50);
    assert!(told["separated"][1]["games"].as_u64().unwrap() > 150);
}

#[test]
fn glicko_is_what_the_last_rated_record_of_a_bot_tells() {
    let (told, records) = (json_of(&[]), &LADDER.1[..usize::try_from(GAMES).unwrap()]);
    for row in told["rows"].as_array().unwrap() {
        let of = |record: &Record| {
            let rating = record.rating_after?;
            let is = |seat: &RecordSeat| row["bot"] == seat.name.as_str();
            if is(&record.south) { Some(rating.south) } else { is(&record.north).then_some(rating.north) }
        };
        let last = records.iter().rev().find_map(of).unwrap();
        assert_eq!((&row["glicko"], &row["glicko_rd"]), (&json!(last.rating), &json!(last.rd)));
        assert_eq!(row["provisional"], false);
    }
}

#[test]
fn the_forms_say_the_same_and_a_part_of_the_ranks_can_be_asked_for() {
    let told = json_of(&["--from", "2", "--count", "3"]);
    let (text, csv) = (standings(&[]), standings(&["--csv"]));
    assert!(text.contains("the ranking to trust") && text.contains("50 points"), "{text}");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 6);
    assert!(lines[0].starts_with("rank,bot,version,house,rating,rating_low,"), "{}", lines[0]);
    for (rank, row) in (2..).zip(told["rows"].as_array().unwrap()) {
        let bot = row["bot"].as_str().unwrap();
        assert_eq!(row["rank"], rank);
        assert!(
            lines[rank].starts_with(&format!("{rank},{bot},,{},{}", row["house"], row["rating"])),
            "{}",
            lines[rank]
        );
        let mark = if row["house"] == true { "*" } else { "" };
        assert!(text.contains(&format!("{rank:>5} {bot}{mark} ")), "{text}");
    }
    assert_eq!(told["rows"].as_array().unwrap().len(), 3);
}

#[test]
fn every_text_fits_a_hundred_columns_and_moves_no_cursor() {
    for arguments in [&[][..], &["--crosstable"], &["--versus", "ada", "Carol"], &["--bot", "ada"], &["--versions"]] {
        let text = standings(arguments);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}

#[test]
fn the_crosstable_adds_up() {
    let told = json_of(&["--crosstable"]);
    let met = told["met"].as_array().unwrap();
    assert_eq!(met.len(), 20, "each of five met each");
    for one in met {
        let other =
            met.iter().find(|other| other["bot"] == one["opponent"] && other["opponent"] == one["bot"]).unwrap();
        assert_eq!((&one["games"], &one["wins"]), (&other["games"], &other["losses"]));
        let points = |met: &Value| met["points"].as_f64().unwrap();
        assert_eq!(points(one) + points(other), one["games"].as_f64().unwrap());
    }
    assert_eq!(met.iter().map(|met| met["games"].as_u64().unwrap()).sum::<u64>(), 2 * GAMES);
    assert!(standings(&["--crosstable", "--count", "2"]).contains("ranks 1 to 2 of 5"));
}

#[test]
fn two_are_compared_by_side_and_by_the_likelihood_of_superiority() {
    let (one, other) = (json_of(&["--versus", "barbara", "carol"]), json_of(&["--versus", "Carol", "barbara"]));
    assert_eq!(one["opponent"], "Carol", "names are compared without regard to case");
    assert!(one["superiority"].as_f64().unwrap() > 0.999);
    assert_eq!((&one["south"]["wins"], &one["all"]["games"]), (&other["north"]["losses"], &other["all"]["games"]));
    assert!(
        (one["difference"]["value"].as_f64().unwrap() + other["difference"]["value"].as_f64().unwrap()).abs() < 1e-6
    );
    let last = one["last"].as_array().unwrap();
    let of_two = |record: &&Record| {
        let names = [record.south.name.as_str(), record.north.name.as_str()];
        names.contains(&"barbara") && names.contains(&"Carol")
    };
    let wanted: Vec<_> = LADDER.1.iter().filter(of_two).map(|record| json!(record.game)).collect();
    let told: Vec<_> = last.iter().map(|game| game["game"].clone()).collect();
    assert_eq!(told, wanted[wanted.len() - 10..]);
}

#[test]
fn a_bots_history_tells_whether_a_change_helped() {
    let told = json_of(&["--bot", "ADA"]);
    let versions = told["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 2);
    assert_eq!((&versions[0]["version"], &versions[1]["version"]), (&json!(BOTS[0].1), &json!("2")));
    assert_eq!(versions[0]["superiority"], Value::Null);
    assert!(versions[1]["superiority"].as_f64().unwrap() > 0.999, "{told}");
    assert!(versions[1]["accuracy"].as_f64().unwrap() < versions[0]["accuracy"].as_f64().unwrap() / 2.0);
    let ranked = json_of(&["--versions"]);
    let rows = ranked["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["bot"], &rows[0]["version"]), (6, &json!("ada"), &json!("2")));
    assert_eq!(rows[0]["rating"], versions[1]["rating"].clone(), "each bot but ada has one version");
    // A version is whatever a bot said: in CSV it stays one field.
    assert!(standings(&["--bot", "ada", "--csv"]).contains("\"1\u{1b}[2J,\"\"x\"\"\""));
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    let data = LADDER.0.path();
    let (said, why) = standings_of(data, &["--pool", "rapid"], 3);
    assert!(said.is_empty() && why.contains("'rapid' has no rated game; there are some in blitz, bullet"), "{why}");
    let (_, why) = standings_of(data, &["--bot", "dorothy"], 3);
    assert!(why.contains("'dorothy' has no rated game in pool 'blitz'") && why.contains("Carol"), "{why}");
    let (_, why) = standings_of(data, &["--versus", "ada", "dorothy"], 3);
    assert!(why.contains("'dorothy' has no rated game"), "{why}");
    for misuse in [
        &["--from", "0"][..],
        &["--json", "--csv"],
        &["--versus", "ada"],
        &["--bot", "a b"],
        &["--crosstable", "--bot", "ada"],
    ] {
        standings_of(data, misuse, 2);
    }
    assert_eq!(json_of(&["--pool", "bullet"])["games"], 1);
}

#[test]
fn every_field_of_the_json_is_documented() {
    fn names(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                found.push(name.clone());
                names(value, found);
            }),
            Value::Array(values) => values.iter().for_each(|value| names(value, found)),
            _ => {}
        }
    }
    let (page, mut found) = (std::fs::read_to_string(project().join("daemon/STANDINGS.md")).unwrap(), Vec::new());
    for arguments in [&[][..], &["--crosstable"], &["--versus", "ada", "Carol"], &["--bot", "ada"]] {
        names(&json_of(arguments), &mut found);
    }
    let missing: Vec<_> = found.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "daemon/STANDINGS.md does not tell {missing:?}");
}

#[test]
fn it_works_beside_a_daemon_and_in_an_empty_database() {
    let data = DataDir::new(LADDER.0.path());
    let alone = standings(&["--json"]);
    let claim = data.claim().unwrap();
    assert_eq!(standings(&["--json"]), alone);
    drop(claim);
    let empty = TempDir::new().unwrap();
    drop(SqliteStore::open(&DataDir::new(empty.path())).unwrap());
    let (said, why) = standings_of(empty.path(), &["--json"], 0);
    assert!(why.contains("there is no rated game in season"), "{why}");
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap()["rows"], json!([]));
}

/// `ladder.standings`: who is removed leaves them with its games, and who has its name later begins anew.
#[test]
fn a_removed_bot_leaves_the_standings_of_the_season() {
    let folder = TempDir::new().unwrap();
    let mut store = SqliteStore::open(&DataDir::new(folder.path())).unwrap();
    let (mut earlier, mut later) = (LADDER.1[..200].to_vec(), LADDER.1[200..400].to_vec());
    let counted = |folder: &TempDir, options: &[&str]| {
        let (said, _) = standings_of(folder.path(), &[options, &["--json"]].concat(), 0);
        let said: Value = serde_json::from_str(&said).unwrap();
        let rows = said["rows"].as_array().unwrap().iter();
        let ada = rows.filter(|row| row["bot"] == "ada").map(|row| row["games"].as_u64().unwrap()).sum::<u64>();
        (said["games"].as_u64().unwrap(), ada)
    };
    let of_ada = |records: &[Record]| records.iter().filter(|record| is_of(record, "ada")).count() as u64;
    // As the daemon has it: a seat of a rated pool has a rating, which the transaction reads.
    for record in earlier.iter_mut().chain(&mut later) {
        for seat in [&mut record.south, &mut record.north] {
            (seat.rating, seat.rd, seat.volatility) = (Some(1500.0), Some(350.0), Some(0.06));
        }
    }
    store.commit(&mut earlier, &[], &[]).unwrap();
    store.remove_account(&"ada".to_owned().try_into().unwrap()).unwrap();
    assert_eq!(counted(&folder, &[]), (200 - of_ada(&earlier), 0));
    store.commit(&mut later, &[], &[]).unwrap();
    assert_eq!(counted(&folder, &[]), (400 - of_ada(&earlier), of_ada(&later)));
    // What was is over, and stays.
    store.begin_season("next".to_owned().try_into().unwrap(), modiar::ladder::Carry::None).unwrap();
    store.remove_account(&"ada".to_owned().try_into().unwrap()).unwrap();
    assert_eq!(counted(&folder, &["--season", "first"]), (400 - of_ada(&earlier), of_ada(&later)));
}

fn is_of(record: &Record, bot: &str) -> bool {
    [&record.south, &record.north].iter().any(|seat| seat.name.as_str() == bot)
}
