//! `modiar check`: whether a bot is ready, before it costs a point.

mod bot;

use std::process::ExitCode;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Checks {
    /// Check a bot: start it again and again, and let a scripted referee play with it
    Bot(bot::BotCheck),
}

impl Checks {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Bot(check) => check.run(),
        }
    }
}
