//! Ratings in the store and in files of records, over many games of every kind.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

use modiar::dice::Dice;
use modiar::ladder::{Carry, Row, change};
use modiar::records::{Findings, verify_record};
use modiar::store::{Archive, DataDir, SqliteStore, Store as _, find_misrated, read_records, start};
use modiar_protocol::{BotName, GameId, GameResult, Record, RecordSeat, Termination};
use modiar_rules::Side;
use std::fs::File;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use uuid::Uuid;

/// Two plies, then a resignation: who won is as it is said.
const RECORD: &str = include_str!("../../spec/schema/examples/record/valid/resignation-among-guests.json");
const NAMES: [&str; 8] = ["anna", "Bert", "carl", "dora", "emil", "house-level3", "house-perfect", "frida"];

struct Kept {
    store: SqliteStore,
    data: DataDir,
    _claim: File,
    _folder: TempDir,
}

impl Kept {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let data = DataDir::new(folder.path());
        let claim = data.claim().unwrap();
        Self { store: SqliteStore::open(&data).unwrap(), data, _claim: claim, _folder: folder }
    }

    /// Commits them, so many at a time.
    fn commit(&mut self, records: &[Record], at_once: usize) {
        for group in records.chunks(at_once) {
            self.store.commit(&mut group.to_vec(), &[], &[]).unwrap();
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        read_records(&self.data, &mut |line| {
            lines.push(line.text);
            Ok(())
        })
        .unwrap();
        lines
    }

    /// Nothing in it is otherwise than its games lead to.
    fn assert_right(&mut self) {
        let mut found = Vec::new();
        find_misrated(&self.data, &mut |game, what| found.push((game, what))).unwrap();
        assert_eq!(found, []);
        assert_eq!(self.store.rebuild_ratings().unwrap(), [""; 0]);
    }
}

fn name(text: &str) -> BotName {
    BotName::new(text).unwrap()
}

fn seat(bot: &str, rated: bool) -> RecordSeat {
    let figure = |figure: f64| rated.then_some(figure);
    RecordSeat {
        name: name(bot),
        guest: !rated,
        version: None,
        rating: figure(1500.0),
        rd: figure(350.0),
        volatility: figure(0.06),
    }
}

/// A game as the referee hands it to the store.
fn game(south: &str, north: &str, result: GameResult) -> Record {
    let mut record: Record = serde_json::from_str(RECORD).unwrap();
    (record.game, record.result) = (GameId::new(Uuid::now_v7()), result);
    (record.south, record.north) = (seat(south, true), seat(north, true));
    record.rated = result != GameResult::None;
    match result {
        GameResult::None => record.termination = Termination::Aborted,
        GameResult::Draw => record.termination = Termination::Repetition,
        _ => {}
    }
    record
}

/// Games of all kinds; those that end by the rules cannot be refereed again.
fn games(seed: u64, count: usize, results: &[GameResult]) -> Vec<Record> {
    let mut dice = Dice::new(seed);
    let mut below = |bound: usize| usize::try_from(dice.next() % bound as u64).unwrap();
    (0..count)
        .map(|_| {
            let (south, step) = (below(NAMES.len()), 1 + below(NAMES.len() - 1));
            let mut game = game(NAMES[south], NAMES[(south + step) % NAMES.len()], results[below(results.len())]);
            match below(12) {
                0 => (game.south, game.rated) = (seat("guest-1", false), false),
                1 => game.rated = false,
                2 => {
                    game.pool = "bullet".to_owned();
                    game.south.name = name(&game.south.name.as_str().to_uppercase());
                }
                3 if results.contains(&GameResult::Draw) => game.opening = game.moves.clone(),
                _ => {}
            }
            game
        })
        .collect()
}

const ALL: [GameResult; 5] =
    [GameResult::South, GameResult::North, GameResult::Draw, GameResult::None, GameResult::South];
const DECIDED: [GameResult; 2] = [GameResult::South, GameResult::North];

fn bits(rows: &[Row]) -> Vec<(String, String, [u64; 3], u64)> {
    let bits = |row: &Row| {
        let rating = row.standing.rating;
        let figures = [rating.rating, rating.rd, rating.volatility].map(f64::to_bits);
        (row.pool.clone(), row.bot.to_string(), figures, row.standing.tally.games())
    };
    rows.iter().map(bits).collect()
}

