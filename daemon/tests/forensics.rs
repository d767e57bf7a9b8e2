//! `modiar games show ID --forensics`: what a bot's author is told of a game that it forfeited (`forfeit.dossier`).
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod support;

use modiar_conformance::Peer;
use serde_json::{Value, json};
use std::time::Duration;
use support::Daemon;

const SHORT: &str = "[[pool]]\nname = \"short\"\nbase_ms = 2000\nopenings = \"start\"\n";

/// Two guests at a table, South first, and the game's id.
fn seated(daemon: &Daemon) -> ([Peer; 2], Value) {
    let [mut one, mut other] = [0, 1].map(|_| daemon.guest(json!({})).0);
    for bot in [&mut one, &mut other] {
        bot.send(&json!({"type": "seek", "pool": "short"})).unwrap();
    }
    let started = one.skip_to("started").unwrap();
    other.skip_to("started").unwrap();
    let two = if started["side"] == "south" { [one, other] } else { [other, one] };
    (two, started["game"].clone())
}

fn show(daemon: &Daemon, game: &Value, arguments: &[&str]) -> (bool, String) {
    let data = daemon.data();
    let all = [&["games", "show", game.as_str().unwrap(), "--data", data.to_str().unwrap()], arguments].concat();
    let (status, said) = daemon.run(&all);
    (status.success(), said)
}

fn dossier(daemon: &Daemon, game: &Value) -> Value {
    let (good, said) = show(daemon, game, &["--forensics", "--json"]);
    assert!(good, "{said}");
    // Where the data are is told behind it.
    serde_json::from_str(said.lines().next().unwrap()).unwrap()
}

/// The next turn, as the line that it is.
fn turn_line(bot: &mut Peer) -> String {
    loop {
        let line = bot.line_within(Duration::from_secs(10)).unwrap();
        if line.contains("\"type\":\"turn\"") {
            return line.trim_end().to_owned();
        }
    }
}

fn texts(lines: &Value) -> Vec<&str> {
    lines.as_array().unwrap().iter().map(|line| line["text"].as_str().unwrap()).collect()
}

/// `forfeit.dossier`: the line that lost the game, to the byte, the turn that it answered, and the clause.
#[test]
fn an_illegal_move_is_shown_as_it_came() {
    let daemon = Daemon::start_with(SHORT, &[]);
    let ([mut south, mut north], game) = seated(&daemon);
    let first = south.skip_to("turn").unwrap();
    south.send(&json!({"type": "move", "game": game, "pit": 2})).unwrap();
    let turn = turn_line(&mut north);
    let said = format!("{{\"pit\" : 0,\"type\":\"move\", \"game\":{game}, \"note\":\"\u{e9}\u{202e}\"}}");
    north.send_bytes(format!("{said}\r\n").as_bytes()).unwrap();
    north.skip_to("ended").unwrap();
    let dossier = dossier(&daemon, &game);
    assert_eq!(
        json!([dossier["side"], dossier["termination"], dossier["clause"], dossier["ply"]]),
        json!(["north", "illegal_move", "rules.move.own-row", 2])
    );
    assert_eq!(texts(&dossier["heard"]["north"]).last().unwrap(), &said.as_str());
    assert_eq!(dossier["turns"]["north"], json!(turn));
    assert_eq!(serde_json::from_str::<Value>(dossier["turns"]["south"].as_str().unwrap()).unwrap(), first);
    assert!(texts(&dossier["heard"]["south"])[0].contains("\"pit\":2"), "{dossier}");
    // A person's page turns no line round.
    let (good, page) = show(&daemon, &game, &["--forensics"]);
    assert!(good && page.contains("rules.move.own-row") && !page.contains('\u{202e}'), "{page}");
    assert!(page.contains(&format!("modiar games show {}", game.as_str().unwrap())), "{page}");
}

/// `forfeit.dossier`: a move that the server could not read, and the flag that fell then; a token is not shown.
#[test]
fn a_flag_is_shown_with_its_arithmetic_and_what_came_before_it() {
    let daemon = Daemon::start_with(SHORT, &[]);
    let ([mut south, mut north], game) = seated(&daemon);
    south.skip_to("turn").unwrap();
    south.send(&json!({"type": "move", "game": game, "pit": 2})).unwrap();
    north.skip_to("turn").unwrap();
    north.send(&json!({"type": "move", "game": game, "pit": 4})).unwrap();
    south.skip_to("turn").unwrap();
    let token = format!("modiar-{}", "0123456789abcdef".repeat(4));
    south.send(&json!({"type": "move", "pit": "2", "token": token})).unwrap();
    assert_eq!(south.skip_to("error").unwrap()["code"], "bad_field");
    assert_eq!(south.skip_to("ended").unwrap()["termination"], "time_forfeit");
    let dossier = dossier(&daemon, &game);
    assert_eq!(json!([dossier["side"], dossier["clause"]]), json!(["south", "clock.flag"]));
    let last = texts(&dossier["heard"]["south"]).pop().unwrap().to_owned();
    assert!(last.contains("\"pit\":\"2\"") && last.contains("modiar-****") && !last.contains(&token), "{last}");
    let clock = |key: &str| dossier["clock"][key].as_u64().unwrap();
    assert_eq!(clock("elapsed_us") - clock("grace_us"), clock("charged_us"));
    assert!(clock("charged_us") > clock("allowed_us") && clock("allowed_us") <= 2_000_000, "{dossier}");
    let before = dossier["heard"]["south"].as_array().unwrap().last().unwrap()["before_end_us"].as_u64().unwrap();
    assert!(before <= clock("elapsed_us") + 50_000, "it came within the turn: {dossier}");
}

/// `forfeit.dossier`: a no-show leaves one; a game that was played to its end, or given up, none. A kill takes none away.
#[test]
fn who_forfeits_nothing_has_no_dossier() {
    let daemon = Daemon::start_with(SHORT, &[]);
    let ([mut south, mut north], absent) = seated(&daemon);
    north.skip_to("ended").unwrap();
    south.skip_to("seek_ended").unwrap();
    // The seek of the one who was there still stands: it would meet who comes next.
    for bot in [&mut south, &mut north] {
        bot.send(&json!({"type": "bye"})).unwrap();
        bot.skip_to("goodbye").unwrap();
    }
    let ([mut south, _north], given_up) = seated(&daemon);
    south.send(&json!({"type": "resign", "game": given_up})).unwrap();
    south.skip_to("ended").unwrap();
    let (good, said) = show(&daemon, &given_up, &["--forensics"]);
    assert!(!good && said.contains("there is no dossier") && said.contains("resignation"), "{said}");
    let daemon = Daemon::start_in(daemon.kill(), SHORT, &[]);
    let dossier = dossier(&daemon, &absent);
    assert_eq!(json!([dossier["side"], dossier["clause"], dossier["ply"]]), json!(["south", "forfeit.no-show", 1]));
    assert_eq!(dossier["turns"]["north"], Value::Null);
}
