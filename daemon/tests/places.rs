//! Every command finds the data in the same place, and names it.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};
use support::MODIAR;
use tempfile::TempDir;

/// What a command says in `folder`: its status, stdout, stderr.
#[track_caller]
fn modiar(folder: &Path, arguments: &[&str], status: i32) -> (String, String) {
    modiar_by(Command::new(MODIAR), folder, arguments, status)
}

#[track_caller]
fn modiar_by(mut command: Command, folder: &Path, arguments: &[&str], status: i32) -> (String, String) {
    let output: Output = command.args(arguments).current_dir(folder).output().unwrap();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// A folder with a configuration that names `weekend`.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("modiar.toml"), "data = \"weekend\"").unwrap();
    folder
}

/// The commands but `serve`, each with what it needs.
const COMMANDS: [&[&str]; 6] = [
    &["analyze"],
    &["bot", "list"],
    &["backup", "copy.db"],
    &["games", "export"],
    &["games", "verify"],
    &["games", "show", "g0"],
];

#[test]
fn no_command_passes_the_configuration_by() {
    let folder = folder();
    let weekend = folder.path().join("weekend");
    let (_, said) = modiar(folder.path(), &["bot", "add", "dice"], 0);
    assert!(said.contains(&format!("the data directory is {}", weekend.display())), "{said}");
    assert!(said.contains("a database is made in it"), "{said}");
    for arguments in COMMANDS {
        let status = if arguments.contains(&"show") { 3 } else { 0 };
        let (_, said) = modiar(folder.path(), arguments, status);
        assert!(said.starts_with(&format!("modiar: the data directory is {}\n", weekend.display())), "{said}");
    }
    assert!(weekend.join("modiar.db").exists() && !folder.path().join("modiar-data").exists());
    let (_, said) = modiar(folder.path(), &["bot", "add", "coin"], 0);
    assert!(!said.contains("is made"), "{said}");
    // The same from elsewhere: paths in the file count from its folder.
    let (elsewhere, file) = (TempDir::new().unwrap(), folder.path().join("modiar.toml"));
    let (listed, _) = modiar(elsewhere.path(), &["bot", "list", "--config", file.to_str().unwrap()], 0);
    assert!(listed.contains("dice") && listed.contains("coin"), "{listed}");
}

/// A flag counts more than the environment, and that more than the file.
#[test]
fn the_nearer_word_counts() {
    let folder = folder();
    for data in ["by-flag", "by-variable", "weekend"] {
        modiar(folder.path(), &["bot", "add", data, "--data", data], 0);
    }
    let listed = |variable: bool, flags: &[&str]| {
        let mut command = Command::new(MODIAR);
        if variable {
            command.env("MODIAR_DATA", "by-variable");
        }
        modiar_by(command, folder.path(), &[&["bot", "list"], flags].concat(), 0).0
    };
    assert!(listed(true, &["--data", "by-flag"]).contains("\nby-flag "));
    assert!(listed(true, &[]).contains("\nby-variable "));
    assert!(listed(false, &[]).contains("\nweekend "));
}

/// Wherever in the line it is said; a file of records stands in no place.
#[test]
fn a_place_may_be_named_before_between_and_after_the_words() {
    let folder = TempDir::new().unwrap();
    modiar(folder.path(), &["--data", "weekend", "bot", "add", "dice"], 0);
    for arguments in COMMANDS.iter().filter(|arguments| !arguments.contains(&"show")) {
        for at in 0..=arguments.len() {
            let line = [&arguments[..at], &["--data", "weekend"], &arguments[at..]].concat();
            let (_, said) = modiar(folder.path(), &line, 0);
            assert!(said.contains("weekend"), "{line:?}: {said}");
            let _ = std::fs::remove_file(folder.path().join("copy.db"));
        }
    }
    for named in ["--data", "--config"] {
        for line in [["games", "verify", "a.jsonl", named, "b"], [named, "b", "games", "verify", "a.jsonl"]] {
            let (_, said) = modiar(folder.path(), &line, 2);
            assert!(said.contains("a file of records needs neither"), "{line:?}: {said}");
        }
        let (_, said) = modiar(folder.path(), &["analyze", "a.jsonl", named, "b"], 2);
        assert!(said.contains("a file of records needs neither"), "{named}: {said}");
    }
}

#[test]
fn nothing_is_made_by_a_look() {
    let folder = folder();
    for arguments in COMMANDS {
        let (_, said) = modiar(folder.path(), arguments, 3);
        assert!(said.contains("there is no data in weekend"), "{said}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Data that a user may not look at are not told to be absent.
#[test]
fn whoever_may_not_read_is_told_so() {
    let folder = folder();
    modiar(folder.path(), &["bot", "add", "dice"], 0);
    let (weekend, program) = (folder.path().join("weekend"), folder.path().join("modiar"));
    // Where others reach it; root may do all, and is somebody else for this.
    std::fs::copy(MODIAR, &program).unwrap();
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&weekend, Permissions::from_mode(0o000)).unwrap();
    for arguments in COMMANDS.into_iter().chain([&["bot", "add", "coin"][..]]) {
        let mut command = Command::new(&program);
        if rustix::process::geteuid().is_root() {
            command.uid(65_534);
        }
        let (_, said) = modiar_by(command, folder.path(), arguments, 3);
        assert!(said.contains("Permission denied") && !said.contains("no data"), "{arguments:?}: {said}");
    }
    std::fs::set_permissions(&weekend, Permissions::from_mode(0o700)).unwrap();
}

/// Nobody guesses where the data are; who names them needs no file.
#[test]
fn a_bad_configuration_is_told_by_every_command() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("modiar.toml"), "dta = \"weekend\"").unwrap();
    for arguments in COMMANDS {
        let (_, said) = modiar(folder.path(), arguments, 78);
        assert!(said.contains("bad configuration: modiar.toml") && said.contains("dta"), "{said}");
    }
    modiar(folder.path(), &["bot", "add", "dice", "--data", "weekend"], 0);
    modiar(folder.path(), &["games", "export", "--config", "absent.toml"], 78);
}

/// A database holds the hashes of tokens, and so does its copy.
#[test]
fn what_is_made_is_its_owner_s_alone() {
    let folder = folder();
    modiar(folder.path(), &["bot", "add", "dice"], 0);
    modiar(folder.path(), &["backup", "copy.db"], 0);
    for (path, mode) in [("weekend", 0o700), ("weekend/modiar.db", 0o600), ("copy.db", 0o600)] {
        let metadata = std::fs::metadata(folder.path().join(path)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, mode, "{path}");
    }
}

#[test]
fn a_backup_says_what_it_holds() {
    let folder = folder();
    for name in ["dice", "coin"] {
        modiar(folder.path(), &["bot", "add", name], 0);
    }
    let (_, said) = modiar(folder.path(), &["backup", "copy.db"], 0);
    let told = format!("0 games and 2 bots of {} were written to copy.db", folder.path().join("weekend").display());
    assert!(said.contains(&told), "{said}");
}
