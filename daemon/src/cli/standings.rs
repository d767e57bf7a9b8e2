//! `modiar standings`: who stands where, beside a running daemon and without one.

use super::analyze::{consult, fold_data};
use super::bot::bot_name;
use super::place::Place;
use super::rebuild::rebuild;
use super::season::season_name;
use super::streams::{print, write_stdout};
use crate::analysis::Analyzer;
use crate::ladder::{Season, SeasonName};
use crate::logging::note;
use crate::standings::{Crosstable, Field, History, PoolFold, Rated, Standings as Table, Versus, to_csv};
use crate::store::{self, DataDir};
use anyhow::{Context as _, bail};
use clap::Args;
use modiar_protocol::BotName;
use serde::Serialize;
use std::process::ExitCode;

/// Bots of a crosstable on a terminal where nobody says how many.
const CROSSED: usize = 20;
/// Names that an error tells at most.
const NAMED: usize = 20;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  modiar standings\n  modiar standings --pool blitz --count 10\n  modiar standings --crosstable\n  modiar standings --versus ada house-level4\n  modiar standings --bot ada\n  modiar standings --season first\n  modiar standings --rebuild\n  modiar standings --csv > standings.csv\n\nRanked by one joint maximum-likelihood fit over all rated games of the pool, with 95 % intervals:\nthat is the ranking to trust. daemon/STANDINGS.md tells what each figure means, and the fields of\nthe JSON and the CSV."
)]
pub(super) struct Standings {
    /// The pool [default: that of most rated games]
    #[arg(long)]
    pool: Option<String>,
    /// Print one JSON document
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV, a line a row
    #[arg(long)]
    csv: bool,
    /// Points and games of each against each
    #[arg(long)]
    crosstable: bool,
    /// Two bots, head to head
    #[arg(long, num_args = 2, value_names = ["BOT", "BOT"], value_parser = bot_name, conflicts_with = "crosstable")]
    versus: Option<Vec<BotName>>,
    /// One bot, version by version
    #[arg(long, value_name = "NAME", value_parser = bot_name, conflicts_with_all = ["crosstable", "versus"])]
    bot: Option<BotName>,
    /// Rank the versions of all bots, each as a player of its own
    #[arg(long, conflicts_with_all = ["crosstable", "versus", "bot"])]
    versions: bool,
    /// The first rank that is told
    #[arg(long, value_name = "RANK", default_value_t = 1, value_parser = rank, conflicts_with_all = ["versus", "bot"])]
    from: usize,
    /// How many ranks are told [default: all]
    #[arg(long, value_name = "N", conflicts_with_all = ["versus", "bot"])]
    count: Option<usize>,
    /// The season [default: the present one]
    #[arg(long, value_parser = season_name)]
    season: Option<SeasonName>,
    /// Make the stored ratings anew from the stored games, with the daemon stopped; exit 1 with the rows that were otherwise
    #[arg(long, conflicts_with_all = ["pool", "json", "csv", "crosstable", "versus", "bot", "versions", "from", "count", "season"])]
    rebuild: bool,
}

fn rank(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|rank| *rank > 0).ok_or_else(|| format!("'{text}' is no rank; ranks count from 1"))
}

impl Standings {
    pub(super) fn run(self, place: &Place) -> anyhow::Result<ExitCode> {
        let data = place.data()?;
        if self.rebuild {
            return rebuild(&data);
        }
        let season = self.season(&data)?;
        let watched = self.versus.as_deref().and_then(|two| <&[BotName; 2]>::try_from(two).ok().cloned());
        let table = consult(&data);
        let name = season.name.clone();
        let rated = fold_data(&data, Analyzer::over(Rated::of(season, watched.clone()), &table))?;
        let names = rated.names();
        if names.is_empty() {
            note(&format!("there is no rated game in season '{name}' yet"));
        } else if self.pool.is_none() && names.len() > 1 {
            note(&format!("of the pools {} this is '{}'; --pool names another", names.join(", "), names[0]));
        }
        let none = PoolFold::default();
        let (name, pool) = match (&self.pool, names.first()) {
            (Some(wanted), _) => (wanted.as_str(), rated.pool(wanted).ok_or_else(|| no_pool(wanted, &names))?),
            (None, Some(first)) => (*first, rated.pool(first).unwrap_or(&none)),
            (None, None) if !self.json && !self.csv => return Ok(ExitCode::SUCCESS),
            (None, None) => ("", &none),
        };
        self.tell(name, pool, watched.as_ref())?;
        Ok(ExitCode::SUCCESS)
    }

    fn season(&self, data: &DataDir) -> anyhow::Result<Season> {
        let mut seasons = store::read_seasons(data)?;
        let Some(wanted) = &self.season else {
            let present = seasons.pop().context("there is always a season")?;
            if !seasons.is_empty() {
                note(&format!("the season is '{}'; --season names another", present.name));
            }
            return Ok(present);
        };
        let known = seasons.iter().map(|season| season.name.as_str()).collect::<Vec<_>>().join(", ");
        let found = seasons.into_iter().find(|season| season.name == *wanted);
        found.with_context(|| format!("there is no season '{wanted}'; there are {known}"))
    }

    fn tell(&self, name: &str, pool: &PoolFold, two: Option<&[BotName; 2]>) -> anyhow::Result<()> {
        let field = Field::of(pool, |bot| self.versions || self.bot.as_ref() == Some(bot));
        let count = self.count.unwrap_or(usize::MAX);
        if let Some(two) = two {
            let missing = two.iter().find(|bot| !field.names().contains(&bot.as_str()));
            let Some(versus) = Versus::of(name, pool, &field, two) else { bail!(no_bot(missing, name, &field)) };
            self.write(&versus, &versus.last, || versus.text())
        } else if let Some(bot) = &self.bot {
            let Some(history) = History::of(name, &field, bot) else { bail!(no_bot(Some(bot), name, &field)) };
            self.write(&history, &history.versions, || history.text())
        } else if self.crosstable {
            let usual = if self.json || self.csv { usize::MAX } else { CROSSED };
            let crosstable = Crosstable::of(name, &field, self.from, self.count.unwrap_or(usual));
            self.write(&crosstable, &crosstable.met, || crosstable.text())
        } else {
            let table = Table::of(name, pool, &field, self.from, count);
            self.write(&table, &table.rows, || table.text())
        }
    }

    /// In the form that was asked for: all as JSON, the rows as CSV, or the text.
    fn write(&self, all: &impl Serialize, rows: &[impl Serialize], text: impl Fn() -> String) -> anyhow::Result<()> {
        match (self.json, self.csv) {
            (true, _) => write_stdout(format!("{}\n", serde_json::to_string(all)?).as_bytes()),
            (_, true) => write_stdout(to_csv(rows)?.as_bytes()),
            _ => print(&text()),
        }
    }
}

fn no_pool(wanted: &str, names: &[&str]) -> anyhow::Error {
    let there =
        if names.is_empty() { "no pool has any yet".to_owned() } else { format!("there are some in {}", told(names)) };
    anyhow::anyhow!("pool '{}' has no rated game; {there}", wanted.escape_debug())
}

fn no_bot(missing: Option<&BotName>, pool: &str, field: &Field) -> String {
    let mut names = field.names();
    names.dedup();
    let there = if names.is_empty() { "nobody has".to_owned() } else { format!("there are {}", told(&names)) };
    let missing = missing.map(ToString::to_string).unwrap_or_default();
    format!("'{missing}' has no rated game in pool '{pool}'; {there}")
}

/// The first names, and how many more there are.
fn told(names: &[&str]) -> String {
    let first = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
