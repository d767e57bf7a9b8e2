//! Texts that are made to do harm, wherever one can be said: refused by their pattern, and shown as what they are.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_conformance::Peer;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};
use support::{Daemon, MODIAR};
use tempfile::TempDir;

/// Markup, SQL, paths, lines of a header or a log, a terminal's orders, look-alikes, other directions, no width, formats.
const HOSTILE: [&str; 16] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'; DROP TABLE bots; --",
    "../../../etc/passwd",
    "..\\modiar.db",
    "dice\r\nSet-Cookie: a=b",
    "dice\n2026-01-01T00:00:00Z ERROR modiar: forged",
    "\u{1b}[2J\u{7}",
    "dіce", // the second letter is Cyrillic
    "ｄｉｃｅ",
    "\u{202e}ecid",
    "di\u{200b}ce",
    "dice\u{0}",
    "${jndi:ldap://x}{{7*7}}%s%n",
    "=HYPERLINK(\"http://x\")",
    "\u{feff}dice\u{2028}",
];

/// What is not to be seen as such has no place on a terminal.
fn is_hidden(c: char) -> bool {
    c.is_control() && c != '\n' || ['\u{202e}', '\u{200b}', '\u{feff}', '\u{2028}'].contains(&c)
}

/// Those that a bot's `client` and `version` may be: no control characters, 64 characters.
fn tellable() -> impl Iterator<Item = &'static str> {
    HOSTILE.into_iter().filter(|text| !text.chars().any(char::is_control))
}

fn modiar(folder: &TempDir, arguments: &[&str]) -> Output {
    with_data(&folder.path().join("data"), arguments)
}

fn with_data(data: &Path, arguments: &[&str]) -> Output {
    Command::new(MODIAR).args(arguments).env("MODIAR_DATA", data).output().unwrap()
}

/// Says a message and reads the error that it is answered by, which is one line.
fn code(peer: &mut Peer, message: &Value) -> String {
    peer.send(message).unwrap();
    let error = peer.expect("error").unwrap();
    assert!(error["message"].as_str().unwrap().chars().count() <= 1024, "{error}");
    error["code"].as_str().unwrap().to_owned()
}

/// `session.name-pattern`, `message.client-schema`: each of these where it does not belong has its code, and the connection
/// stays. A longer one than any text may be is refused alike, and beyond a line it is not read.
#[test]
fn what_is_no_name_and_no_id_is_refused_everywhere() {
    let daemon = Daemon::start_with("registration = true\n[limits]\nmessage_burst = 1000\n", &[]);
    let (mut peer, _) = daemon.guest(json!({}));
    let long = "g".repeat(3500);
    for text in HOSTILE.into_iter().chain([&*long]) {
        for hello in
            [json!({"name": text}), json!({"name": text, "register": true}), json!({"name": text, "token": "t"})]
        {
            let mut message = json!({"type": "hello", "protocol": 1});
            message.as_object_mut().unwrap().extend(hello.as_object().unwrap().clone());
            assert_eq!(code(&mut daemon.connect(), &message), "bad_name", "{message}");
        }
        for (wanted, message) in [
            ("unknown_pool", json!({"type": "seek", "pool": text})),
            ("unknown_pool", json!({"type": "unseek", "pool": text})),
            ("unknown_bot", json!({"type": "challenge", "opponent": text, "pool": "blitz"})),
            ("unknown_pool", json!({"type": "challenge", "opponent": "dice", "pool": text})),
            ("unknown_challenge", json!({"type": "accept", "challenge": text})),
            ("unknown_challenge", json!({"type": "decline", "challenge": text})),
            ("wrong_game", json!({"type": "move", "game": text, "pit": 1})),
            ("wrong_game", json!({"type": "resign", "game": text})),
            ("wrong_game", json!({"type": "watch", "game": text})),
            ("wrong_game", json!({"type": "unwatch", "game": text})),
            ("unknown_type", json!({"type": text})),
        ] {
            assert_eq!(code(&mut peer, &message), wanted, "{message}");
        }
    }
    let longer = "g".repeat(10_240);
    for message in [json!({"type": "watch", "game": longer}), json!({"type": "hello", "protocol": 1, "name": longer})] {
        let (mut peer, _) = daemon.guest(json!({}));
        assert_eq!(code(&mut peer, &message), "line_too_long");
        peer.expect("goodbye").unwrap();
    }
    let (_, listed) = daemon.run(&["bot", "list", "--json"]);
    assert!(listed.contains("[]"), "{listed}");
}

#[test]
fn what_is_no_name_is_none_on_the_command_line() {
    let folder = TempDir::new().unwrap();
    assert!(modiar(&folder, &["bot", "add", "dice"]).status.success());
    // No argument of a program holds a zero byte.
    let texts = HOSTILE.into_iter().filter(|text| !text.contains('\0'));
    let long = "g".repeat(10_240);
    for text in texts.chain([&*long, "house-1", "-x"]) {
        for action in ["add", "token", "ban", "unban", "remove"] {
            let output = modiar(&folder, &["bot", action, "--", text]);
            let refused = [2, 3].contains(&output.status.code().unwrap());
            assert!(refused && output.stdout.is_empty(), "{action} {text}: {output:?}");
        }
        assert!(!modiar(&folder, &["bot", "owner", "--", text, "anna"]).status.success(), "{text}");
        assert!(!modiar(&folder, &["games", "show", "--", text]).status.success(), "{text}");
    }
    let listed: Value = serde_json::from_slice(&modiar(&folder, &["bot", "list", "--json"]).stdout).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    let made: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(made, ["data"]);
}

