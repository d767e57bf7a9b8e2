//! The house rules of the repository. Each message names the file, the line and what to do.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod clauses;
mod markdown;
mod messages;
mod python;
mod rust;
mod tree;

use clauses::PENDING;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use tree::{File, files, project};

/// Most lines of a source file, and of a function from `fn` to its closing brace.
const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 70;
/// Libraries that are one file, to be copied beside a bot.
const WHOLE_LIBRARIES: [&str; 3] = ["clients/c/modiar.c", "clients/c/modiar.h", "clients/java/Modiar.java"];

/// Fails with all that was found, a line each.
#[track_caller]
fn none(found: &[String]) {
    assert!(found.is_empty(), "{} to mend:\n{}", found.len(), found.join("\n"));
}

#[test]
fn no_source_file_is_longer_than_500_lines() {
    let mut found = Vec::new();
    for file in files().iter().filter(|file| file.is_source()) {
        let lines = file.lines().count();
        if lines > FILE_LINES && !WHOLE_LIBRARIES.contains(&&*file.path) {
            found.push(format!("{}: {lines} lines; split it, a file has at most {FILE_LINES}", file.path));
        }
    }
    none(&found);
}

#[test]
fn no_function_is_longer_than_70_lines() {
    let (mut found, mut seen) = (Vec::new(), 0);
    for file in &files() {
        let functions = match file {
            file if file.has_extension(&["rs"]) => rust::functions(&rust::mask(&file.text)),
            file if file.has_extension(&["py"]) => python::functions(&file.text),
            _ => continue,
        };
        seen += functions.len();
        for function in functions.iter().filter(|function| function.lines > FUNCTION_LINES) {
            found.push(format!(
                "{}:{}: {} has {} lines; split it, a function has at most {FUNCTION_LINES}",
                file.path, function.line, function.name, function.lines
            ));
        }
    }
    assert!(seen > 300, "only {seen} functions were found");
    none(&found);
}

#[test]
fn no_clause_id_is_stated_twice() {
    let files = files();
    let (mut found, mut first) = (Vec::new(), BTreeMap::new());
    for place in clauses::stated(&files) {
        if let Some((path, line)) = first.insert(place.id.clone(), (place.path, place.line)) {
            let clauses::Place { id, path: again, line: on } = place;
            found.push(format!("{again}:{on}: {id} is stated at {path}:{line} already; give this one another id"));
        }
    }
    assert!(first.len() > 150, "only {} clauses were found", first.len());
    none(&found);
}

#[test]
fn every_clause_is_cited_or_pending() {
    let files = files();
    let stated = clauses::stated(&files);
    let cited: BTreeSet<String> =
        clauses::cited(&files, &clauses::areas(&stated)).into_iter().map(|place| place.id).collect();
    let pending = clauses::pending(&files);
    let mut found = Vec::new();
    for clauses::Place { id, path, line } in &stated {
        if !cited.contains(id) && !pending.contains_key(id) {
            found.push(format!(
                "{path}:{line}: nothing cites {id}; cite it in the test that shows it, or say in {PENDING} what will"
            ));
        }
    }
    for (id, (line, reason)) in &pending {
        if !stated.iter().any(|place| place.id == *id) {
            found.push(format!("{PENDING}:{line}: there is no clause {id}; remove the row"));
        } else if cited.contains(id) {
            found.push(format!("{PENDING}:{line}: {id} is cited by now; remove the row"));
        } else if reason.is_empty() {
            found.push(format!("{PENDING}:{line}: {id} is there without a reason; say what it waits for"));
        }
    }
    none(&found);
}

#[test]
fn every_citation_is_of_a_clause() {
    let files = files();
    let stated = clauses::stated(&files);
    let areas = clauses::areas(&stated);
    let mut found = Vec::new();
    for place in clauses::cited(&files, &areas).iter().chain(&clauses::mentioned(&files, &areas)) {
        if !stated.iter().any(|clause| clause.id == place.id) {
            let clauses::Place { id, path, line } = place;
            found.push(format!("{path}:{line}: no page states {id}; cite the clause that is meant"));
        }
    }
    none(&found);
}

