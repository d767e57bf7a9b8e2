//! `modiar games`: what was played. Works beside a running daemon and without one.

use super::FINDINGS;
use super::export::{self, Export};
use super::place::Place;
use super::streams::{Input, print, write_stdout};
use crate::oracle;
use crate::records::{self, Comparison, Dossier, Findings};
use crate::store::{self, DataDir, StoreError};
use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use modiar_protocol::Record;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum Games {
    /// Print one game, ply by ply, with what each was worth
    #[command(
        after_help = "Example:\n  modiar games show g019c0f6a    (a beginning of the id will do)\n  modiar games show g019c0f6a --forensics\n\nvalue: the margin of the side to move over the seeds still in play, under best play;\nloss: what the ply gave away of it, - where there was no choice; best: the pits that lose nothing."
    )]
    Show(Show),
    /// Write finished games to stdout, or as tables to a directory
    #[command(after_help = export::HELP)]
    Export(Export),
    /// Referee finished games again: legality, clocks, results, ratings
    #[command(after_help = "Examples:\n  modiar games verify\n  modiar games verify games.jsonl")]
    Verify(Verify),
}

#[derive(Debug, Args)]
pub(super) struct Show {
    /// The game's id, or its beginning
    #[arg(value_parser = id_beginning)]
    id: String,
    /// Why it was forfeited: the last lines of both sides, and the clock
    #[arg(long)]
    forensics: bool,
    /// That as JSON
    #[arg(long, requires = "forensics")]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Verify {
    /// A file of records, one a line, in place of the data directory; - is stdin
    file: Option<PathBuf>,
}

/// `g` and up to 32 hex digits.
fn id_beginning(text: &str) -> Result<String, String> {
    let digits = text.strip_prefix('g').filter(|digits| digits.len() <= 32);
    if digits.is_some_and(|digits| digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))) {
        Ok(text.to_owned())
    } else {
        Err(format!("'{text}' is no id: g and 32 of the digits 0-9 a-f, or the beginning of that"))
    }
}

impl Games {
    pub(super) fn run(self, place: &Place) -> anyhow::Result<ExitCode> {
        match self {
            Self::Show(show) => show.run(place),
            Self::Export(export) => export.run(place),
            Self::Verify(verify) => verify.run(place),
        }
    }
}

impl Show {
    fn run(self, place: &Place) -> anyhow::Result<ExitCode> {
        let data = place.data()?;
        let line = match &store::read_record(&data, &self.id)?[..] {
            [line] => line.clone(),
            [] => bail!("there is no finished game '{}'; `modiar games export` lists them all", self.id),
            _ => bail!("more than one game's id begins with '{}'; write more of it", self.id),
        };
        let record: Record = serde_json::from_str(&line).context("its record was changed; restore a backup")?;
        if self.forensics {
            return self.tell_forfeit(&data, &record);
        }
        print(&records::show(&record, &oracle::consult(&data))?)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Show {
    fn tell_forfeit(&self, data: &DataDir, record: &Record) -> anyhow::Result<ExitCode> {
        let Some(text) = store::read_dossier(data, record.game)? else {
            bail!(
                "there is no dossier of game {}, which ended by {}: one is kept where a side forfeits",
                record.game,
                record.termination
            )
        };
        let dossier: Dossier = serde_json::from_str(&text).context("its dossier was changed; restore a backup")?;
        if self.json {
            write_stdout(format!("{text}\n").as_bytes())?;
        } else {
            print(&dossier.told())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Verify {
    fn run(self, place: &Place) -> anyhow::Result<ExitCode> {
        let findings = match &self.file {
            Some(_) if place.is_named() => super::misused("a file of records needs neither --data nor --config"),
            Some(path) => verify_file(path)?,
            None => verify_data(&place.data()?)?,
        };
        print(&findings.report())?;
        Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FINDINGS) })
    }
}

fn verify_file(path: &Path) -> anyhow::Result<Findings> {
    let (mut input, mut findings) = (Input::open(path)?, Findings::default());
    while let Some((_, line)) = input.line()? {
        findings.verify(line);
    }
    if findings.saw_nothing() {
        findings.found(format!("{} holds no game", input.name()));
    }
    Ok(findings)
}

fn verify_data(data: &DataDir) -> Result<Findings, StoreError> {
    let (mut findings, mut archive) = (Findings::of_a_store(), Comparison::new(data)?);
    store::read_records(data, &mut |line| {
        findings.verify_stored(&line);
        archive.compare(&line, &mut findings)
    })?;
    archive.end(&mut findings)?;
    store::find_misfiled(data, &mut |seq, column| findings.misfiled(seq, column))?;
    store::find_misrated(data, &mut |game, what| findings.misrated(game, &what))?;
    if let Some(what) = store::find_damage(data)? {
        findings.found(format!("the database is damaged: {what}"));
    }
    Ok(findings)
}
