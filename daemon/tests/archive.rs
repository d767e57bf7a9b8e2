//! The archive beside the database: the same records, in order, linked by hash, a file a day.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod support;

use jiff::Timestamp;
use modiar::store::{Archive, DataDir, SqliteStore, Store as _};
use modiar_protocol::{GameId, Record};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use support::{Daemon, MODIAR};
use tempfile::TempDir;
use uuid::Uuid;

/// Plays so many games to a resignation.
fn play(daemon: &Daemon, games: usize) {
    for _ in 0..games {
        let mut game = daemon.game("blitz");
        game.play("2");
        game.north.expect("turn").unwrap();
        let resign = json!({"type": "resign", "game": game.id});
        game.north.send(&resign).unwrap();
        game.ended();
    }
}

fn archive(data: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(data.join("archive")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// All lines of the archive, the files in order.
fn lines(data: &Path) -> Vec<String> {
    let text: String = archive(data).iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    assert!(text.ends_with('\n') || text.is_empty());
    text.lines().map(str::to_owned).collect()
}

fn hex(line: &str) -> String {
    Sha256::digest(line).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `record.archive`, `record.export`, `record.prev`, `record.seq`.
#[test]
fn the_archive_is_what_export_writes_and_each_line_names_the_one_before() {
    let daemon = Daemon::start();
    play(&daemon, 3);
    let exported = daemon.export();
    let (_, _, data) = daemon.stop();
    let data = data.path().join("data");
    let lines = lines(&data);
    assert_eq!(lines.iter().map(|line| format!("{line}\n")).collect::<String>(), exported);
    let mut prev = "0".repeat(64);
    for (at, line) in lines.iter().enumerate() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["seq"], at + 1);
        assert_eq!(record["prev"], json!(prev));
        let day = &record["ended"].as_str().unwrap()[..10];
        assert!(archive(&data).iter().any(|path| path.ends_with(format!("games-{day}.jsonl"))));
        prev = hex(line);
    }
}

/// `record.archive`: a start appends what is missing, a torn line included.
#[test]
fn a_start_brings_the_archive_up_to_date() {
    for damage in ["", "torn", "gone"] {
        let daemon = Daemon::start();
        play(&daemon, 3);
        let (_, _, data) = daemon.stop();
        let folder = data.path().join("data");
        let before = lines(&folder);
        let file = archive(&folder).pop().unwrap();
        match damage {
            "torn" => fs::write(&file, format!("{}\n{}", before[0], &before[1][..40])).unwrap(),
            "gone" => fs::remove_file(&file).unwrap(),
            _ => fs::write(&file, "").unwrap(),
        }
        let daemon = Daemon::start_in(data, "", &[]);
        play(&daemon, 1);
        let (_, _, data) = daemon.stop();
        let after = lines(&data.path().join("data"));
        assert_eq!((after.len(), &after[..3]), (4, &before[..]), "{damage}");
    }
}

/// An archive that holds more than the database, or another history, is not written to: the start says so and fails.
#[test]
fn an_archive_of_another_history_is_refused() {
    let daemon = Daemon::start();
    play(&daemon, 2);
    let (_, _, data) = daemon.stop();
    let folder = data.path().join("data");
    let file = archive(&folder).pop().unwrap();
    let good = lines(&folder);
    let altered = good[1].replacen("\"rated\":false", "\"rated\":true", 1);
    let ahead = good[1].replacen("\"seq\":2", "\"seq\":3", 1);
    for (last, what) in
        [(altered, "is not the database's"), (ahead, "ends with game 3"), ("{}".to_owned(), "is no record")]
    {
        fs::write(&file, format!("{}\n{last}\n", good[0])).unwrap();
        let mut command = Command::new(MODIAR);
        command.args(["serve", "--bots", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"]).arg(&folder);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{log}");
        assert!(log.contains(what) && log.contains("games-"), "{what}: {log}");
        assert!(output.stdout.is_empty(), "it never listened");
    }
}

/// `games verify` on a data directory looks at the archive beside the database too, and says what it looked at.
#[test]
fn an_archive_that_is_not_the_database_s_is_found() {
    let daemon = Daemon::start();
    play(&daemon, 4);
    let (_, _, data) = daemon.stop();
    let data = data.path().join("data");
    let path = archive(&data).pop().unwrap();
    let whole = lines(&data);
    let game = |at: usize| serde_json::from_str::<Value>(&whole[at]).unwrap()["game"].as_str().unwrap().to_owned();
    let verify = |lines: &[&str]| {
        fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        verified(&data)
    };
    let [one, two, three, four] = [0, 1, 2, 3].map(|at| whole[at].as_str());
    let altered = two.replace("\"rated\":false", "\"rated\": false");
    let foreign = four.replace("\"seq\":4", "\"seq\":5");
    for (lines, told) in [
        (vec![one, &altered, three, four], format!("line 2: it is not the database's game {} at place 2", game(1))),
        (vec![one, "nonsense", three, four], format!("line 2: it is not the database's game {} at place 2", game(1))),
        (
            vec![one, &two.replace("\"seq\":2", "\"seq\":3"), three, four],
            format!("line 2: it is not the database's game {} at place 2", game(1)),
        ),
        (
            vec![one, two, &three.replace("\"seq\":3", "\"seq\":1"), four],
            format!("line 3: it is not the database's game {} at place 3", game(2)),
        ),
        (vec![one, four], "line 2: the games at places 2 to 3 are missing before it".to_owned()),
        (vec![one, one, two, three, four], "line 2: its place 1 does not follow".to_owned()),
        (vec![one, &altered, two, three, four], "line 2: the database has no such line".to_owned()),
        (vec![one, "nonsense", two, three, four], "line 2: the database has no such line".to_owned()),
        (vec![one, two, three, four, &foreign], format!("line 5: game {}, which the database lacks", game(3))),
    ] {
        let (status, said) = verify(&lines);
        assert!(status == Some(1) && said.contains(&format!("{} {told}\n", path.display())), "{told}: {said}");
        assert!(said.contains(": 1 finding\n"), "{said}");
    }
    let (status, said) = verify(&[one, two]);
    let told = "the archive: the games at places 3 to 4 are missing at its end, though the daemon stopped in order\n";
    assert!(status == Some(1) && said.contains(told), "{said}");
    fs::write(&path, [one, two, three, four, "no end"].join("\n")).unwrap();
    let (status, said) = verified(&data);
    let told = format!("{} line 5: a line, which the database lacks\n", path.display());
    assert!(status == Some(1) && said.contains(&told) && said.contains(": 1 finding\n"), "{said}");
    fs::remove_file(&path).unwrap();
    let (status, said) = verified(&data);
    assert!(status == Some(1) && said.contains("places 1 to 4 are missing at its end"), "{said}");
    // Where it is not known that the daemon stopped in order, what is missing comes at the next start.
    fs::remove_dir_all(data.join("journal")).unwrap();
    for (lines, told) in [
        (vec![one, two, three, four], "archive: 4 lines in 1 file are the database's\n"),
        (
            vec![one, two],
            "archive: 2 lines in 1 file are the database's; places 3 to 4 were not in it when it was read",
        ),
    ] {
        let (status, said) = verify(&lines);
        assert!(
            status == Some(0)
                && said.contains(told)
                && said.contains(&format!("seq 1-4, chain whole, newest hash {}\n", hex(four))),
            "{said}"
        );
    }
    fs::remove_file(&path).unwrap();
    let (status, said) = verified(&data);
    assert!(status == Some(0) && said.contains("archive: there is none"), "a copy of the database alone: {said}");
}

/// What `games verify` says of a data directory.
fn verified(data: &Path) -> (Option<i32>, String) {
    let output = Command::new(MODIAR).args(["games", "verify", "--data"]).arg(data).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// A data directory with a game of each of these days, as a daemon would have left it.
fn data_of(days: &[&str]) -> TempDir {
    let daemon = Daemon::start();
    play(&daemon, days.len());
    let mut records: Vec<Record> = daemon.export().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (record, day) in records.iter_mut().zip(days) {
        record.ended.replace_range(.."2026-11-30".len(), day);
    }
    let folder = TempDir::new().unwrap();
    let data = DataDir::new(folder.path());
    let _claim = data.claim().unwrap();
    let mut store = SqliteStore::open(&data).unwrap();
    store.commit(&mut records, &[], &[]).unwrap();
    Archive::open(&data.archive(), &store).unwrap();
    folder
}

/// Whoever is at work on the data writes what the archive lacks within a moment, or never does.
#[test]
fn what_a_running_daemon_should_have_written_is_found() {
    let folder = data_of(&["2026-01-01"; 3]);
    let path = archive(folder.path()).pop().unwrap();
    let whole = fs::read_to_string(&path).unwrap();
    let first = format!("{}\n", whole.lines().next().unwrap());
    // As if a daemon ran.
    let _claim = DataDir::new(folder.path()).claim().unwrap();
    fs::write(&path, &first).unwrap();
    let (status, said) = verified(folder.path());
    let told =
        "the archive: the games at places 2 to 3 are missing at its end, and whoever is at work on the data does not";
    assert!(status == Some(1) && said.contains(told), "{said}");
    let (status, said) = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(1));
            fs::write(&path, &whole).unwrap();
        });
        verified(folder.path())
    });
    assert!(status == Some(0) && said.contains("places 2 to 3 were not in it when it was read"), "{said}");
}

