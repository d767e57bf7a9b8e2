//! The tools run, and their last line is JSON that says what they promise. No time is asserted.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Runs the benchmark; its JSON line. `None` where the daemon was not built: the tests of the whole workspace build it.
fn bench(arguments: &[&str]) -> Option<Value> {
    let bench = Path::new(env!("CARGO_BIN_EXE_modiar-bench"));
    let daemon = bench.with_file_name("modiar");
    let required = std::env::var_os("MODIAR_REQUIRE_ALL").is_some();
    assert!(daemon.is_file() || !required, "there is no {}", daemon.display());
    if !daemon.is_file() {
        eprintln!("SKIPPED: there is no {}", daemon.display());
        return None;
    }
    Some(run(Command::new(bench), &[arguments, &["--daemon", daemon.to_str().unwrap()]].concat()))
}

fn run(mut command: Command, arguments: &[&str]) -> Value {
    let output = command.args(arguments).output().unwrap();
    let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    assert_eq!(stderr.is_empty(), arguments.contains(&"--json"), "the table is for people: {stderr}");
    serde_json::from_str(&stdout).unwrap()
}

/// Every key has a number, and those named first one above nothing.
fn check(report: &Value, positive: &[&str]) {
    for (key, value) in report.as_object().unwrap() {
        assert!(value.is_number(), "{key}: {value}");
    }
    for key in positive {
        assert!(report[key].as_f64().unwrap_or_default() > 0.0, "{key} in {report}");
    }
}

#[test]
fn games_without_end_are_measured_against_the_relay() {
    if let Some(report) = bench(&["relay", "--games", "4", "--rounds", "1", "--seconds", "0.2"]) {
        assert_eq!(report["games"], 4);
        check(&report, &["daemon_plies_per_s", "relay_plies_per_s", "p50_us", "p99_us", "relay_p99_us"]);
        check(&report, &["bytes_per_connection", "idle_bytes_per_connection"]);
        for key in ["daemon_us_per_ply", "relay_us_per_ply", "ratio"] {
            assert!(report.get(key).is_some(), "{key} in {report}");
        }
    }
}

#[test]
fn whole_games_are_measured() {
    if let Some(report) = bench(&["whole", "--games", "3", "--rounds", "1", "--seconds", "0.3", "--json"]) {
        check(&report, &["games_per_s", "daemon_plies_per_s", "relay_plies_per_s"]);
    }
}

#[test]
fn an_attack_is_measured() {
    let small = ["attack", "--rounds", "1", "--games", "2", "--rate", "200", "--seconds", "0.2", "--json"];
    if let Some(report) = bench(&small) {
        check(&report, &["p99_us", "attacked_p99_us", "p99_ratio", "foes_connects", "foes_writes"]);
    }
}

#[test]
fn a_crowd_is_measured() {
    if let Some(report) = bench(&["connects", "--count", "50", "--rounds", "1", "--json"]) {
        check(&report, &["count", "welcomed_ms", "relay_welcomed_ms"]);
    }
}

#[test]
fn the_store_is_measured() {
    let bench = Command::new(env!("CARGO_BIN_EXE_modiar-bench"));
    let report = run(bench, &["store", "--games", "50", "--waiting", "10", "--json"]);
    check(&report, &["games", "waiting", "games_per_s"]);
}

#[test]
fn a_start_is_measured() {
    if let Some(report) = bench(&["start", "--games", "50", "--rounds", "1", "--json"]) {
        check(&report, &["games", "start_ms", "slowest_start_ms"]);
    }
}
