//! What the parts of a ply cost in instructions, which no other load on the machine changes: none may cost over 5 % more
//! than `instructions.json` says.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Most that a part may cost, in hundredths of what it did.
const MOST: u64 = 105;
/// How often each part is done, beyond the first time.
const TIMES: u64 = 1000;

/// What was counted, by which compiler.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Baseline {
    rustc: String,
    instructions: BTreeMap<String, u64>,
}

fn run(command: &mut Command) -> (String, String) {
    let output = command.output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{command:?}: {stderr}");
    (stdout, stderr)
}

/// Builds the program that does the parts, as the daemon of a release is built.
fn build() -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    run(cargo.args(["build", "--quiet", "--release", "--locked", "--package", "modiar-bench", "--example", "part"]));
    let target = Path::new(env!("CARGO_BIN_EXE_modiar-bench")).parent().unwrap().parent().unwrap();
    target.join("release/examples/part")
}

fn count(program: &Path, part: &str, times: u64) -> u64 {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    let (_, stderr) = run(valgrind.arg(program).arg(part).arg(times.to_string()));
    let collected = stderr.lines().find_map(|line| line.split_once("Collected : ")).unwrap().1;
    collected.trim().parse().unwrap()
}

/// Does what is done once cancel out: the difference is of the part alone.
fn instructions(program: &Path, part: &str) -> u64 {
    (count(program, part, TIMES + 1) - count(program, part, 1)) / TIMES
}

#[test]
fn no_part_of_a_ply_costs_more_than_it_did() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        assert!(std::env::var_os("MODIAR_REQUIRE_ALL").is_none(), "valgrind is not installed");
        return eprintln!("SKIPPED: valgrind is not installed");
    }
    let program = build();
    let (names, _) = run(&mut Command::new(&program));
    let instructions = names.lines().map(|part| (part.to_owned(), instructions(&program, part))).collect();
    let counted = Baseline { rustc: run(Command::new("rustc").arg("--version")).0.trim().to_owned(), instructions };

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.json");
    let renew = std::env::var_os("MODIAR_RENEW_INSTRUCTIONS").is_some();
    if renew {
        std::fs::write(&path, serde_json::to_string_pretty(&counted).unwrap() + "\n").unwrap();
    }
    let baseline: Baseline = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let how = "if that is meant, run this test once with MODIAR_RENEW_INSTRUCTIONS=1 and commit instructions.json";
    if counted.rustc != baseline.rustc {
        return eprintln!("SKIPPED: counted by {}, the baseline by {}; {how}", counted.rustc, baseline.rustc);
    }
    assert!(counted.instructions.keys().eq(baseline.instructions.keys()), "{counted:?} {baseline:?}; {how}");
    for (part, now) in counted.instructions {
        let before = baseline.instructions[&part];
        eprintln!("{part}: {now} instructions, {before} in the baseline");
        assert!(now * 100 <= before * MOST, "{part}: {now} instructions, more than {MOST} % of {before}; {how}");
    }
}