/// A copy of a database of any size has no archive yet, and no journal: the next start writes both.
#[test]
fn a_restored_copy_is_good() {
    let folder = data_of(&["2026-01-01"]);
    let data = DataDir::new(folder.path());
    let record: Record = serde_json::from_str(&lines(folder.path())[0]).unwrap();
    let copy = |number| Record { game: GameId::new(Uuid::from_u128(number)), ..record.clone() };
    let mut records: Vec<Record> = (0..1100).map(copy).collect();
    SqliteStore::open(&data).unwrap().commit(&mut records, &[], &[]).unwrap();
    let path = archive(folder.path()).pop().unwrap();
    let first = fs::read(&path).unwrap();
    fs::remove_dir_all(data.archive()).unwrap();
    let (status, said) = verified(folder.path());
    assert!(status == Some(0) && said.contains("archive: there is none"), "{said}");
    // One that has an archive was robbed.
    fs::create_dir(data.archive()).unwrap();
    fs::write(&path, first).unwrap();
    let (status, said) = verified(folder.path());
    assert!(status == Some(1) && said.contains("more than one commit leaves to be written"), "{said}");
}

/// Where no daemon has stopped in order a last line may be on its way: the beginning of the next game, and nothing else.
#[test]
fn what_stands_behind_the_last_line_is_the_beginning_of_the_next() {
    let folder = data_of(&[&Timestamp::now().to_string()[..10]; 2]);
    let path = archive(folder.path()).pop().unwrap();
    let whole = fs::read_to_string(&path).unwrap();
    let (first, second) = whole.split_at(whole.find('\n').unwrap() + 1);
    for (text, good) in [
        (format!("{first}{}", &second[..second.len() / 2]), true),
        (format!("{first}{{\"garbage\":0"), false),
        (format!("{whole}garbage"), false),
    ] {
        fs::write(&path, text).unwrap();
        let (status, said) = verified(folder.path());
        assert_eq!((status == Some(0), said.contains("it has no end")), (good, !good), "{said}");
    }
}

