//! The bots of `clients/`, as real processes against a real daemon.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod support;

use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::Command;
use support::programs::{Outcome, Program, python, run_line};
use support::returning::Returning;
use support::{Daemon, have, project};
use tempfile::TempDir;

/// The lines of a bot's games: as many as it was to play, each `GAME RESULT TERMINATION SIDE SOUTH-NORTH`.
#[track_caller]
fn games(outcome: &Outcome, wanted: usize) -> Vec<Vec<String>> {
    let games: Vec<Vec<String>> =
        outcome.lines().iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
    assert_eq!(games.len(), wanted, "{outcome:?}");
    assert!(games.iter().all(|game| game.len() == 5), "{outcome:?}");
    games
}

/// Both tell the same games, from their two sides.
#[track_caller]
fn agree(one: &[Vec<String>], other: &[Vec<String>]) {
    for (one, other) in one.iter().zip(other) {
        assert_eq!((&one[..3], &one[4]), (&other[..3], &other[4]), "game, result, termination, score");
        assert_ne!(one[3], other[3], "their sides");
    }
}

/// The tests of the Python package whose files are named so.
#[track_caller]
fn python_tests(mut python: Command, files: &str) -> Outcome {
    python.args(["-m", "unittest", "discover", "-s", "clients/python/tests", "-p", files]).current_dir(project());
    let outcome = Program::start(python).finish();
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(!outcome.stderr.contains("Ran 0 tests"), "{outcome:?}");
    outcome
}

/// By a Python that has nothing else, as the library needs nothing else: its environments are skipped.
#[test]
fn the_python_bots_pass_their_own_tests() {
    if have("python3") {
        let mut python = Command::new("python3");
        python.env_remove("MODIAR_REQUIRE_ALL");
        python_tests(python, "test_*.py");
    }
}

/// By the Python of `target/python`, where `.ci/run` puts what they need.
#[test]
fn the_python_environments_pass_their_own_tests() {
    let own = project().join("target/python/bin/python3");
    let required = std::env::var_os("MODIAR_REQUIRE_ALL").is_some();
    assert!(own.exists() || !required, "there is no {}; .ci/run makes it", own.display());
    if !own.exists() {
        eprintln!("SKIPPED: there is no {}; .ci/run makes it", own.display());
        return;
    }
    let told = python_tests(Command::new(own), "test_env*.py").stderr;
    told.lines().filter(|line| line.starts_with("SKIPPED")).for_each(|line| eprintln!("{line}"));
}

/// A seek for ten games is done after the tenth (`session.seek-done`), and both leave.
#[test]
fn random_and_greedy_play_ten_games() {
    if !have("python3") {
        return;
    }
    let daemon = Daemon::start();
    let random = daemon.bot(python("random_bot.py", &["--games", "10", "--seed", "1", "--pool", "blitz"]));
    let greedy = daemon.bot(python("greedy_bot.py", &["--games", "10", "--pool", "blitz"]));
    let (random, greedy) = (random.finish(), greedy.finish());
    agree(&games(&random, 10), &games(&greedy, 10));
    let (status, report) = daemon.run(&["games", "verify", "--data", daemon.data().to_str().unwrap()]);
    assert!(status.success() && report.starts_with("10 games, "), "{report}");
}

/// The bot that the page of the Python client shows, against one that looks ahead.
#[test]
fn the_first_python_bot_plays_a_game() {
    if !have("python3") {
        return;
    }
    let page = std::fs::read_to_string(project().join("clients/python/README.md")).unwrap();
    let shown = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let first = std::fs::read_to_string(project().join("clients/python/bots/first_bot.py")).unwrap();
    assert_eq!(shown, first, "the page and the file show the same bot");
    let daemon = Daemon::start();
    let first = daemon.bot(python("first_bot.py", &[]));
    let minimax = daemon.bot(python("minimax_bot.py", &["--depth", "2"]));
    agree(&games(&first.finish(), 1), &games(&minimax.finish(), 1));
}

/// The random bot in C, with every warning an error.
fn compile(folder: &TempDir) -> PathBuf {
    let program = folder.path().join("random_bot");
    let line = "cc -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -I. bots/random_bot.c bots/options.c modiar.c";
    let outcome = run_line(line, &["-o", program.to_str().unwrap()], &project().join("clients/c"));
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert_eq!((&*outcome.stdout, &*outcome.stderr), ("", ""));
    program
}