#[test]
fn every_link_leads_somewhere() {
    let files = files();
    let pages: BTreeMap<&str, &File> = files.iter().map(|file| (&*file.path, file)).collect();
    let (mut found, mut seen) = (Vec::new(), 0);
    for file in files.iter().filter(|file| file.has_extension(&["md"])) {
        for (line, link) in markdown::links(&file.text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            seen += 1;
            let (target, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let path = resolve(&file.path, target);
            let folder = || files.iter().any(|file| Path::new(&file.path).starts_with(&path));
            match pages.get(&*path) {
                None if anchor.is_empty() && folder() => {}
                None => found.push(format!("{}:{line}: {link} leads nowhere; git has no {path}", file.path)),
                Some(page) if !anchor.is_empty() && !markdown::anchors(&page.text).iter().any(|one| one == anchor) => {
                    found.push(format!("{}:{line}: {link} leads nowhere; {path} has no such heading", file.path));
                }
                Some(_) => {}
            }
        }
    }
    assert!(seen > 50, "only {seen} links were found");
    none(&found);
}

/// A link's target from the project's top.
fn resolve(page: &str, target: &str) -> String {
    if target.is_empty() {
        return page.to_owned();
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn nothing_is_left_to_do_and_no_machine_is_named() {
    // Taken apart, or this file would name itself.
    let unfinished = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("todo", "!"),
        concat!("unimplemented", "!"),
    ];
    let skipped = concat!("#[", "ignore");
    let machine = ["/home/", "/root/", "/Users/", "/tmp/", "/work/"];
    let mut found = Vec::new();
    for file in files().iter().filter(|file| file.path != "Cargo.lock" && !file.path.ends_with("tidy/main.rs")) {
        for (line, text) in file.lines() {
            let at = format!("{}:{line}", file.path);
            for word in unfinished.iter().filter(|word| text.contains(**word)) {
                found.push(format!("{at}: {word}; do it, or leave the code without it"));
            }
            if text.contains(skipped) {
                found.push(format!("{at}: a test that is skipped; mend or remove it"));
            }
            for folder in machine.iter().filter(|folder| text.contains(**folder)) {
                found.push(format!("{at}: {folder} is a folder of one machine; take it from the environment"));
            }
        }
    }
    none(&found);
}

#[test]
fn nothing_from_outside_may_end_the_process() {
    let files = files();
    let test_modules: Vec<String> = files.iter().filter(|file| is_shipped(&file.path)).flat_map(test_modules).collect();
    let (mut found, mut seen) = (Vec::new(), 0);
    for file in files.iter().filter(|file| file.has_extension(&["rs"]) && is_shipped(&file.path)) {
        if test_modules.iter().any(|module| file.path.starts_with(module)) {
            continue;
        }
        seen += 1;
        let raw: Vec<&str> = file.text.lines().collect();
        for (at, code) in rust::without_tests(&rust::mask(&file.text)).lines().enumerate() {
            if (code.contains(".unwrap()") || code.contains(".expect(")) && !is_allowed(&raw, at) {
                found.push(format!(
                    "{}:{}: unwrap or expect; return the error, or allow the lint with a reason beside it",
                    file.path,
                    at + 1
                ));
            }
        }
    }
    assert!(seen > 40, "only {seen} files were looked at");
    none(&found);
}

/// Whether a file is part of the daemon or a crate that it is made of.
fn is_shipped(path: &str) -> bool {
    ["daemon/src/", "daemon/ladder/src/", "daemon/oracle/src/", "protocol/src/", "protocol/rules/src/"]
        .iter()
        .any(|folder| path.starts_with(folder))
}

/// The files and folders that this one includes as modules for tests alone.
fn test_modules(file: &File) -> Vec<String> {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let module = |pair: &[&str]| {
        pair[1].strip_prefix("mod ")?.strip_suffix(';').filter(|_| pair[0] == "#[cfg(test)]").map(str::to_owned)
    };
    lines
        .windows(2)
        .filter_map(module)
        .flat_map(|name| [".rs", "/"].map(|end| format!("{folder}/{name}{end}")))
        .collect()
}

/// Whether one of the three lines above allows it and says why.
fn is_allowed(lines: &[&str], at: usize) -> bool {
    lines[at.saturating_sub(3)..=at].iter().any(|line| {
        (line.contains("clippy::unwrap_used") || line.contains("clippy::expect_used"))
            && (line.contains("//") || line.contains("reason"))
    })
}

#[test]
fn no_wall_clock_decides_and_no_queue_is_unbounded() {
    let rules = [
        ("SystemTime::now", "the wall clock is read in daemon/src/time.rs alone, through jiff"),
        ("unbounded", "give the channel a bound with a name"),
        ("std::sync::mpsc::channel", "it has no bound; use sync_channel"),
    ];
    let mut found = Vec::new();
    for file in files().iter().filter(|file| file.has_extension(&["rs"]) && is_shipped(&file.path)) {
        for (at, code) in rust::mask(&file.text).lines().enumerate() {
            for (word, advice) in rules.iter().filter(|(word, _)| code.contains(word)) {
                found.push(format!("{}:{}: {word}; {advice}", file.path, at + 1));
            }
        }
    }
    none(&found);
}

#[test]
fn every_line_ends_as_it_should() {
    let mut found = Vec::new();
    for file in &files() {
        if !file.text.is_empty() && !file.text.ends_with('\n') {
            found.push(format!("{}: add a newline at the end", file.path));
        }
        for (line, text) in file.lines() {
            if text.ends_with([' ', '\t', '\r']) {
                found.push(format!("{}:{line}: remove the blanks at the end of the line", file.path));
            }
            if file.has_extension(&["rs"]) && text.contains('\t') {
                found.push(format!("{}:{line}: write blanks, or \\t, for the tab", file.path));
            }
        }
    }
    none(&found);
}

#[test]
fn the_check_can_be_run() {
    let mode = std::fs::metadata(project().join(".ci/run")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111, ".ci/run: make it executable, chmod +x .ci/run");
}

#[test]
fn every_message_has_a_page_and_every_page_a_message() {
    none(&messages::faults(&files()));
}
