//! The clauses of the specification, and who cites them.

use super::markdown::{code_spans, prose};
use super::tree::File;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The page of clauses that nothing shows yet.
pub const PENDING: &str = "spec/pending.md";

/// An id, and where it stands.
pub struct Place<'a> {
    pub id: String,
    pub path: &'a str,
    pub line: usize,
}

/// The clauses that the pages state.
pub fn stated(files: &[File]) -> Vec<Place<'_>> {
    let mut stated = Vec::new();
    for file in pages(files) {
        for (line, text) in prose(&file.text) {
            if let Some((id, _)) = text.strip_prefix("- **").and_then(|rest| rest.split_once("** ")) {
                stated.push(Place { id: id.to_owned(), path: &file.path, line });
            }
        }
    }
    stated
}

fn pages(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| file.path.starts_with("spec/") && file.has_extension(&["md"]) && file.path != PENDING)
}

/// The first words of ids: `clock`, `rules`, …
pub fn areas(stated: &[Place<'_>]) -> BTreeSet<String> {
    stated.iter().filter_map(|place| Some(place.id.split_once('.')?.0.to_owned())).collect()
}

/// Whether a text has the form of an id in one of these areas. Names of files have it too, and are none.
fn looks_like_id(text: &str, areas: &BTreeSet<String>) -> bool {
    const FILES: [&str; 14] =
        [".rs", ".py", ".c", ".h", ".go", ".java", ".js", ".ts", ".md", ".json", ".jsonl", ".toml", ".sql", ".db"];
    let formed = text
        .split('.')
        .all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
    formed
        && text.split_once('.').is_some_and(|(area, _)| areas.contains(area))
        && !FILES.iter().any(|ending| text.ends_with(ending))
}

/// Every citation by a program, a vector or a transcript: what counts as showing a clause.
pub fn cited<'a>(files: &'a [File], areas: &BTreeSet<String>) -> Vec<Place<'a>> {
    let mut cited = Vec::new();
    for file in files {
        if file.path.starts_with("spec/vectors/") || file.path.starts_with("spec/transcripts/") {
            cite_data(file, &mut cited);
        } else if file.is_source() && !file.path.starts_with("spec/conformance/tests/tidy/") {
            cite_spans(file, areas, &mut cited);
        }
    }
    cited
}

/// Every citation by a page, in code spans or, within the specification, in plain words.
pub fn mentioned<'a>(files: &'a [File], areas: &BTreeSet<String>) -> Vec<Place<'a>> {
    let mut mentioned = Vec::new();
    for file in files.iter().filter(|file| file.has_extension(&["md"])) {
        cite_spans(file, areas, &mut mentioned);
    }
    for file in pages(files) {
        for (line, text) in prose(&file.text) {
            let (words, _) = code_spans(text);
            let words = words.split(|c: char| c.is_whitespace() || "()[]|*,;:".contains(c));
            let ids = words.map(|word| word.trim_end_matches('.')).filter(|word| looks_like_id(word, areas));
            mentioned.extend(ids.map(|id| Place { id: id.to_owned(), path: &file.path, line }));
        }
    }
    mentioned
}

fn cite_spans<'a>(file: &'a File, areas: &BTreeSet<String>, places: &mut Vec<Place<'a>>) {
    for (line, text) in file.lines() {
        let ids = code_spans(text).1.into_iter().filter(|span| looks_like_id(span, areas));
        places.extend(ids.map(|id| Place { id: id.to_owned(), path: &file.path, line }));
    }
}

/// The values of `clause` and `clauses` on the top of a line; of whole files, those of each element.
fn cite_data<'a>(file: &'a File, places: &mut Vec<Place<'a>>) {
    let whole = if file.has_extension(&["json"]) { serde_json::from_str::<Vec<Value>>(&file.text).ok() } else { None };
    let cases: Vec<(usize, Value)> = match whole {
        Some(cases) => cases.into_iter().map(|case| (1, case)).collect(),
        None => file.lines().filter_map(|(line, text)| Some((line, serde_json::from_str(text).ok()?))).collect(),
    };
    for (line, case) in cases {
        let several = case["clauses"].as_array().into_iter().flatten();
        let ids = several.chain(case.get("clause")).filter_map(Value::as_str);
        places.extend(ids.map(|id| Place { id: id.to_owned(), path: &file.path, line }));
    }
}

/// The ids of the pending page with what is told of each: the rows of its tables.
pub fn pending(files: &[File]) -> BTreeMap<String, (usize, String)> {
    let page = files.iter().find(|file| file.path == PENDING);
    let rows = page.into_iter().flat_map(|page| prose(&page.text));
    rows.filter_map(|(line, row)| {
        let (id, reason) = row.strip_prefix("| `")?.split_once("` |")?;
        Some((id.to_owned(), (line, reason.trim_matches([' ', '|']).to_owned())))
    })
    .collect()
}

#[test]
fn an_id_is_told_from_a_file_and_a_field() {
    let areas = BTreeSet::from(["clock".to_owned(), "rules".to_owned()]);
    for id in ["clock.early", "rules.move.own-row", "clock.own-2"] {
        assert!(looks_like_id(id, &areas), "{id}");
    }
    for other in
        ["clock.rs", "clock", "rules.illegal_moves", "clock.", "time.base", "clock.early()", "rules-invalid.jsonl"]
    {
        assert!(!looks_like_id(other, &areas), "{other}");
    }
}
