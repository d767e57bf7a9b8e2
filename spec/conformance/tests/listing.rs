//! The lists of checks for people are those of the program, and rest on clauses that there are.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

use modiar_conformance::{About, Checking, bot, quiz, server};
use std::collections::BTreeSet;
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

fn spec() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn of_bots() -> impl Iterator<Item = &'static About> {
    bot::checks().map(Checking::about)
}

fn of_servers() -> impl Iterator<Item = &'static About> {
    server::checks().map(Checking::about)
}

/// The list below this first line is that of the program.
#[track_caller]
fn is_listed(head: &str, checks: impl Iterator<Item = &'static About>) {
    let readme = read_to_string(spec().join("conformance/README.md")).unwrap();
    let row = |About { name, title, clauses, .. }: &About| {
        let clauses: Vec<String> = clauses.iter().map(|clause| format!("`{clause}`")).collect();
        format!("| `{name}` | {title} | {} |\n", clauses.join(" "))
    };
    let head = format!("{head}\n|---|---|---|\n");
    let list: String = head.clone() + &checks.map(row).collect::<String>();
    let told = readme.find(&head).map_or("", |at| readme[at..].split("\n\n").next().unwrap());
    assert_eq!(told.trim_end(), list.trim_end(), "spec/conformance/README.md: put this list there:\n{list}");
}

#[test]
fn the_readme_lists_every_check_of_bots() {
    is_listed("| check | the bot … | clauses |", of_bots());
}

#[test]
fn the_readme_lists_every_check_of_boards() {
    is_listed("| check | the board … | clauses |", quiz::checks());
}

#[test]
fn the_readme_lists_every_check_of_servers() {
    is_listed("| check | what is held | clauses |", of_servers());
}

#[test]
fn every_check_rests_on_clauses_that_there_are() {
    let pages = read_dir(spec()).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let text: String = pages.map(|path| read_to_string(path).unwrap()).collect();
    for About { name, clauses, .. } in of_bots().chain(of_servers()).chain(quiz::checks()) {
        assert!(!clauses.is_empty(), "{name} rests on no clause");
        for clause in *clauses {
            assert!(text.contains(&format!("- **{clause}** ")), "{name}: no page states {clause}");
        }
    }
}

#[test]
fn names_are_words_with_hyphens_and_unique() {
    for checks in [of_bots().collect::<Vec<_>>(), of_servers().collect(), quiz::checks().collect()] {
        let mut names = BTreeSet::new();
        for About { name, title, advice, .. } in checks {
            let is_word =
                |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
            assert!(name.split('-').all(is_word), "{name}");
            assert!(names.insert(name), "{name} is there twice");
            assert!(!title.contains(['\n', '|']) && !title.ends_with('.'), "{name}: {title}");
            assert!(advice.ends_with('.'), "{name}: {advice}");
        }
    }
}
