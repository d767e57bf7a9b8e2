//! A store of three months: one aborted game, none, and a month of games of every kind.

use super::dice::Dice;
use super::support::MODIAR;
use jiff::Timestamp;
use modiar::store::{DataDir, SqliteStore, Store as _};
use modiar_oracle::{Table, solve};
use modiar_protocol::{
    BotName, Detail, GameId, GameResult, GameRules, PitList, Record, RecordSeat, Termination, TimeControl,
    UnfinishedTurn, ZERO_HASH,
};
use modiar_rules::{BySide, EndRules, Line, Pit, Side, moves_text, parse_moves};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;
use tempfile::TempDir;
use uuid::Uuid;

/// Games of the normal month.
pub const NORMAL: usize = 36;

/// Plies that lead round; after them the first position stands for the third time.
const LOOP: &str = "240315042315042315042";

/// Names and builds that a reader may take for numbers, for nothing, or for the end of a field.
const NAMES: [&str; 6] = ["007", "NA", "null", "1e5", "true", "Tanja"];
const VERSIONS: [&str; 4] = ["", "0.30", "a, \"b\"", "größer"];

/// A data directory, and what its store holds.
pub struct Stored {
    folder: TempDir,
    pub records: Vec<Record>,
}

/// The values of all positions, solved once for all tests of a process.
pub fn oracle() -> &'static Table {
    static ORACLE: LazyLock<Table> = LazyLock::new(solve);
    &ORACLE
}

impl Stored {
    /// One aborted game in September, none in October, and a normal November.
    pub fn three_months() -> Self {
        let mut stored = Self { folder: TempDir::new().unwrap(), records: Vec::new() };
        let mut dice = Dice::new(3);
        let mut records = vec![aborted("2026-09-30T23:59:59.999999Z")];
        // The first begins in October and ends in November: the end counts.
        records.extend((0..NORMAL).map(|at| played(&mut dice, at)));
        stored.commit(&mut records);
        for record in &stored.records {
            assert_eq!(modiar::records::verify_record(record), Ok(()), "{record:?}");
        }
        oracle().write(&stored.data().oracle()).unwrap();
        stored
    }

    /// One more aborted game, by a clock that may be wrong.
    pub fn add(&mut self, ended: &str) {
        self.commit(&mut [aborted(ended)]);
    }

    fn commit(&mut self, records: &mut [Record]) {
        let _claim = self.data().claim().unwrap();
        SqliteStore::open(&self.data()).unwrap().commit(records, &[], &[]).unwrap();
        self.records.extend_from_slice(records);
    }

    fn data(&self) -> DataDir {
        DataDir::new(self.folder().join("data"))
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn plies(&self) -> usize {
        self.records.iter().map(|record| record.moves.len()).sum()
    }

    /// Microseconds charged for all plies.
    pub fn charged(&self) -> i64 {
        self.records.iter().flat_map(|record| &record.charged_us).sum::<u64>().cast_signed()
    }

    /// Runs a command of the daemon's binary in the folder.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(MODIAR);
        command.args(arguments).current_dir(self.folder()).env("MODIAR_DATA", "data").output().unwrap()
    }

    /// What such a command wrote to stdout.
    pub fn stdout(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        output.stdout
    }

    /// Exports with these options; the folder that a relative `--out` counts from.
    pub fn export(&self, options: &[&str]) -> &Path {
        self.stdout(&[&["games", "export"], options].concat());
        self.folder()
    }
}

fn any_legal(dice: &mut Dice, line: &Line) -> Pit {
    dice.pick(&line.legal().iter().collect::<Vec<_>>())
}

fn aborted(ended: &str) -> Record {
    let line = Line::new(rules(0).ends());
    Record { ended: ended.to_owned(), ..record(0, &line, "", Times::default(), GameResult::None, Termination::Aborted) }
}

