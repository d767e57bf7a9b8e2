//! `modiar games export`: the archive's lines, or tables for who analyses.

use super::misused;
use super::place::Place;
use super::streams::{Stdout, UNWRITABLE, write_stdout};
use crate::export::{self, Months, Rows, Table, heads, rows};
use crate::logging::note;
use crate::oracle;
use crate::records::{self, Filter};
use crate::store::{self, DataDir, Line, StoreError};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use modiar_oracle::Table as Oracle;
use modiar_protocol::BotName;
use std::io::{self, BufWriter, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Examples, and what the forms hold.
pub(super) const HELP: &str = "Examples:
  modiar games export --pool blitz --since 2026-11-01 > games.jsonl
  modiar games export --format csv --plies --analysis > plies.csv
  modiar games export --format parquet --analysis --out tables

Without --plies, --analysis and --out, jsonl writes the records as the archive has them.
All else is tables, whose columns spec/record.md tells: games, a row a game, and
plies, a row a ply.";

#[derive(Debug, Args)]
pub(super) struct Export {
    /// The form of the output
    #[arg(long, value_enum, default_value = "jsonl")]
    format: Format,
    /// Write the table of plies in place of that of games
    #[arg(long, conflicts_with = "out")]
    plies: bool,
    /// Add what each ply was worth under best play
    #[arg(long)]
    analysis: bool,
    /// Write both tables to this empty directory, two files a month, in place of stdout
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Only games of this bot
    #[arg(long, value_name = "NAME", value_parser = super::bot::bot_name)]
    bot: Option<BotName>,
    /// Only games of this pool
    #[arg(long, value_name = "NAME")]
    pool: Option<String>,
    /// Only games that ended at this time or later: 2026-11-30 or 2026-11-30T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = records::parse_time)]
    since: Option<jiff::Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A JSON object a line: records as in the archive, or rows of a table
    Jsonl,
    /// A line of names, then a row a line
    Csv,
    /// Typed columns, packed with zstd
    Parquet,
}

impl From<Format> for export::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Jsonl => Self::Jsonl,
            Format::Csv => Self::Csv,
            Format::Parquet => Self::Parquet,
        }
    }
}

impl Export {
    pub(super) fn run(self, place: &Place) -> anyhow::Result<ExitCode> {
        if self.format == Format::Parquet && self.out.is_none() && io::stdout().is_terminal() {
            misused("parquet is not for a terminal; write it to a file with '>', or name --out DIR");
        }
        let data = place.data()?;
        let oracle = self.analysis.then(|| oracle::consult(&data));
        let filter = Filter { bot: self.bot.clone(), pool: self.pool.clone(), since: self.since };
        let (games, taken) = match &self.out {
            Some(folder) => self.to_folder(folder, &data, &filter, oracle.as_ref()),
            None if self.format == Format::Jsonl && !self.plies && !self.analysis => {
                each_game(&data, &filter, |line| write_stdout(format!("{}\n", line.text).as_bytes()))
            }
            None => self.to_stdout(&data, &filter, oracle.as_ref()),
        }?;
        if taken == 0 {
            note(&format!("none of {} fits: no game was written", records::counted(games, "game", "games")));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn to_folder(
        &self,
        folder: &Path,
        data: &DataDir,
        filter: &Filter,
        oracle: Option<&Oracle>,
    ) -> anyhow::Result<(u64, u64)> {
        let mut months = Months::new(folder, self.format.into(), self.analysis)?;
        let counts = each_game(data, filter, |line| months.add(&game_rows(line, oracle)?))?;
        months.finish()?;
        Ok(counts)
    }

    fn to_stdout(&self, data: &DataDir, filter: &Filter, oracle: Option<&Oracle>) -> anyhow::Result<(u64, u64)> {
        let table = if self.plies { Table::Plies } else { Table::Games };
        let stdout = Box::new(BufWriter::new(Stdout(io::stdout())));
        let mut writer = export::open(self.format.into(), &heads(table, self.analysis), stdout)?;
        let counts = each_game(data, filter, |line| {
            game_rows(line, oracle)?.each(table, |row| writer.row(row)).context(UNWRITABLE)
        })?;
        writer.finish().context(UNWRITABLE)?;
        Ok(counts)
    }
}

fn game_rows(line: &Line, oracle: Option<&Oracle>) -> anyhow::Result<Rows> {
    let advice = || format!("the game at place {}: `modiar games verify` tells more, a backup restores it", line.seq);
    rows(line, oracle).with_context(advice)
}

/// Gives each game that the filter takes to `each`; how many there are, and how many it took.
fn each_game(
    data: &DataDir,
    filter: &Filter,
    mut each: impl FnMut(&Line) -> anyhow::Result<()>,
) -> anyhow::Result<(u64, u64)> {
    let (mut games, mut taken, mut failed) = (0u64, 0u64, None);
    let read = store::read_records(data, &mut |line| {
        games += 1;
        if filter.takes(&serde_json::from_str(&line.text)?) {
            taken += 1;
            // The reader is stopped by an error of its own kind; which one is told below.
            each(&line).map_err(|error| {
                failed = Some(error);
                StoreError::Stopped
            })?;
        }
        Ok(())
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(read.map(|()| (games, taken))?),
    }
}
