//! A tournament as people read it, and as a table.

use super::Kind;
use super::report::{Listed, Met, Outcome, Played, Report, Round};
use std::fmt::Write as _;

/// Most players of which a crosstable fits a line.
const WIDEST: usize = 24;

impl Outcome {
    /// As it is written beside South and North.
    const fn score(self) -> &'static str {
        match self {
            Self::South => "1-0",
            Self::North => "0-1",
            Self::Draw => "½-½",
            Self::None => "none",
            Self::Open => "…",
            Self::WalkoverSouth => "+/-",
            Self::WalkoverNorth => "-/+",
            Self::Unplayed => "-/-",
        }
    }

    /// As a table has it.
    const fn word(self) -> &'static str {
        match self {
            Self::South => "south",
            Self::North => "north",
            Self::Draw => "draw",
            Self::None => "none",
            Self::Open => "open",
            Self::WalkoverSouth => "walkover_south",
            Self::WalkoverNorth => "walkover_north",
            Self::Unplayed => "unplayed",
        }
    }
}

/// All tournaments, a line each.
#[must_use]
pub fn list_text(all: &[Listed]) -> String {
    let mut text =
        format!("{:<24}  {:<9}  {:<11}  {:<12}  {:>7}  starts\n", "name", "state", "format", "pool", "players");
    for Listed { tournament, state, format, pool, players, starts } in all {
        let (state, format) = (state.as_str(), format.as_str());
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{tournament:<24}  {state:<9}  {format:<11}  {pool:<12}  {players:>7}  {starts}");
    }
    text
}

/// Standings, crosstable and rounds.
#[must_use]
pub fn text_of(report: &Report) -> String {
    let mut text = String::new();
    let plan = &report.plan;
    let _ = writeln!(
        text,
        "{}: {}, {} players, pool {}, {}; starts {}",
        report.tournament,
        plan.format.as_str(),
        plan.bots.len(),
        plan.pool,
        report.state.as_str(),
        report.starts
    );
    standings(&mut text, report);
    if !report.rounds.is_empty() && report.standings.len() <= WIDEST {
        crosstable(&mut text, report);
    }
    for round in &report.rounds {
        self::round(&mut text, round);
    }
    text
}

fn standings(text: &mut String, report: &Report) {
    let tie_break = if report.plan.format == Kind::Swiss { "buchholz" } else { "sonneborn" };
    let _ = writeln!(
        text,
        "\n{:>3}  {:<24} {:>7} {:>9} {:>6} {:>8} {:>4} {:>5} {:>4} {:>9} {:>4}",
        "#", "bot", "points", tie_break, "direct", "captured", "won", "drawn", "lost", "walkovers", "byes"
    );
    for line in &report.standings {
        let _ = write!(
            text,
            "{:>3}  {:<24} {:>7} {:>9} {:>6} {:>8} {:>4} {:>5} {:>4} {:>9} {:>4}",
            line.place,
            line.bot.as_str(),
            line.points,
            line.tie_break,
            line.direct,
            line.captured,
            line.won,
            line.drawn,
            line.lost,
            line.walkovers,
            line.byes
        );
        let out = line.out.map(|round| format!("  out in round {round}")).unwrap_or_default();
        let _ = writeln!(text, "{out}{}", if line.withdrawn { "  withdrawn" } else { "" });
    }
}

fn crosstable(text: &mut String, report: &Report) {
    let _ = write!(text, "\n{:>3}  {:<24}", "#", "bot");
    for line in &report.standings {
        let _ = write!(text, " {:>5}", line.place);
    }
    let _ = writeln!(text);
    for (line, row) in report.standings.iter().zip(&report.crosstable) {
        let _ = write!(text, "{:>3}  {:<24}", line.place, line.bot.as_str());
        for (place, had) in (1..).zip(row) {
            let had = had.map_or_else(|| if place == line.place { "x" } else { "." }.to_owned(), |had| had.to_string());
            let _ = write!(text, " {had:>5}");
        }
        let _ = writeln!(text);
    }
}

fn round(text: &mut String, round: &Round) {
    let _ = writeln!(text, "\nround {}", round.round);
    for Met { number, bots: [one, other], points, over, forfeited, games } in &round.matches {
        let _ = write!(text, "  match {number}: {one} {} - {} {other}", points[0], points[1]);
        let _ = write!(text, "{}", if *over { "" } else { ", not over" });
        for bot in forfeited {
            let _ = write!(text, ", {bot} did not come");
        }
        let _ = writeln!(text);
        for Played { game, south, north, id, outcome, termination, .. } in games {
            // One that is not over may not have begun, and has another id then.
            let id = id.filter(|_| termination.is_some()).map_or_else(|| "-".to_owned(), |id| id.to_string());
            let termination = termination.map_or("", |termination| termination.as_str());
            let line = format!("    {game:>2}  {south} - {north}  {}  {id}  {termination}", outcome.score());
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    if let Some(bot) = &round.bye {
        let _ = writeln!(text, "  {bot} rests");
    }
}

/// A row for each game, whether played or not, under a header.
///
/// # Errors
/// None in practice: it is written to memory.
pub fn csv_of(report: &Report) -> Result<String, csv::Error> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record([
        "round",
        "match",
        "game",
        "south",
        "north",
        "outcome",
        "termination",
        "south_seeds",
        "north_seeds",
        "id",
    ])?;
    for round in &report.rounds {
        for met in &round.matches {
            for played in &met.games {
                let seeds = |of: fn(&modiar_protocol::Sides<u8>) -> u8| {
                    played.score.as_ref().map(|score| of(score).to_string()).unwrap_or_default()
                };
                table.write_record([
                    round.round.to_string(),
                    met.number.to_string(),
                    played.game.to_string(),
                    played.south.to_string(),
                    played.north.to_string(),
                    played.outcome.word().to_owned(),
                    played.termination.map_or("", |termination| termination.as_str()).to_owned(),
                    seeds(|score| score.south),
                    seeds(|score| score.north),
                    played.id.map(|id| id.to_string()).unwrap_or_default(),
                ])?;
            }
        }
    }
    let bytes = table.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
