//! `modiar backup`: the database as it is at this moment, while the daemon goes on.

use super::place::Place;
use crate::logging::note;
use crate::records::counted;
use crate::store::{self, Copied};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  modiar backup /backups/modiar-2026-11-30.db\n\nTo restore, stop the daemon, put the file in the data directory as modiar.db,\nremove modiar.db-wal and modiar.db-shm, and move the folders archive and\njournal away: the archive is written anew, and what the journal holds was\nplayed after the backup."
)]
pub(super) struct Backup {
    /// The file to write; it must not exist
    file: PathBuf,
}

impl Backup {
    pub(super) fn run(self, place: &Place) -> anyhow::Result<ExitCode> {
        let data = place.data()?;
        let Copied { games, bots } = store::back_up(&data, &self.file)?;
        let (games, bots) = (counted(games, "game", "games"), counted(bots, "bot", "bots"));
        note(&format!("{games} and {bots} of {data} were written to {}", self.file.display()));
        Ok(ExitCode::SUCCESS)
    }
}