/// `record.archive`: a line stands in the file of its day, and a file that is gone, or goes by another day, is named.
#[test]
fn a_day_that_is_not_in_its_file_is_found() {
    let days = ["2026-01-01", "2026-01-02", "2026-01-02", "2026-01-01", "2026-01-04"];
    let folder = data_of(&days);
    let path = |day: &str| folder.path().join(format!("archive/games-{day}.jsonl"));
    let good = verified(folder.path());
    assert!(good.0 == Some(0) && good.1.contains("archive: 5 lines in 3 files are the database's\n"), "{good:?}");
    let assert_found = |told: String| {
        let (status, said) = verified(folder.path());
        assert!(status == Some(1) && said.contains(&told) && said.contains(": 1 finding\n"), "{told}: {said}");
    };
    // Somebody's bytes without an end, which the first line of the next day would follow.
    let whole = fs::read_to_string(path("2026-01-01")).unwrap();
    fs::write(path("2026-01-01"), whole.clone() + "forged").unwrap();
    assert_found(format!("{} line 2: the database has no such line\n", path("2026-01-01").display()));
    fs::write(path("2026-01-01"), whole).unwrap();
    fs::rename(path("2026-01-02"), path("2026-01-03")).unwrap();
    assert_found(format!("{} line 1: it belongs into the file of 2026-01-02\n", path("2026-01-03").display()));
    fs::remove_file(path("2026-01-03")).unwrap();
    assert_found(format!(
        "{} line 1: the games at places 2 to 4 are missing before it\n",
        path("2026-01-04").display()
    ));
}

