//! Finished games as tables: what they hold is what the store holds, in every form and month.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

#[allow(dead_code)] // a simulation throws them in more ways
#[path = "simulation/dice.rs"]
mod dice;
#[path = "export/games.rs"]
mod games;
#[path = "export/recipes.rs"]
mod recipes;
#[path = "export/sums.rs"]
mod sums;
mod support;

use games::{NORMAL, Stored};
use modiar::export::{Head, Kind, Table, heads};
use modiar_oracle::Bounds;
use modiar_protocol::Record;
use modiar_rules::{Pit, Position, Side, parse_moves};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use support::{MODIAR, have, project};

const MONTHS: [&str; 3] = ["2026-09", "2026-10", "2026-11"];

/// The rows of a file of JSON lines.
fn rows(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(row: &Value, column: &str) -> i64 {
    row[column].as_i64().unwrap_or_else(|| panic!("{column}: {row}"))
}

fn sum(rows: &[Value], column: &str) -> i64 {
    rows.iter().map(|row| number(row, column)).sum()
}

/// `record.tables`, `record.months`
#[test]
fn the_tables_hold_what_the_store_holds() {
    let stored = Stored::three_months();
    let folder = stored.export(&["--format", "jsonl", "--analysis", "--out", "tables"]).join("tables");
    let month = |table: &str, month: &str| rows(&folder.join(format!("{table}-{month}.jsonl")));
    assert_eq!(MONTHS.map(|at| month("games", at).len()), [1, 0, NORMAL], "games by the month of their end");
    assert_eq!(MONTHS.map(|at| month("plies", at).len()), [0, 0, stored.plies()], "plies by the month of their game");
    let all = |table: &str| MONTHS.map(|at| month(table, at)).concat();
    let (games, plies) = (all("games"), all("plies"));
    for (table, rows) in [(Table::Games, &games), (Table::Plies, &plies)] {
        rows.iter().for_each(|row| is_of_its_types(row, &heads(table, true)));
    }
    for (row, record) in games.iter().zip(&stored.records) {
        game_is_its_record(row, record);
        let plies: Vec<Value> = plies.iter().filter(|ply| ply["game"] == row["game"]).cloned().collect();
        plies_are_those_of_the_record(&plies, record);
        values_are_those_of_the_oracle(row, &plies, record);
    }
    assert!(sum(&plies, "standing") > sum(&plies, "schema_version"), "some position stood again");
    assert!(plies.iter().any(|ply| ply["exact"] == false), "endless play decided some value");
}

/// All columns, in their order, none null, none beyond its type or what a double holds.
fn is_of_its_types(row: &Value, heads: &[Head]) {
    let fields = row.as_object().unwrap();
    assert_eq!(fields.len(), heads.len());
    for Head { name, kind, .. } in heads {
        let value = &row[name];
        let within = |bits: u32| value.as_i64().is_some_and(|value| value.abs() < 1 << (bits - 1));
        let fits = match kind {
            Kind::Bool => value.is_boolean(),
            Kind::Int8 => within(8),
            Kind::Int16 => within(16),
            Kind::Int32 => within(32),
            Kind::Int64 => within(54),
            Kind::Float64 => value.is_f64(),
            Kind::Text => value.is_string(),
            Kind::Time => value.as_str().is_some_and(|text| text.len() == "2026-11-30T12:00:00.000000Z".len()),
        };
        assert!(fits, "{name}: {value}");
    }
}

fn game_is_its_record(row: &Value, record: &Record) {
    let stored = serde_json::to_value(record).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for name in ["game", "pool", "started", "ended", "rated", "opening", "moves", "result", "termination", "node"] {
        assert_eq!(row[name], stored[name], "{name}");
    }
    for side in ["south", "north"] {
        let seat = &stored[side];
        let of = |column: &str| &row[format!("{side}_{column}")];
        assert_eq!((text(of("bot")), text(of("version"))), (text(&seat["name"]), text(&seat["version"])));
        assert_eq!((of("guest"), of("has_rating")), (&seat["guest"], &json!(seat["rating"].is_number())));
        assert_eq!(of("rating").as_f64(), Some(seat["rating"].as_f64().unwrap_or_default()));
        let after = stored["rating_after"][side]["rating"].as_f64();
        assert_eq!(of("rating_after").as_f64(), after.or(of("rating").as_f64()), "without a change as before");
        assert_eq!(of("score_seeds"), &stored["score"][side]);
        assert_eq!(of("remaining_us"), &stored["remaining_us"][side]);
    }
    let charged = |parity: usize| {
        let plies = record.charged_us.iter().enumerate().filter(|(at, _)| (record.opening.len() + at) % 2 == parity);
        plies.map(|(_, charged)| charged.cast_signed()).sum::<i64>()
    };
    assert_eq!([number(row, "south_used_us"), number(row, "north_used_us")], [charged(0), charged(1)]);
    assert_eq!(row["plies"], record.moves.len());
    assert_eq!(number(row, "margin_seeds"), i64::from(record.score.south) - i64::from(record.score.north));
    assert_eq!((0..6).map(|pit| number(row, &format!("pit_{pit}"))).collect::<Vec<_>>(), record.pits.map(i64::from));
    assert_eq!(text(&row["illegal_clause"]), text(&stored["detail"]["clause"]));
    assert_eq!(row["has_unfinished_turn"], stored["unfinished_turn"].is_object());
    assert_eq!(number(row, "unfinished_charged_us"), stored["unfinished_turn"]["charged_us"].as_i64().unwrap_or(0));
    assert_eq!(text(&row["record_sha256"]), modiar::store::line_hash(record.to_line().unwrap()));
}

fn plies_are_those_of_the_record(plies: &[Value], record: &Record) {
    assert_eq!(plies.len(), record.moves.len());
    let moves: String = plies.iter().map(|ply| number(ply, "pit").to_string()).collect();
    assert_eq!(moves, record.moves);
    let served = plies.iter().filter(|ply| ply["from_opening"] == true).count();
    assert_eq!(served, record.opening.len());
    assert!(plies[..served].iter().all(|ply| number(ply, "elapsed_us") + number(ply, "remaining_us") == 0));
    for (column, stored) in
        [("elapsed_us", &record.elapsed_us), ("own_us", &record.own_us), ("charged_us", &record.charged_us)]
    {
        let written: Vec<u64> = plies[served..].iter().map(|ply| ply[column].as_u64().unwrap()).collect();
        assert_eq!(&written, stored, "{column}");
    }
    for (at, ply) in plies.iter().enumerate() {
        assert_eq!(number(ply, "ply"), i64::try_from(at + 1).unwrap());
        let side = if at % 2 == 0 { &record.south } else { &record.north };
        assert_eq!(ply["bot"], side.name.as_str());
        assert!(ply["legal"].as_str().unwrap().contains(&number(ply, "pit").to_string()));
        let pits: i64 = (0..6).map(|pit| number(ply, &format!("pit_{pit}"))).sum();
        let captured = number(ply, "south_captured_seeds") + number(ply, "north_captured_seeds");
        assert_eq!(pits + captured, 42, "no seed is lost");
        let same = |other: &&Value| (0..6).all(|pit| other[format!("pit_{pit}")] == ply[format!("pit_{pit}")]);
        let stood = plies[..=at].iter().filter(same).filter(|other| other["side"] == ply["side"]).count();
        assert_eq!(ply["standing"], stood, "captured seeds do not come back");
        let taken = number(ply, "taken_seeds");
        assert_eq!(taken > 0, number(ply, "chain_pits") > 0);
        if let Some(next) = plies.get(at + 1) {
            let then = number(next, "south_captured_seeds") + number(next, "north_captured_seeds");
            assert_eq!(captured + taken, then);
        }
    }
}

/// The values of the tables follow from the oracle's, asked here of each position on its own.
fn values_are_those_of_the_oracle(game: &Value, plies: &[Value], record: &Record) {
    let (oracle, mut position) = (games::oracle(), Position::START);
    let mut lost = [0i64; 2];
    for (ply, pit) in plies.iter().zip(parse_moves(&record.moves).unwrap()) {
        let [captured, other] = [position.side(), position.side().other()].map(|side| position.captured()[side]);
        let ahead = i64::from(captured) - i64::from(other);
        let value = oracle.value(&position).unwrap();
        assert_eq!(number(ply, "value_before_seeds"), ahead + i64::from(value.lo));
        assert_eq!(ply["exact"], (value.lo == value.hi));
        assert_eq!(ply["best"].as_str().unwrap(), best(&position));
        let side = position.side();
        position = position.play(pit).unwrap().position;
        // What is worst for the mover is best for the other.
        let Bounds { hi, .. } = oracle.value(&position).unwrap();
        let ahead = i64::from(position.captured()[side]) - i64::from(position.captured()[side.other()]);
        assert_eq!(number(ply, "value_after_seeds"), ahead - i64::from(hi));
        let served = ply["from_opening"] == true;
        let loss = if served { 0 } else { number(ply, "value_before_seeds") - number(ply, "value_after_seeds") };
        assert!(loss >= 0 && loss == number(ply, "loss_seeds"));
        if ply["from_opening"] == false {
            lost[usize::from(side == Side::North)] += loss;
        }
    }
    assert_eq!([number(game, "south_loss_seeds"), number(game, "north_loss_seeds")], lost);
    let chosen = plies.iter().filter(|ply| ply["from_opening"] == false);
    let choices: Vec<Value> = chosen.clone().filter(|ply| number(ply, "legal_count") > 1).cloned().collect();
    let optimal = choices.iter().filter(|ply| number(ply, "loss_seeds") == 0).count();
    assert_eq!(number(game, "south_choices") + number(game, "north_choices"), i64::try_from(choices.len()).unwrap());
    assert_eq!(number(game, "south_optimal") + number(game, "north_optimal"), i64::try_from(optimal).unwrap());
    let first = chosen.clone().find(|ply| number(ply, "loss_seeds") > 0).map_or(0, |ply| number(ply, "ply"));
    assert_eq!(number(game, "first_loss_ply"), first);
    // Nobody has a choice any more: the last value is the result.
    if let (Some(last), "immobile") = (plies.last(), record.termination.as_str()) {
        let sign = if last["side"] == "south" { 1 } else { -1 };
        assert_eq!(number(last, "value_after_seeds"), sign * number(game, "margin_seeds"));
    }
}

fn best(position: &Position) -> String {
    let moves = games::oracle().moves(position).unwrap();
    let most = moves.iter().map(|one| one.bounds.lo).max();
    let best = moves.iter().filter(|one| Some(one.bounds.lo) == most);
    best.map(|one| char::from(b'0' + Pit::index(one.pit))).collect()
}

/// What goes to stdout is what the files hold, and without options it is the archive (`record.export`).
#[test]
fn stdout_has_the_same_rows_as_the_files() {
    let stored = Stored::three_months();
    let lines = |arguments: &[&str]| {
        let text = stored.stdout(&[&["games", "export"], arguments].concat());
        String::from_utf8(text).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let records: Vec<String> = stored.records.iter().map(|record| record.to_line().unwrap()).collect();
    assert_eq!(lines(&[]), records);
    for format in ["csv", "jsonl"] {
        let folder = stored.export(&["--format", format, "--out", format]).join(format);
        for (table, chosen) in [("games", &[][..]), ("plies", &["--plies"])] {
            if format == "jsonl" && table == "games" {
                continue;
            }
            let mut files = Vec::new();
            for (at, month) in MONTHS.iter().enumerate() {
                let text = fs::read_to_string(folder.join(format!("{table}-{month}.{format}"))).unwrap();
                let heads = usize::from(format == "csv" && at > 0);
                files.extend(text.lines().skip(heads).map(str::to_owned));
            }
            assert_eq!(lines(&[&["--format", format], chosen].concat()), files, "{format} {table}");
        }
    }
    let bullet = stored.records.iter().filter(|record| record.pool == "bullet").count();
    assert_eq!(lines(&["--format", "csv", "--pool", "bullet"]).len(), bullet + 1, "the names, and a row a game");
}

#[test]
fn the_sums_of_the_files_are_theirs() {
    if !have("sha256sum") {
        return;
    }
    let stored = Stored::three_months();
    let folder = stored.export(&["--format", "csv", "--out", "tables"]).join("tables");
    let checked = Command::new("sha256sum").args(["--check", "SHA256SUMS"]).current_dir(&folder).output().unwrap();
    let told = String::from_utf8(checked.stdout).unwrap();
    assert!(checked.status.success() && told.lines().count() == 7, "{told}");
    let schema: Value = serde_json::from_str(&fs::read_to_string(folder.join("schema.json")).unwrap()).unwrap();
    for table in Table::ALL {
        assert_eq!(schema["tables"][table.as_str()], serde_json::to_value(heads(table, false)).unwrap());
    }
}

/// Nothing is overwritten or mixed.
#[test]
fn a_directory_that_is_not_empty_is_refused() {
    let stored = Stored::three_months();
    fs::write(stored.folder().join("mine"), "").unwrap();
    let refused = stored.run(&["games", "export", "--format", "csv", "--out", "."]);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(3) && told.contains(". is not empty; choose another directory"), "{told}");
    let both = stored.run(&["games", "export", "--format", "csv", "--plies", "--out", "new"]);
    assert!(both.status.code() == Some(2) && !stored.folder().join("new").exists(), "{both:?}");
}

/// A wall clock that went back writes to a month that had been left, and one that was wrong by far no files of ages.
#[test]
fn a_wall_clock_that_was_wrong_loses_no_game() {
    let mut back = Stored::three_months();
    back.add("2026-10-01T00:00:00.000000Z");
    let folder = back.export(&["--format", "jsonl", "--out", "tables"]).join("tables");
    let games = MONTHS.map(|month| rows(&folder.join(format!("games-{month}.jsonl"))).len());
    assert_eq!(games, [1, 1, NORMAL]);
    back.add("2926-10-01T00:00:00.000000Z");
    let refused = back.run(&["games", "export", "--format", "csv", "--out", "ages"]);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(3) && told.contains("between 2026-09 and 2926-10"), "{told}");
}

