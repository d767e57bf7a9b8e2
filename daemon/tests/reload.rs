//! SIGHUP reads the configuration again.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_conformance::Peer;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use support::process::wait_until;
use support::{Daemon, HOUSE_BOTS, MODIAR};

const POOL: &str = "[[pool]]\nname = \"blitz\"\nbase_ms = 30000\nopenings = \"start\"\n";

fn counted(daemon: &Daemon, outcome: &str) -> u64 {
    let name = format!("modiar_reloads_total{{outcome=\"{outcome}\"}} ");
    let metrics = daemon.get("/metrics").body;
    metrics.lines().find_map(|line| line.strip_prefix(&*name)).unwrap().parse().unwrap()
}

/// Has the daemon read another configuration file, and waits until it has.
fn reload(daemon: &Daemon, config: &str, outcome: &str) {
    std::fs::write(daemon.data().with_file_name("modiar.toml"), config).unwrap();
    let before = counted(daemon, outcome);
    daemon.signal(libc::SIGHUP);
    wait_until("the configuration is read again", || counted(daemon, outcome) > before);
}

fn say(daemon: &Daemon, fields: &Value) -> (Peer, Value) {
    let mut message = json!({"type": "hello", "protocol": 1});
    message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let mut peer = daemon.connect();
    peer.send(&message).unwrap();
    let answer = peer.read().unwrap();
    (peer, answer)
}

fn pools(welcome: &Value) -> Vec<(&str, u64)> {
    let pools = welcome["pools"].as_array().unwrap();
    pools.iter().map(|pool| (pool["name"].as_str().unwrap(), pool["time"]["base_ms"].as_u64().unwrap())).collect()
}

/// Who is here reads no goodbye, games go on as they began, and later ones begin by what is said now.
#[test]
fn what_can_change_changes_for_who_comes_and_what_begins_later() {
    let daemon = Daemon::start_with(&format!("registration = false\n{POOL}"), &[]);
    let (mut early, welcome) = say(&daemon, &json!({"games": 9}));
    assert_eq!(pools(&welcome), [("blitz", 30_000)]);
    let mut game = daemon.game("blitz");
    let fast = POOL.replace("30000", "5000");
    let config = format!(
        "registration = true\n[limits]\ngames_per_bot = 3\nmessage_burst = 7\nmessages_per_second = 1\n{fast}\
         [[pool]]\nname = \"slow\"\nbase_ms = 60000\n"
    );
    reload(&daemon, &config, "done");

    let (_, welcome) = say(&daemon, &json!({"name": "dice", "register": true, "games": 9}));
    assert!(welcome["token"].is_string(), "{welcome}");
    assert_eq!(pools(&welcome), [("blitz", 5000), ("slow", 60_000)]);
    assert_eq!((&welcome["limits"]["games"], &welcome["limits"]["messages_per_s"]), (&json!(3), &json!(1)));
    // A connection keeps the rate it began with.
    for number in 0..20 {
        early.send(&json!({"type": "ping", "ref": number})).unwrap();
        assert_eq!(early.expect("pong").unwrap()["ref"], number);
    }
    early.send(&json!({"type": "seek", "pool": "slow"})).unwrap();
    early.expect("seeking").unwrap();
    let (mut late, _) = say(&daemon, &json!({}));
    late.send(&json!({"type": "seek", "pool": "slow", "games": 1})).unwrap();
    let slow = late.skip_to("started").unwrap();
    assert_eq!(slow["time"]["base_ms"], 60_000, "{slow}");
    game.play("24");
    let turn = game.south.expect("turn").unwrap();
    assert!(turn["remaining_ms"]["south"].as_u64().unwrap() > 5000, "{turn}");

    for (registration, way) in [(true, "send register with a name"), (false, "ask it for a name and a token")] {
        reload(&daemon, &format!("guests = false\nregistration = {registration}\n{fast}"), "done");
        let refused = say(&daemon, &json!({})).1;
        assert!(refused["code"] == "guests_closed" && refused["message"].as_str().unwrap().contains(way), "{refused}");
    }
    assert_eq!(say(&daemon, &json!({"name": "coin", "register": true})).1["code"], "registration_closed");
    let log = daemon.kill_for_log();
    let line = log.lines().find(|line| line.contains("the configuration was read again")).unwrap();
    for told in
        ["registration: false -> true", "[[pool]] blitz base_ms: 30000 -> 5000", "[[pool]] slow: (none) -> there"]
    {
        assert!(line.contains(told), "{told}: {line}");
    }
    assert!(!line.contains("needs_a_restart") && !line.contains("bots"), "a flag lies over the file: {line}");
}

#[test]
fn house_bots_sit_down_in_a_pool_that_is_new() {
    let daemon = Daemon::start_with(POOL, &[HOUSE_BOTS]);
    let challenge = json!({"type": "challenge", "opponent": "house-random", "pool": "blitz"});
    let (mut bot, _) = say(&daemon, &json!({}));
    wait_until("the house bots are here", || {
        bot.send(&challenge).unwrap();
        bot.read().unwrap()["type"] != "error"
    });
    bot.send(&json!({"type": "bye"})).unwrap();
    reload(&daemon, &format!("{POOL}[[pool]]\nname = \"slow\"\nbase_ms = 60000\nopenings = \"start\"\n"), "done");
    let (mut bot, _) = say(&daemon, &json!({}));
    bot.send(&json!({"type": "seek", "pool": "slow"})).unwrap();
    let started = bot.skip_to("started").unwrap();
    let houses = ["south", "north"].map(|side| started[side]["name"].as_str().unwrap().starts_with("house-"));
    assert_ne!(houses[0], houses[1], "{started}");
}

