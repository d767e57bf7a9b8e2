//! `modiar analyze`: what it says of games follows from their plies, from whatever they are read.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

#[path = "../bench/benches/games/mod.rs"]
mod games;
mod support;

use games::Dice;
use modiar::store::{DataDir, SqliteStore, Store as _};
use modiar_oracle::solve;
use modiar_protocol::{GameResult, Record, Termination};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use support::{MODIAR, have, project};
use tempfile::TempDir;

/// Games of which every seventh was aborted and every fifth began with two plies of the server's.
fn records(count: u64) -> Vec<Record> {
    let mut dice = Dice(7);
    let mut records: Vec<Record> = (1..=count).map(|number| games::record(number, &mut dice)).collect();
    for record in records.iter_mut().filter(|record| record.seq % 7 == 0) {
        (record.result, record.termination) = (GameResult::None, Termination::Aborted);
    }
    for record in records.iter_mut().filter(|record| record.seq % 5 == 0) {
        record.opening = record.moves[..2].to_owned();
        for times in [&mut record.elapsed_us, &mut record.own_us, &mut record.charged_us] {
            times.drain(..2);
        }
    }
    records
}

fn write(folder: &Path, records: &[Record]) -> PathBuf {
    let path = folder.join("games.jsonl");
    let lines = records.iter().map(|record| record.to_line().unwrap() + "\n");
    fs::write(&path, lines.collect::<String>()).unwrap();
    path
}

/// The table of the solved game, in a data directory: solving it for every run would take minutes.
static TABLE: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = TempDir::new().unwrap();
    solve().write(&DataDir::new(folder.path()).oracle()).unwrap();
    folder
});

#[track_caller]
fn analyze(folder: &Path, arguments: &[&str], status: i32) -> (String, String) {
    let mut command = Command::new(MODIAR);
    command.arg("analyze").args(arguments).env("MODIAR_DATA", TABLE.path()).current_dir(folder);
    let output: Output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let (said, _) = analyze(folder, arguments, 0);
    serde_json::from_str(&said).unwrap()
}

#[test]
fn a_file_and_a_data_directory_say_the_same() {
    let folder = TempDir::new().unwrap();
    let mut records = records(40);
    let data = DataDir::new(folder.path().join("data"));
    let claim = data.claim().unwrap();
    SqliteStore::open(&data).unwrap().commit(&mut records, &[], &[]).unwrap();
    let path = write(folder.path(), &records);
    fs::copy(DataDir::new(TABLE.path()).oracle(), data.oracle()).unwrap();
    let of_file = json(folder.path(), &[path.to_str().unwrap(), "--json"]);
    // Beside a daemon that has it claimed as well as without one.
    assert_eq!(json(folder.path(), &["--data", "data", "--json"]), of_file);
    drop(claim);
    assert_eq!(json(folder.path(), &["--data", "data", "--json"]), of_file);
    assert_eq!(of_file["totals"]["games"], 40);
    assert_eq!(of_file["totals"]["no_result"], 5, "every seventh");
    assert_eq!(of_file["totals"]["score"]["games"], 35);
    assert_eq!(of_file["totals"]["terminations"]["aborted"], 5);
    assert_eq!(
        (&of_file["totals"]["opening_plies"], &of_file["totals"]["games_from_openings"]),
        (&16.into(), &8.into())
    );
    let worst = &of_file["worst"][0];
    let (shown, _) = {
        let game = worst["game"].as_str().unwrap();
        let output =
            Command::new(MODIAR).args(["games", "show", game, "--data", "data"]).current_dir(folder.path()).output();
        let output = output.unwrap();
        (String::from_utf8(output.stdout).unwrap(), output.status)
    };
    let line = shown.lines().find(|line| line.trim_start().starts_with(&format!("{} ", worst["ply"]))).unwrap();
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells[2], worst["pit"].to_string(), "{shown}");
    assert_eq!(cells[4], worst["loss"].to_string(), "{shown}");
}

#[test]
fn nothing_at_all_is_a_report_too() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("none.jsonl"), "\n").unwrap();
    let (said, told) = analyze(folder.path(), &["none.jsonl"], 0);
    assert!(
        said.starts_with("0 games, 0 plies of 0 bots") && told.contains("none.jsonl holds no game"),
        "{said}{told}"
    );
    let report = json(folder.path(), &["none.jsonl", "--json", "--html", "none.html"]);
    assert_eq!((&report["totals"]["games"], &report["bots"]), (&0.into(), &Value::Array(vec![])));
    let page = fs::read_to_string(folder.path().join("none.html")).unwrap();
    assert!(page.contains("0 games"), "{page}");
    assert_is_self_contained(&page);
}

