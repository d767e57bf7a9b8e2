//! Measures the daemon: against a bare relay in the same run, under attack, and by a crowd that comes at once.

#![allow(clippy::cast_precision_loss)] // what is measured is far below 2^52

mod attack;
mod bot;
mod canned;
mod connects;
mod fleet;
mod foes;
mod histogram;
mod house;
mod options;
mod plies;
mod process;
mod relay;
mod report;
mod stamp;
mod store;
mod timer;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Measures the Modiar daemon. Everything is a ratio of one run on one machine.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// What a ply of a game without end costs, against the bare relay
    Relay(plies::Plies),
    /// What a ply of whole games costs, their start, end and record included
    Whole(plies::Plies),
    /// The latency of paced games, without and with an attack
    Attack(attack::Attack),
    /// How long many connects at once take
    Connects(connects::Connects),
    /// How many finished games a second the store makes durable
    Store(store::Stores),
    /// How long a killed daemon takes to listen again on a store of many games
    Start(store::Starts),
    /// How strong the house bots are, each against each
    House(house::Houses),
    /// Serves as the bare relay
    #[command(hide = true)]
    ServeRelay,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Relay(plies) => plies.run(fleet::Play::Endless),
        Command::Whole(plies) => plies.run(fleet::Play::Whole),
        Command::Attack(attack) => attack.run(),
        Command::Connects(connects) => connects.run(),
        Command::Store(store) => store.run(),
        Command::Start(start) => start.run(),
        Command::House(house) => house.run(),
        Command::ServeRelay => relay::serve(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("modiar-bench: {error:#}");
            ExitCode::from(3)
        }
    }
}
