//! What the pages for newcomers show is what happens.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod support;

use modiar_protocol::server::{Ended, Turn};
use modiar_protocol::{ServerMessage, client};
use modiar_rules::Position;
use std::path::Path;
use std::process::Command;
use support::programs::Program;
use support::{Daemon, have, project};
use tempfile::TempDir;

/// Every command that a page shows, and what holds it. A new one needs its line here.
const COMMANDS: [(&str, &str); 22] = [
    ("cargo run --release -- serve", "every test of the daemon starts it so, but for cargo"),
    ("cargo test --workspace", "this is it"),
    (".ci/run", "it runs this"),
    ("cargo run --release -p modiar-bench -- relay --games 1000 --quick", "the smoke tests of daemon/bench, smaller"),
    ("cargo bench -p modiar-bench", "they are built with every check of the workspace"),
    ("cargo run --release -- bot add dice", "a_host_registers_a_bot_and_copies_the_database"),
    ("cargo run --release -- backup modiar-backup.db", "a_host_registers_a_bot_and_copies_the_database"),
    ("python3 bot.py", "the_bot_of_the_readme_plays"),
    ("cargo run --release -- check bot -- python3 bot.py", "the_bot_of_the_readme_is_told_what_it_lacks"),
    ("cargo run --release -- games show GAME", "the_bot_of_the_readme_plays"),
    ("python3 -m unittest discover -s clients/python/tests", "clients.rs"),
    ("python3 clients/python/bots/greedy_bot.py --games 10", "clients.rs"),
    ("make", "clients.rs"),
    ("cc -std=c11 -O2 -Wall -Wextra -Wpedantic -I. -o build/first_bot bots/first_bot.c modiar.c", "sdks.rs"),
    ("build/first_bot", "sdks.rs"),
    ("build/greedy_bot --games 10", "clients.rs"),
    ("make test", "the_c_library_holds"),
    ("clients/shell/bot.sh --games 10", "clients.rs"),
    ("cargo run --release -- games verify", "the_bot_of_the_readme_plays"),
    ("cargo run --release -- games export", "the_bot_of_the_readme_plays"),
    ("cargo run --release -- analyze", "analyze.rs"),
    ("cargo run --release -- analyze --html report.html", "analyze.rs"),
];

const PAGES: [&str; 5] =
    ["README.md", "CONTRIBUTING.md", "clients/python/README.md", "clients/c/README.md", "clients/shell/README.md"];

fn page(path: &str) -> String {
    std::fs::read_to_string(project().join(path)).unwrap()
}

/// The fenced blocks of a page in this language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let pieces: Vec<&str> = page.split("```").collect();
    assert_eq!(pieces.len() % 2, 1, "a block is not closed");
    let inside = pieces.iter().skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    inside.filter(|(named, _)| *named == language).map(|(_, text)| text).collect()
}

