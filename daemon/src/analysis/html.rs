//! The report as one page that needs nothing else: no script, no other file, no network.

use super::picture::{Bars, Icicle, Intervals, all_bars, all_intervals, icicle};
use super::report::Report;
use super::tables::{Column, Grid, Room, range, seeds, tables};
use super::text::summary;
use crate::text::is_hidden;
use askama::Template;

/// Rows of a picture.
const PICTURED: usize = 40;
const ROOM: Room = Room { bots: 200, depth: 8, lines: 200 };

/// The page; the template escapes whatever comes from records.
#[derive(Template)]
#[template(path = "analysis/report.html")]
struct Page {
    source: String,
    server: &'static str,
    summary: [String; 3],
    intervals: Vec<Intervals>,
    bars: Vec<Bars>,
    icicle: Option<Icicle>,
    grids: Vec<Grid>,
}

/// The report on what is called `source` as a page of XHTML-clean HTML.
///
/// # Errors
/// Only what the template could not write, which no report holds.
pub fn page(report: &Report, source: &str) -> Result<String, askama::Error> {
    let bots = report.busiest(PICTURED);
    let mut grids = tables(report, ROOM);
    grids.push(by_ply(report));
    grids.retain(|grid| !grid.rows.is_empty());
    let page = Page {
        source: source.to_owned(),
        server: crate::SERVER,
        summary: summary(report),
        intervals: all_intervals(report, &bots),
        bars: all_bars(report),
        icicle: icicle(report),
        grids,
    };
    // Control characters may stand in no page, escaped or not; what keeps a text apart is the page's own.
    let is_ours = |c: char| matches!(c, '\n' | '\u{2068}' | '\u{2069}');
    let shown = |c: char| if is_hidden(c) && !is_ours(c) { char::REPLACEMENT_CHARACTER } else { c };
    Ok(page.render()?.chars().map(shown).collect())
}

/// What the pictures by ply show, as numbers.
fn by_ply(report: &Report) -> Grid {
    let number = |name| Column { name, width: 8, is_text: false };
    let row = |at: &super::PlyReport| {
        let losing = report.judged.losing.by_ply.get(at.ply - 1).copied().unwrap_or(0);
        let (accuracy, interval) = (seeds(at.accuracy), range(at.interval));
        vec![at.ply.to_string(), at.plies.to_string(), at.loss.to_string(), accuracy, interval, losing.to_string()]
    };
    Grid {
        title: "By ply",
        note: "Plies of bots, the seeds lost by them, their mean, and the first losing moves.".to_owned(),
        columns: ["ply", "plies", "loss", "accuracy", "95 %", "first losing"].map(number).to_vec(),
        rows: report.loss_by_ply.iter().map(row).collect(),
    }
}
