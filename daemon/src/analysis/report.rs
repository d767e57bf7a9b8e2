//! What a fold says: means with their intervals, and the exact values. Its JSON is told field by field in
//! `daemon/REPORT.md`.

use super::bot::{BotFold, Judgements, Points};
use super::cell::{Cell, TIME_BOUNDS_US};
use super::estimate::{Estimate, share};
use super::fold::{Count, Fold};
use super::openings::{Line, Openings};
use super::worst::Mistake;
use super::{Phase, game::Outcome};
use modiar_oracle::{Bounds, Table};
use modiar_protocol::{BotName, Sides};
use modiar_rules::{BySide, Pit, Position, Side, moves_text};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// All that many games say. Fractions are of 1, intervals 95 %, margins and losses seeds.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)] // daemon/REPORT.md tells each field
pub struct Report {
    /// The version of this shape.
    pub analysis: u32,
    pub totals: Totals,
    /// The plies of all bots.
    pub judged: Judged,
    /// The best score first.
    pub bots: Vec<BotReport>,
    /// The bots beyond those, where there were too many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<BotReport>,
    pub loss_by_ply: Vec<PlyReport>,
    /// Each line after the one that it goes on from, the most played first.
    pub openings: Vec<OpeningReport>,
    pub worst: Vec<WorstMove>,
}

/// Games in numbers.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Totals {
    pub games: u64,
    pub no_result: u64,
    pub score: Score,
    pub terminations: BTreeMap<&'static str, u64>,
    pub plies: u64,
    pub opening_plies: u64,
    pub games_from_openings: u64,
    pub turning_points: u64,
    pub games_with_losing_move: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_ended: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_ended: Option<String>,
}

/// Games with a result, and the share of the points: 1 a win, ½ a draw.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Score {
    pub games: u64,
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

/// Plies, and their mean loss.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct JudgedIn {
    pub games: u64,
    pub plies: u64,
    pub choices: u64,
    pub best: u64,
    pub loss: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

/// Plies that took from so long to less than so long.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct JudgedTime {
    pub from_us: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_us: Option<u64>,
    #[serde(flatten)]
    pub judged: JudgedIn,
}

/// How long a bot thought, in microseconds: percentiles, right within 1/16.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Thought {
    pub p5: u64,
    pub p25: u64,
    pub p50: u64,
    pub p75: u64,
    pub p95: u64,
}

/// Games with a losing move, and the ply of the first.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Losing {
    pub games: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_ply: Option<usize>,
    pub by_ply: Vec<u64>,
}

/// By phase of a game.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Phases {
    pub opening: JudgedIn,
    pub middle: JudgedIn,
    pub end: JudgedIn,
}

impl Phases {
    /// Those of one phase.
    #[must_use]
    pub const fn of(&self, phase: Phase) -> &JudgedIn {
        match phase {
            Phase::Opening => &self.opening,
            Phase::Middle => &self.middle,
            Phase::End => &self.end,
        }
    }
}

/// Plies of one bot or of all.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Judged {
    pub all: JudgedIn,
    pub sides: Sides<JudgedIn>,
    pub phases: Phases,
    pub times: Vec<JudgedTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thought_us: Option<Thought>,
    pub losing: Losing,
}

/// What a bot did on one side.
pub type SideReport = Score;

/// A rating and its deviation, as a record told them.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct RatingReport {
    pub rating: f64,
    pub rd: f64,
}

/// One bot.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct BotReport {
    pub name: String,
    pub games: u64,
    pub no_result: u64,
    pub score: Score,
    pub sides: Sides<SideReport>,
    pub forfeits: BTreeMap<&'static str, u64>,
    pub ratings: BTreeMap<String, RatingReport>,
    pub judged: Judged,
}

/// The plies at one place of a game; the last is of all plies from there on.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct PlyReport {
    pub ply: usize,
    pub plies: u64,
    pub loss: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

/// A line of first plies.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct OpeningReport {
    pub moves: String,
    pub games: u64,
    /// South's.
    pub score: Score,
    pub position: String,
    pub value: [i8; 2],
    pub r#final: Sides<[u8; 2]>,
}

