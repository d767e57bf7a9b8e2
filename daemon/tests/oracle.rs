//! `modiar oracle` as programs use it.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_oracle::Table;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use support::MODIAR;
use tempfile::TempDir;

const START: &str = "7.7.7-7.7.7 0-0 s 1";

fn oracle(folder: &Path, arguments: &[&str], stdin: &str) -> Output {
    let mut command = Command::new(MODIAR);
    command.arg("oracle").args(arguments).current_dir(folder);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Whoever names a position reads nothing.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

/// A folder with a table in the data directory that commands find there.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    support::oracle::lend(&folder.path().join("modiar-data"), "");
    folder
}

fn answers(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The shape that programs rely on, from a table that was built before and from none.
#[test]
fn a_position_is_answered_with_its_exact_value() {
    let folder = TempDir::new().unwrap();
    let start = json!({
        "position": START,
        "value": [-2, -2],
        "final": {"south": [20, 20], "north": [22, 22]},
        "moves": {"0": [-18, -18], "1": [-4, -4], "2": [-2, -2]},
        "best": [2],
    });
    assert_eq!(answers(&oracle(folder.path(), &[START], "")), std::slice::from_ref(&start));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is made by a question");
    let table = folder.path().join("modiar-data/oracle.table");
    fs::create_dir(table.parent().unwrap()).unwrap();
    let built = oracle(folder.path(), &["--build", table.to_str().unwrap()], "");
    assert!(built.status.success() && built.stdout.is_empty(), "{built:?}");
    Table::read(&table).unwrap();
    assert_eq!(answers(&oracle(folder.path(), &[START], "")), [start]);
}

/// Captures count in `final`, North's pits are its own, and where the game is over there is no move.
#[test]
fn positions_are_read_from_stdin_one_a_line() {
    let positions = format!("{START}\n1.1.1-6.1.16 4-12 n 8\n9.9.3-9.2.10 0-0 s 3\n");
    let answers = answers(&oracle(folder().path(), &[], &positions));
    assert_eq!(answers.len(), 3);
    assert_eq!(
        answers[1],
        json!({"position": "1.1.1-6.1.16 4-12 n 8", "value": [20, 20], "final": {"south": [7, 7], "north": [35, 35]},
               "moves": {}, "best": []})
    );
    // What South can be sure of is what the best of its moves leaves it.
    let [lo, moves] = [&answers[2]["value"][0], &answers[2]["moves"]];
    let best = moves.as_object().unwrap().values().map(|bounds| bounds[0].as_i64().unwrap()).max();
    assert_eq!(lo.as_i64(), best);
}

#[test]
fn openings_are_listed_with_what_they_are() {
    let openings = answers(&oracle(folder().path(), &["--openings"], ""));
    assert_eq!(openings.len(), 331);
    for opening in &openings {
        assert_eq!(opening["moves"].as_str().unwrap().len(), 8, "{opening}");
        assert!(opening["position"].as_str().unwrap().ends_with(" s 9"), "{opening}");
        assert!(opening["plies_to_come"].as_u64().unwrap() >= 6 && opening["best"] != json!([]), "{opening}");
    }
}

/// Named, with what is wrong and what would do: 2 for an argument, 3 for a line; the answers before it stand.
#[test]
fn what_is_no_position_is_told() {
    let folder = folder();
    let cases = [
        ("7.7.7-7.7.7", "write a position as"),
        ("7.7.7-7.7.6 0-1 s 1", "41 seeds on the board: no game leads there"),
        ("7.7.7-7.7.7 0-2 s 1", "44"),
        ("7.7.7-7.7.7 0-0 n 1", "north does not play ply 1"),
    ];
    for (text, fault) in cases {
        let argument = oracle(folder.path(), &[text], "");
        let line = oracle(folder.path(), &[], &format!("{START}\n{text}\n"));
        assert_eq!((argument.status.code(), line.status.code()), (Some(2), Some(3)), "{text}");
        for output in [&argument, &line] {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains(text) && said.contains(fault), "{said}");
        }
        assert!(String::from_utf8_lossy(&line.stderr).contains("line 2"));
        assert_eq!(line.stdout.iter().filter(|byte| **byte == b'\n').count(), 1);
    }
    let nowhere = oracle(folder.path(), &["--build", "absent/oracle.table"], "");
    assert_eq!(nowhere.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("absent/oracle.table"));
}

/// `daemon/ORACLE.md` shows an answer as it is, and names every field.
#[test]
fn the_page_tells_every_field() {
    let page = fs::read_to_string(support::project().join("daemon/ORACLE.md")).unwrap();
    let folder = folder();
    let shown = page.split("```json\n").nth(1).unwrap().lines().next().unwrap();
    let output = oracle(folder.path(), &[START], "");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{shown}\n"));
    let openings = answers(&oracle(folder.path(), &["--openings"], ""));
    let answer: Value = serde_json::from_str(shown).unwrap();
    for key in [&answer, &openings[0]].iter().flat_map(|value| value.as_object().unwrap().keys()) {
        assert!(page.contains(&format!("| `{key}` |")), "{key}");
    }
    let output = oracle(folder.path(), &[], &format!("\n{START}\n \n"));
    assert_eq!(answers(&output), [answer]);
}

/// A table gives way to a newer one, and nothing else does.
#[test]
fn a_table_is_written_over_nothing_but_a_table() {
    let folder = folder();
    let notes = folder.path().join("notes.txt");
    fs::write(&notes, "kept").unwrap();
    let output = oracle(folder.path(), &["--build", "notes.txt"], "");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(3) && said.contains("notes.txt is there and is no table"), "{said}");
    assert_eq!(fs::read(&notes).unwrap(), b"kept");
    for _ in 0..2 {
        let output = oracle(folder.path(), &["--build", "new.table"], "");
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is left beside it");
}
