//! What commands read and write: files, stdin, a full disk, a reader that has gone, bytes that would drive a terminal.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

#[path = "../bench/benches/games/mod.rs"]
mod games;
mod support;

use games::Dice;
use modiar::store::{DataDir, SqliteStore, Store as _};
use modiar_protocol::Record;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use support::{MODIAR, have};
use tempfile::TempDir;

const START: &str = "7.7.7-7.7.7 0-0 s 1";

fn records(count: u64) -> Vec<Record> {
    let mut dice = Dice(11);
    (1..=count).map(|number| games::record(number, &mut dice)).collect()
}

fn lines(records: &[Record]) -> String {
    records.iter().map(|record| record.to_line().unwrap() + "\n").collect()
}

/// A folder with games in a file and in a data directory that commands find.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let data = DataDir::new(folder.path().join("modiar-data"));
    support::oracle::lend(data.path(), "");
    let mut records = records(30);
    let claim = data.claim().unwrap();
    SqliteStore::open(&data).unwrap().commit(&mut records, &[], &[]).unwrap();
    drop(claim);
    fs::write(folder.path().join("games.jsonl"), lines(&records)).unwrap();
    folder
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(MODIAR);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str], stdin: &[u8]) -> Output {
    let mut command = command(folder, arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // Whoever has found a fault reads no further.
        scope.spawn(move || drop(pipe.write_all(stdin)));
        child.wait_with_output().unwrap()
    })
}

