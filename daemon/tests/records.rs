//! Records are refereed again: those of spec/ hold, and a record that was altered anywhere does not.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar::records::{Fault, Findings, verify_record};
use modiar_protocol::Record;
use serde_json::{Value, json};
use std::fs;
use support::project;

/// The valid examples of spec/schema and that of spec/record.md, each with its name.
fn examples() -> Vec<(String, Value)> {
    let folder = project().join("spec/schema/examples/record/valid");
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
    };
    let mut examples: Vec<(String, Value)> = fs::read_dir(folder).unwrap().map(read).collect();
    let page = fs::read_to_string(project().join("spec/record.md")).unwrap();
    let example = page.split("```json\n").nth(1).unwrap().lines().next().unwrap();
    examples.push(("page".to_owned(), serde_json::from_str(example).unwrap()));
    examples.sort_by(|(one, _), (other, _)| one.cmp(other));
    assert!(examples.len() >= 7, "{} examples", examples.len());
    examples
}

/// Referees it; the fault. A record that cannot be read is refused too.
fn fault(record: &Value) -> Option<Fault> {
    match serde_json::from_value::<Record>(record.clone()) {
        Ok(record) => verify_record(&record).err(),
        Err(error) => Some(Fault { ply: None, what: error.to_string() }),
    }
}

fn text(record: &Value, field: &str) -> String {
    record[field].as_str().unwrap().to_owned()
}

/// How many plies the opening has, and how many there are in all.
fn plies(record: &Value) -> (usize, usize) {
    (text(record, "opening").len(), text(record, "moves").len())
}

/// Every record with `pointer` one more than it was.
fn one_more(record: &Value, pointer: &str) -> Option<Value> {
    let mut altered = record.clone();
    let number = altered.pointer_mut(pointer)?;
    *number = json!(number.as_u64()? + 1);
    Some(altered)
}

#[test]
fn the_examples_of_the_specification_hold() {
    for (name, record) in examples() {
        assert_eq!(fault(&record), None, "{name}");
    }
}

#[test]
fn the_examples_end_in_every_way_but_two() {
    let ends: Vec<String> = examples().iter().map(|(_, record)| text(record, "termination")).collect();
    for end in ["aborted", "server_error", "illegal_move", "immobile", "repetition", "resignation", "time_forfeit"] {
        assert!(ends.iter().any(|ended| ended == end), "{end}");
    }
}

/// Another pit at any ply breaks a rule there or later, or leads to another end (`record.replay`).
#[test]
fn an_altered_pit_is_found() {
    for (name, record) in examples() {
        let moves = text(&record, "moves");
        for at in 0..moves.len() {
            for pit in b'0'..=b'5' {
                let mut altered = moves.clone().into_bytes();
                if altered[at] == pit {
                    continue;
                }
                altered[at] = pit;
                let mut record = record.clone();
                record["moves"] = String::from_utf8(altered).unwrap().into();
                let found = fault(&record).unwrap_or_else(|| panic!("{name}: pit {pit} at {at}"));
                let first = u32::try_from(at + 1).unwrap();
                assert!(found.ply.is_none_or(|ply| ply >= first), "{name}: pit {pit} at ply {first}: {found:?}");
                // A pit of the other side's row is that ply's fault.
                let row = usize::from(pit - b'0') / 3;
                if row != at % 2 && at >= plies(&record).0 {
                    assert_eq!(found.ply, Some(first), "{name}: pit {pit}: {found:?}");
                }
            }
        }
    }
}

#[test]
fn a_ply_too_few_or_too_many_is_found() {
    for (name, record) in examples() {
        let moves = text(&record, "moves");
        for altered in
            [moves.get(..moves.len().saturating_sub(1)).unwrap().to_owned(), moves.clone() + "6", moves.clone() + "x"]
        {
            if altered != moves {
                let mut record = record.clone();
                record["moves"] = altered.clone().into();
                assert!(fault(&record).is_some(), "{name}: {altered}");
            }
        }
    }
}

