//! The pictures of a report: where each line and dot stands. `templates/` draws them.

use super::estimate::real;
use super::report::{BotReport, OpeningReport, Report};
use super::tables::{bounds, percent, ratio, seeds};
use crate::records::counted;
use crate::records::printable;
use std::fmt::Write as _;

/// Units of a picture's width; a page scales it.
const WIDTH: f64 = 720.0;
/// Where rows begin and end, left of which stand their names and right of which their numbers.
const LEFT: f64 = 190.0;
const RIGHT: f64 = 640.0;
const ROW: f64 = 20.0;
/// Heights of the icicle's rows, and of the bars' room.
const LEVEL: f64 = 44.0;
const BARS: f64 = 160.0;

/// A length in a picture, with two places.
type Length = String;

fn length(value: f64) -> Length {
    format!("{value:.2}")
}

/// A number under or beside an axis.
#[derive(Debug)]
pub(super) struct Tick {
    pub at: Length,
    pub label: String,
}

/// A name, a dot, and a whisker through it; with a box where quarters are known.
#[derive(Debug)]
pub(super) struct Row {
    pub y: Length,
    pub name: String,
    pub number: String,
    pub dot: Length,
    pub whisker: Option<[Length; 2]>,
    pub quarters: Option<[Length; 2]>,
}

/// Dots with whiskers on a common axis.
#[derive(Debug)]
pub(super) struct Intervals {
    pub id: String,
    pub title: String,
    pub about: String,
    pub height: Length,
    pub bottom: Length,
    pub ticks: Vec<Tick>,
    pub rows: Vec<Row>,
}

/// What a row shows, in the axis' own unit.
struct Spread {
    name: String,
    number: String,
    middle: f64,
    ends: Option<[f64; 2]>,
    quarters: Option<[f64; 2]>,
}

/// From where to where an axis goes, and its numbers.
struct Axis {
    from: f64,
    to: f64,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// From `from` to at least `to`, with some five round steps.
    fn round(from: f64, to: f64) -> Self {
        let step = round_step((to - from) / 5.0);
        let first = (from / step).floor();
        let steps = ((to / step).ceil() - first).clamp(1.0, 20.0);
        let places = if step < 1.0 { usize::from(step < 0.1) + 1 } else { 0 };
        let at = |tick: u32| (first + f64::from(tick)) * step;
        let ticks = (0..).map(at).take_while(|at| *at <= (first + steps + 0.5) * step);
        let ticks: Vec<_> = ticks.map(|at| (at, format!("{at:.places$}"))).collect();
        Self { from: first * step, to: (first + steps) * step, ticks }
    }

    /// Powers of ten, of microseconds.
    fn of_times() -> Self {
        let names = ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s"];
        let ticks = (0..).map(f64::from).zip(names.map(str::to_owned)).collect();
        Self { from: 0.0, to: 8.0, ticks }
    }

    fn place(&self, value: f64) -> f64 {
        let share = (value - self.from) / (self.to - self.from);
        LEFT + (RIGHT - LEFT) * share.clamp(0.0, 1.0)
    }
}

/// 1, 2 or 5 times a power of ten, no less than `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(1e-3).log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= least);
    factor.unwrap_or(10.0) * power
}

fn intervals(id: &str, title: &str, about: &str, axis: &Axis, spreads: Vec<Spread>) -> Option<Intervals> {
    if spreads.is_empty() {
        return None;
    }
    let bottom = 8.0 + ROW * real(spreads.len() as u64);
    let place = |value: f64| length(axis.place(value));
    let row = |(at, spread): (u32, Spread)| Row {
        y: length(8.0 + ROW * (f64::from(at) + 0.5)),
        name: spread.name,
        number: spread.number,
        dot: place(spread.middle),
        whisker: spread.ends.map(|ends| ends.map(place)),
        quarters: spread.quarters.map(|[from, to]| [place(from), length(axis.place(to) - axis.place(from))]),
    };
    Some(Intervals {
        id: id.to_owned(),
        title: title.to_owned(),
        about: about.to_owned(),
        height: length(bottom + 30.0),
        bottom: length(bottom),
        ticks: axis.ticks.iter().map(|(at, label)| Tick { at: place(*at), label: label.clone() }).collect(),
        rows: (0..).zip(spreads).map(row).collect(),
    })
}