#[test]
fn the_c_bot_plays_five_games() {
    if !have("cc") || !have("python3") {
        return;
    }
    let (folder, daemon) = (TempDir::new().unwrap(), Daemon::start());
    let mut c = Command::new(compile(&folder));
    c.args(["--games", "5", "--seed", "1"]);
    let c = daemon.bot(c);
    let greedy = daemon.bot(python("greedy_bot.py", &["--games", "5"]));
    agree(&games(&c.finish(), 5), &games(&greedy.finish(), 5));
}

#[test]
fn the_shell_bot_plays_two_games() {
    if !have("nc") || !have("jq") || !have("bash") || !have("python3") {
        return;
    }
    let daemon = Daemon::start();
    let mut shell = Command::new("bash");
    shell.arg(project().join("clients/shell/bot.sh")).args(["--games", "2"]);
    let shell = daemon.bot(shell);
    let greedy = daemon.bot(python("greedy_bot.py", &["--games", "2"]));
    agree(&games(&shell.finish(), 2), &games(&greedy.finish(), 2));
}

/// Plays the first legal pit as often as it is this bot's turn, `turns` times at most; the end, if it came.
fn play(bot: &mut Returning, game: &str, turns: usize) -> Option<Value> {
    for _ in 0..turns {
        let message = bot.peer.read().unwrap();
        match message["type"].as_str().unwrap() {
            "turn" => bot.peer.send(&json!({"type": "move", "game": game, "pit": message["legal"][0]})).unwrap(),
            "ended" => return Some(message),
            _ => {}
        }
    }
    None
}

/// A guest and a registered bot: the daemon is killed during a game and started again, and then they play another.
#[test]
fn a_python_bot_ends_its_game_after_a_kill() {
    if !have("python3") {
        return;
    }
    for registered in [false, true] {
        let mut daemon = Daemon::start();
        let mut command = python("greedy_bot.py", &["--games", "2", "--pool", "practice"]);
        let token = if registered { daemon.register("dice") } else { String::new() };
        command.env("MODIAR_NAME", if registered { "dice" } else { "" });
        let mut other = Returning::guest(&daemon);
        other.peer.send(&json!({"type": "seek", "pool": "practice", "games": 2})).unwrap();
        other.peer.expect("seeking").unwrap();
        let bot = daemon.bot_with_token(command, &token);
        let first = other.peer.expect("started").unwrap()["game"].as_str().unwrap().to_owned();
        assert_eq!(play(&mut other, &first, 3), None);

        let address = daemon.bots.to_string();
        daemon = Daemon::start_at(&address, daemon.kill(), "", &[]);
        other.resume(&daemon, &first);
        let ended = play(&mut other, &first, 1000).unwrap();
        assert_eq!((&ended["game"], &ended["termination"]), (&json!(first), &json!("immobile")), "{ended}");
        other.peer.send(&json!({"type": "seek", "pool": "practice"})).unwrap();
        let second = other.peer.skip_to("started").unwrap()["game"].as_str().unwrap().to_owned();
        play(&mut other, &second, 1000).unwrap();

        let outcome = bot.finish();
        let told: Vec<&str> = outcome.lines().iter().map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(told, [first, second], "{outcome:?}");
        assert!(outcome.stderr.contains("this bot comes back"), "{outcome:?}");
    }
}

/// A bot that a shell starts; a runner in the background of one has SIGINT ignored, and so would the bot.
fn with_ctrl_c(bot: &str, options: &[&str]) -> Command {
    let (mut command, python) = (Command::new("env"), python(bot, options));
    command.arg("--default-signal=INT").arg(python.get_program()).args(python.get_args());
    command
}