/// A charge follows from what elapsed, so either altered alone is the fault of its ply (`record.clock`).
#[test]
fn an_altered_time_of_a_ply_is_that_ply_s_fault() {
    for (name, record) in examples() {
        let (opening, plies) = plies(&record);
        let grace = record["time"]["grace_ms"].as_u64().unwrap() * 1000;
        for at in 0..plies - opening {
            let ply = u32::try_from(opening + at + 1).unwrap();
            let charged = one_more(&record, &format!("/charged_us/{at}")).unwrap();
            assert_eq!(fault(&charged).unwrap().ply, Some(ply), "{name}");
            let elapsed = record["elapsed_us"][at].as_u64().unwrap();
            let mut altered = record.clone();
            altered["elapsed_us"][at] = json!(elapsed.max(grace) + 1);
            assert_eq!(fault(&altered).unwrap().ply, Some(ply), "{name}");
        }
    }
}

/// Elapsed and charged altered together are true to each other, and then the remaining time is not.
#[test]
fn a_ply_s_times_altered_together_are_found_by_what_remains() {
    for (name, record) in examples() {
        let (opening, plies) = plies(&record);
        let grace = record["time"]["grace_ms"].as_u64().unwrap() * 1000;
        for at in 0..plies - opening {
            let mut altered = record.clone();
            let charged = record["charged_us"][at].as_u64().unwrap() + 1;
            altered["charged_us"][at] = json!(charged);
            altered["elapsed_us"][at] = json!(charged + grace);
            assert!(fault(&altered).is_some_and(|fault| fault.ply.is_none()), "{name} {at}");
        }
    }
}

/// `record.moves`: an entry for each ply after the opening.
#[test]
fn a_column_of_times_too_short_or_too_long_is_found() {
    for (name, record) in examples() {
        for column in ["elapsed_us", "own_us", "charged_us"] {
            let mut longer = record.clone();
            longer[column].as_array_mut().unwrap().push(json!(0));
            assert!(fault(&longer).is_some(), "{name} {column}");
            let mut shorter = record.clone();
            if shorter[column].as_array_mut().unwrap().pop().is_some() {
                assert!(fault(&shorter).is_some(), "{name} {column}");
            }
        }
    }
}

#[test]
fn an_altered_number_of_the_end_is_found() {
    let mut pointers: Vec<String> = (0..6).map(|pit| format!("/pits/{pit}")).collect();
    for pair in ["remaining_us", "score"] {
        pointers.extend(["south", "north"].map(|side| format!("/{pair}/{side}")));
    }
    pointers.extend(["/time/base_ms", "/record"].map(str::to_owned));
    for (name, record) in examples() {
        for pointer in &pointers {
            let altered = one_more(&record, pointer).unwrap();
            assert!(fault(&altered).is_some(), "{name} {pointer}");
        }
    }
}

#[test]
fn another_result_is_found() {
    for (name, record) in examples() {
        // Who resigned is in no other field: by a resignation either side may have won.
        let resigned = record["termination"] == "resignation";
        for result in ["south", "north", "draw", "none"] {
            let mut altered = record.clone();
            altered["result"] = result.into();
            let plausible = record["result"] == result || resigned && matches!(result, "south" | "north");
            assert_eq!(fault(&altered).is_none(), plausible, "{name} {result}: {:?}", fault(&altered));
        }
    }
}

/// Ends that a record tells apart by nothing else: who made an end to a running game, and why.
#[test]
fn another_termination_is_found() {
    for (name, record) in examples() {
        for other in modiar_protocol::Termination::ALL {
            let mut altered = record.clone();
            altered["termination"] = other.as_str().into();
            let alike = |end: &Value| matches!(end.as_str(), Some("aborted" | "server_error"));
            let same = altered["termination"] == record["termination"];
            let plausible = same || alike(&altered["termination"]) && alike(&record["termination"]);
            assert_eq!(fault(&altered).is_none(), plausible, "{name} {other}: {:?}", fault(&altered));
        }
    }
}

#[test]
fn an_altered_unfinished_turn_is_the_fault_of_the_ply_that_was_not_played() {
    for (name, record) in examples().into_iter().filter(|(_, record)| record["unfinished_turn"].is_object()) {
        let ply = u32::try_from(plies(&record).1 + 1).unwrap();
        for field in ["elapsed_us", "charged_us"] {
            let altered = one_more(&record, &format!("/unfinished_turn/{field}")).unwrap();
            assert_eq!(fault(&altered).map(|fault| fault.ply), Some(Some(ply)), "{name} {field}");
        }
    }
}

