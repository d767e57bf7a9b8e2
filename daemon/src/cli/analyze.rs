//! `modiar analyze`: what many games say, on the terminal, as JSON, or as a page.

use super::place::Place;
use super::streams::{Input, print, write_stdout};
use crate::analysis::{self, Analyzer, Fold, Folding, Report};
use crate::logging::note;
use crate::oracle;
use crate::store::{self, DataDir, StoreError};
use anyhow::{Context as _, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use modiar_oracle::Table;
use std::fs::File;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Lines between two looks of a progress bar.
const OFTEN: u64 = 256;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  modiar analyze\n  modiar analyze games.jsonl --html report.html\n  modiar games export --pool blitz | modiar analyze - --json\n\nEvery ply is judged by the solved game: its loss is what it gave away, in seeds, and accuracy is\nthe mean loss a ply. daemon/REPORT.md tells what each figure means, and the fields of the JSON."
)]
pub(super) struct Analyze {
    /// A file of records, one a line, in place of the data directory; - is stdin
    file: Option<PathBuf>,
    /// Write the report with pictures to this file: one page that needs nothing else
    #[arg(long, value_name = "REPORT")]
    html: Option<PathBuf>,
    /// Print the report as one JSON document
    #[arg(long)]
    json: bool,
}

impl Analyze {
    pub(super) fn run(self, place: &Place) -> anyhow::Result<ExitCode> {
        if self.file.is_some() && place.is_named() {
            super::misused("a file of records needs neither --data nor --config");
        }
        let (source, fold, table) = match &self.file {
            Some(path) => {
                let input = Input::open(path)?;
                let table = consult(&place.helpful_data());
                (input.name().to_owned(), fold_file(input, &table)?, table)
            }
            None => {
                let data = place.data()?;
                let table = consult(&data);
                (data.to_string(), fold_data(&data, Analyzer::new(&table))?, table)
            }
        };
        if fold.games() == 0 {
            note(&format!("{source} holds no game"));
        }
        let report = Report::new(&fold, &table);
        // Whoever is sent the page learns nothing of this machine's folders.
        let title = Path::new(&source).file_name().unwrap_or_default().to_string_lossy();
        if let Some(path) = &self.html {
            write_page(path, &analysis::page(&report, &title)?)?;
        }
        if self.json {
            write_stdout(format!("{}\n", report.to_json()?).as_bytes())?;
        } else if self.html.is_none() {
            print(&analysis::text(&report))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes the page where there is nothing, or a page like it; half of one is never there.
fn write_page(path: &Path, page: &str) -> anyhow::Result<()> {
    let advice = || format!("{}: name a file that can be written", path.display());
    if path.exists() && !is_page(path, page).with_context(advice)? {
        bail!("{} is there and is no report; name another file, or remove it", path.display());
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".new-{}", std::process::id()));
    let unfinished = path.with_file_name(name);
    let written = std::fs::write(&unfinished, page).and_then(|()| std::fs::rename(&unfinished, path));
    written.with_context(|| {
        // Half a page is of no use; where there is none there is nothing to remove.
        let _ = std::fs::remove_file(&unfinished);
        advice()
    })?;
    note(&format!("the report was written to {}", path.display()));
    Ok(())
}

/// Whether what is there begins as `page` does.
fn is_page(path: &Path, page: &str) -> std::io::Result<bool> {
    /// Bytes of the head that all pages share.
    const HEAD: usize = 100;
    let (head, mut there) = (page.as_bytes().get(..HEAD).unwrap_or_default(), Vec::new());
    Ok(path.metadata()?.is_file() && {
        File::open(path)?.take(HEAD as u64).read_to_end(&mut there)?;
        there == head
    })
}

/// The table, with a word on a terminal while it is solved.
pub(super) fn consult(data: &DataDir) -> Table {
    let waiting = progress(None, "{spinner} {msg}");
    waiting.set_message("the table of the solved game");
    waiting.enable_steady_tick(Duration::from_millis(100));
    let table = oracle::consult(data);
    waiting.finish_and_clear();
    table
}

/// A bar, or a count where nobody knows how much there is; nothing unless people watch.
fn progress(length: Option<u64>, template: &str) -> ProgressBar {
    let watched = std::io::stderr().is_terminal() && std::env::var_os("CI").is_none();
    let bar = match length {
        _ if !watched => ProgressBar::hidden(),
        Some(length) => ProgressBar::new(length),
        None => ProgressBar::new_spinner(),
    };
    ProgressStyle::with_template(template).map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style))
}

fn fold_file(mut input: Input, table: &Table) -> anyhow::Result<Fold> {
    let bar = progress(input.length(), "{bar:40} {bytes} of {total_bytes}, {eta} left");
    let (mut analyzer, mut bytes) = (Analyzer::new(table), 0);
    let place = format!("{} line", input.name());
    while let Some((number, line)) = input.line()? {
        bytes += line.len() as u64 + 1;
        // A blank line of a file is nobody's; in a store it was a game.
        if !line.trim_ascii().is_empty() {
            analyzer.take(number, line).map_err(|error| refused(&place, &error))?;
        }
        if number % OFTEN == 0 {
            bar.set_position(bytes);
        }
    }
    bar.finish_and_clear();
    analyzer.finish().map_err(|error| refused(&place, &error))
}

/// All games of the store.
pub(super) fn fold_data<F: Folding>(data: &DataDir, mut analyzer: Analyzer<'_, F>) -> anyhow::Result<F> {
    let bar = progress(Some(store::count_games(data)?), "{bar:40} {pos} of {len} games, {eta} left");
    let mut bad = None;
    let read = store::read_records(data, &mut |line| {
        if line.seq % OFTEN == 0 {
            bar.set_position(line.seq);
        }
        // The store has no word for it: reading on is all that this stops.
        analyzer.take(line.seq, line.text.as_bytes()).map_err(|error| {
            bad = Some(error);
            StoreError::io("analysis")(std::io::ErrorKind::InvalidData.into())
        })
    });
    bar.finish_and_clear();
    let place = format!("{data}: game");
    if let Some(error) = bad {
        return Err(refused(&place, &error));
    }
    read?;
    analyzer.finish().map_err(|error| refused(&place, &error))
}

/// What is wrong with a record, where it stands, and what to do.
fn refused(place: &str, error: &analysis::BadRecord) -> anyhow::Error {
    anyhow::anyhow!("{place} {error}; `modiar games verify` tells all that is wrong")
}
