//! The quiz of the rules: how its questions are made, what they weigh, and that each check finds its fault and no other.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

#[path = "../../src/bin/twin/board.rs"]
mod board;
mod make;
mod programs;

use make::{KINDS, Kind};
use modiar_conformance::quiz::checks;
use modiar_conformance::{About, Verdict};
use modiar_rules::{Position, Side};
use programs::{failed, quiz};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Checks whose questions anybody meets in any game.
const NOT_RARE: [&str; 1] = ["plain"];

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/quiz.jsonl")
}

fn cases() -> Vec<Value> {
    let text = std::fs::read_to_string(file()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn position(case: &Value) -> Position {
    case["position"].as_str().unwrap().parse().unwrap()
}

/// With `MODIAR_RENEW_QUIZ=1` the file is written anew, for the next run.
#[test]
fn the_questions_are_those_that_the_seed_makes() {
    let made: String = make::made().into_iter().map(|line| line + "\n").collect();
    if std::env::var_os("MODIAR_RENEW_QUIZ").is_some() {
        std::fs::write(file(), &made).unwrap();
    }
    let there = std::fs::read_to_string(file()).unwrap();
    assert!(
        made == there,
        "spec/vectors/quiz.jsonl differs; MODIAR_RENEW_QUIZ=1 cargo test -p modiar-conformance --test quiz"
    );
}

#[test]
fn a_question_says_its_position_in_both_forms_and_turns_on_one_thing() {
    for (index, case) in cases().iter().enumerate() {
        let position = position(case);
        assert_eq!(case["question"], index + 1);
        assert_eq!((&case["pits"], &case["ply"]), (&position.pits().into(), &position.ply().into()), "{case}");
        assert_eq!(case["side"], position.side().to_string(), "{case}");
        let kind = make::turns_on(position).unwrap();
        assert_eq!((&case["check"], &case["clause"]), (&kind.check.into(), &kind.clause.into()), "{case}");
    }
}

/// Five hundred, at least four hundred of them about something rare, and of each rare thing as many from both seats.
#[test]
fn rare_clauses_weigh_most_from_both_seats() {
    let mut counts = BTreeMap::<String, [usize; 2]>::new();
    for case in cases() {
        let seats = counts.entry(case["check"].as_str().unwrap().to_owned()).or_default();
        seats[usize::from(position(&case).side() == Side::North)] += 1;
    }
    let sum = |counts: &BTreeMap<String, [usize; 2]>| counts.values().flatten().sum::<usize>();
    assert_eq!(sum(&counts), 500);
    counts.retain(|name, _| !NOT_RARE.contains(&&**name));
    assert!(sum(&counts) >= 400, "{counts:?}");
    // There is one first ply, and after it one second ply at which something is captured.
    assert_eq!(counts.remove("first-ply"), Some([1, 1]));
    assert!(counts.values().all(|seats| *seats == [20, 20]), "{counts:?}");
    let asking = checks().count() - 1;
    assert_eq!(counts.len() + 1 + NOT_RARE.len(), asking, "{counts:?}");
}

/// Within a check, what it is about is told apart: each kind has its number from both seats.
#[test]
fn every_kind_is_there_as_often_as_it_says() {
    let cases = cases();
    for Kind { reason, each, .. } in &KINDS {
        let of = cases.iter().filter(|case| case["reason"] == *reason);
        let seats = of.fold([0; 2], |mut seats, case| {
            seats[usize::from(position(case).side() == Side::North)] += 1;
            seats
        });
        let is_early = reason.contains("ply");
        assert!(seats == [*each; 2] || is_early && seats.iter().sum::<usize>() == 1, "{reason}: {seats:?}");
    }
}

#[test]
fn a_right_board_passes_every_check() {
    let failed = failed(&[]);
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_wrong_board_is_found_by_its_own_check_alone() {
    let mut wrong = Vec::new();
    for Kind { fault, check, .. } in &KINDS {
        let (name, _) = board::FAULTS.iter().find(|(_, one)| one == fault).unwrap();
        let failed = failed(&["--fault", name]);
        if failed.iter().map(|(check, _)| *check).ne([*check]) {
            let told: String = failed.into_iter().map(|(_, told)| told + "\n").collect();
            wrong.push(format!("{name}: {check} should fail, and did:\n{told}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let unshown = checks().filter(|check| KINDS.iter().all(|kind| kind.check != check.name));
    assert_eq!(
        unshown.map(|check| check.name).collect::<Vec<_>>(),
        ["ends"],
        "programs.rs has programs that do not end"
    );
}

#[test]
fn a_failure_says_what_is_wrong_and_how_often() {
    let reports = quiz(&[env!("CARGO_BIN_EXE_twin"), "--rules", "--fault", "duty"], checks().collect());
    let report = reports.iter().find(|report| report.about.name == "feeding").unwrap();
    let Verdict::Failed(fault) = &report.verdict else { panic!("{report}") };
    assert_eq!(fault.clause, "rules.feed.must");
    let told = report.to_string();
    for part in [
        "differs   legal",
        "wrong     20 of 40 answers of this check: ",
        "question  {\"question\":",
        "to do:   Where the other",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    for told in [&fault.awaited, &fault.came] {
        let answer: Value = serde_json::from_str(told).unwrap();
        assert!(answer["legal"].is_array() && answer["after"].is_array(), "{told}");
    }
}

/// Questions of the chosen checks alone are asked.
#[test]
fn chosen_checks_are_made_alone() {
    let chosen: Vec<&'static About> = checks().filter(|check| ["slam", "ends"].contains(&check.name)).collect();
    let reports = quiz(&[env!("CARGO_BIN_EXE_twin"), "--rules", "--fault", "slam"], chosen);
    let told: Vec<_> = reports.iter().map(|report| (report.about.name, report.verdict == Verdict::Ok)).collect();
    assert_eq!(told, [("slam", false), ("ends", true)]);
}