/// A ply that lost seeds.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct WorstMove {
    pub game: String,
    pub place: u64,
    pub ply: u32,
    pub bot: String,
    pub side: &'static str,
    pub pit: u8,
    pub best: Vec<u8>,
    pub value_before: [i8; 2],
    pub value_after: [i8; 2],
    pub loss: u8,
    pub outcome_before: &'static str,
    pub outcome_after: &'static str,
}

impl Report {
    /// What `fold` says, with the values of the table by which its games were judged.
    #[must_use]
    pub fn new(fold: &Fold, table: &Table) -> Self {
        let mut bots: Vec<BotReport> = fold.bots.iter().map(|(name, bot)| bot_report(name.as_str(), bot)).collect();
        bots.sort_by(|one, other| {
            let by_score = other.score.score.unwrap_or(-1.0).total_cmp(&one.score.score.unwrap_or(-1.0));
            by_score.then(other.games.cmp(&one.games)).then_with(|| one.name.cmp(&other.name))
        });
        Self {
            analysis: 1,
            totals: totals(&fold.count, fold.judged.all.plies),
            judged: judged(&fold.judged),
            bots,
            // A rating is one bot's.
            others: fold
                .others
                .as_deref()
                .map(|bot| BotReport { ratings: BTreeMap::new(), ..bot_report("others", bot) }),
            loss_by_ply: (1..).zip(&fold.by_ply).filter(|(_, at)| at.plies > 0).map(ply_report).collect(),
            openings: openings(&fold.openings, table),
            worst: fold.worst.iter().map(worst_move).collect(),
        }
    }

    /// The bots with most games, at most so many, in the report's order.
    pub fn busiest(&self, most: usize) -> Vec<&BotReport> {
        let mut places: Vec<usize> = (0..self.bots.len()).collect();
        places.sort_by_key(|place| Reverse(self.bots[*place].games));
        places.truncate(most);
        places.sort_unstable();
        places.into_iter().map(|place| &self.bots[place]).collect()
    }

    /// The report as one JSON document on one line.
    ///
    /// # Errors
    /// Only what `serde_json` could not write, which no report holds.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

/// To a millionth: more is not known, and a page is easier to read.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn parts(estimate: Option<Estimate>) -> (Option<f64>, Option<[f64; 2]>) {
    let interval = estimate.and_then(|estimate| estimate.interval);
    (estimate.map(|estimate| rounded(estimate.value)), interval.map(|ends| ends.map(rounded)))
}

fn score(points: &Points) -> Score {
    let (score, interval) = parts(share(points.half_points(), points.games()));
    let Points { wins, draws, losses } = *points;
    Score { games: points.games(), wins, draws, losses, score, interval }
}

fn judged_in(cell: &Cell) -> JudgedIn {
    let Cell { games, plies, choices, best, loss, .. } = *cell;
    let (accuracy, interval) = parts(cell.accuracy());
    JudgedIn { games, plies, choices, best, loss, accuracy, interval }
}

fn by_side<T, U>(values: &BySide<T>, of: impl Fn(&T) -> U) -> Sides<U> {
    Sides { south: of(&values.south), north: of(&values.north) }
}

fn totals(count: &Count, plies: u64) -> Totals {
    Totals {
        games: count.games,
        no_result: count.no_result,
        score: score(&count.south),
        terminations: count.terminations.clone(),
        plies,
        opening_plies: count.served,
        games_from_openings: count.openings,
        turning_points: count.turning_points,
        games_with_losing_move: count.losing_games,
        first_ended: count.ended.map(|(first, _)| format!("{first:.6}")),
        last_ended: count.ended.map(|(_, last)| format!("{last:.6}")),
    }
}

fn judged(judgements: &Judgements) -> Judged {
    let [opening, middle, end] = judgements.phases.each_ref().map(judged_in);
    let from = [0].into_iter().chain(TIME_BOUNDS_US);
    let to = TIME_BOUNDS_US.into_iter().map(Some).chain([None]);
    let time = |((from_us, to_us), cell)| JudgedTime { from_us, to_us, judged: judged_in(cell) };
    Judged {
        all: judged_in(&judgements.all),
        sides: by_side(&judgements.sides, judged_in),
        phases: Phases { opening, middle, end },
        times: from.zip(to).zip(&judgements.times).map(time).collect(),
        thought_us: thought(judgements),
        losing: losing(judgements),
    }
}

