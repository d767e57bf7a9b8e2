//! The tables of a report, for the terminal and for the page alike.

use super::Phase;
use super::estimate::real;
use super::report::{BotReport, Judged, JudgedIn, OpeningReport, Report, Score};
use modiar_protocol::Termination;
use std::cmp::Reverse;

/// A column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub name: &'static str,
    /// In characters, in the terminal.
    pub width: usize,
    /// Words stand at the left, numbers at the right.
    pub is_text: bool,
}

/// A table with what people need to read it.
#[derive(Debug)]
pub(super) struct Grid {
    pub title: &'static str,
    pub note: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<String>>,
}

/// How much a view has room for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub bots: usize,
    /// Plies of openings, and lines of them.
    pub depth: usize,
    pub lines: usize,
}

/// All tables of a report.
pub(super) fn tables(report: &Report, room: Room) -> Vec<Grid> {
    let bots = report.busiest(room.bots);
    let left_out = report.bots.len() - bots.len() + usize::from(report.others.is_some());
    let note = |text: &str| match left_out {
        0 => text.to_owned(),
        _ => format!("{text} The {} bots with most games are shown; --json has all that are told apart.", bots.len()),
    };
    vec![
        scores(report, &bots, note("Score: wins and half the draws, of the games with a result.")),
        sides(report, &bots),
        phases(report, &bots),
        times(report, &bots),
        openings(report, room),
        worst(report),
    ]
}

const fn text(name: &'static str, width: usize) -> Column {
    Column { name, width, is_text: true }
}

const fn number(name: &'static str, width: usize) -> Column {
    Column { name, width, is_text: false }
}

/// A row for each bot, and one for all of them.
fn bot_rows(
    report: &Report,
    bots: &[&BotReport],
    row: impl Fn(Option<&BotReport>, &Judged) -> Vec<String>,
) -> Vec<Vec<String>> {
    let named = |name: &str, cells: Vec<String>| [name.to_owned()].into_iter().chain(cells).collect();
    let mut rows: Vec<Vec<String>> = bots.iter().map(|bot| named(&bot.name, row(Some(bot), &bot.judged))).collect();
    rows.push(named("all bots", row(None, &report.judged)));
    rows
}

fn scores(report: &Report, bots: &[&BotReport], note: String) -> Grid {
    let row = |bot: Option<&BotReport>, judged: &Judged| {
        let score = bot.map(|bot| bot.score);
        vec![
            bot.map_or(report.totals.games, |bot| bot.games).to_string(),
            score.map_or_else(String::new, |score| percent(score.score)),
            score.map_or_else(String::new, |score| percents(score.interval)),
            judged.all.plies.to_string(),
            judged.all.choices.to_string(),
            percent(ratio(judged.all.best, judged.all.choices)),
            seeds(judged.all.accuracy),
            range(judged.all.interval),
        ]
    };
    Grid {
        title: "Bots",
        note: format!(
            "{note} Choices: plies with more than one legal pit; best: of these, without loss. Accuracy: the mean loss a \
             ply, in seeds; 0 is perfect. Intervals are 95 %, a game counting as one."
        ),
        columns: vec![
            text("bot", 24),
            number("games", 7),
            number("score %", 7),
            number("95 %", 10),
            number("plies", 8),
            number("choices", 8),
            number("best %", 6),
            number("accuracy", 8),
            number("95 %", 12),
        ],
        rows: bot_rows(report, bots, row),
    }
}

fn sides(report: &Report, bots: &[&BotReport]) -> Grid {
    let row = |bot: Option<&BotReport>, judged: &Judged| {
        let side = |score: Option<Score>, judged: &JudgedIn| {
            [
                score.map_or_else(String::new, |score| percent(score.score)),
                seeds(judged.accuracy),
                range(judged.interval),
            ]
        };
        let south = bot.map_or(report.totals.score, |bot| bot.sides.south);
        let mut cells = side(Some(south), &judged.sides.south).to_vec();
        cells.extend(side(bot.map(|bot| bot.sides.north), &judged.sides.north));
        let losing = &judged.losing;
        cells.push(losing.games.to_string());
        cells.push(losing.median_ply.map_or_else(String::new, |ply| ply.to_string()));
        cells
    };
    Grid {
        title: "By side",
        note:
            "Thrown: games in which the bot was sure of a draw or a win and gave both away; at ply: the median of the \
               first such moves."
                .to_owned(),
        columns: vec![
            text("bot", 24),
            number("South %", 7),
            number("accuracy", 8),
            number("95 %", 12),
            number("North %", 7),
            number("accuracy", 8),
            number("95 %", 12),
            number("thrown", 7),
            number("at ply", 6),
        ],
        rows: bot_rows(report, bots, row),
    }
}

fn phases(report: &Report, bots: &[&BotReport]) -> Grid {
    let row = |_: Option<&BotReport>, judged: &Judged| {
        let cells = Phase::ALL.map(|phase| judged.phases.of(phase));
        cells.iter().flat_map(|judged| [seeds(judged.accuracy), range(judged.interval)]).collect()
    };
    let phases = Phase::ALL.map(|phase| format!("{}: {}", phase.as_str(), phase.seeds())).join("; ");
    Grid {
        title: "Accuracy by phase",
        note: format!("{phases}."),
        columns: vec![
            text("bot", 24),
            number("opening", 8),
            number("95 %", 12),
            number("middle", 8),
            number("95 %", 12),
            number("end", 8),
            number("95 %", 12),
        ],
        rows: bot_rows(report, bots, row),
    }
}

