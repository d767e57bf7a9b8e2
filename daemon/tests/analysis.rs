//! The analysis against the rules, against sums by hand, and against itself.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

#[path = "../bench/benches/games/mod.rs"]
mod games;

use games::Dice;
use modiar::analysis::{Analyzer, Fold, GameAnalysis, Judged, JudgedIn, Outcome, Phase, Report, judge};
use modiar_oracle::{Table, solve};
use modiar_protocol::{GameResult, Record, Sides};
use modiar_rules::{BySide, Line, Position, Side, parse_moves};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

static TABLE: LazyLock<Table> = LazyLock::new(solve);

/// A record of these moves by the default rules.
fn record(moves: &str) -> Record {
    let mut record = games::record(1, &mut Dice(1));
    record.moves = moves.to_owned();
    let line = Line::replay(record.rules.ends(), parse_moves(moves).unwrap()).unwrap();
    (record.pits, record.score) = (line.position().pits(), line.score().into());
    record.elapsed_us = vec![1000; moves.len()];
    (record.own_us, record.charged_us) = (vec![0; moves.len()], vec![0; moves.len()]);
    record
}

fn judged(moves: &str) -> GameAnalysis {
    judge(&TABLE, &record(moves)).unwrap()
}

fn lost(game: &GameAnalysis, side: Side) -> i16 {
    game.of_bot(side).map(|ply| i16::from(ply.loss())).sum()
}