fn thought(judgements: &Judgements) -> Option<Thought> {
    let at = |percent| judgements.thoughts.quantile(percent);
    Some(Thought { p5: at(5)?, p25: at(25)?, p50: at(50)?, p75: at(75)?, p95: at(95)? })
}

fn losing(judgements: &Judgements) -> Losing {
    let (games, by_ply) = (judgements.losing_games, judgements.first_losing.0);
    let mut passed = 0;
    let median = by_ply.iter().position(|count| {
        passed += count;
        passed > 0 && 2 * passed >= games
    });
    let last = by_ply.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
    Losing { games, median_ply: median.map(|at| at + 1), by_ply: by_ply[..last].to_vec() }
}

fn bot_report(name: &str, bot: &BotFold) -> BotReport {
    let forfeits = bot.forfeits;
    BotReport {
        name: name.to_owned(),
        games: bot.seats,
        no_result: bot.no_result,
        score: score(&bot.points()),
        sides: by_side(&bot.sides, score),
        forfeits: BTreeMap::from([
            ("time_forfeit", forfeits.time_forfeit),
            ("illegal_move", forfeits.illegal_move),
            ("resignation", forfeits.resignation),
        ]),
        ratings: bot
            .ratings
            .iter()
            .map(|(pool, rating)| (pool.clone(), RatingReport { rating: rating.rating, rd: rating.rd }))
            .collect(),
        judged: judged(&bot.judged),
    }
}

fn ply_report((ply, cell): (usize, &Cell)) -> PlyReport {
    let (accuracy, interval) = parts(cell.accuracy());
    PlyReport { ply, plies: cell.plies, loss: cell.loss, accuracy, interval }
}

const fn pair(Bounds { lo, hi }: Bounds) -> [i8; 2] {
    [lo, hi]
}

fn worst_move(Mistake { game, place, bot, ply }: &Mistake) -> WorstMove {
    let (before, after) = ply.outcomes();
    let name = |bot: &BotName| bot.as_str().to_owned();
    WorstMove {
        game: game.as_str().to_owned(),
        place: *place,
        ply: ply.position.ply(),
        bot: name(bot),
        side: if ply.position.side() == Side::South { "south" } else { "north" },
        pit: ply.pit.index(),
        best: ply.judgement.best.iter().map(Pit::index).collect(),
        value_before: pair(ply.judgement.before),
        value_after: pair(ply.judgement.after),
        loss: ply.loss(),
        outcome_before: Outcome::as_str(before),
        outcome_after: Outcome::as_str(after),
    }
}

fn openings(openings: &Openings, table: &Table) -> Vec<OpeningReport> {
    let mut reports = Vec::new();
    let root = openings.root();
    if root.games > 0 {
        add_openings(openings, table, root, Position::START, &mut Vec::new(), &mut reports);
    }
    reports
}

fn add_openings(
    openings: &Openings,
    table: &Table,
    line: Line,
    position: Position,
    moves: &mut Vec<Pit>,
    reports: &mut Vec<OpeningReport>,
) {
    if let Some(bounds) = table.value(&position) {
        reports.push(OpeningReport {
            moves: moves_text(moves).to_string(),
            games: line.games,
            score: score(&line.points),
            position: position.to_string(),
            value: pair(bounds),
            r#final: ends(&position, bounds),
        });
    }
    let mut longer: Vec<(Pit, Line)> = openings.after(line, position.side()).collect();
    longer.sort_by_key(|(_, line)| Reverse(line.games));
    for (pit, line) in longer {
        let mut next = position;
        next.play_unchecked(pit);
        moves.push(pit);
        add_openings(openings, table, line, next, moves, reports);
        moves.pop();
    }
}

/// The seeds that each side ends with under best play, its captures included.
fn ends(position: &Position, Bounds { lo, hi }: Bounds) -> Sides<[u8; 2]> {
    let (seeds, captured, mover) = (position.board().total(), position.captured(), position.side());
    // The margin and the seeds in play are both even, and none is larger than the other.
    let mine = |margin: i8| captured[mover] + (seeds.cast_signed() + margin).cast_unsigned() / 2;
    let (mine, all) = ([mine(lo), mine(hi)], modiar_rules::SEEDS);
    let theirs = [all - mine[1], all - mine[0]];
    match mover {
        Side::South => Sides { south: mine, north: theirs },
        Side::North => Sides { south: theirs, north: mine },
    }
}