#[test]
fn a_flag_without_a_turn_past_it_is_found() {
    let (_, record) = examples().into_iter().find(|(name, _)| name == "time-forfeit").unwrap();
    let ply = u32::try_from(plies(&record).1 + 1).unwrap();
    let mut none = record.clone();
    none.as_object_mut().unwrap().remove("unfinished_turn");
    assert_eq!(fault(&none).unwrap().ply, Some(ply));
    let mut exact = record.clone();
    let remaining = record["remaining_us"]["south"].as_u64().unwrap();
    exact["unfinished_turn"]["charged_us"] = json!(remaining);
    exact["unfinished_turn"]["elapsed_us"] = json!(remaining + 50_000);
    assert_eq!(fault(&exact).unwrap().ply, Some(ply));
}

#[test]
fn an_altered_illegal_move_is_the_fault_of_the_ply_that_was_not_played() {
    let (_, record) = examples().into_iter().find(|(name, _)| name == "illegal-move").unwrap();
    let ply = u32::try_from(plies(&record).1 + 1).unwrap();
    for (field, value) in [
        ("pit", json!(0)),
        ("clause", json!("rules.move.empty-pit")),
        ("legal", json!([0, 1])),
        ("legal", json!([3, 4, 5])),
    ] {
        let mut altered = record.clone();
        altered["detail"][field] = value;
        assert_eq!(fault(&altered).unwrap().ply, Some(ply), "{field}");
    }
}

#[test]
fn an_opening_that_is_no_beginning_of_the_moves_is_found() {
    for (name, record) in examples() {
        let mut altered = record.clone();
        altered["opening"] = if text(&record, "opening").is_empty() { "5" } else { "24031503" }.into();
        assert!(fault(&altered).is_some(), "{name}");
    }
}

#[test]
fn an_end_by_a_side_that_had_no_time_left_is_found() {
    let (_, record) = examples().into_iter().find(|(name, _)| name == "illegal-move").unwrap();
    let remaining = record["remaining_us"]["south"].as_u64().unwrap();
    let unfinished = |charged: u64| json!({"elapsed_us": charged + 50_000, "own_us": 0, "charged_us": charged});
    for termination in ["illegal_move", "resignation"] {
        let mut altered = record.clone();
        altered["termination"] = termination.into();
        if termination == "resignation" {
            altered.as_object_mut().unwrap().remove("detail");
        }
        altered["unfinished_turn"] = unfinished(remaining);
        assert_eq!(fault(&altered), None, "{termination} exactly on the flag");
        altered["unfinished_turn"] = unfinished(remaining + 1);
        assert_eq!(fault(&altered).unwrap().ply, Some(3), "{termination}");
    }
}

/// `record.schema`
#[test]
fn the_invalid_examples_are_refused() {
    let folder = project().join("spec/schema/examples/record/invalid");
    let mut passed = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let mut findings = Findings::default();
        findings.verify(record.to_string().as_bytes());
        if findings.is_empty() {
            passed.push(path.file_stem().unwrap().to_str().unwrap().to_owned());
        }
    }
    assert_eq!(passed, [""; 0]);
}

/// `record.schema`: each part has the form that the schema gives it, and one past it is found.
#[test]
fn a_part_in_another_form_is_found() {
    let (_, example) = examples().remove(0);
    let altered = |pointer: &str, value: Value| {
        let mut altered = example.clone();
        *altered.pointer_mut(pointer).unwrap() = value;
        fault(&altered).map(|fault| fault.what)
    };
    for good in ["2026-11-30T12:00:00Z", "2026-11-30T12:00:00.5Z", "2026-11-30T12:00:00.123456789Z"] {
        assert_eq!(altered("/ended", json!(good)), None, "{good}");
    }
    for bad in [
        "2026-11-30 12:00:00Z",
        "20261130T120000Z",
        "2026-11-30T12Z",
        "2026-11-30T12:00:00,5Z",
        "2026-11-30T12:00:00.Z",
        "2026-11-30T12:00:00.1234567890Z",
        "-000001-01-01T00:00:00Z",
        "2026-11-30t12:00:00Z",
        "2026-11-31T12:00:00Z",
        "2026-11-30T12:00:00+00:00",
        "",
    ] {
        assert!(altered("/ended", json!(bad)).is_some_and(|what| what.starts_with("ended '")), "{bad}");
    }
    for key in ["pool", "node"] {
        let of = |length: usize| altered(&format!("/{key}"), json!("ä".repeat(length)));
        assert_eq!((of(0).is_some(), of(1), of(64), of(65).is_some()), (true, None, None, true), "{key}");
    }
    let version = |text: String| {
        let mut altered = example.clone();
        altered["south"]["version"] = json!(text);
        fault(&altered).is_some()
    };
    assert_eq!((version("v".repeat(64)), version("v".repeat(65)), version("\u{1b}".into())), (false, true, true));
}