/// A game that was aborted before its first ply counts as a game and as nothing else.
#[test]
fn an_aborted_game_has_no_score_and_is_told() {
    let folder = TempDir::new().unwrap();
    let mut records = records(7);
    let mut aborted = records.remove(6);
    aborted.moves.clear();
    for times in [&mut aborted.elapsed_us, &mut aborted.own_us, &mut aborted.charged_us] {
        times.clear();
    }
    write(folder.path(), &[aborted]);
    let report = json(folder.path(), &["games.jsonl", "--json"]);
    assert_eq!(report["totals"]["no_result"], 1);
    for bot in report["bots"].as_array().unwrap() {
        assert_eq!(
            (&bot["games"], &bot["no_result"], &bot["score"]["games"]),
            (&1.into(), &1.into(), &0.into()),
            "{bot}"
        );
        assert!(bot["score"].get("score").is_none() && bot["judged"]["all"].get("accuracy").is_none(), "{bot}");
    }
    let (said, _) = analyze(folder.path(), &["games.jsonl"], 0);
    assert!(said.contains("1 without a result, which no score counts. Ends: aborted 1."), "{said}");
}

/// The terminal has room for 100 columns, whatever the figures.
#[test]
fn no_line_is_longer_than_a_hundred_columns() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), &records(400));
    let (said, told) = analyze(folder.path(), &["games.jsonl"], 0);
    for title in ["Bots", "By side", "Accuracy by phase", "Accuracy by time used", "Openings", "Worst moves"] {
        assert!(said.contains(&format!("\n\n{title}\n")), "{title}: {said}");
    }
    for line in said.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert_eq!(told, "", "no bar where no terminal is");
}

/// What comes from outside stays text.
#[test]
fn a_hostile_name_of_a_pool_does_nothing_to_the_page() {
    let folder = TempDir::new().unwrap();
    let mut records = records(12);
    for record in &mut records {
        record.pool = "<script>alert(1)</script>\"'&\u{1b}[31m".to_owned();
        record.node = record.pool.clone();
        record.south.version = Some(record.pool.clone());
    }
    write(folder.path(), &records);
    fs::rename(folder.path().join("games.jsonl"), folder.path().join("<b>&.jsonl")).unwrap();
    analyze(folder.path(), &["<b>&.jsonl", "--html", "report.html"], 0);
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(
        page.contains("script&#62;alert(1)&#60;") && page.contains("&#60;b&#62;&#38;.jsonl"),
        "the names are shown"
    );
    assert!(!page.contains("<script") && !page.contains("<b>") && !page.contains('\u{1b}'), "as text");
    assert_is_self_contained(&page);
    let (said, _) = analyze(folder.path(), &["<b>&.jsonl"], 0);
    assert!(!said.contains('\u{1b}'), "{said}");
}

/// No reference to anything outside, and every element closed.
#[track_caller]
fn assert_is_self_contained(page: &str) {
    let outside = ["src=", "href=", "url(", "@import", "<script", "<link", "<iframe", "<object"];
    for reference in outside {
        assert!(!page.contains(reference), "{reference}");
    }
    let addresses = page.matches("://").count();
    assert_eq!(addresses, page.matches("xmlns=\"http://www.w3.org/1999/xhtml\"").count(), "names of no server");
    if have("python3") {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("page.html"), page).unwrap();
        let script = "import xml.etree.ElementTree as tree; page = tree.parse('page.html'); \
                      space = '{http://www.w3.org/1999/xhtml}'; \
                      pictures = list(page.iter(space + 'svg')); \
                      assert all(p[0].tag == space + 'title' and p[1].tag == space + 'desc' for p in pictures); \
                      print(len(pictures))";
        let output = Command::new("python3").args(["-c", script]).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn the_page_has_its_pictures_and_their_numbers() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), &records(100));
    let (said, told) = analyze(folder.path(), &["games.jsonl", "--html", "report.html"], 0);
    assert!(said.is_empty() && told.contains("the report was written to report.html"), "{said}{told}");
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    for picture in [
        "Rating in \u{2068}blitz\u{2069}",
        "Score by bot",
        "Accuracy by bot",
        "Accuracy by time used",
        "Thinking time",
        "Loss by ply",
        "Openings",
    ] {
        assert!(page.contains(&format!(">{picture}</title>")), "{picture}");
    }
    for table in ["Bots", "By side", "Accuracy by phase", "Openings", "Worst moves", "By ply"] {
        assert!(page.contains(&format!("<h2>{table}</h2>")), "{table}");
    }
    assert!(page.contains("prefers-color-scheme: dark"), "light and dark");
    assert_is_self_contained(&page);
}

