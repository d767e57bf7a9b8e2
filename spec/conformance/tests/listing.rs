//! The list of checks for people is the list of the program, and rests on clauses that there are.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

use modiar_conformance::bot::{Check, checks};
use std::collections::BTreeSet;
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// The list's first line.
const HEAD: &str = "| check | the bot … | clauses |\n|---|---|---|\n";

fn spec() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_readme_lists_every_check() {
    let readme = read_to_string(spec().join("conformance/README.md")).unwrap();
    let row = |Check { name, title, clauses, .. }: &Check| {
        let clauses: Vec<String> = clauses.iter().map(|clause| format!("`{clause}`")).collect();
        format!("| `{name}` | {title} | {} |\n", clauses.join(" "))
    };
    let list: String = HEAD.to_owned() + &checks().map(row).collect::<String>();
    let at = readme.find(HEAD).expect("the README has a list");
    let told = readme[at..].split("\n\n").next().unwrap();
    assert_eq!(told.trim_end(), list.trim_end(), "spec/conformance/README.md: put this list there:\n{list}");
}

#[test]
fn every_check_rests_on_clauses_that_there_are() {
    let pages = read_dir(spec()).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let text: String = pages.map(|path| read_to_string(path).unwrap()).collect();
    for Check { name, clauses, .. } in checks() {
        assert!(!clauses.is_empty(), "{name} rests on no clause");
        for clause in *clauses {
            assert!(text.contains(&format!("- **{clause}** ")), "{name}: no page states {clause}");
        }
    }
}

#[test]
fn names_are_words_with_hyphens_and_unique() {
    let mut names = BTreeSet::new();
    for Check { name, title, advice, .. } in checks() {
        assert!(name.split('-').all(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase())), "{name}");
        assert!(names.insert(name), "{name} is there twice");
        assert!(!title.contains(['\n', '|']) && !title.ends_with('.'), "{name}: {title}");
        assert!(advice.ends_with('.'), "{name}: {advice}");
    }
}
