//! The recipes of ANALYSIS.md, run as they stand there.

use super::games::Stored;
use super::sums;
use super::support::programs::Program;
use super::support::{MODIAR, have, project};
use modiar::export::{Head, Kind, Table, heads};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Readers in Python, by their heading on the page, and what each calls the eight types in the order of [`Kind`].
const READERS: [(&str, [&str; 8]); 4] = [
    (
        "DuckDB",
        ["BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "DOUBLE", "VARCHAR", "TIMESTAMP WITH TIME ZONE"],
    ),
    (
        "polars",
        [
            "Boolean",
            "Int8",
            "Int16",
            "Int32",
            "Int64",
            "Float64",
            "String",
            "Datetime(time_unit='us', time_zone='UTC')",
        ],
    ),
    ("pandas", ["bool", "int8", "int16", "int32", "int64", "float64", "str", "datetime64[us, UTC]"]),
    ("pyarrow", ["bool", "int8", "int16", "int32", "int64", "double", "string", "timestamp[us, tz=UTC]"]),
];

/// The section below a heading of the page.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let section = page.split("\n## ").find(|section| section.lines().next() == Some(heading));
    section.unwrap_or_else(|| panic!("the page has no section {heading}"))
}

/// The blocks of a text in this language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    text.split(&*fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// The form that a recipe reads, which names the directory it runs in.
fn form(recipe: &str) -> &'static str {
    let forms = ["parquet", "csv", "jsonl"];
    let named = forms.into_iter().filter(|form| recipe.contains(&format!("*.{form}"))).collect::<Vec<_>>();
    let [form] = named[..] else { panic!("a recipe reads files of one form: {recipe}") };
    form
}

fn shell(folder: &Path, block: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-ec", &format!("modiar() {{ '{MODIAR}' \"$@\"; }}; {block}")]);
    command.current_dir(folder).env("MODIAR_DATA", folder.join("data"));
    let outcome = Program::start(command).finish();
    assert_eq!(outcome.status, Some(0), "{block}: {outcome:?}");
    outcome.stdout
}

/// The commands at the top of the page: they leave the directories that the recipes run in.
pub fn run_shell(stored: &Stored, page: &str) {
    let top = page.split("\n## ").next().unwrap();
    let blocks = blocks(top, "sh");
    assert_eq!(blocks.len(), 3, "{blocks:?}");
    for block in blocks {
        shell(stored.folder(), block);
    }
    let lines = |name: &str| fs::read_to_string(stored.folder().join(name)).unwrap().lines().count() - 1;
    assert_eq!([lines("games.csv"), lines("plies.csv")], [stored.records.len(), stored.plies()]);
}

/// The recipe of sqlite3, in the directory of CSV, and the question in SQL.
pub fn run_sqlite(stored: &Stored, page: &str, tables: &[(Table, Vec<Value>)]) {
    if !have("sqlite3") {
        return;
    }
    let folder = stored.folder().join("csv");
    for block in blocks(section(page, "sqlite3"), "sh") {
        shell(&folder, block);
    }
    let database = rusqlite::Connection::open(folder.join("modiar-games.db")).unwrap();
    for (table, rows) in tables {
        let (count, numbers) = sums::expected(*table, rows);
        for Head { name, kind, .. } in heads(*table, true) {
            let (read, class) = match kind {
                Kind::Bool => (format!("sum({name} = 'true')"), "text"),
                Kind::Text | Kind::Time => (format!("sum(length({name}))"), "text"),
                Kind::Float64 => (format!("sum({name})"), "real"),
                _ => (format!("sum({name})"), "integer"),
            };
            let sql =
                format!("select count(*), {read}, min(typeof({name})), max(typeof({name})) from {}", table.as_str());
            let found: (u32, f64, String, String) = database
                .query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
                .unwrap_or_else(|error| panic!("{sql}: {error}"));
            // A time is a text here.
            let length = "2026-11-30T12:00:00.000000Z".len() * count;
            let number = if kind == Kind::Time { json!(length) } else { numbers[name].clone() };
            assert_eq!((found.0 as usize, &*found.2, &*found.3), (count, class, class), "{name}");
            assert!(sums::same(&json!(found.1), &number), "{name}: {} for {number}", found.1);
        }
    }
    for question in blocks(section(page, "Questions"), "sql") {
        let bots = database.prepare(question).unwrap().query_map([], |row| row.get::<_, String>(0)).unwrap().count();
        assert_eq!(bots, 6, "{question}");
    }
}

/// The Python that has the readers: that of `target/python`, as `.ci/run` makes it, or the system's.
fn python() -> Option<PathBuf> {
    let own = project().join("target/python/bin/python3");
    let python = if own.exists() { own } else { "python3".into() };
    let names = READERS.map(|(name, _)| name.to_lowercase()).join(", ");
    let found = Command::new(&python).args(["-c", &format!("import {names}")]).output();
    let found = found.is_ok_and(|output| output.status.success());
    let required = std::env::var_os("MODIAR_REQUIRE_ALL").is_some();
    assert!(found || !required, "{} lacks one of {names}; .ci/run installs them", python.display());
    if !found {
        eprintln!("SKIPPED: {} lacks one of {names}", python.display());
    }
    found.then_some(python)
}

/// Every recipe in Python, all of a reader in one process.
pub fn run_python(stored: &Stored, page: &str, tables: &[(Table, Vec<Value>)]) {
    let Some(python) = python() else { return };
    for (name, types) in READERS {
        let recipes = blocks(section(page, name), "python");
        let mut forms: Vec<&str> = recipes.iter().map(|recipe| form(recipe)).collect();
        let mut command = read_back(&python, name);
        for (recipe, form) in recipes.iter().zip(&forms) {
            let path = stored.folder().join(format!("{name}-{form}.py"));
            fs::write(&path, recipe).unwrap();
            command.arg(stored.folder().join(form)).arg(path);
        }
        forms.sort_unstable();
        assert_eq!(forms, ["csv", "jsonl", "parquet"], "{name} has a recipe for each form");
        let outcome = Program::start(command).finish();
        for (line, recipe) in outcome.lines().into_iter().zip(&recipes) {
            let read: Value = serde_json::from_str(line).unwrap();
            for (table, rows) in tables {
                assert_same(&read[table.as_str()], *table, rows, types, recipe);
            }
        }
    }
    for question in blocks(section(page, "Questions"), "python") {
        let path = stored.folder().join("question.py");
        fs::write(&path, question).unwrap();
        let mut command = Command::new(&python);
        command.arg(path).current_dir(stored.folder().join(form(question)));
        assert!(Program::start(command).finish().lines().len() > 4);
    }
}

fn read_back(python: &Path, reader: &str) -> Command {
    let mut command = Command::new(python);
    command.arg(project().join("daemon/tests/export/read_back.py")).arg(reader.to_lowercase());
    command
}

fn assert_same(read: &Value, table: Table, rows: &[Value], types: [&str; 8], recipe: &str) {
    let (count, numbers) = sums::expected(table, rows);
    assert_eq!((&read["rows"], &read["missing"]), (&json!(count), &json!(0)), "rows, missing values: {recipe}");
    let heads = heads(table, true);
    assert_eq!(read["types"].as_object().unwrap().len(), heads.len(), "{recipe}");
    for Head { name, kind, .. } in heads {
        assert_eq!(read["types"][name], types[kind as usize], "{name}: {recipe}");
        let (found, number) = (&read["numbers"][name], &numbers[name]);
        assert!(sums::same(found, number), "{name}: {found} for {number}: {recipe}");
    }
}