#[test]
fn an_export_in_which_nothing_fits_has_its_columns_all_the_same() {
    let stored = Stored::three_months();
    let none = stored.run(&["games", "export", "--format", "csv", "--bot", "nobody"]);
    let (text, told) = (String::from_utf8(none.stdout).unwrap(), String::from_utf8(none.stderr).unwrap());
    assert!(text.starts_with("schema_version,game,") && text.lines().count() == 1, "{text}");
    assert!(none.status.success() && told.contains(&format!("none of {} games fits", stored.records.len())), "{told}");
    let folder = stored.export(&["--bot", "nobody", "--out", "none"]).join("none");
    let files: BTreeSet<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["SHA256SUMS", "schema.json"].map(Into::into).into());
}

#[test]
fn parquet_is_not_written_to_a_terminal() {
    if !have("script") {
        return;
    }
    let stored = Stored::three_months();
    let mut script = Command::new("script");
    let line = format!("'{MODIAR}' games export --format parquet --data data");
    script.args(["--quiet", "--return", "--command", &line, "typescript"]).current_dir(stored.folder());
    let output = script.stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(2) && told.contains("parquet is not for a terminal"), "{output:?}");
}

/// What B6 of readers taught: these names they take for dates, and such numbers they round (`record.columns`).
#[test]
fn no_column_has_a_name_that_readers_guess_by() {
    for table in Table::ALL {
        let heads = heads(table, true);
        let names: BTreeSet<&str> = heads.iter().map(|head| head.name).collect();
        assert_eq!(names.len(), heads.len(), "no name comes twice");
        for Head { name, kind, unit, .. } in heads {
            let guessed = ["_at", "_time", "date"].iter().any(|end| name.ends_with(end));
            assert!(*unit != *"" || !name.ends_with("_us"), "{name}");
            assert!(!guessed || kind == Kind::Text, "{name}");
            for (ending, of) in [("_seeds", "seeds"), ("_us", "µs"), ("_ms", "ms")] {
                assert!(!name.ends_with(ending) || unit == of, "{name} is in {unit}");
            }
        }
    }
}

