//! `modiar check` as people and programs use it.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod support;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;
use support::{Daemon, have, project};

/// The bot of `clients/python` that comes back, checked with these options.
fn check(options: &[&str]) -> Output {
    let bot = project().join("clients/python/bots/greedy_bot.py");
    modiar(&[&["check", "bot"], options, &["--", "python3", bot.to_str().unwrap(), "--games", "2"]].concat())
}

fn modiar(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_modiar")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn the_bot_of_the_readme_is_told_what_it_lacks() {
    if !have("python3") {
        return;
    }
    let bot = project().join("clients/python/bots/shortest_bot.py");
    let told = modiar(&["check", "bot", "--timeout", "3", "--", "python3", bot.to_str().unwrap()]);
    assert_eq!(told.status.code(), Some(1), "{told:?}");
    let last = text(&told.stderr).lines().last().unwrap();
    let (advice, failed) = last.rsplit_once(": ").unwrap();
    assert!(advice.contains("mend the first one first"), "{last}");
    let failed: Vec<&str> = failed.split(", ").collect();
    assert!(failed.contains(&"server-restart"), "it does not come back: {failed:?}");
    // What a bot of one game can do, it does; its answer may cross the end of the game.
    for good in ["hello-first", "split-packets", "unknown-field", "whole-game", "opponent-resigns"] {
        assert!(!failed.contains(&good), "{good}: {failed:?}");
    }
}

#[test]
fn a_bot_is_told_line_by_line_and_in_json() {
    if !have("python3") {
        return;
    }
    let told = check(&["--only", "crlf,games-at-once"]);
    assert_eq!(told.status.code(), Some(0), "{told:?}");
    assert!(text(&told.stdout).starts_with("ok       crlf: "), "{told:?}");
    assert!(text(&told.stdout).contains("\nskipped  games-at-once: "), "{told:?}");
    assert!(text(&told.stderr).contains("2 checks: 1 ok, 0 failed, 1 skipped"), "{told:?}");

    let told = check(&["--only", "crlf,whole-game", "--skip", "crlf", "--json"]);
    let report: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!((&report["check"], &report["verdict"]), (&"whole-game".into(), &"ok".into()));
}

#[test]
fn a_finding_names_its_clause_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let junit = folder.path().join("bot.xml");
    let options = ["check", "bot", "--only", "hello-first", "--junit", junit.to_str().unwrap(), "--", "true"];
    let told = modiar(&options);
    assert_eq!(told.status.code(), Some(1), "{told:?}");
    for part in
        ["FAILED   hello-first: ", "clause:  session.hello-first", "ended with status 0", "to do:   Send one hello"]
    {
        assert!(text(&told.stdout).contains(part), "{part}: {told:?}");
    }
    let junit = std::fs::read_to_string(junit).unwrap();
    assert!(junit.contains("tests=\"1\" failures=\"1\" skipped=\"0\""), "{junit}");
}

/// The command with which the page of the checks shows how a board is asked, as it stands there.
#[test]
fn the_board_of_the_page_knows_the_rules() {
    if !have("python3") {
        return;
    }
    let page = std::fs::read_to_string(project().join("spec/conformance/README.md")).unwrap();
    let section = page.split("## Check your board\n").nth(1).unwrap();
    let shown = section.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let words: Vec<&str> = shown.split_whitespace().skip(1).collect();
    let told = Command::new(env!("CARGO_BIN_EXE_modiar")).args(words).current_dir(project()).output().unwrap();
    assert_eq!(told.status.code(), Some(0), "{told:?}");
    assert!(text(&told.stderr).contains("15 checks: 15 ok, 0 failed, 0 skipped"), "{told:?}");
    let program = std::fs::read_to_string(project().join("clients/python/bots/quiz.py")).unwrap();
    let block = section.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(block, program, "the page and the file show the same program");
}

#[test]
fn a_wrong_answer_of_a_board_is_told_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let junit = folder.path().join("board.xml");
    let program = ["--", "sh", "-c", "while read -r question; do echo '{\"legal\":[]}'; done"];
    let options = ["check", "bot", "--rules", "--only", "slam,ends", "--junit", junit.to_str().unwrap()];
    let told = modiar(&[&options[..], &program].concat());
    assert_eq!(told.status.code(), Some(1), "{told:?}");
    for part in
        ["FAILED   slam: ", "clause:  rules.slam.banned", "came:    {\"legal\":[]}", "40 of 40", "\nok       ends: "]
    {
        assert!(text(&told.stdout).contains(part), "{part}: {told:?}");
    }
    let junit = std::fs::read_to_string(junit).unwrap();
    assert!(junit.contains("tests=\"2\" failures=\"1\" skipped=\"0\""), "{junit}");
    let told = modiar(&[&["check", "bot", "--rules", "--only", "slam", "--json"], &program[..]].concat());
    let report: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!((&report["check"], &report["verdict"]), (&"slam".into(), &"failed".into()));
    let awaited: Value = serde_json::from_str(report["awaited"].as_str().unwrap()).unwrap();
    assert!(awaited["legal"].is_array(), "{report}");
}

/// It is not heard for ever, nor is a line that never ends.
#[test]
fn a_server_that_never_stops_talking_fails() {
    for line in [&b"{\"type\":\"pong\",\"time_ms\":1}\n"[..], b"xxxxxxxxxxxxxxxx"] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                std::thread::spawn(move || while stream.write_all(&line.repeat(64)).is_ok() {});
            }
        });
        let only = "ping,bye,hundred-lines,random-bytes,fin-in-every-state,slow-reader,missed-once";
        let told = modiar(&["check", "server", "--timeout", "1", "--only", only, &address]);
        assert_eq!(told.status.code(), Some(1), "{told:?}");
        assert!(text(&told.stderr).contains("7 checks: 0 ok, 7 failed"), "{told:?}");
    }
}

