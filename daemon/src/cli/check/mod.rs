//! `modiar check`: whether a bot or a server keeps its side of the contract.

mod bot;
mod options;
mod server;

use std::process::ExitCode;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Checks {
    /// Check a bot: start it again and again, and let a scripted referee play with it
    Bot(bot::BotCheck),
    /// Check a server: play the transcripts and many odd bots against it
    Server(server::ServerCheck),
}

impl Checks {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Bot(check) => check.run(),
            Self::Server(check) => check.run(),
        }
    }
}