/// A game counts once, wherever in a file it stands again.
#[test]
fn a_game_that_stands_twice_in_a_file_is_found() {
    let (_, record) = examples().remove(0);
    let mut again = record.clone();
    again["seq"] = json!(500);
    let mut findings = Findings::default();
    findings.verify(record.to_string().as_bytes());
    findings.verify(again.to_string().as_bytes());
    let (report, game) = (findings.report(), text(&record, "game"));
    assert!(report.contains(&format!("game {game}: it stands here more than once\n")), "{report}");
    assert!(report.contains(": 1 finding\n"), "{report}");
}

/// A large file that holds no records at all: the first lines are told, the others counted, and what is a record said.
#[test]
fn of_many_findings_the_first_are_told() {
    let mut findings = Findings::default();
    (0..20_000).for_each(|_| findings.verify(b"nonsense"));
    let report = findings.report();
    let last: Vec<&str> = report.lines().skip(10_000).collect();
    let told = "no line is a record; those that `modiar games export` writes without --out are";
    assert_eq!(last, ["and 10000 more", "0 games, 0 plies: 20000 findings", told]);
}

/// `record.schema`: a list is no object and null no absence, though readers may take the one for the other.
#[test]
fn a_record_in_another_form_is_found() {
    let (_, example) = examples().remove(0);
    let report = |record: &Value| {
        let mut findings = Findings::default();
        findings.verify(record.to_string().as_bytes());
        findings.report()
    };
    assert!(report(&example).contains("all good"), "{}", report(&example));
    let list = |object: &Value| Value::Array(object.as_object().unwrap().values().cloned().collect());
    for (part, value) in [
        ("score", json!([example["score"]["south"], example["score"]["north"]])),
        ("remaining_us", json!([example["remaining_us"]["south"], example["remaining_us"]["north"]])),
        ("detail", Value::Null),
        ("rating_after", Value::Null),
    ] {
        let mut altered = example.clone();
        altered[part] = value;
        let said = report(&altered);
        assert!(said.contains(&format!(": {part} has not the form")), "{part}: {said}");
    }
    let mut altered = example.clone();
    altered["south"]["rd"] = Value::Null;
    assert!(report(&altered).contains(": south.rd has not the form"), "{}", report(&altered));
    assert!(!report(&list(&example)).contains("all good"));
}

/// A record may say anything: a time beyond all clocks is a fault, not a panic.
#[test]
fn a_time_beyond_all_clocks_is_a_fault() {
    let table = modiar_oracle::solve();
    for field in ["base_ms", "increment_ms", "grace_ms", "move_ms"] {
        for (name, mut record) in examples() {
            record["time"][field] = json!(u64::MAX);
            // Whether it is a fault depends on the field; that it is told at all is what counts.
            let _ = fault(&record);
            let shown = serde_json::from_value::<Record>(record).map(|record| modiar::records::show(&record, &table));
            assert!(shown.is_ok_and(|page| page.is_ok()), "{name}: {field}");
        }
    }
}

/// Of a whole store no game may lack; of a file that somebody chose from it many may.
#[test]
fn a_game_that_lacks_in_a_store_is_found() {
    let (_, record) = examples().remove(0);
    let third = json!({ "seq": 3 });
    let mut late = record;
    late.as_object_mut().unwrap().extend(third.as_object().unwrap().clone());
    let mut of_a_store = Findings::of_a_store();
    of_a_store.verify(late.to_string().as_bytes());
    assert!(
        of_a_store.report().contains("the games at places 1 to 2 are missing before it"),
        "{}",
        of_a_store.report()
    );
    let mut of_a_file = Findings::default();
    of_a_file.verify(late.to_string().as_bytes());
    assert!(of_a_file.is_empty(), "{}", of_a_file.report());
}