#[test]
fn what_needs_a_restart_is_named_and_stays() {
    let daemon = Daemon::start_with(&format!("{POOL}[[pool]]\nname = \"gone\"\nbase_ms = 1000\n"), &[]);
    let new = format!("node = \"other\"\n{POOL}quiet_plies = 50\n");
    reload(&daemon, &new, "done");
    let (mut peer, welcome) = say(&daemon, &json!({}));
    assert_eq!(pools(&welcome), [("blitz", 30_000), ("gone", 1000)]);
    assert_eq!(welcome["pools"][0]["rules"]["quiet_plies"], 200);
    peer.send(&json!({"type": "seek", "pool": "gone"})).unwrap();
    peer.expect("seeking").unwrap();
    let log = daemon.kill_for_log();
    let line = log.lines().find(|line| line.contains("the configuration was read again")).unwrap();
    let told = ["node: modiar -> other", "[[pool]] gone: there -> (none)", "[[pool]] blitz quiet_plies: 200 -> 50"];
    for told in told {
        assert!(line.contains("needs_a_restart") && line.contains(told), "{told}: {line}");
    }
    assert!(line.contains("WARN"), "{line}");
}

/// A file that cannot be used changes nothing, and is told as `--check-config` tells it.
#[test]
fn a_configuration_that_cannot_be_used_changes_nothing() {
    let daemon = Daemon::start_with(POOL, &[]);
    let path = daemon.data().with_file_name("modiar.toml");
    let mut told = Vec::new();
    for bad in [
        &format!("registration = true\nregistartion = 1\n{POOL}")[..],
        "registration = true\n[[pool]]\nname = \"blitz\"\nbase_ms = 0\n",
        "registration = true\n[limits]\nfailed_logins_per_minute = 0\n",
        "registration = true\n[[pool",
        "registration = true\n[tls]\ncertificate = \"none.pem\"\nkey = \"none.pem\"\n",
    ] {
        reload(&daemon, bad, "refused");
        let check = Command::new(MODIAR).args(["serve", "--check-config", "--config"]).arg(&path).output();
        let check = String::from_utf8(check.unwrap().stderr).unwrap();
        told.push(check.trim_end().strip_prefix("modiar: bad configuration: ").unwrap().to_owned());
        assert_eq!(say(&daemon, &json!({"name": "dice", "register": true})).1["code"], "registration_closed", "{bad}");
    }
    std::fs::remove_file(&path).unwrap();
    daemon.signal(libc::SIGHUP);
    wait_until("it is missed", || counted(&daemon, "refused") == 6);
    let log = daemon.kill_for_log();
    for told in &told {
        assert!(log.contains(&told.escape_debug().to_string()), "{told}\n{log}");
    }
    assert!(told[0].contains("line 2, column 1") && told[3].contains("line 2"), "{told:?}");
}

/// Limits that count what comes from an address hold at once.
/// A pipe is not waited for: nobody may ever write into it.
#[test]
fn what_is_no_file_changes_nothing() {
    let daemon = Daemon::start_with(&format!("guests = false\n{POOL}"), &[]);
    let file = daemon.data().with_file_name("modiar.toml");
    std::fs::remove_file(&file).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    daemon.signal(libc::SIGHUP);
    wait_until("it is refused", || counted(&daemon, "refused") == 1);
    std::fs::remove_file(&file).unwrap();
    reload(&daemon, &format!("guests = true\n{POOL}"), "done");
}

/// What was there is not taken for what nobody wrote: an editor may be about to put it back.
#[test]
fn a_file_of_the_folder_that_is_gone_changes_nothing() {
    let folder = tempfile::TempDir::new().unwrap();
    std::fs::write(folder.path().join("modiar.toml"), "guests = false\n").unwrap();
    let mut daemon = Command::new(MODIAR);
    daemon.args(["serve", "--no-house-bots", "--bots", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
    daemon.current_dir(folder.path());
    let mut daemon = daemon.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    std::fs::remove_file(folder.path().join("modiar.toml")).unwrap();
    let process = rustix::process::Pid::from_child(&daemon);
    rustix::process::kill_process(process, rustix::process::Signal::HUP).unwrap();
    let log = BufReader::new(daemon.stderr.take().unwrap()).lines().map_while(Result::ok);
    let told = log.take_while(|line| !line.contains("was read again")).find(|line| line.contains("cannot be used"));
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    assert!(told.is_some_and(|line| line.contains("modiar.toml")));
}

#[test]
fn limits_of_an_address_hold_from_then_on() {
    let daemon = Daemon::start_with(POOL, &[]);
    let wrong = json!({"name": "dice", "token": "modiar-0"});
    assert_eq!(say(&daemon, &wrong).1["code"], "auth_failed");
    let kept = daemon.connect();
    reload(&daemon, &format!("[limits]\nfailed_logins_per_minute = 1\nconnections_per_address = 1\n{POOL}"), "done");
    wait_until("there is room for one", || daemon.get("/metrics").body.contains("modiar_connections 1\n"));
    assert_eq!(daemon.connect().read().unwrap()["code"], "too_many_connections");
    drop(kept);
    wait_until("it is gone", || daemon.get("/metrics").body.contains("modiar_connections 0\n"));
    assert_eq!(say(&daemon, &wrong).1["code"], "rate_limited");
}