/// `ladder.transaction`, `ladder.rebuild`, `ladder.totals`: one commit or many, it is one fold.
#[test]
fn it_is_the_same_fold_however_games_are_committed() {
    let records = games(7, 600, &ALL);
    let mut kept = [1, 7, 600].map(|at_once| {
        let mut kept = Kept::new();
        kept.commit(&records, at_once);
        kept.assert_right();
        kept
    });
    let rows = kept.each_mut().map(|kept| kept.store.standings().unwrap());
    assert_eq!((bits(&rows[0]), bits(&rows[0])), (bits(&rows[1]), bits(&rows[2])));
    assert_eq!(kept[0].lines(), kept[2].lines());
    let stored: Vec<Record> = kept[0].lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    for Row { pool, bot, standing } in &rows[0] {
        let rated =
            |record: &&Record| record.south.rating.is_some() && (record.rated || record.result == GameResult::None);
        let its = |record: &&Record| record.pool == *pool && (record.south.name == *bot || record.north.name == *bot);
        let games: Vec<&Record> = stored.iter().filter(rated).filter(its).collect();
        assert_eq!(standing.tally.games(), games.len() as u64, "{bot} in {pool}");
        let draws = games.iter().filter(|record| record.result == GameResult::Draw).count() as u64;
        assert_eq!(standing.tally.south.drawn + standing.tally.north.drawn, draws);
    }
    let house: Vec<&Row> = rows[0].iter().filter(|row| row.bot == name("house-level3")).collect();
    let tallied = house.iter().all(|row| row.standing.rating.rd == 30.0 && row.standing.tally.games() > 0);
    assert!(house.len() == 2 && tallied, "{house:?}");
}

/// `ladder.season`, `ladder.removal`, `ladder.meetings`: events between games are folded in their places.
#[test]
fn seasons_and_removals_between_games_are_part_of_the_fold() {
    let (mut kept, records) = (Kept::new(), games(8, 400, &ALL));
    for (at, group) in records.chunks(50).enumerate() {
        kept.commit(group, 20);
        match at {
            0 => kept.store.remove_account(&name("Anna")).unwrap(),
            1 | 5 => drop(kept.store.begin_season(format!("s{at}").try_into().unwrap(), Carry::Half).unwrap()),
            2 => kept.store.disown(&name("bert")).unwrap(),
            3 => drop(kept.store.begin_season("s3".to_owned().try_into().unwrap(), Carry::None).unwrap()),
            6 => kept.store.disown(&name("nobody")).unwrap(),
            _ => {}
        }
        kept.assert_right();
    }
    // Where there was nothing to end no event is left.
    assert_eq!(kept.store.rating_events().unwrap().len(), 5);
    assert!(kept.store.begin_season("S3".to_owned().try_into().unwrap(), Carry::None).is_err(), "a name is given once");
}

/// `forfeit.once`: a game that was stored before comes back as it is stored, and counts once.
#[test]
fn a_game_that_is_committed_again_changes_nothing() {
    let mut kept = Kept::new();
    let mut first = [game("anna", "Bert", GameResult::South), game("Bert", "anna", GameResult::South)];
    kept.store.commit(&mut first, &[], &[]).unwrap();
    let (rows, mut again) = (kept.store.standings().unwrap(), [game("anna", "Bert", GameResult::North)]);
    again[0].game = first[0].game;
    let committed = kept.store.commit(&mut again, &[], &[]).unwrap();
    assert_eq!((committed.lines.len(), committed.standings.len(), &again[0]), (0, 0, &first[0]));
    assert_eq!(kept.store.standings().unwrap(), rows);
    kept.assert_right();
}

