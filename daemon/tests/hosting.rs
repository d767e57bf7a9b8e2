//! What HOSTING.md tells a host to do does what it says.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use serde_json::json;
use std::path::Path;
use std::process::Command;
use support::{Daemon, MODIAR, project};
use tempfile::TempDir;

fn page() -> String {
    std::fs::read_to_string(project().join("daemon/HOSTING.md")).unwrap()
}

/// The blocks of this language, each with the heading above it.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<(&'a str, &'a str)> {
    let fence = format!("```{language}\n");
    let sections = page.split("\n## ").map(|section| (section.lines().next().unwrap(), section));
    sections
        .flat_map(|(heading, section)| section.split(&*fence).skip(1).map(move |rest| (heading, rest)))
        .map(|(heading, rest)| (heading, rest.split("```").next().unwrap()))
        .collect()
}

/// Runs a block in `folder`, whose data directory a test calls `data`; what it wrote.
fn run(folder: &Path, block: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-ec", &format!("modiar() {{ '{MODIAR}' \"$@\"; }}; {}", block.replace("modiar-data/", "data/"))]);
    let output = command.current_dir(folder).env("MODIAR_DATA", "data").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{block}: {said}");
    said
}

/// A daemon with the configuration of `folder`.
fn start(folder: TempDir) -> Daemon {
    let config = std::fs::read_to_string(folder.path().join("modiar.toml")).unwrap();
    Daemon::start_in(folder, &config, &[])
}

#[test]
fn a_host_who_follows_the_page_arrives() {
    let page = page();
    let mut before = Some(TempDir::new().unwrap());
    let mut daemon: Option<Daemon> = None;
    let mut said = Vec::new();
    for (heading, block) in blocks(&page, "sh") {
        if block == "modiar serve\n" {
            daemon = before.take().map(start);
            continue;
        }
        let Some(running) = &daemon else {
            run(before.as_ref().unwrap().path(), block);
            continue;
        };
        let data = running.data();
        let folder = data.parent().unwrap();
        match heading {
            "Monitor" if block.starts_with("curl ") => {
                for line in block.lines() {
                    let path = line.strip_prefix("curl -f http://127.0.0.1:6635").unwrap();
                    assert_eq!(running.get(path).status, 200, "{path}");
                }
            }
            "Restore a backup" => {
                // After the copy was made: a game that it lacks.
                resign_a_game(running);
                let (_, _, folder) = daemon.take().unwrap().stop();
                run(folder.path(), block);
                assert!(folder.path().join("archive-before").exists());
                daemon = Some(start(folder));
            }
            "Back up" => {
                resign_a_game(running);
                said.push(run(folder, block));
            }
            _ => said.push(run(folder, block)),
        }
    }
    let daemon = daemon.unwrap();
    resign_a_game(&daemon);
    let seqs: Vec<u64> = daemon.export().lines().map(seq).collect();
    assert_eq!(seqs, [1, 2], "the second number is used again");
    assert_eq!(
        run(daemon.data().parent().unwrap(), "cat archive-before/*").lines().map(seq).collect::<Vec<_>>(),
        [1, 2]
    );
    for told in [
        "modiar-",
        "dice",
        "nothing to verify",
        "1 game and 2 bots of ",
        "'sunday': 2 players, 2 games; it starts at 2999-12-06T18:00:00.000000Z",
        "sunday: swiss, 2 players, pool blitz, planned",
        "'sunday' is cancelled",
    ] {
        assert!(said.iter().any(|said| said.contains(told)), "{told}: {said:?}");
    }
}

fn seq(line: &str) -> u64 {
    serde_json::from_str::<serde_json::Value>(line).unwrap()["seq"].as_u64().unwrap()
}

fn resign_a_game(daemon: &Daemon) {
    let mut game = daemon.game("practice");
    game.south.send(&json!({"type": "resign", "game": game.id})).unwrap();
    game.south.skip_to("ended").unwrap();
}

/// What the page adds to the configuration is read, beside the keys of the template.
#[test]
fn the_configuration_of_the_page_can_be_used() {
    let folder = TempDir::new().unwrap();
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.path().join("certificate.pem"), certified.cert.pem()).unwrap();
    std::fs::write(folder.path().join("key.pem"), certified.signing_key.serialize_pem()).unwrap();
    let page = page();
    let text: String = blocks(&page, "toml").into_iter().map(|(_, block)| block).collect();
    assert!(text.contains("[tls]"));
    std::fs::write(folder.path().join("modiar.toml"), text).unwrap();
    run(folder.path(), "modiar serve --check-config");
}