/// The commands of a page, without their comments.
fn commands(page: &str) -> Vec<String> {
    let text = ["sh", "console"].map(|language| blocks(page, language).concat()).concat();
    let lines = text.lines().map(|line| line.split("  #").next().unwrap().trim().trim_start_matches("$ ").to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

/// Who said a line of the transcript, and the line; `None` where something is left out.
fn transcript(page: &str) -> Vec<Option<(char, String)>> {
    let inside = page.split("<!-- transcript -->").nth(1).unwrap();
    let line = |line: &str| match line.split_once(' ') {
        Some((">", said)) => Some(('>', said.to_owned())),
        Some(("<", said)) => Some(('<', said.to_owned())),
        _ => {
            assert_eq!(line, "…", "a line of the transcript begins with > or <");
            None
        }
    };
    blocks(inside, "")[0].lines().map(line).collect()
}

/// What the server said in it.
fn server_messages(page: &str) -> Vec<ServerMessage> {
    let said = transcript(page).into_iter().flatten().filter(|(who, _)| *who == '<');
    said.map(|(_, line)| serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn ended(page: &str) -> Ended {
    let ended = server_messages(page).into_iter().find_map(|message| match message {
        ServerMessage::Ended(ended) => Some(*ended),
        _ => None,
    });
    ended.unwrap()
}

/// Two games, one after the other: the bot's text as the page has it, two processes each.
#[test]
fn the_bot_of_the_readme_plays() {
    if !have("python3") {
        return;
    }
    let readme = page("README.md");
    let bot = blocks(&readme, "python")[0];
    assert_eq!(bot, page("clients/python/bots/shortest_bot.py"), "the page and the file show the same bot");
    let ended = ended(&readme);
    let (folder, daemon) = (TempDir::new().unwrap(), Daemon::start());
    std::fs::write(folder.path().join("bot.py"), bot).unwrap();
    for _ in 0..2 {
        let [one, other] = [(); 2].map(|()| start_bot(&daemon, folder.path())).map(Program::finish);
        assert_eq!(one.lines(), other.lines());
        let printed: Vec<&str> = one.lines()[0].split(' ').collect();
        let [game, result, termination] = printed[..] else { panic!("{one:?}") };
        assert_eq!([result, termination], [ended.result.as_str(), ended.termination.as_str()], "as on the page");
        for command in commands(&readme).iter().filter_map(|line| line.strip_prefix("cargo run --release -- games ")) {
            let command = command.replace(&ended.game.to_string(), game);
            let (status, text) = daemon.run(&["games"].into_iter().chain(command.split(' ')).collect::<Vec<_>>());
            assert!(status.success(), "{command}: {text}");
            let told = match &*command {
                "verify" => "all good".to_owned(),
                "export" => format!("\"game\":\"{game}\""),
                _ => format!("by {termination}"),
            };
            assert!(text.contains(&told), "{command}: {text}");
        }
    }
}

/// `errors.message`: the words of the server are for who started the bot.
#[test]
fn the_bot_of_the_readme_says_why_it_is_refused() {
    if !have("python3") {
        return;
    }
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("bot.py"), blocks(&page("README.md"), "python")[0]).unwrap();
    for (config, words) in [
        ("guests = false", "token"),
        ("[[pool]]\nname = \"bullet\"\nbase_ms = 1000", "pool"),
        ("[limits]\nconnections = 1", "connections"),
    ] {
        let daemon = Daemon::start_with(config, &[]);
        let first = daemon.connect();
        let outcome = start_bot(&daemon, folder.path()).finish();
        assert_eq!((outcome.status, &*outcome.stdout), (Some(1), ""), "{outcome:?}");
        let told = outcome.stderr.trim_end();
        assert!(told.contains(words) && told.lines().count() == 1, "{outcome:?}");
        drop(first);
    }
}

fn start_bot(daemon: &Daemon, folder: &Path) -> Program {
    let mut command = Command::new("python3");
    command.arg("bot.py").current_dir(folder);
    daemon.bot(command)
}

/// What the bots print, as the page shows it, is about the game of its transcript.
#[test]
fn the_readme_shows_one_game_throughout() {
    let readme = page("README.md");
    let Ended { game, result, termination, .. } = ended(&readme);
    let printed = format!("{game} {result} {termination}\n");
    assert!(blocks(&readme, "").contains(&&*printed), "the page shows what the bots print: {printed}");
    assert!(commands(&readme).contains(&format!("cargo run --release -- games show {game}")), "and asks for {game}");
}

#[test]
fn every_line_of_the_transcript_is_a_message() {
    for (who, line) in transcript(&page("README.md")).into_iter().flatten() {
        if who == '>' {
            assert!(client::decode(line.as_bytes()).is_ok(), "{line}");
        } else {
            let message: ServerMessage = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            let written = String::from_utf8(message.to_line()).unwrap();
            assert_eq!(written, format!("{line}\n"), "as the server writes it");
        }
    }
}

/// Both bots play the first legal pit, so every position of the transcript follows from the rules.
#[test]
fn the_transcript_is_the_game_of_two_such_bots() {
    let mut positions = vec![Position::START];
    while let Some(pit) = positions.last().unwrap().legal().first() {
        positions.push(positions.last().unwrap().play(pit).unwrap().position);
    }
    let messages = server_messages(&page("README.md"));
    let turns = messages.iter().filter_map(|message| match message {
        ServerMessage::Turn(turn) => Some(turn),
        _ => None,
    });
    let mut seen = 0;
    for Turn { ply, side, pits, captured, legal, .. } in turns {
        let position = positions[usize::try_from(ply - 1).unwrap()];
        assert_eq!((*side, *pits, legal.0), (position.side(), position.pits(), position.legal()), "ply {ply}");
        assert_eq!((*captured), position.captured().into(), "ply {ply}");
        seen += 1;
    }
    assert!(seen >= 2, "{seen} turns");
    let last = positions.last().unwrap();
    let Ended { score, pits, ply, .. } = ended(&page("README.md"));
    assert_eq!((score, pits, ply), (last.scoop().into(), last.pits(), last.ply() - 1));
}

#[test]
fn the_line_of_a_started_daemon_has_the_keys_of_the_page() {
    let readme = page("README.md");
    let shown: serde_json::Value = serde_json::from_str(blocks(&readme, "json")[0]).unwrap();
    // Whether a started daemon prints the same keys, Daemon::start has read; the ports are the defaults.
    let template = include_str!("../src/modiar.toml");
    for key in ["bots", "http"] {
        assert!(template.contains(&format!("{key} = {}", shown[key])), "{key}: {}", shown[key]);
    }
    assert_eq!(shown["type"], "listening");
}

#[test]
fn every_command_of_a_page_is_known() {
    let game = ended(&page("README.md")).game.to_string();
    for path in PAGES {
        for command in commands(&page(path)) {
            let command = command.replace(&game, "GAME");
            let known = COMMANDS.iter().any(|(known, _)| *known == command);
            assert!(known || is_a_test_run(&command), "{path}: nothing holds the command: {command}");
        }
    }
}

/// What the README tells a host to do, beside a running daemon: the bot logs in with the token, and the copy is a database.
#[test]
fn a_host_registers_a_bot_and_copies_the_database() {
    let daemon = Daemon::start();
    let (status, told) = daemon.run(&["bot", "add", "dice", "--json"]);
    assert!(status.success(), "{told}");
    let token = serde_json::from_str::<serde_json::Value>(told.lines().next().unwrap()).unwrap()["token"].clone();
    let (_bot, name) = daemon.guest(serde_json::json!({"name": "Dice", "token": token}));
    assert_eq!(name, "dice", "as it was registered");
    let copy = daemon.data().join("modiar-backup.db");
    let (status, told) = daemon.run(&["backup", copy.to_str().unwrap()]);
    assert!(status.success() && copy.exists(), "{told}");
}

/// `cargo test -p PACKAGE [--test FILE] [NAME [-- …]]`, of a package, a file and a test that exist.
fn is_a_test_run(command: &str) -> bool {
    let Some(rest) = command.strip_prefix("cargo test -p ") else { return false };
    let words: Vec<&str> = rest.split(' ').collect();
    let folder = match words[0] {
        "modiar" => "daemon",
        "modiar-rules" => "protocol/rules",
        "modiar-protocol" => "protocol",
        "modiar-conformance" => "spec/conformance",
        _ => return false,
    };
    let tests = project().join(folder).join("tests");
    let exact = words.contains(&"--exact");
    match words[1..] {
        ["--test", file] => tests.join(format!("{file}.rs")).is_file() || tests.join(file).join("main.rs").is_file(),
        [name, ..] => std::fs::read_dir(tests).unwrap().any(|file| {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap_or_default();
            let names = text.lines().filter_map(|line| line.trim().strip_prefix("fn ")?.strip_suffix("() {"));
            names.into_iter().any(|one| if exact { one == name } else { one.contains(name) })
        }),
        [] => true,
    }
}

#[test]
fn a_command_with_a_slip_is_not_known() {
    assert!(is_a_test_run("cargo test -p modiar the_bot_of_the_readme_plays -- --exact"));
    for slip in [
        "cargo test -p modiar the_bot_of_the_readme -- --exact",
        "cargo test -p modiar-rule perft",
        "cargo test -p modiar --test redame",
        "cargo tset -p modiar",
    ] {
        assert!(!is_a_test_run(slip), "{slip}");
    }
}