/// A place before the first is read by nobody who reads from the first on, and shown to who asks for the game.
#[test]
fn a_game_before_the_first_place_is_found() {
    let folder = data_of(&["2026-01-01", "2026-01-02"]);
    let database = rusqlite::Connection::open(folder.path().join("modiar.db")).unwrap();
    let forged = "INSERT INTO games SELECT 0, 'gffffffffffffffffffffffffffffffff', pool, south, north, rated, started, ended, result,
        termination, replace(replace(record, id, 'gffffffffffffffffffffffffffffffff'), '\"seq\":2', '\"seq\":0'), hash
        FROM games WHERE seq = 2";
    assert_eq!(database.execute(forged, []).unwrap(), 1);
    let (status, said) = verified(folder.path());
    let told = "game at place 0: the database's column seq is not what its record says\n";
    assert!(status == Some(1) && said.contains(told) && said.contains(": 1 finding\n"), "{said}");
}

/// What is no line of a file is no record of a store either, though its hash is right.
#[test]
fn a_record_that_is_not_one_line_is_found() {
    let folder = data_of(&["2026-01-01", "2026-01-02"]);
    let database = rusqlite::Connection::open(folder.path().join("modiar.db")).unwrap();
    let whole: String = database.query_row("SELECT record FROM games WHERE seq = 2", [], |row| row.get(0)).unwrap();
    for record in [String::new(), " ".to_owned(), whole.replacen(',', ",\n", 1)] {
        let row = [hex(&record), record.clone()];
        database.execute("UPDATE games SET hash = ?1, record = ?2 WHERE seq = 2", row).unwrap();
        fs::write(folder.path().join("archive/games-2026-01-02.jsonl"), record.clone() + "\n").unwrap();
        let (status, said) = verified(folder.path());
        assert!(
            status == Some(1) && said.contains("game at place 2: its record is not one line\n"),
            "{record}: {said}"
        );
    }
}

/// Bytes that are no UTF-8 are not those of the character that stands for such: they were read as it, and passed.
#[test]
fn bytes_that_are_no_text_are_found() {
    const STAND_IN: &[u8] = "\u{fffd}".as_bytes();
    let garble = |bytes: &[u8]| {
        let at = bytes.windows(STAND_IN.len()).position(|window| window == STAND_IN).unwrap();
        [&bytes[..at], b"\xff", &bytes[at + STAND_IN.len()..]].concat()
    };
    let daemon = Daemon::start();
    let mut game = daemon.game_between("blitz", json!({"version": "\u{fffd}"}), json!({}));
    game.play("2");
    game.north.expect("turn").unwrap();
    game.north.send(&json!({"type": "resign", "game": game.id})).unwrap();
    game.ended();
    let (_, _, data) = daemon.stop();
    let data = data.path().join("data");
    let path = archive(&data).pop().unwrap();
    let whole = fs::read(&path).unwrap();
    fs::write(&path, garble(&whole)).unwrap();
    let (status, said) = verified(&data);
    assert!(status == Some(1) && said.contains(&format!("{} line 1: it is not", path.display())), "{said}");
    fs::write(&path, &whole).unwrap();
    let database = rusqlite::Connection::open(data.join("modiar.db")).unwrap();
    let record: String = database.query_row("SELECT record FROM games", [], |row| row.get(0)).unwrap();
    let garbled = garble(record.as_bytes());
    database.execute("UPDATE games SET pool = 'bullet', record = CAST(?1 AS TEXT)", [&garbled]).unwrap();
    let (status, said) = verified(&data);
    assert!(status == Some(1) && said.contains("game at place 1: its hash in the database is another"), "{said}");
}

