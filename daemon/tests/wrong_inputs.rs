//! What people write wrong: each is told what it was, what would do, and where.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;
use support::{Daemon, MODIAR};
use tempfile::TempDir;

/// No variables.
const NOTHING: &[(&str, &str)] = &[];

/// What the program says of `arguments`, which end with `status` and nothing on stdout.
#[track_caller]
fn told<T: AsRef<OsStr> + Copy>(arguments: &[&str], environment: &[(&str, T)], status: i32) -> String {
    let folder = TempDir::new().unwrap();
    let mut command = Command::new(MODIAR);
    command.current_dir(folder.path()).args(arguments).envs(environment.iter().copied());
    let output = command.output().unwrap();
    assert!(output.status.code() == Some(status) && output.stdout.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[track_caller]
fn assert_told(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "'{part}' is not in: {said}");
    }
}

#[test]
fn a_wrong_configuration_is_told_with_its_place() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("wrong.toml");
    let path = path.to_str().unwrap();
    for (text, parts) in [
        ("drain_ms = 1\nbasse_ms = 2", &["line 2", "basse_ms", "--print-config"][..]),
        ("drain_ms = \"x\"", &["line 1", "drain_ms", "--print-config"]),
        ("bots = \"localhost:1\"", &["line 1", "'localhost:1'", "127.0.0.1:6634"]),
        ("\n[limits]\nconections = 2", &["line 3", "conections"]),
        ("[limits]\nconnections = 0", &["[limits] connections = 0", "1 to 1000000"]),
        ("drain_ms = -5", &["line 1", "`-5`", "a whole number from 0\n"]),
        ("[[pool]]\nname = \"a\"", &["line 1", "base_ms"]),
        ("[[pool]]\nname = \"a\"\nbase_ms = 1\n[[pool]]\nname = \"B\"\nbase_ms = 1", &["line 5", "'B'", "a-z 0-9 _ -"]),
        ("[pool]\nname = \"a\"\nbase_ms = 1", &["line 1", "[[pool]]"]),
        ("[[pool]]\nname = \"a\"\nbase_ms = -5", &["line 3", "`-5`", "a whole number from 0\n"]),
        (
            "[[pool]]\nname = \"a\"\nbase_ms = 1\nquiet_plies = 70000",
            &["line 4", "`70000`", "a whole number from 0 to 65535"],
        ),
        ("[[pool]]\nname = \"a\"\nbase_ms = 0", &["line 3", "base_ms = 0", "1 to 86400000"]),
        ("[[pool]]\nname = \"a\"\nbase_ms = 1\nmove_ms = 0", &["line 4", "move_ms = 0", "1 to 86400000"]),
    ] {
        fs::write(path, text).unwrap();
        let said = told(&["serve", "--config", path, "--check-config"], NOTHING, 78);
        assert_told(&said, parts);
        assert_told(&said, &[path]);
    }
}

#[test]
fn a_wrong_variable_is_named() {
    for (variable, value, parts) in [
        ("MODIAR_DRAIN", "5", &["MODIAR_DRAIN is no variable", "--print-config"][..]),
        ("MODIAR_CONNECTIONS", "5", &["MODIAR_CONNECTIONS is no variable", "MODIAR_LIMITS_CONNECTIONS"]),
        ("MODIAR_DRAIN_MS", "soon", &["MODIAR_DRAIN_MS = 'soon'", "whole milliseconds"]),
        ("MODIAR_DRAIN_MS", "86400001", &["drain_ms = 86400001 is above 86400000"]),
        ("MODIAR_HTTP", "127.0.0.1:6634", &["bots and http are both 127.0.0.1:6634", "a port of its own"]),
        ("MODIAR_HTTP", "6635", &["MODIAR_HTTP = '6635'", "127.0.0.1:6634"]),
        ("MODIAR_LIMITS_CONNECTIONS", "0", &["connections = 0", "1 to 1000000"]),
    ] {
        assert_told(&told(&["serve", "--check-config"], &[(variable, value)], 78), parts);
    }
    for value in ["foo=bar=3,,", "modiar=loud"] {
        let said = told(&["serve"], &[("RUST_LOG", value)], 78);
        assert_told(&said, &[&format!("RUST_LOG = '{value}'"), "modiar=debug"]);
    }
    let not_utf8 = OsStr::from_bytes(b"\xff");
    assert_told(&told(&["serve", "--check-config"], &[("MODIAR_DATA", not_utf8)], 78), &["MODIAR_DATA", "in UTF-8"]);
    // What bots find in theirs is none of the daemon's.
    told(&["serve", "--check-config"], &[("MODIAR_NAME", "dice"), ("MODIAR_PORT", "x"), ("MODIAR_TLS", "1")], 0);
}

#[test]
fn a_wrong_argument_is_told_with_what_would_do() {
    for (arguments, status, parts) in [
        (&["serve", "--bots", "localhost"][..], 2, &["'localhost' is no IP address with a port", "127.0.0.1:6634"][..]),
        (&["serve", "--bots", "127.0.0.1:6635"], 78, &["bots and http are both 127.0.0.1:6635"]),
        (&["games", "show", "nope"], 2, &["'nope' is no id", "g and 32"]),
        (&["games", "show", "g0", "--data", "x"], 3, &["no data in x", "--data"]),
        (&["games", "verify", "nope"], 3, &["nope: ", "No such file", "a file that can be read"]),
        (&["games", "verify", "."], 3, &[".: ", "a file that can be read"]),
        (&["games", "export", "--bot", "../x"], 2, &["'../x' is no name", "2 to 24"]),
        (&["games", "export", "--since", "yesterday"], 2, &["'yesterday'", "2026-11-30T12:00:00Z"]),
    ] {
        assert_told(&told(arguments, NOTHING, status), parts);
    }
}

/// The name that was given, and no other.
#[test]
fn a_backup_that_cannot_be_written_names_its_file() {
    let daemon = Daemon::start();
    let data = daemon.data();
    let said = told(&["backup", "/nonexistent/x.db", "--data", data.to_str().unwrap()], NOTHING, 3);
    assert_told(&said, &["/nonexistent/x.db: No such file"]);
}

#[test]
fn no_game_and_several_are_told_apart() {
    let daemon = Daemon::start();
    for _ in 0..2 {
        let mut game = daemon.game("practice");
        game.south.send(&serde_json::json!({"type": "resign", "game": game.id})).unwrap();
        game.south.skip_to("ended").unwrap();
    }
    let data = daemon.data();
    let show = |id: &str| told(&["games", "show", id, "--data", data.to_str().unwrap()], NOTHING, 3);
    assert_told(&show("g"), &["more than one game's id begins with 'g'", "more of it"]);
    assert_told(&show("gfff"), &["there is no finished game 'gfff'", "modiar games export"]);
    let running = daemon.game("practice").id;
    assert_told(&show(running.as_str()), &["no finished game"]);
}