#[test]
fn a_bot_without_an_end_plays_until_it_is_stopped() {
    if !have("python3") || !have("env") {
        return;
    }
    let daemon = Daemon::start();
    let mut other = Returning::guest(&daemon);
    other.peer.send(&json!({"type": "seek", "pool": "practice", "games": 3})).unwrap();
    other.peer.expect("seeking").unwrap();
    let bot = daemon.bot(with_ctrl_c("greedy_bot.py", &["--games", "0", "--pool", "practice"]));
    let mut ended = Vec::new();
    for _ in 0..2 {
        let game = other.peer.skip_to("started").unwrap()["game"].as_str().unwrap().to_owned();
        play(&mut other, &game, 1000).unwrap();
        ended.push(game);
    }
    // It plays the third: what it had to tell of the others is told. Then it is stopped, and resigns.
    let game = other.peer.skip_to("started").unwrap()["game"].as_str().unwrap().to_owned();
    assert_eq!(play(&mut other, &game, 3), None);
    ended.push(game);
    bot.signal(libc::SIGINT);
    let outcome = bot.finish();
    let told: Vec<&str> = outcome.stdout.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!((told, outcome.status), (ended.iter().map(String::as_str).collect(), Some(130)), "{outcome:?}");
}

#[test]
fn a_number_of_games_that_is_none_is_wrong_usage() {
    let wrong = ["-1", "1000001", "1.5", "many"];
    let is_usage = |command: Command| {
        let outcome = Program::start(command).finish();
        assert_eq!((outcome.status, &*outcome.stdout), (Some(2), ""), "{outcome:?}");
        assert!(outcome.stderr.contains("1000000"), "{outcome:?}");
    };
    if have("python3") {
        for bot in ["random_bot.py", "greedy_bot.py", "minimax_bot.py"] {
            wrong.iter().for_each(|games| is_usage(python(bot, &["--games", games])));
        }
    }
    if have("cc") {
        let folder = TempDir::new().unwrap();
        let program = compile(&folder);
        for games in wrong {
            let mut command = Command::new(&program);
            command.args(["--games", games]);
            is_usage(command);
        }
    }
}

#[test]
fn ctrl_c_resigns_the_running_game() {
    if !have("python3") || !have("env") {
        return;
    }
    let daemon = Daemon::start();
    let (mut peer, _) = daemon.guest(json!({}));
    peer.send(&json!({"type": "seek", "pool": "practice"})).unwrap();
    peer.expect("seeking").unwrap();
    let bot = daemon.bot(with_ctrl_c("random_bot.py", &[]));
    let side = peer.expect("started").unwrap()["side"].clone();
    bot.signal(libc::SIGINT);
    let ended = peer.skip_to("ended").unwrap();
    assert_eq!((&ended["termination"], &ended["result"]), (&json!("resignation"), &side));
    let outcome = bot.finish();
    assert_eq!(outcome.status, Some(130), "{outcome:?}");
    assert!(!outcome.stderr.contains("Traceback"), "{outcome:?}");
    assert!(outcome.stdout.contains(&format!(" {} resignation ", side.as_str().unwrap())), "{outcome:?}");
}

/// The bot is told why, on stderr, and ends.
#[track_caller]
fn is_refused(bot: Program, code: &str) {
    let outcome = bot.finish();
    assert_eq!(outcome.status, Some(3), "{outcome:?}");
    assert!(outcome.stderr.contains(&format!("error {code}: ")), "{outcome:?}");
    assert_eq!(outcome.stdout, "");
    assert!(!outcome.stderr.contains("Traceback"), "{outcome:?}");
}

#[test]
fn a_bot_whose_name_is_taken_says_so_and_ends() {
    let daemon = Daemon::start();
    let (_peer, name) = daemon.guest(json!({"name": "Tanja"}));
    if have("python3") {
        let mut command = python("random_bot.py", &[]);
        command.env("MODIAR_NAME", &name);
        is_refused(daemon.bot(command), "name_taken");
    }
    if have("cc") {
        let folder = TempDir::new().unwrap();
        let mut command = Command::new(compile(&folder));
        command.env("MODIAR_NAME", &name);
        is_refused(daemon.bot(command), "name_taken");
    }
}