/// It stops at the first line that is no game, and says which, what is wrong with it, and what to do.
#[test]
fn a_bad_line_is_named() {
    let folder = TempDir::new().unwrap();
    let good = write(folder.path(), &records(3));
    let good = fs::read_to_string(good).unwrap();
    let unplayable = {
        let mut record = games::record(4, &mut Dice(1));
        record.moves = "3".to_owned();
        for times in [&mut record.elapsed_us, &mut record.own_us, &mut record.charged_us] {
            times.truncate(1);
        }
        record.to_line().unwrap()
    };
    let newer = good.lines().next().unwrap().replacen("\"record\":1", "\"record\":2", 1);
    for (bad, what) in [
        ("{}", "it is no record: missing field"),
        ("nonsense", "it is no record: expected"),
        ("{\"record\":\"\u{fffd}\"}", "it is no record"),
        (&newer, "it does not replay: it is of another version than 1"),
        (&unplayable, "it does not replay: ply 1: pit 3 in 7.7.7-7.7.7 0-0 s 1: "),
    ] {
        fs::write(folder.path().join("bad.jsonl"), format!("{good}\n{bad}\n{good}{bad}\n")).unwrap();
        let (said, told) = analyze(folder.path(), &["bad.jsonl", "--json"], 3);
        let named = told.contains("bad.jsonl line 5: ") && told.contains(what) && told.contains("modiar games verify");
        assert!(said.is_empty() && named, "{told}");
    }
    fs::write(folder.path().join("bad.jsonl"), [b"\xff\xfe", good.as_bytes()].concat()).unwrap();
    let (_, told) = analyze(folder.path(), &["bad.jsonl"], 3);
    assert!(told.contains("bad.jsonl line 1: it is no record"), "{told}");
}

/// In a file a blank line is nobody's; a stored game that is blank was one.
#[test]
fn a_stored_game_without_a_record_is_named() {
    let daemon = support::Daemon::start();
    let mut game = daemon.game("practice");
    game.play("24");
    game.south.skip_to("turn").unwrap();
    game.south.send(&serde_json::json!({"type": "resign", "game": game.id})).unwrap();
    game.south.skip_to("ended").unwrap();
    let (_, _, data) = daemon.stop();
    let folder = data.path().join("data");
    rusqlite::Connection::open(folder.join("modiar.db")).unwrap().execute("UPDATE games SET record = ''", []).unwrap();
    let (said, told) = analyze(&folder, &["--data", "."], 3);
    assert!(said.is_empty() && told.contains("game 1: it is no record"), "{told}");
}

#[test]
fn what_cannot_be_read_or_written_is_told() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), &records(1));
    for (arguments, status, what) in [
        (&["nope.jsonl"][..], 3, "nope.jsonl: name a file that can be read, or - for stdin"),
        (&["."], 3, ".: name a file that can be read, or - for stdin"),
        (&["games.jsonl", "--data", "."], 2, "neither --data nor --config"),
        (&["--data", "nowhere"], 3, "no data in nowhere"),
        (&["games.jsonl", "--html", "no/where.html"], 3, "no/where.html: name a file that can be written"),
    ] {
        let (_, told) = analyze(folder.path(), arguments, status);
        assert!(told.contains(what), "{told}");
    }
}

/// `daemon/REPORT.md` names every field of the JSON.
#[test]
fn every_field_of_the_json_is_documented() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), &records(50));
    let page = fs::read_to_string(project().join("daemon/REPORT.md")).unwrap();
    let mut keys = Vec::new();
    collect_keys(&json(folder.path(), &["games.jsonl", "--json"]), &mut keys);
    assert!(keys.len() > 50, "{keys:?}");
    for key in keys {
        assert!(page.contains(&format!("`{key}`")), "{key}");
    }
}

/// The names of fields; those of terminations, bots' pools and the like are data.
fn collect_keys(value: &Value, keys: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                keys.push(key.clone());
                if !["terminations", "ratings"].contains(&key.as_str()) {
                    collect_keys(value, keys);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect_keys(value, keys)),
        _ => {}
    }
}