/// The page lists the columns as they are written (`record.columns`).
#[test]
fn the_specification_tells_every_column() {
    let page = fs::read_to_string(project().join("spec/record.md")).unwrap();
    for table in Table::ALL {
        let name = table.as_str();
        let (plain, all) = (heads(table, false), heads(table, true));
        for (heading, columns) in
            [(format!("### {name}\n"), &plain[..]), (format!("### {name} with --analysis\n"), &all[plain.len()..])]
        {
            let mut rows = String::from("| Column | Type | Unit | Meaning |\n|---|---|---|---|\n");
            for Head { name, kind, unit, meaning } in columns {
                rows += &format!("| `{name}` | {} | {unit} | {meaning} |\n", kind.as_str());
            }
            let section = page.split(&heading).nth(1).unwrap_or_else(|| panic!("the page has no {heading}"));
            assert!(section.contains(&rows), "below {heading}the page is to have\n{rows}");
        }
    }
}

/// Every recipe of the page, in every form, reads the same as the store holds.
#[test]
fn the_recipes_read_what_was_written() {
    let page = fs::read_to_string(project().join("daemon/ANALYSIS.md")).unwrap();
    let stored = Stored::three_months();
    recipes::run_shell(&stored, &page);
    let tables: Vec<(Table, Vec<Value>)> = Table::ALL
        .into_iter()
        .map(|table| {
            let path = |month: &str| stored.folder().join(format!("jsonl/{}-{month}.jsonl", table.as_str()));
            (table, MONTHS.map(|month| rows(&path(month))).concat())
        })
        .collect();
    assert_eq!(sum(&tables[1].1, "charged_us"), stored.charged(), "the reference is the store's");
    recipes::run_sqlite(&stored, &page, &tables);
    recipes::run_python(&stored, &page, &tables);
}