/// Every bot, and what it says of a setting that leads nowhere: 2 where that is plain, 3 where only a server can tell.
#[test]
fn a_setting_that_leads_nowhere_is_named() {
    let daemon = Daemon::start();
    let tls = silent_port(b"\x15\x03\x03\x00\x02\x02\x32");
    let (folder, http) = (TempDir::new().unwrap(), daemon.http.port().to_string());
    let mut bots: Vec<(&str, Command)> = Vec::new();
    if have("python3") {
        bots.extend(["random_bot.py", "minimax_bot.py"].map(|bot| (bot, python(bot, &[]))));
    }
    let program = have("cc").then(|| compile(&folder));
    bots.extend(program.iter().map(|program| ("C", Command::new(program))));
    type Case<'a> = (&'a [(&'a str, &'a str)], i32, &'a [&'a str], &'a [&'a str]);
    let cases: [Case<'_>; 7] = [
        (&[("MODIAR_PORT", "99999")], 2, &["random_bot.py", "minimax_bot.py", "C"], &["MODIAR_PORT", "99999", "65535"]),
        (&[("MODIAR_PORT", "abc")], 2, &["random_bot.py", "minimax_bot.py", "C"], &["MODIAR_PORT", "abc", "65535"]),
        (&[("MODIAR_TLS", "0")], 2, &["random_bot.py", "minimax_bot.py"], &["MODIAR_TLS", "'0'"]),
        (&[("MODIAR_TLS", "1")], 3, &["random_bot.py", "minimax_bot.py"], &["no TLS", "unset MODIAR_TLS"]),
        (&[("MODIAR_PORT", &tls)], 3, &["random_bot.py", "minimax_bot.py", "C"], &["may speak TLS"]),
        (&[("MODIAR_PORT", &http)], 3, &["random_bot.py", "minimax_bot.py"], &["MODIAR_PORT may be no port for bots"]),
        (&[("MODIAR_TLS", "1")], 2, &["C"], &["MODIAR_TLS", "tunnel"]),
    ];
    for (settings, status, of, parts) in cases {
        for (bot, command) in bots.iter_mut().filter(|(bot, _)| of.contains(bot)) {
            command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
            command.env("MODIAR_PORT", daemon.bots.port().to_string()).envs(settings.iter().copied());
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(status), "{bot} {settings:?}: {said}");
            assert!(parts.iter().all(|part| said.contains(part)), "{bot} {settings:?}: {said}");
            assert!(!said.contains("Traceback"), "{said}");
        }
    }
}

/// A port that says this to whoever comes, and nothing else.
fn silent_port(said: &'static [u8]) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().take(20).map_while(Result::ok) {
            let _ = stream.read(&mut [0; 512]);
            let _ = stream.write_all(said);
        }
    });
    port.to_string()
}

/// What a registered bot played in an earlier run is none of the games of this one.
#[test]
fn a_bot_counts_the_games_of_its_own_run() {
    if !have("python3") {
        return;
    }
    let daemon = Daemon::start();
    let token = daemon.register("dice");
    let mut other = Returning::guest(&daemon);
    other.peer.send(&json!({"type": "seek", "pool": "practice", "games": 4})).unwrap();
    other.peer.expect("seeking").unwrap();
    let mut played = Vec::new();
    for _ in 0..2 {
        let mut command = python("greedy_bot.py", &["--games", "2", "--pool", "practice"]);
        command.env("MODIAR_NAME", "dice");
        let bot = daemon.bot_with_token(command, &token);
        for _ in 0..2 {
            let game = other.peer.skip_to("started").unwrap()["game"].as_str().unwrap().to_owned();
            play(&mut other, &game, 1000).unwrap();
            played.push(game);
        }
        let outcome = bot.finish();
        let told: Vec<&str> = outcome.lines().iter().map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(told, played[played.len() - 2..], "{outcome:?}");
        assert!(outcome.stderr.contains("playing as dice"), "{outcome:?}");
    }
}

/// It says what the server said, and ends at once.
#[test]
fn a_bot_with_a_wrong_token_says_so_and_ends() {
    if !have("python3") {
        return;
    }
    let daemon = Daemon::start();
    daemon.register("dice");
    let mut command = python("minimax_bot.py", &[]);
    command.env("MODIAR_NAME", "dice");
    let outcome = daemon.bot_with_token(command, &format!("modiar-{}", "0".repeat(64))).finish();
    assert_eq!(outcome.status, Some(3), "{outcome:?}");
    assert!(outcome.stderr.contains("auth_failed") && !outcome.stderr.contains("expected_hello"), "{outcome:?}");
}
