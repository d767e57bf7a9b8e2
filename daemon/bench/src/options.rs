//! The options that several commands have.

use crate::process::{Kind, find_daemon};
use clap::Args;
use std::path::PathBuf;

/// Those of every command that starts daemons.
#[derive(Debug, Args)]
pub struct Rounds {
    /// Rounds, each with a new daemon, and with what it is compared to
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// The daemon's binary [default: modiar, beside this program]
    #[arg(long, value_name = "PATH")]
    daemon: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}

impl Rounds {
    /// The daemon that is measured, built first where that is due.
    pub fn find_daemon(&self) -> anyhow::Result<Kind> {
        Ok(Kind::Daemon(find_daemon(self.daemon.clone())?))
    }
}

/// That of every command.
#[derive(Debug, Args)]
pub struct Output {
    /// Only the JSON line
    #[arg(long)]
    pub json: bool,
}