fn times(report: &Report, bots: &[&BotReport]) -> Grid {
    let lost = |bot: Option<&BotReport>| {
        let ends = bot.map_or(&report.totals.terminations, |bot| &bot.forfeits);
        ends.get(Termination::TimeForfeit.as_str()).unwrap_or(&0).to_string()
    };
    let row = |bot: Option<&BotReport>, judged: &Judged| {
        judged.times.iter().map(|time| seeds(time.judged.accuracy)).chain([median(judged), lost(bot)]).collect()
    };
    let mut rows = bot_rows(report, bots, row);
    let plies = report.judged.times.iter().map(|time| time.judged.plies.to_string());
    rows.push(["plies of all".to_owned()].into_iter().chain(plies).chain([String::new(), String::new()]).collect());
    Grid {
        title: "Accuracy by time used",
        note:
            "The time from the turn to the move, the server's own delay taken off; the median within 1/16. Lost: games \
               lost on time."
                .to_owned(),
        columns: vec![
            text("bot", 24),
            number("< 1 ms", 8),
            number("< 10 ms", 8),
            number("< 100 ms", 8),
            number("< 1 s", 8),
            number("< 10 s", 8),
            number("10 s on", 8),
            number("median ms", 10),
            number("lost", 6),
        ],
        rows,
    }
}

fn median(judged: &Judged) -> String {
    judged.thought_us.map_or_else(String::new, |thought| format!("{:.3}", real(thought.p50) / 1000.0))
}

fn openings(report: &Report, room: Room) -> Grid {
    let (lines, all) = busiest_lines(report, room);
    let left_out = match all - lines.len() {
        0 => String::new(),
        _ => format!(" The {} of most games are shown, of {all}; --json has all.", lines.len()),
    };
    let row = |line: &OpeningReport| {
        let ends = line.r#final;
        vec![
            if line.moves.is_empty() { "(all)".to_owned() } else { " ".repeat(line.moves.len()) + &line.moves },
            line.games.to_string(),
            percent(ratio(line.games, report.totals.games)),
            percent(line.score.score),
            percents(line.score.interval),
            format!("{} : {}", bounds(ends.south), bounds(ends.north)),
        ]
    };
    let from_openings = match report.totals.games_from_openings {
        0 => String::new(),
        games => format!(" Games in which the server played the first plies: {games}."),
    };
    Grid {
        title: "Openings",
        note: format!(
            "The lines of one game in fifty and more, to ply {}; South's score, and the final seeds South : North that \
             best play leads to.{left_out}{from_openings}",
            room.depth
        ),
        columns: vec![
            text("line", 18),
            number("games", 8),
            number("share %", 8),
            number("South %", 8),
            number("95 %", 12),
            number("best play", 17),
        ],
        rows: lines.into_iter().map(row).collect(),
    }
}

/// The lines that have room, those of most games, and how many there are; a line never without the one it goes on from.
fn busiest_lines<'a>(report: &'a Report, room: Room) -> (Vec<&'a OpeningReport>, usize) {
    // A line of few games says little: one in fifty is the least that is shown.
    let shown = |line: &&OpeningReport| line.moves.len() <= room.depth && line.games * 50 >= report.totals.games;
    let lines: Vec<&'a OpeningReport> = report.openings.iter().filter(shown).collect();
    let mut places: Vec<usize> = (0..lines.len()).collect();
    places.sort_by_key(|place| Reverse(lines[*place].games));
    places.truncate(room.lines);
    places.sort_unstable();
    (places.into_iter().map(|place| lines[place]).collect(), lines.len())
}

fn worst(report: &Report) -> Grid {
    let row = |worst: &super::WorstMove| {
        vec![
            worst.loss.to_string(),
            worst.ply.to_string(),
            worst.bot.clone(),
            worst.pit.to_string(),
            worst.best.iter().map(u8::to_string).collect(),
            format!("{} to {}", worst.outcome_before, worst.outcome_after),
            worst.game.clone(),
            worst.place.to_string(),
        ]
    };
    Grid {
        title: "Worst moves",
        note: "The largest losses, the best pits in their place, and what the mover was sure of before and after. Of a \
               stored game `modiar games show ID` shows every ply; at is its line in the file or its place in the store."
            .to_owned(),
        columns: vec![
            number("loss", 4),
            number("ply", 4),
            text("bot", 24),
            number("pit", 3),
            number("best", 4),
            text("outcome", 12),
            text("game", 33),
            number("at", 7),
        ],
        rows: report.worst.iter().map(row).collect(),
    }
}

pub(crate) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| real(part) / real(whole))
}

/// A fraction as per cent with one place.
pub(super) fn percent(fraction: Option<f64>) -> String {
    fraction.map_or_else(String::new, |fraction| format!("{:.1}", 100.0 * fraction))
}

fn percents(interval: Option<[f64; 2]>) -> String {
    interval.map_or_else(String::new, |[lo, hi]| format!("{:.1}-{:.1}", 100.0 * lo, 100.0 * hi))
}

/// Seeds a ply.
pub(super) fn seeds(mean: Option<f64>) -> String {
    mean.map_or_else(String::new, |mean| format!("{mean:.3}"))
}

pub(super) fn range(interval: Option<[f64; 2]>) -> String {
    interval.map_or_else(String::new, |[lo, hi]| format!("{lo:.3}-{hi:.3}"))
}

/// One number, or from and to.
pub(super) fn bounds([lo, hi]: [u8; 2]) -> String {
    if lo == hi { lo.to_string() } else { format!("{lo}..{hi}") }
}