/// It answered on, to nobody.
#[test]
fn a_command_ends_when_nobody_reads_its_answers() {
    let folder = folder();
    let mut command = command(folder.path(), &["oracle"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let (mut stdin, line) = (child.stdin.take().unwrap(), format!("{START}\n"));
    let ended = (0..200_000).any(|_| stdin.write_all(line.as_bytes()).is_err());
    drop(stdin);
    assert_eq!((ended, child.wait().unwrap().code()), (true, Some(0)));
}

fn told(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_hyphen_is_stdin() {
    let folder = folder();
    let games = fs::read(folder.path().join("games.jsonl")).unwrap();
    for arguments in [&["analyze", "-", "--json"][..], &["games", "verify", "-"]] {
        let of_stdin = run(folder.path(), arguments, &games);
        assert!(String::from_utf8_lossy(&of_stdin.stdout).contains("30"), "{of_stdin:?}");
        let of_file: Vec<&str> = arguments.iter().map(|part| if *part == "-" { "games.jsonl" } else { part }).collect();
        assert_eq!(run(folder.path(), &of_file, b"").stdout, of_stdin.stdout);
    }
}

/// What went through a system with other line ends is the same.
#[test]
fn lines_may_end_as_elsewhere() {
    let folder = folder();
    let games = fs::read_to_string(folder.path().join("games.jsonl")).unwrap();
    let verify = |text: &str| String::from_utf8(run(folder.path(), &["games", "verify", "-"], text.as_bytes()).stdout);
    let verified = verify(&games).unwrap();
    assert!(verified.contains("30 games") && !verified.contains("was changed"), "{verified}");
    assert_eq!(verify(&games.replace('\n', "\r\n")).unwrap(), verified);
    let answered = run(folder.path(), &["oracle"], format!("{START}\r\n{START}").as_bytes());
    assert!(answered.status.success() && answered.stdout.iter().filter(|byte| **byte == b'\n').count() == 2);
}

/// A line that is none is named and quoted, and the quotation is no longer than a person reads.
#[test]
fn a_bad_position_is_named_whatever_its_bytes() {
    let folder = folder();
    let long = [b'7'; 1 << 20];
    for (bad, quoted) in [(&b"\xff\xfe7"[..], "line 2: '\u{fffd}\u{fffd}7' is no position"), (&long, "…' is no")] {
        let output = run(folder.path(), &["oracle"], &[START.as_bytes(), b"\n", bad, b"\n"].concat());
        let told = told(&output);
        assert_eq!(output.status.code(), Some(3), "{told}");
        assert!(told.contains("line 2: '") && told.contains(quoted) && told.len() < 300, "{told}");
    }
}

#[test]
fn a_line_without_an_end_is_told() {
    let folder = folder();
    let endless = File::create(folder.path().join("endless")).unwrap();
    endless.set_len((64 << 20) + 2).unwrap();
    for arguments in [["analyze", "endless"].as_slice(), &["games", "verify", "endless"]] {
        let output = run(folder.path(), arguments, b"");
        assert!(output.status.code() == Some(3) && output.stdout.is_empty(), "{output:?}");
        assert!(told(&output).contains("endless line 1: it is longer than 67108864 bytes"), "{}", told(&output));
    }
}

/// Each fault of the system is told once, with what it befell.
#[test]
fn no_cause_is_told_twice() {
    let folder = folder();
    let not_there = "No such file or directory";
    for arguments in [
        &["analyze", "absent"][..],
        &["games", "verify", "absent"],
        &["oracle", "--build", "absent/oracle.table"],
        &["analyze", "games.jsonl", "--html", "absent/report.html"],
    ] {
        let output = run(folder.path(), arguments, b"");
        let told = told(&output);
        assert!(output.status.code() == Some(3) && told.contains("absent"), "{told}");
        assert_eq!(told.matches(not_there).count(), 1, "{told}");
    }
    fs::write(folder.path().join("cut.jsonl"), "{\n").unwrap();
    let analyzed = told(&run(folder.path(), &["analyze", "cut.jsonl"], b""));
    assert_eq!(analyzed.matches("EOF").count(), 1, "{analyzed}");
}

#[test]
fn a_full_disk_is_told_by_every_command_that_writes() {
    let folder = folder();
    for arguments in [
        &["games", "export"][..],
        &["games", "export", "--format", "csv"],
        &["games", "export", "--format", "parquet"],
        &["games", "export", "--format", "jsonl", "--plies"],
        &["games", "verify"],
        &["analyze"],
        &["analyze", "--json"],
        &["oracle", START],
        &["oracle", "--openings"],
        &["bot", "list"],
        &["serve", "--print-config"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command(folder.path(), arguments).stdout(full).output().unwrap();
        let told = told(&output);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {told}");
        assert!(told.contains("stdout cannot be written: No space left on device"), "{arguments:?}: {told}");
    }
}

/// As `head` goes: nobody is told of a fault.
#[test]
fn a_reader_that_has_gone_is_no_fault() {
    let folder = folder();
    for arguments in [
        &["games", "export"][..],
        &["games", "export", "--format", "csv", "--plies"],
        &["games", "export", "--format", "parquet"],
        &["analyze"],
        &["oracle", "--openings"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command(folder.path(), arguments).stdout(writer).output().unwrap();
        assert!(output.status.success() && !told(&output).contains("stdout"), "{arguments:?}: {output:?}");
    }
}

/// Records of somebody else's may hold any bytes; a terminal is shown none of those that it would obey.
#[test]
fn foreign_records_drive_no_terminal() {
    let folder = folder();
    let mut foreign = records(3);
    for (record, text) in foreign.iter_mut().zip(["\u{1b}]0;owned\u{7}", "\u{1b}[2J", "\r\u{9b}31m"]) {
        record.pool = text.to_owned();
        record.opening = text.to_owned();
    }
    let name = "\u{1b}[31m.jsonl";
    fs::write(folder.path().join(name), lines(&foreign)).unwrap();
    for arguments in [&["games", "verify", name][..], &["analyze", name], &["analyze", name, "--json"]] {
        let output = run(folder.path(), arguments, b"");
        assert!(!output.status.success(), "{output:?}");
        let all = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!all.is_empty() && !all.chars().any(|c| c.is_control() && c != '\n'), "{all:?}");
    }
}

#[test]
fn a_report_is_written_over_nothing_but_a_report() {
    let folder = folder();
    let before = fs::read(folder.path().join("games.jsonl")).unwrap();
    let output = run(folder.path(), &["analyze", "games.jsonl", "--html", "./games.jsonl"], b"");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(told(&output).contains("is there and is no report"), "{output:?}");
    assert_eq!(fs::read(folder.path().join("games.jsonl")).unwrap(), before);
    for other in ["modiar-data/modiar.db", "/dev/full", "."] {
        let output = run(folder.path(), &["analyze", "--html", other], b"");
        assert!(output.status.code() == Some(3) && told(&output).contains("is no report"), "{output:?}");
    }
    let names = || {
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    for _ in 0..2 {
        let output = run(folder.path(), &["analyze", "games.jsonl", "--html", "report.html"], b"");
        assert!(output.status.success(), "a report gives way to a newer one: {output:?}");
    }
    assert_eq!(names().len(), 3, "{:?}", names());
}

/// A page is made to be sent to somebody: it tells the file's name, not where it lies.
#[test]
fn a_report_tells_nobody_the_folders_of_its_machine() {
    let folder = folder();
    let path = folder.path().join("games.jsonl");
    for (arguments, title) in [(&["analyze", path.to_str().unwrap()][..], "games.jsonl"), (&["analyze"], "modiar-data")]
    {
        let output = run(folder.path(), &[arguments, &["--html", "report.html"]].concat(), b"");
        assert!(output.status.success(), "{output:?}");
        let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
        assert!(page.contains(&format!("<title>Modiar: analysis of {title}</title>")), "{title}");
        assert!(!page.contains(folder.path().to_str().unwrap()), "{title}");
    }
}

/// The answers are the same; whose file it is hears of it.
#[test]
fn a_damaged_table_is_told_and_passed_over() {
    let folder = folder();
    let table = folder.path().join("modiar-data/oracle.table");
    let sound = run(folder.path(), &["oracle", START], b"");
    assert!(sound.stderr.is_empty(), "{sound:?}");
    let bytes = fs::read(&table).unwrap();
    fs::remove_file(&table).unwrap(); // it is lent, not ours to change
    for (damaged, what) in [
        (&bytes[..bytes.len() / 2], "was changed or cut"),
        (&b""[..], "is no table of this version"),
        (&[&bytes[..1 << 20], &[bytes[1 << 20] ^ 1], &bytes[(1 << 20) + 1..]].concat(), "was changed or cut"),
    ] {
        fs::write(&table, damaged).unwrap();
        let output = run(folder.path(), &["oracle", START], b"");
        assert!(output.status.success() && output.stdout == sound.stdout, "{output:?}");
        assert!(told(&output).contains("oracle.table") && told(&output).contains(what), "{output:?}");
    }
}

/// Who waits at a terminal sees that it goes on; what is written stays the same.
#[test]
fn long_work_shows_how_far_it_is_on_a_terminal_alone() {
    if !have("script") {
        return;
    }
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("games.jsonl"), lines(&records(20_000))).unwrap();
    let shown = Command::new("script")
        .args(["-qec", &format!("{MODIAR} analyze games.jsonl > report.txt"), "/dev/null"])
        .current_dir(folder.path())
        .env_remove("CI")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let screen = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.status.success() && screen.contains("the table of the solved game"), "{screen:?}");
    assert!(screen.contains(" left"), "{screen:?}");
    let unwatched = run(folder.path(), &["analyze", "games.jsonl"], b"");
    assert_eq!(told(&unwatched), "");
    assert_eq!(fs::read(folder.path().join("report.txt")).unwrap(), unwatched.stdout);
}

/// What goes to a log that takes nothing is lost, and nothing else: be it a full disk, or a pipe that nobody reads.
#[test]
fn a_log_that_takes_nothing_stops_no_daemon() {
    let folder = TempDir::new().unwrap();
    for sink in ["full disk", "dead pipe"] {
        let log = if sink == "full disk" {
            Stdio::from(File::options().write(true).open("/dev/full").unwrap())
        } else {
            Stdio::from(std::io::pipe().unwrap().1)
        };
        let mut command = command(folder.path(), &["serve", "--bots", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
        let mut daemon = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        let mut stdout = std::io::BufReader::new(daemon.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut stdout, &mut line).unwrap();
        let listening: serde_json::Value = serde_json::from_str(&line).unwrap();
        let mut bot = modiar_conformance::Peer::connect(listening["bots"].as_str().unwrap()).unwrap();
        bot.send(&serde_json::json!({"type": "hello", "protocol": 1})).unwrap();
        bot.expect("welcome").unwrap();
        let stopped = Command::new("kill").args(["-TERM", &daemon.id().to_string()]).status().unwrap();
        assert!(stopped.success() && daemon.wait().unwrap().success(), "{sink}");
    }
    for arguments in [&["games", "export"][..], &["bot", "add", "dice"], &["nonsense"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command(folder.path(), arguments).stderr(full).output().unwrap();
        assert_ne!(output.status.code(), Some(101), "{arguments:?}: a panic");
        assert!(output.status.code().is_some(), "{arguments:?}: {output:?}");
    }
}