/// The columns by which a database finds its games say what the records say.
#[test]
fn a_game_that_is_filed_wrongly_is_found() {
    let folder = data_of(&["2026-01-01", "2026-01-02"]);
    let database = rusqlite::Connection::open(folder.path().join("modiar.db")).unwrap();
    for (column, value) in [
        ("id", "'g00000000000000000000000000000000'"),
        ("pool", "'bullet'"),
        ("south", "'Somebody'"),
        ("north", "upper(north)"),
        ("rated", "1"),
        ("started", "'2026'"),
        ("ended", "'2026-01-02T00:00:00.000000Z'"),
        ("result", "'draw'"),
        ("termination", "'immobile'"),
    ] {
        let before: rusqlite::types::Value =
            database.query_row(&format!("SELECT {column} FROM games WHERE seq = 2"), [], |row| row.get(0)).unwrap();
        database.execute(&format!("UPDATE games SET {column} = {value} WHERE seq = 2"), []).unwrap();
        let (status, said) = verified(folder.path());
        let told = format!("game at place 2: the database's column {column} is not what its record says\n");
        assert!(status == Some(1) && said.contains(&told) && said.contains(": 1 finding\n"), "{said}");
        database.execute(&format!("UPDATE games SET {column} = ?1 WHERE seq = 2"), [before]).unwrap();
    }
    assert_eq!(verified(folder.path()).0, Some(0));
    database.execute("UPDATE games SET seq = 7 WHERE seq = 2", []).unwrap();
    let (status, said) = verified(folder.path());
    assert!(status == Some(1) && said.contains("place 7: the database's column seq is not"), "{said}");
    // Bytes that are no text are one game's fault, and the others are looked at.
    database.execute("UPDATE games SET seq = 2, record = CAST(x'ff' || record AS TEXT) WHERE seq = 7", []).unwrap();
    let (status, said) = verified(folder.path());
    assert!(status == Some(1) && said.contains("game at place 2: its hash in the database is another"), "{said}");
    assert!(said.contains("game at place 2: no record"), "{said}");
}

/// Nor may a file's last record, which no other names, hold what is no text.
#[test]
fn a_line_that_is_no_text_is_no_record() {
    let daemon = Daemon::start();
    play(&daemon, 1);
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("games.jsonl");
    let mut bytes = daemon.export().into_bytes();
    let at = bytes.windows(5).position(|part| part == b"blitz").unwrap();
    bytes[at] = 0xff;
    fs::write(&file, bytes).unwrap();
    let (status, said) = daemon.run(&["games", "verify", file.to_str().unwrap()]);
    assert!(status.code() == Some(1) && said.contains("line 1: no record"), "{said}");
}

/// What `games verify FILE` cannot check it names, so that nobody takes it for checked (`record.cut-off`).
#[test]
fn places_that_a_file_leaves_out_are_named() {
    let daemon = Daemon::start();
    play(&daemon, 5);
    let export = daemon.export();
    let whole: Vec<&str> = export.lines().collect();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("games.jsonl");
    let verify = |places: &[usize]| {
        fs::write(&file, places.iter().map(|place| format!("{}\n", whole[place - 1])).collect::<String>()).unwrap();
        let (status, said) = daemon.run(&["games", "verify", file.to_str().unwrap()]);
        assert!(status.success(), "{said}");
        said.lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(verify(&[1, 2, 3, 4, 5]), format!("seq 1-5, chain whole, newest hash {}", hex(whole[4])));
    let cut = format!("seq 1-3, chain whole, newest hash {}", hex(whole[2]));
    assert_eq!(verify(&[1, 2, 3]), cut, "whether games came after it no file tells, but who kept the hash");
    assert_eq!(verify(&[1, 3, 4, 5]), "seq 2 is missing: the chain is not checked across it");
    assert_eq!(verify(&[2, 5]), "seq 1, 3-4 are missing: the chain is not checked across them");
}

#[test]
fn an_export_in_which_nothing_fits_says_so() {
    let daemon = Daemon::start();
    play(&daemon, 1);
    for filter in [["--bot", "nobody"], ["--pool", "nopool"]] {
        let (status, said) = daemon.run(&["games", "export", filter[0], filter[1]]);
        assert!(status.success() && said.contains("none of 1 game fits: no game was written"), "{said}");
    }
}