/// All pictures of this kind that the report has something for. Those by bot say so where they leave some out.
pub(super) fn all_intervals(report: &Report, bots: &[&BotReport]) -> Vec<Intervals> {
    let mut by_bot: Vec<Intervals> = ratings(report, bots);
    by_bot.extend([scores(bots), accuracies(bots), thoughts(bots)].into_iter().flatten());
    let all = report.bots.len();
    if bots.len() < all {
        for picture in &mut by_bot {
            // Writing to a String cannot fail.
            let _ = write!(picture.about, " Of {all} bots, those of the {} with most games.", bots.len());
        }
    }
    by_bot.extend(by_time(report));
    by_bot
}

/// A picture for each of the first pools that records tell ratings of.
fn ratings(report: &Report, bots: &[&BotReport]) -> Vec<Intervals> {
    /// Pools that have a picture.
    const POOLS: usize = 4;
    /// Beyond all ratings: what a foreign record may say.
    const MOST: f64 = 1e5;
    let mut pools: Vec<&String> = report.bots.iter().flat_map(|bot| bot.ratings.keys()).collect();
    pools.sort_unstable();
    pools.dedup();
    let left_out = pools.len().saturating_sub(POOLS);
    let more = if left_out > 0 {
        format!(" Not shown: {} more.", counted(left_out as u64, "pool", "pools"))
    } else {
        String::new()
    };
    let picture = |(at, pool): (usize, &&String)| {
        let rated = bots.iter().filter_map(|bot| Some((bot, bot.ratings.get(*pool)?)));
        let rated = rated.filter(|(_, rating)| rating.rating.abs() < MOST && rating.rd.abs() < MOST);
        let mut spreads: Vec<Spread> = rated
            .map(|(bot, rating)| Spread {
                name: bot.name.clone(),
                number: format!("{:.0}", rating.rating),
                middle: rating.rating,
                ends: Some([rating.rating - 1.96 * rating.rd, rating.rating + 1.96 * rating.rd]),
                quarters: None,
            })
            .collect();
        spreads.sort_by(|one, other| other.middle.total_cmp(&one.middle));
        let ends = || spreads.iter().filter_map(|spread| spread.ends);
        let (from, to) = ends().fold((f64::MAX, f64::MIN), |(from, to), [lo, hi]| (from.min(lo), to.max(hi)));
        let about = format!(
            "The newest rating that the records tell; the whisker is 1.96 rating deviations each way, 95 %.{more}"
        );
        let axis = Axis::round(from, to.max(from + 1.0));
        intervals(&format!("rating-{at}"), &format!("Rating in {}", isolated(pool)), &about, &axis, spreads)
    };
    pools.iter().take(POOLS).enumerate().filter_map(picture).collect()
}

/// A text in which nothing turns round what stands about it.
fn isolated(text: &str) -> String {
    format!("\u{2068}{}\u{2069}", printable(text))
}

fn scores(bots: &[&BotReport]) -> Option<Intervals> {
    let spread = |bot: &&BotReport| {
        let score = bot.score;
        Some(Spread {
            name: bot.name.clone(),
            number: format!("{} %", percent(score.score)),
            middle: 100.0 * score.score?,
            ends: score.interval.map(|ends| ends.map(|end| 100.0 * end)),
            quarters: None,
        })
    };
    let about =
        "The share of the points in games with a result, a draw being half a win, in per cent; the whisker is 95 %.";
    intervals("scores", "Score by bot", about, &Axis::round(0.0, 100.0), bots.iter().filter_map(spread).collect())
}

/// The axis of an accuracy begins at 0, which is perfect.
fn accuracy_axis(spreads: &[Spread]) -> Axis {
    let most = spreads.iter().map(|spread| spread.ends.map_or(spread.middle, |[_, hi]| hi.min(3.0 * spread.middle)));
    Axis::round(0.0, most.fold(0.1, f64::max))
}

fn accuracies(bots: &[&BotReport]) -> Option<Intervals> {
    let spread = |bot: &&BotReport| {
        let all = bot.judged.all;
        let number = seeds(all.accuracy);
        Some(Spread { name: bot.name.clone(), number, middle: all.accuracy?, ends: all.interval, quarters: None })
    };
    let mut spreads: Vec<Spread> = bots.iter().filter_map(spread).collect();
    spreads.sort_by(|one, other| one.middle.total_cmp(&other.middle));
    let about = "The mean loss a ply in seeds, exact: 0 is perfect play. The whisker is 95 %, a game counting as one.";
    let axis = accuracy_axis(&spreads);
    intervals("accuracies", "Accuracy by bot", about, &axis, spreads)
}