#[test]
fn wrong_usage_is_2_and_what_cannot_be_started_3() {
    for (arguments, status, words) in [
        (&["check", "bot"][..], 2, "<CMD>"),
        (&["check", "bot", "--only", "nope", "--", "true"], 2, "there is no check 'nope'"),
        (&["check", "bot", "--only", "crlf", "--skip", "crlf", "--", "true"], 2, "leaves out all"),
        (&["check", "bot", "--rules", "--only", "crlf", "--", "true"], 2, "there is no check 'crlf'"),
        (&["check", "bot", "--only", "chain-wraps", "--", "true"], 2, "there is no check 'chain-wraps'"),
        (&["check", "bot", "--rules", "--only", "slam", "--skip", "slam", "--", "true"], 2, "leaves out all"),
        (&["check", "bot", "--rules", "--", "no-such-program-of-mine"], 3, "no-such-program-of-mine"),
        (&["check", "bot", "--timeout", "0", "--", "true"], 2, "--timeout"),
        (&["check", "bot", "--", "no-such-program-of-mine"], 3, "no-such-program-of-mine"),
        (&["check", "bot", "--junit", "/nowhere/bot.xml", "--", "true"], 3, "/nowhere/bot.xml: name a file"),
        (&["check", "server"], 2, "<HOST:PORT>"),
        (&["check", "server", "localhost"], 2, "not HOST:PORT"),
        (&["check", "server", "localhost:x"], 2, "not HOST:PORT"),
        (&["check", "server", "--only", "crlf", "127.0.0.1:1"], 2, "there is no check 'crlf'"),
        (&["check", "server", "--only", "ping", "--skip", "ping", "127.0.0.1:1"], 2, "leaves out all"),
        (&["check", "server", "127.0.0.1:1"], 3, "`modiar serve`"),
    ] {
        let told = modiar(arguments);
        assert_eq!(told.status.code(), Some(status), "{told:?}");
        assert!(text(&told.stderr).contains(words), "{told:?}");
        assert!(told.stdout.is_empty(), "{told:?}");
    }
}

#[test]
fn a_server_is_told_line_by_line_and_in_json() {
    let daemon = Daemon::start();
    let address = daemon.bots.to_string();
    let told = modiar(&["check", "server", "--only", "move-then-fin,ping,ended-majority", &address]);
    assert_eq!(told.status.code(), Some(0), "{told:?}");
    let lines: Vec<&str> = text(&told.stdout).lines().collect();
    assert!(lines[0].starts_with("ok       ping: ") && lines[1].starts_with("ok       move-then-fin: "), "{lines:?}");
    assert!(lines[2].starts_with("skipped  ended-majority: in no pool"), "{lines:?}");
    assert!(text(&told.stderr).contains("3 checks: 2 ok, 0 failed, 1 skipped"), "{told:?}");
    let told = modiar(&["check", "server", "--json", "--only", "ping", &address]);
    let report: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!((&report["check"], &report["verdict"]), (&"ping".into(), &"ok".into()));
}

#[test]
fn a_server_that_cannot_be_checked_is_told_why() {
    let refused = |daemon: &Daemon, words: &str| {
        let told = modiar(&["check", "server", "--only", "ping", &daemon.bots.to_string()]);
        assert_eq!(told.status.code(), Some(3), "{told:?}");
        assert!(text(&told.stderr).contains(words), "{told:?}");
    };
    refused(&Daemon::start_with("[limits]\nmessages_per_second = 19\n", &[]), "takes 19 messages a second");
    let daemon = Daemon::start();
    let _game = daemon.game("blitz");
    daemon.signal(libc::SIGTERM);
    refused(&daemon, "is about to stop");
}

/// Somebody listens there who is no server of Modiar.
#[test]
fn a_fault_of_a_server_names_its_clause_and_what_to_do() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let told = modiar(&["check", "server", "--only", "every-split,ping", &address]);
    assert_eq!(told.status.code(), Some(1), "{told:?}");
    for part in [
        "FAILED   ping: ",
        "clause:  transport.ref, ",
        "FAILED   every-split: ",
        "awaited: welcome",
        "to do:   Gather bytes",
        "to do:   Read spec/transport.md",
    ] {
        assert!(text(&told.stdout).contains(part), "{part}: {told:?}");
    }
}

/// Whether a process runs; one that has ended and waits for its parent does not.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
}

/// Most bots end at once, so that others are started all the time, and every fourth stays.
#[test]
fn a_signal_leaves_no_bot_behind() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let bot = format!("echo $$ >> {}; [ $(($$ % 4)) = 0 ] && exec sleep 600; exit 1", pids.display());
    for round in 0..24 {
        let mut check = Command::new(env!("CARGO_BIN_EXE_modiar"));
        check.args(["check", "bot", "--", "sh", "-c", &bot]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut check = check.spawn().unwrap();
        sleep(Duration::from_millis(40 + 3 * round));
        let (signal, status) = if round % 2 == 0 { (Signal::INT, 130) } else { (Signal::TERM, 143) };
        kill_process(Pid::from_child(&check), signal).unwrap();
        assert_eq!(check.wait().unwrap().code(), Some(status));
    }
    // What was started and not yet heard of tells itself.
    sleep(Duration::from_millis(300));
    let pids = std::fs::read_to_string(pids).unwrap();
    let left: Vec<&str> = pids.lines().filter(|pid| runs(pid)).collect();
    for pid in &left {
        kill_process(Pid::from_raw(pid.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    }
    assert!(pids.lines().count() > 24, "{pids}");
    assert!(left.is_empty(), "{left:?} of {}", pids.lines().count());
}