/// A game of random plies: to its end by the rules, or cut short in each way that there is.
fn played(dice: &mut Dice, at: usize) -> Record {
    let mut line = Line::new(rules(at).ends());
    let opening = if at % 3 == 1 { 8 } else { 0 };
    let most = match at % 6 {
        2..=4 => opening + dice.below(9),
        5 if at % 4 == 1 => opening,
        _ => u64::MAX,
    };
    if at % 12 == 11 {
        for pit in parse_moves(LOOP).unwrap() {
            line.play(pit).unwrap();
        }
    }
    while line.ending().is_none() && (line.moves().len() as u64) < most {
        let pit = any_legal(dice, &line);
        line.play(pit).unwrap();
    }
    let opening = moves_text(&line.moves()[..usize::try_from(opening).unwrap()]).to_string();
    let times = Times::of(dice, line.moves().len() - opening.len());
    let mover = line.position().side();
    let (result, termination) = match line.ending() {
        Some(ending) => (GameResult::by_score(line.score()), Termination::from(ending)),
        None if at % 6 == 2 => (GameResult::win(mover.other()), Termination::Resignation),
        None if at % 6 == 3 => (GameResult::win(mover.other()), Termination::IllegalMove),
        None => (GameResult::None, Termination::ServerError),
    };
    let mut record = record(at, &line, &opening, times, result, termination);
    if termination == Termination::IllegalMove {
        let pit = Pit::ALL.into_iter().find(|pit| pit.owner() != mover).unwrap();
        let clause = line.position().check(pit).unwrap_err().clause();
        record.detail = Some(Detail { pit, clause: clause.into(), legal: PitList(line.legal()) });
    }
    if termination == Termination::Resignation {
        record.unfinished_turn = Some(UnfinishedTurn { elapsed_us: 120_000, own_us: 7, charged_us: 70_000 });
    }
    rate(&mut record, at);
    record
}

/// Every other game is one of bots that have ratings: the store says which.
fn rate(record: &mut Record, at: usize) {
    if at.is_multiple_of(2) {
        for seat in [&mut record.south, &mut record.north] {
            (seat.guest, seat.rating, seat.rd, seat.volatility) = (false, Some(1500.0), Some(350.0), Some(0.06));
        }
        record.rated = record.result != GameResult::None;
    }
}

#[derive(Default)]
struct Times {
    elapsed: Vec<u64>,
    own: Vec<u64>,
    charged: Vec<u64>,
}

impl Times {
    fn of(dice: &mut Dice, plies: usize) -> Self {
        let elapsed: Vec<u64> = (0..plies).map(|_| dice.below(200_000)).collect();
        // Within the grace nobody asks for it.
        let own = elapsed.iter().map(|elapsed| if *elapsed > 50_000 { dice.below(2_000) } else { 0 }).collect();
        let charged = elapsed.iter().map(|elapsed| elapsed.saturating_sub(50_000)).collect();
        Self { elapsed, own, charged }
    }
}

fn rules(at: usize) -> GameRules {
    GameRules::new(EndRules { majority: at % 9 == 8, ..EndRules::default() }, 0)
}

fn record(at: usize, line: &Line, opening: &str, times: Times, result: GameResult, end: Termination) -> Record {
    let seat = |at: usize| RecordSeat {
        name: BotName::new(NAMES[at % NAMES.len()]).unwrap(),
        guest: true,
        version: Some(VERSIONS[at % VERSIONS.len()].to_owned()).filter(|version| !version.is_empty()),
        rating: None,
        rd: None,
        volatility: None,
    };
    let time = TimeControl { base_ms: 30_000, increment_ms: 200, grace_ms: 50, move_ms: None };
    let mut remaining = BySide::new(30_000_000, 30_000_000);
    for (ply, charged) in (opening.len() + 1..).zip(&times.charged) {
        remaining[Side::on_ply(u32::try_from(ply).unwrap())] += 200_000 - charged;
    }
    let ended: Timestamp = "2026-11-01T00:00:00Z".parse().unwrap();
    let ended = ended + jiff::SignedDuration::from_secs(at as i64 * 70_000);
    let started = ended - jiff::SignedDuration::from_millis(2_500);
    let position = line.position();
    Record {
        record: 1,
        seq: 0,
        prev: ZERO_HASH.to_owned(),
        game: GameId::new(Uuid::now_v7()),
        pool: if at % 5 == 4 { "bullet" } else { "blitz" }.to_owned(),
        rated: false,
        started: format!("{started:.6}"),
        ended: format!("{ended:.6}"),
        time,
        rules: rules(at),
        south: seat(at),
        north: seat(at + 1),
        opening: opening.to_owned(),
        moves: moves_text(line.moves()).to_string(),
        elapsed_us: times.elapsed,
        own_us: times.own,
        charged_us: times.charged,
        remaining_us: remaining.into(),
        unfinished_turn: None,
        result,
        termination: end,
        detail: None,
        score: if line.ending().is_some() { line.score() } else { position.captured() }.into(),
        pits: position.pits(),
        rating_after: None,
        node: "local".to_owned(),
        server: modiar::SERVER.to_owned(),
    }
}
