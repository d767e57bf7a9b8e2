//! The command line: data to stdout, words for people to stderr.
//!
//! Exit codes: 0 good, 1 findings, 2 usage, 3 could not, 78 a configuration that cannot be used.

mod analyze;
mod backup;
mod bot;
mod check;
mod export;
mod games;
mod oracle;
mod place;
mod rebuild;
mod reload;
mod season;
mod serve;
mod standings;
mod streams;
mod tournament;

use crate::config::ConfigError;
use crate::logging::note;
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};
use place::Place;
use std::process::ExitCode;

/// Something was found that should not be.
const FINDINGS: u8 = 1;
/// It could not be done.
const COULD_NOT: u8 = 3;
/// The configuration cannot be used (`EX_CONFIG`): starting again will not help.
const BAD_CONFIG: u8 = 78;

/// A game server for bots that play Modiar.
#[derive(Debug, Parser)]
#[command(name = "modiar", version, about, subcommand_required = true, arg_required_else_help = true)]
#[command(
    after_help = "Examples:\n  modiar serve\n  modiar games show g019c0f6a\n  modiar games verify --data modiar-data"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve games to bots that connect
    Serve(serve::Serve),
    /// Show, export or verify finished games
    #[command(subcommand)]
    Games(games::Games),
    /// Report on finished games: losses, accuracy, openings
    Analyze(analyze::Analyze),
    /// Rank the bots of a pool: joint fit, crosstable, head to head
    Standings(standings::Standings),
    /// Register bots, renew their tokens, keep them out
    Bot(bot::Bot),
    /// Begin seasons of the ladder, and list them
    Season(season::Season),
    /// Plan, show and cancel tournaments
    Tournament(tournament::Tournament),
    /// Ask what a position is worth under best play
    Oracle(oracle::Oracle),
    /// Check a bot, before it costs a point
    #[command(subcommand)]
    Check(check::Checks),
    /// Write a copy of the database, while the daemon runs or not
    Backup(backup::Backup),
}

/// Ends the program for arguments that do not go together.
fn misused(why: &str) -> ! {
    Arguments::command().error(ErrorKind::ArgumentConflict, why).exit()
}

/// A file that may grow no longer is an error like any other, not a signal that ends the process without a word.
#[allow(unsafe_code)]
fn ignore_file_size_signal() {
    // SAFETY: to ignore a signal runs no code in its handler, and no other thread is there yet.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Runs the program.
#[must_use]
pub fn run() -> ExitCode {
    ignore_file_size_signal();
    let Arguments { command, place } = Arguments::parse();
    let outcome = match command {
        Command::Serve(serve) => serve.run(place),
        Command::Games(games) => games.run(&place),
        Command::Analyze(analyze) => analyze.run(&place),
        Command::Standings(standings) => standings.run(&place),
        Command::Bot(bot) => bot.run(&place),
        Command::Season(season) => season.run(&place),
        Command::Tournament(tournament) => tournament.run(&place),
        Command::Oracle(oracle) => oracle.run(&place),
        Command::Check(check) => check.run(),
        Command::Backup(backup) => backup.run(&place),
    };
    outcome.unwrap_or_else(|error| {
        if error.is::<ConfigError>() {
            note(&format!("bad configuration: {error}"));
            return ExitCode::from(BAD_CONFIG);
        }
        note(&streams::told(&error));
        ExitCode::from(COULD_NOT)
    })
}