fn by_time(report: &Report) -> Option<Intervals> {
    const NAMES: [&str; 6] =
        ["less than 1 ms", "1 to 10 ms", "10 to 100 ms", "100 ms to 1 s", "1 to 10 s", "10 s and more"];
    let spread = |(name, time): (&str, &super::report::JudgedTime)| {
        let judged = time.judged;
        let number = seeds(judged.accuracy);
        Some(Spread { name: name.to_owned(), number, middle: judged.accuracy?, ends: judged.interval, quarters: None })
    };
    let spreads: Vec<Spread> = NAMES.into_iter().zip(&report.judged.times).filter_map(spread).collect();
    let about =
        "Does thinking pay? The mean loss a ply of all bots by the time that the ply took; the whisker is 95 %.";
    let axis = accuracy_axis(&spreads);
    intervals("by-time", "Accuracy by time used", about, &axis, spreads)
}

fn thoughts(bots: &[&BotReport]) -> Option<Intervals> {
    let place = |us: u64| real(us.max(1)).log10();
    let spread = |bot: &&BotReport| {
        let thought = bot.judged.thought_us?;
        Some(Spread {
            name: bot.name.clone(),
            number: milliseconds(thought.p50),
            middle: place(thought.p50),
            ends: Some([place(thought.p5), place(thought.p95)]),
            quarters: Some([place(thought.p25), place(thought.p75)]),
        })
    };
    let about = "How long a ply took, on an axis of powers of ten: the dot is the median, the box the middle half, the \
                 whisker the middle nine tenths.";
    intervals("thoughts", "Thinking time", about, &Axis::of_times(), bots.iter().filter_map(spread).collect())
}

/// A time with as many places as say something.
fn milliseconds(us: u64) -> String {
    let places = if us < 10_000 { 3 } else { 0 };
    format!("{:.places$} ms", real(us) / 1000.0)
}

/// A bar with a whisker.
#[derive(Debug)]
pub(super) struct Bar {
    pub x: Length,
    pub y: Length,
    pub width: Length,
    pub height: Length,
    pub middle: Length,
    pub whisker: Option<[Length; 2]>,
    /// Whether few games made it.
    pub few: bool,
    pub about: String,
}

/// Bars by ply.
#[derive(Debug)]
pub(super) struct Bars {
    pub id: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub bottom: Length,
    pub across: Vec<Tick>,
    pub up: Vec<Tick>,
    pub bars: Vec<Bar>,
}

/// What a bar shows: its place, from 1, its height with the ends of its whisker, and words.
struct Column {
    ply: usize,
    value: f64,
    ends: Option<[f64; 2]>,
    few: bool,
    about: String,
}

fn bars(id: &'static str, title: &'static str, about: &'static str, columns: &[Column], most: f64) -> Option<Bars> {
    let (left, right, top) = (50.0, WIDTH - 10.0, 10.0);
    let last = columns.iter().map(|column| column.ply).max()?.max(10);
    let axis = Axis::round(0.0, most);
    let step = (right - left) / real(last as u64);
    let height = |value: f64| BARS * (value / axis.to).clamp(0.0, 1.0);
    let x = |ply: usize| left + step * real(ply as u64 - 1);
    let bar = |column: &Column| Bar {
        x: length(x(column.ply) + 0.1 * step),
        y: length(top + BARS - height(column.value)),
        width: length(0.8 * step),
        height: length(height(column.value)),
        middle: length(x(column.ply) + 0.5 * step),
        whisker: column.ends.map(|ends| ends.map(|end| length(top + BARS - height(end)))),
        few: column.few,
        about: column.about.clone(),
    };
    let across = (1..=last).filter(|ply| *ply == 1 || ply % 5 == 0);
    let up = axis.ticks.iter().map(|(at, label)| Tick { at: length(top + BARS - height(*at)), label: label.clone() });
    Some(Bars {
        id,
        title,
        about,
        bottom: length(top + BARS),
        across: across.map(|ply| Tick { at: length(x(ply) + 0.5 * step), label: ply.to_string() }).collect(),
        up: up.collect(),
        bars: columns.iter().map(bar).collect(),
    })
}