/// A host's own words, which are not his: an owner's name or a reason may have been sent to him.
#[test]
fn owners_and_reasons_are_listed_as_what_they_are() {
    let folder = TempDir::new().unwrap();
    assert!(modiar(&folder, &["bot", "add", "dice"]).status.success());
    for text in tellable() {
        assert!(modiar(&folder, &["bot", "ban", "dice", "--reason", text]).status.success(), "{text}");
        let owned = modiar(&folder, &["bot", "owner", "dice", text]).status.success();
        assert_eq!(owned, !text.chars().any(is_hidden), "{text}");
        let listed: Value = serde_json::from_slice(&modiar(&folder, &["bot", "list", "--json"]).stdout).unwrap();
        assert_eq!(listed[0]["banned"], text);
        assert!(!owned || listed[0]["owner"] == text, "{listed}");
        let shown = String::from_utf8(modiar(&folder, &["bot", "list"]).stdout).unwrap();
        assert!(shown.lines().count() == 2 && !shown.chars().any(is_hidden), "{shown:?}");
    }
}

/// Plays a short game of two guests who say this of themselves.
fn play(daemon: &Daemon, text: &str) {
    let hello = json!({"client": text, "version": text});
    let mut game = daemon.game_between("practice", hello.clone(), hello);
    game.play("24");
    let resign = json!({"type": "resign", "game": game.id, "ref": text});
    game.south.send(&resign).unwrap();
    game.south.skip_to("ended").unwrap();
}

/// What a bot says of itself is in the log, a line each, in both forms.
#[test]
fn a_log_has_no_lines_but_its_own() {
    for format in ["text", "json"] {
        let daemon = Daemon::start_with(&format!("[log]\nformat = \"{format}\""), &[("RUST_LOG", "modiar=trace")]);
        for text in tellable() {
            play(&daemon, text);
        }
        for text in HOSTILE {
            let mut peer = daemon.connect();
            peer.send(&json!({"type": "hello", "protocol": 1, "name": text, "client": text})).unwrap();
            peer.expect("error").unwrap();
            peer.send_bytes(format!("{text}\n").as_bytes()).unwrap();
            peer.expect("error").unwrap();
        }
        let log = daemon.kill_for_log();
        assert!(log.contains("alert(1)") && log.contains("practice"), "it tells of them: {log}");
        for line in log.lines() {
            assert!(!line.chars().any(char::is_control), "{line:?}");
            if format == "json" {
                assert!(serde_json::from_str::<Value>(line).unwrap()["timestamp"].is_string(), "{line}");
            } else {
                assert!(line.starts_with("20") && !line.chars().any(is_hidden), "{line:?}");
            }
        }
    }
}

/// Records keep what was said, to the character; what shows them shows nothing that acts.
#[test]
fn records_keep_and_reports_escape_what_was_said() {
    let daemon = Daemon::start();
    for text in tellable() {
        play(&daemon, text);
    }
    let metrics = daemon.get("/metrics").body;
    let export = daemon.export();
    let records: Vec<Value> = export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said: Vec<&str> = records.iter().map(|record| record["south"]["version"].as_str().unwrap()).collect();
    assert_eq!(said, tellable().collect::<Vec<_>>());
    let (status, verified) = daemon.run(&["games", "verify"]);
    assert!(status.success(), "{verified}");
    let (status, table) = daemon.run(&["games", "export", "--format", "csv"]);
    assert!(status.success(), "{table}");
    for record in &records {
        let (status, shown) = daemon.run(&["games", "show", record["game"].as_str().unwrap()]);
        assert!(status.success() && !shown.chars().any(is_hidden), "{shown:?}");
    }
    for text in tellable() {
        assert!(!metrics.contains(text), "{text}");
    }

    // Records of others: their pools have no pattern, their bots' names have.
    let (folder, data) = (TempDir::new().unwrap(), daemon.data());
    let (file, report) = (folder.path().join("foreign.jsonl"), folder.path().join("report.html"));
    for text in HOSTILE {
        let foreign = json!({"pool": text, "node": text});
        let mut record = records[0].clone();
        record.as_object_mut().unwrap().extend(foreign.as_object().unwrap().clone());
        std::fs::write(&file, format!("{record}\n")).unwrap();
        let paths = [file.to_str().unwrap(), report.to_str().unwrap()];
        let output = with_data(&data, &["analyze", paths[0], "--html", paths[1]]);
        assert!(output.status.success(), "{output:?}");
        let page = std::fs::read_to_string(&report).unwrap();
        for acting in ["<script>alert", "<img src=x"] {
            assert!(!page.contains(acting), "{text}");
        }
        let shown = String::from_utf8(with_data(&data, &["analyze", paths[0]]).stdout).unwrap();
        for shown in [&page, &shown] {
            assert!(!shown.chars().any(|c| is_hidden(c) && c != '\t'), "{text:?}: {shown}");
        }
        record["south"]["name"] = text.into();
        std::fs::write(&file, format!("{record}\n")).unwrap();
        let output = with_data(&data, &["games", "verify", paths[0]]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(!String::from_utf8(output.stdout).unwrap().chars().any(is_hidden));
        std::fs::remove_file(&report).unwrap();
    }
}
