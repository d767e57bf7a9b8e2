//! `vectors/clock.jsonl` by the clauses of [clock.md](../../../clock.md) alone, and the table of that page.

use crate::{read, table};
use serde_json::Value;
use std::collections::BTreeSet;

fn vectors() -> Vec<Value> {
    read("vectors/clock.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn figure(case: &Value, name: &str) -> u64 {
    case[name].as_u64().unwrap_or_else(|| panic!("{name} of {case}"))
}

/// `clock.early`, `clock.own-clamp`, `clock.own-grace`, `clock.elapsed`, `clock.charged`, `clock.flag`, `clock.increment`
#[test]
fn the_vectors_follow_from_the_clauses() {
    let vectors = vectors();
    for case in &vectors {
        let of = |name| figure(case, name);
        let waited = of("received_us").saturating_sub(of("written_us"));
        let own = if waited > of("grace_us") { of("own_us").min(waited) } else { 0 };
        assert_eq!(of("elapsed_us"), waited - own, "{case}");
        let charged = (waited - own).saturating_sub(of("grace_us"));
        assert_eq!(of("charged_us"), charged, "{case}");
        let limit = case.get("move_us").map_or(u64::MAX, |limit| limit.as_u64().unwrap());
        let lost = charged > of("remaining_us") || charged > limit;
        let after = (!lost).then(|| of("remaining_us") - charged + of("increment_us"));
        assert_eq!(case["after_us"].as_u64(), after, "{case}");
        assert_eq!(case["after_us"].is_null(), lost, "{case}");
    }
    let reasons: BTreeSet<&str> = vectors.iter().map(|case| case["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons.len(), vectors.len(), "each reason is given once");
}

#[test]
fn every_row_of_the_page_is_a_vector() {
    let (page, vectors) = (read("clock.md"), vectors());
    let rows = table(&page, "| Case | remaining |");
    assert_eq!(rows.len(), 11);
    for row in rows {
        let case = vectors.iter().find(|case| case["reason"] == row[0]);
        let case = case.unwrap_or_else(|| panic!("no vector is '{}'", row[0]));
        assert_eq!((figure(case, "grace_us"), figure(case, "increment_us")), (50_000, 100_000), "{case}");
        let told =
            ["remaining_us", "written_us", "received_us", "own_us", "charged_us"].map(|name| ms(figure(case, name)));
        assert_eq!(row[1..6], told, "{case}");
        let after = case["after_us"].as_u64().map_or("lost on time".to_owned(), ms);
        assert_eq!(row[6], after, "{case}");
    }
}

/// Microseconds as the page writes them: milliseconds, a part of one only where there is one.
fn ms(micros: u64) -> String {
    let (whole, part) = (micros / 1000, micros % 1000);
    if part == 0 { whole.to_string() } else { format!("{whole}.{part:03}") }
}