/// The pictures by ply.
pub(super) fn all_bars(report: &Report) -> Vec<Bars> {
    // What a game in fifty or fewer reached says little, and does not set the axis.
    let few = report.loss_by_ply.iter().map(|at| at.plies).max().unwrap_or(0) / 50;
    let column = |at: &super::PlyReport| Column {
        few: at.plies <= few,
        ply: at.ply,
        value: at.accuracy.unwrap_or(0.0),
        ends: at.interval,
        about: format!("ply {}: {} seeds a ply, {}", at.ply, seeds(at.accuracy), counted(at.plies, "ply", "plies")),
    };
    let losses: Vec<Column> = report.loss_by_ply.iter().map(column).collect();
    let most = losses.iter().filter(|column| !column.few).map(|column| 1.3 * column.value).fold(0.1, f64::max);
    let about = "The mean loss of all bots at each ply of a game, in seeds, with 95 % whiskers; South plays the odd \
                 plies. A bar of ply 61 is of all plies from there on. Plies that one game in fifty reached, or fewer, are \
                 pale, and may go beyond the picture.";
    let first: Vec<Column> = (1..)
        .zip(&report.judged.losing.by_ply)
        .map(|(ply, games)| Column {
            ply,
            value: real(*games),
            ends: None,
            few: false,
            about: format!("ply {ply}: {games}"),
        })
        .collect();
    let top = first.iter().map(|column| column.value).fold(1.0, f64::max);
    let losing =
        "How often a bot that was sure of a draw or a win gave both away for the first time in its game, by ply.";
    [
        bars("losses", "Loss by ply", about, &losses, most),
        bars("losing", "First losing moves by ply", losing, &first, top),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A line of first plies as a box, as wide as it is frequent.
#[derive(Debug)]
pub(super) struct Block {
    pub x: Length,
    pub y: Length,
    pub width: Length,
    pub height: Length,
    pub class: &'static str,
    /// How far one side is ahead, from 0 to 1.
    pub strength: Length,
    pub middle: Length,
    pub baselines: [Length; 2],
    pub words: Option<[String; 2]>,
    pub about: String,
}

/// The tree of openings as an icicle.
#[derive(Debug)]
pub(super) struct Icicle {
    pub height: Length,
    pub blocks: Vec<Block>,
}

/// Plies of openings in the picture.
const ICICLE: usize = 4;

pub(super) fn icicle(report: &Report) -> Option<Icicle> {
    let all = report.openings.first()?.games;
    // By ply, how far the boxes of that row reach so far.
    let (mut reach, mut blocks) = ([0.0; ICICLE + 1], Vec::new());
    for line in report.openings.iter().filter(|line| line.moves.len() <= ICICLE) {
        let (ply, width) = (line.moves.len(), WIDTH * ratio(line.games, all).unwrap_or(0.0));
        blocks.push(block(line, ply, reach[ply], width));
        // The longer lines begin where this one does; the games that ended here leave a gap at its end.
        let from = reach[ply];
        reach[ply] += width;
        reach[ply + 1..].fill(from);
    }
    Some(Icicle { height: length(LEVEL * real(ICICLE as u64 + 1)), blocks })
}

fn block(line: &OpeningReport, ply: usize, x: f64, width: f64) -> Block {
    let ends = line.r#final;
    let value = format!("{}:{}", bounds(ends.south), bounds(ends.north));
    let score = percent(line.score.score);
    let ahead =
        i16::from(ends.south[0]) + i16::from(ends.south[1]) - i16::from(ends.north[0]) - i16::from(ends.north[1]);
    let class = match ahead {
        ..0 => "north",
        0 => "level",
        1.. => "south",
    };
    let name = if line.moves.is_empty() { "all" } else { &line.moves };
    let scored = if score.is_empty() { name.to_owned() } else { format!("{name}: {score} %") };
    let mut about = format!("{name}: {}, best play leads to {value}", counted(line.games, "game", "games"));
    if !score.is_empty() {
        let _ = write!(about, ", South scored {score} %");
    }
    let y = LEVEL * real(ply as u64);
    Block {
        x: length(x),
        y: length(y),
        width: length(width),
        height: length(LEVEL),
        class,
        strength: length((f64::from(ahead).abs() / 40.0).clamp(0.15, 0.55)),
        middle: length(x + width / 2.0),
        baselines: [length(y + 19.0), length(y + 35.0)],
        words: (width > 84.0).then_some([scored, value]),
        about,
    }
}