/// What is told of a game is what is stored, and in memory it stands before that.
#[test]
fn the_view_in_memory_is_what_is_stored() {
    let (folder, runtime) = (TempDir::new().unwrap(), Runtime::new().unwrap());
    let data = DataDir::new(folder.path());
    let _claim = data.claim().unwrap();
    let store = SqliteStore::open(&data).unwrap();
    let archive = Archive::open(&data.archive(), &store).unwrap();
    let (handle, _writer) = start(store, archive, modiar::metrics::Metrics::new(None)).unwrap();
    for record in games(9, 300, &ALL) {
        let ratings = std::sync::Arc::clone(handle.ratings());
        handle.finish(record, move |stored| {
            let record = stored.unwrap();
            if let Some(change) = change(&record, Side::North) {
                let standing = ratings.standing(&record.pool, &record.north.name).unwrap();
                // Of a group the last of its games stands.
                assert!(standing.tally.games() > 0 && change.rd > 0.0);
            }
        });
    }
    let rows = runtime.block_on(handle.with(|store| store.standings())).unwrap();
    for Row { pool, bot, standing } in &rows {
        assert_eq!(handle.ratings().standing(pool, bot), Some(*standing));
        assert_eq!(handle.ratings().of(pool, bot), standing.rating);
    }
    assert_eq!(["blitz", "bullet"].map(|pool| handle.ratings().count(pool)).iter().sum::<usize>(), rows.len());
    runtime.block_on(handle.load_ratings()).unwrap();
    let page = handle.ratings().page("blitz", 0, 100);
    assert!(page.is_sorted_by(|(_, one), (_, other)| one.rating.rating >= other.rating.rating) && page.len() > 5);
}

fn verified(lines: &[String]) -> String {
    let mut findings = Findings::default();
    lines.iter().for_each(|line| findings.verify(line.as_bytes()));
    let (is_good, report) = (findings.is_empty(), findings.report());
    assert_eq!(
        is_good,
        !report.contains(" before it, after ") && !report.contains("before its first game"),
        "{report}"
    );
    report
}

/// `record.rating-chain`: in a file each rating before a game is the one after the game before, as far as no game is missing.
#[test]
fn a_file_s_ratings_follow_from_game_to_game() {
    let (mut kept, records) = (Kept::new(), games(10, 120, &DECIDED));
    for (at, group) in records.chunks(40).enumerate() {
        kept.commit(group, 40);
        match at {
            0 => drop(kept.store.begin_season("half".to_owned().try_into().unwrap(), Carry::Half).unwrap()),
            _ => kept.store.disown(&name("carl")).unwrap(),
        }
    }
    let lines = kept.lines();
    assert!(!verified(&lines).contains("not checked"), "all games are there");
    let missing: Vec<String> =
        lines.iter().enumerate().filter(|(at, _)| at % 10 != 3).map(|(_, line)| line.clone()).collect();
    assert!(verified(&missing).contains("ratings not checked against an earlier game: some between are missing"));

    // One that has its step right and does not follow.
    let at =
        (60..).find(|at| lines[*at].contains("\"rated\":true") && lines[*at].contains("\"name\":\"dora\"")).unwrap();
    let mut forged: Record = serde_json::from_str(&lines[at]).unwrap();
    let seat = if forged.south.name == name("dora") { &mut forged.south } else { &mut forged.north };
    *seat = RecordSeat { rating: seat.rating.map(|rating| rating + 0.5), ..seat.clone() };
    let told = verify_record(&forged).unwrap_err().what;
    assert!(told.contains("after it by its ratings before it"), "{told}");
    let mut altered = lines.clone();
    altered[at] = forged.to_line().unwrap();
    let mut findings = Findings::default();
    altered.iter().for_each(|line| findings.verify(line.as_bytes()));
    assert!(findings.report().contains(" before it, after "), "{}", findings.report());
    let mut first: Record = serde_json::from_str(&lines[0]).unwrap();
    first.seq = 1;
    let mut late: Record = serde_json::from_str(&lines[at]).unwrap();
    late.seq = 1;
    late.prev = first.prev;
    assert!(verified(&[late.to_line().unwrap()]).contains("before its first game"));
}

/// `ladder.one-build`: another build's last bits may be others, and no more than those.
#[test]
fn what_another_build_rated_may_differ_by_its_last_bits() {
    let mut kept = Kept::new();
    kept.commit(&[game("anna", "Bert", GameResult::South)], 1);
    let mut record: Record = serde_json::from_str(&kept.lines()[0]).unwrap();
    let mut by = |server: &str, off: f64| {
        record.server = server.to_owned();
        let mut after = record.rating_after.unwrap();
        after.south.rating += off;
        verify_record(&Record { rating_after: Some(after), ..record.clone() }).is_ok()
    };
    assert_eq!([by(modiar::SERVER, 0.0), by(modiar::SERVER, 0.000_001)], [true, false]);
    assert_eq!([by("modiar/9.0.0", 0.000_001), by("modiar/9.0.0", 0.1)], [true, false]);
}