/// What each side gave away is what lies between the value of the start and the final score.
#[test]
fn the_losses_of_a_game_explain_its_score() {
    let vectors = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../spec/vectors/games.jsonl")).unwrap();
    let (start, mut seen) = (TABLE.value(&Position::START).unwrap(), 0);
    for line in vectors.lines() {
        let vector: Value = serde_json::from_str(line).unwrap();
        let game = judged(vector["moves"].as_str().unwrap());
        if game.plies.iter().all(|ply| ply.judgement.before.is_exact() && ply.judgement.after.is_exact()) {
            let margin = vector["score"]["south"].as_i64().unwrap() - vector["score"]["north"].as_i64().unwrap();
            let explained = i16::from(start.lo) - lost(&game, Side::South) + lost(&game, Side::North);
            assert_eq!(i64::from(explained), margin, "{line}");
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} games");
}

/// 0 4 1 3 2 4 2 ends 7 : 35 with North to move. By hand: after ply 7 South's row holds 3 seeds and North's 23, nothing more
/// is captured, so ply 7 leads South to −20 of the 26 seeds then in play.
#[test]
fn the_last_ply_of_a_game_is_worth_what_the_rows_hold() {
    let game = judged("0413242");
    let last = game.plies.last().unwrap();
    assert_eq!((last.position.ply(), last.judgement.after.lo, last.judgement.after.hi), (7, -20, -20));
    assert_eq!(last.outcomes().1, Outcome::Loss);
    assert!(game.plies.iter().all(|ply| TABLE.judge(&ply.position, ply.pit) == Some(ply.judgement)), "as the table");
    // And what is left of it for North is the same with the other sign.
    for (ply, next) in game.plies.iter().zip(&game.plies[1..]) {
        let mut position = ply.position;
        let taken = position.play_unchecked(ply.pit);
        assert_eq!((position, next.judgement.before.after(taken)), (next.position, ply.judgement.after));
    }
}

/// Of a server's opening no ply is a loss, a losing move or a turning point.
#[test]
fn the_server_s_plies_are_no_bot_s() {
    let mut record = record("0413242");
    let all = judge(&TABLE, &record).unwrap();
    assert!(all.losing.south.is_some() && all.losing.north.is_some() && !all.turning_points.is_empty(), "{all:?}");
    record.opening = record.moves.clone();
    for times in [&mut record.elapsed_us, &mut record.own_us, &mut record.charged_us] {
        times.clear();
    }
    let none = judge(&TABLE, &record).unwrap();
    assert_eq!((none.losing, none.turning_points.len()), (BySide::default(), 0));
    assert!(none.plies.iter().all(|ply| ply.served && ply.loss() == 0 && ply.elapsed_us.is_none()));
}

/// What would be counted wrong is refused: another version, an opening that was not played, times of other plies.
#[test]
fn a_record_that_does_not_hold_together_is_not_judged() {
    let spoilt = |spoil: fn(&mut Record)| {
        let mut record = record("0413242");
        spoil(&mut record);
        judge(&TABLE, &record).unwrap_err().to_string()
    };
    assert_eq!(spoilt(|record| record.record = 2), "it is of another version than 1");
    assert_eq!(spoilt(|record| record.opening = "5555".into()), "its moves do not begin with its opening '5555'");
    assert_eq!(spoilt(|record| record.elapsed_us.truncate(3)), "it has 7 plies after the opening and 3 of elapsed_us");
    assert_eq!(spoilt(|record| record.own_us.truncate(4)), "it has 7 plies after the opening and 4 of own_us");
    assert_eq!(spoilt(|record| record.moves.clear()), "it has 0 plies after the opening and 7 of elapsed_us");
}

/// The first losing move is the first ply from at least 21 seeds in sight to fewer.
#[test]
fn losing_moves_and_turning_points_follow_from_the_final_seeds() {
    let mut dice = Dice(3);
    for number in 1..=300 {
        let record = games::record(number, &mut dice);
        let game = judge(&TABLE, &record).unwrap();
        let (mut losing, mut turns) = (BySide::<Option<u32>>::default(), 0);
        for ply in &game.plies {
            let (side, captured) = (ply.position.side(), ply.position.captured());
            let ahead = captured[side].cast_signed() - captured[side.other()].cast_signed();
            let (before, after) = (ahead + ply.judgement.before.lo, ahead + ply.judgement.after.lo);
            turns += usize::from(before.signum() != after.signum());
            if before >= 0 && after < 0 && losing[side].is_none() {
                losing[side] = Some(ply.position.ply());
            }
        }
        assert_eq!((game.losing, game.turning_points.len()), (losing, turns), "{}", record.moves);
    }
}

fn random_records() -> Vec<Record> {
    let mut dice = Dice(11);
    let mut records: Vec<Record> = (1..=250).map(|number| games::record(number, &mut dice)).collect();
    for record in records.iter_mut().filter(|record| record.seq % 6 == 0) {
        record.result = GameResult::None;
    }
    // Some go round for longer than plies are told apart.
    for (rounds, record) in (11..).zip(records.iter_mut().filter(|record| record.seq % 10 == 1)) {
        record.moves = format!("240{}", "315042".repeat(rounds));
        for times in [&mut record.elapsed_us, &mut record.own_us, &mut record.charged_us] {
            times.resize(record.moves.len(), 20_000);
        }
    }
    for record in records.iter_mut().filter(|record| record.seq % 4 == 0) {
        record.opening = record.moves[..3].to_owned();
        for times in [&mut record.elapsed_us, &mut record.own_us, &mut record.charged_us] {
            times.drain(..3);
        }
    }
    records
}

/// The plies of a bot as one thinks of them: game, loss, choices, and what they are grouped by.
struct Naive {
    bot: String,
    game: u64,
    place: usize,
    loss: u64,
    choice: bool,
    group: String,
}

/// Every ply judged by the value of each move, with the table's `moves` alone.
fn naive(records: &[Record]) -> Vec<Naive> {
    let mut plies = Vec::new();
    for record in records {
        let mut position = Position::START;
        for (at, pit) in parse_moves(&record.moves).unwrap().into_iter().enumerate() {
            let moves = TABLE.moves(&position).unwrap();
            let best = moves.iter().map(|valued| valued.bounds.lo).max().unwrap();
            let played = moves.iter().find(|valued| valued.pit == pit).unwrap().bounds.lo;
            if let Some(at) = at.checked_sub(record.opening.len()) {
                let side = position.side();
                let phase = Phase::of(position.board().total()).as_str();
                let time = record.elapsed_us[at].to_string().len();
                let seat = if side == Side::South { &record.south } else { &record.north };
                for group in ["all", &side.to_string(), phase, &format!("digits {time}")] {
                    plies.push(Naive {
                        bot: seat.name.as_str().to_owned(),
                        game: record.seq,
                        place: record.opening.len() + at + 1,
                        loss: u64::from((best - played).unsigned_abs()),
                        choice: moves.len() > 1,
                        group: group.to_owned(),
                    });
                }
            }
            position.play_unchecked(pit);
        }
    }
    plies
}

fn assert_same(found: &JudgedIn, plies: &[&Naive]) {
    let count = |of: &dyn Fn(&Naive) -> bool| plies.iter().filter(|ply| of(ply)).count() as u64;
    let games: BTreeSet<u64> = plies.iter().map(|ply| ply.game).collect();
    let loss: u64 = plies.iter().map(|ply| ply.loss).sum();
    let expected = (games.len() as u64, plies.len() as u64, loss);
    assert_eq!((found.games, found.plies, found.loss), expected);
    assert_eq!(found.choices, count(&|ply| ply.choice));
    assert_eq!(found.best, count(&|ply| ply.choice && ply.loss == 0));
    if plies.is_empty() {
        assert_eq!(found.accuracy, None);
        return;
    }
    assert_interval(found.accuracy, found.interval, plies);
}

fn assert_interval(accuracy: Option<f64>, interval: Option<[f64; 2]>, plies: &[&Naive]) {
    let games: BTreeSet<u64> = plies.iter().map(|ply| ply.game).collect();
    let loss: u64 = plies.iter().map(|ply| ply.loss).sum();
    let (n, mean) = (plies.len() as f64, loss as f64 / plies.len() as f64);
    assert!((accuracy.unwrap() - mean).abs() < 1e-6);
    // Game by game, how far it lies from what the mean makes of its plies.
    let deviations = games.iter().map(|game| {
        let of_game = plies.iter().filter(|ply| ply.game == *game);
        of_game.map(|ply| ply.loss as f64 - mean).sum::<f64>().powi(2)
    });
    let k = games.len() as f64;
    if games.len() > 31 {
        // The expansion of Student's quantile around the normal one, its terms worked out.
        let quantile = 1.959_964 + 2.372_27 / (k - 1.0) + 2.822_5 / (k - 1.0).powi(2);
        let reach = quantile * (deviations.sum::<f64>() * k / (k - 1.0)).sqrt() / n;
        let [lo, hi] = interval.unwrap();
        assert!((hi - mean - reach).abs() < 2e-6 && (lo - (mean - reach).max(0.0)).abs() < 2e-6, "{lo} {hi}");
    }
}

fn assert_all_same(judged: &Judged, plies: &[&Naive]) {
    let of = |group: &str| -> Vec<&Naive> { plies.iter().copied().filter(|ply| ply.group == group).collect() };
    assert_same(&judged.all, &of("all"));
    assert_same(&judged.sides.south, &of("south"));
    assert_same(&judged.sides.north, &of("north"));
    for phase in Phase::ALL {
        assert_same(judged.phases.of(phase), &of(phase.as_str()));
    }
    // 1,000 to 9,999 µs have four digits, and so on; below that are three classes in one.
    for (class, digits) in [(1, 4), (2, 5), (3, 6)] {
        assert_same(&judged.times[class].judged, &of(&format!("digits {digits}")));
    }
}

#[test]
fn a_report_is_what_a_naive_count_makes_of_its_games() {
    let records = random_records();
    let mut fold = Fold::default();
    records.iter().for_each(|record| fold.add(record.seq, record, &judge(&TABLE, record).unwrap()));
    let (report, plies) = (Report::new(&fold, &TABLE), naive(&records));
    assert_eq!(report.bots.len(), 8);
    for bot in &report.bots {
        let mine: Vec<&Naive> = plies.iter().filter(|ply| ply.bot == bot.name).collect();
        assert_all_same(&bot.judged, &mine);
        let seats = records.iter().flat_map(|record| [(record, &record.south), (record, &record.north)]);
        let mine: Vec<_> = seats.filter(|(_, seat)| seat.name.as_str() == bot.name).map(|(record, _)| record).collect();
        assert_eq!(bot.games, mine.len() as u64);
        assert_eq!(bot.no_result, mine.iter().filter(|record| record.result == GameResult::None).count() as u64);
    }
    // A game is one, though both sides of it are looked at.
    assert_all_same(&report.judged, &plies.iter().collect::<Vec<_>>());
    assert_eq!(report.judged.losing.games, report.totals.games_with_losing_move);
    for at in &report.loss_by_ply {
        let here = |ply: &&Naive| ply.group == "all" && ply.place.min(61) == at.ply;
        let here: Vec<&Naive> = plies.iter().filter(here).collect();
        let loss: u64 = here.iter().map(|ply| ply.loss).sum();
        assert_eq!((at.plies, at.loss), (here.len() as u64, loss));
        assert_interval(at.accuracy, at.interval, &here);
    }
    assert!(report.loss_by_ply.last().unwrap().ply == 61, "the last stands for several plies of a game");
    let losses = |ply: &Naive| (ply.group == "all").then_some(ply.loss);
    let mut worst: Vec<u64> = plies.iter().filter_map(losses).collect();
    worst.sort_unstable_by(|one, other| other.cmp(one));
    assert_eq!(report.worst.iter().map(|worst| u64::from(worst.loss)).collect::<Vec<_>>(), worst[..20]);
}

#[test]
fn the_openings_are_the_beginnings_of_the_games() {
    let records = random_records();
    let mut fold = Fold::default();
    records.iter().for_each(|record| fold.add(record.seq, record, &judge(&TABLE, record).unwrap()));
    let report = Report::new(&fold, &TABLE);
    let mut expected = BTreeMap::<String, u64>::new();
    for record in &records {
        for plies in 0..=8.min(record.moves.len()) {
            *expected.entry(record.moves[..plies].to_owned()).or_default() += 1;
        }
    }
    let found: BTreeMap<String, u64> = report.openings.iter().map(|line| (line.moves.clone(), line.games)).collect();
    assert_eq!(found, expected);
    for line in &report.openings {
        let Sides { south, north } = line.r#final;
        assert_eq!((south[0] + north[1], south[1] + north[0]), (42, 42), "{line:?}");
        let wins = records.iter().filter(|record| record.moves.starts_with(&line.moves));
        assert_eq!(line.score.wins, wins.filter(|record| record.result == GameResult::South).count() as u64);
    }
}

/// Neither the number of threads nor where the games are divided changes a figure.
#[test]
fn threads_and_halves_change_nothing() {
    // More than a batch for each thread.
    let records: Vec<Record> = games::records(80_000).collect();
    let whole = fold_by(&records, 1);
    assert_eq!(fold_by(&records, 3), whole);
    let (one, other) = records.split_at(1000);
    let mut halves = fold_by(one, 2);
    halves.merge(fold_from(1001, other, 2));
    assert_eq!(Report::new(&halves, &TABLE).to_json().unwrap(), Report::new(&whole, &TABLE).to_json().unwrap());
}

fn fold_by(records: &[Record], threads: usize) -> Fold {
    fold_from(1, records, threads)
}

fn fold_from(first: u64, records: &[Record], threads: usize) -> Fold {
    let mut analyzer = Analyzer::with_threads(&TABLE, threads);
    for (place, record) in (first..).zip(records) {
        analyzer.take(place, record.to_line().unwrap().as_bytes()).unwrap();
    }
    analyzer.finish().unwrap()
}
