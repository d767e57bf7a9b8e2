//! `modiar tournament`: scheduled events, run by the daemon. Each works beside one that runs, and without one.

use super::bot::bot_name;
use super::place::Place;
use super::streams::{print, write_stdout};
use crate::admin::{self, Answer, Command, PlannedTournament, TournamentCommand};
use crate::config::Config;
use crate::logging::note;
use crate::records::counted;
use crate::store::TournamentName;
use crate::tournament::{self, Kind, Wish, csv_of, list_text, text_of};
use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use modiar_protocol::BotName;
use std::process::ExitCode;
use std::str::FromStr;

/// What stands for all registered bots.
const ALL: &str = "all";

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  modiar tournament add cup --format knockout --pool blitz --bots all\n  modiar tournament add sunday --format swiss --pool blitz --bots anna,bert,carl --at 2026-12-06T18:00:00Z\n  modiar tournament add v2 --format gauntlet --pool blitz --challenger dice-v2 --bots all --cycles 4\n  modiar tournament show cup"
)]
pub(super) struct Tournament {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Plan a tournament; the running daemon, or the next one to run, plays it
    Add(Box<Add>),
    /// List all tournaments
    List {
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Show standings, crosstable, and the rounds with their games
    Show {
        /// Its name
        #[arg(value_parser = name)]
        name: TournamentName,
        /// Answer in JSON
        #[arg(long, conflicts_with = "csv")]
        json: bool,
        /// Answer with a table of its games
        #[arg(long)]
        csv: bool,
    },
    /// Start no more games of a tournament; those that run go on
    Cancel {
        /// Its name
        #[arg(value_parser = name)]
        name: TournamentName,
    },
}

#[derive(Debug, Args)]
struct Add {
    /// Its name: letters, digits, - _ .
    #[arg(value_parser = name)]
    name: TournamentName,
    /// Who meets whom
    #[arg(long)]
    format: Kind,
    /// The pool by whose time, rules and openings it is played
    #[arg(long)]
    pool: String,
    /// Who plays: names with commas between, or all for every registered bot that is not kept out
    #[arg(long, value_parser = bots)]
    bots: Bots,
    /// Of a gauntlet: the one who meets all others
    #[arg(long, value_name = "NAME", value_parser = bot_name)]
    challenger: Option<BotName>,
    /// Of a swiss: rounds [default: two more than it takes to have one who won all]
    #[arg(long, value_name = "N", value_parser = number::<usize>)]
    rounds: Option<usize>,
    /// Of a round-robin or a gauntlet: how often the same two meet [default: 1]
    #[arg(long, value_name = "N", value_parser = number::<usize>)]
    cycles: Option<usize>,
    /// Pairs of games in a match, sides swapped [default: 1]
    #[arg(long, value_name = "N", value_parser = number::<usize>)]
    pairs: Option<usize>,
    /// When it starts, as 2026-12-06T18:00:00Z [default: at once]
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<Timestamp>,
    /// Where chance starts, to have the same draw again
    #[arg(long, value_name = "S", value_parser = number::<u64>)]
    seed: Option<u64>,
    /// How long a bot that is not connected is waited for, in seconds [default: 120]
    #[arg(long, value_name = "SECONDS", value_parser = number::<u64>)]
    patience: Option<u64>,
    /// Leave the ratings as they are
    #[arg(long)]
    unrated: bool,
}

/// Who plays.
#[derive(Clone, Debug)]
enum Bots {
    All,
    Named(Vec<BotName>),
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("write a whole number, not above {}", u64::MAX))
}

fn bots(text: &str) -> Result<Bots, String> {
    if text == ALL {
        return Ok(Bots::All);
    }
    text.split(',').map(bot_name).collect::<Result<_, _>>().map(Bots::Named)
}

fn name(text: &str) -> Result<TournamentName, String> {
    text.to_owned().try_into()
}

fn time(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| format!("'{text}' is no time: write it as 2026-12-06T18:00:00Z, or with +01:00 for the Z"))
}

impl Tournament {
    pub(super) fn run(self, place: &Place) -> anyhow::Result<ExitCode> {
        match self.action {
            Action::Add(add) => add.run(place)?,
            Action::List { json } => list(place, json)?,
            Action::Show { name, json, csv } => show(place, &name, json, csv)?,
            Action::Cancel { name } => cancel(place, name)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Add {
    fn run(self, place: &Place) -> anyhow::Result<()> {
        let bots = match self.bots {
            Bots::All => None,
            Bots::Named(names) => Some(names),
        };
        let wish = Wish {
            name: self.name.clone(),
            format: self.format,
            pool: self.pool,
            bots,
            challenger: self.challenger,
            rounds: self.rounds,
            cycles: self.cycles,
            pairs: self.pairs,
            at: self.at,
            seed: self.seed,
            patience_s: self.patience,
            unrated: self.unrated,
        };
        // Of use only where no daemon runs, which has its own.
        let pools = place.configuration().map_or_else(|_| Config::default().pools, |config| config.pools);
        let command = Command::Tournament { what: Box::new(TournamentCommand::Add(wish)) };
        match admin::execute(&place.data()?, &pools, command)? {
            Answer::Planned(PlannedTournament { players, games, starts, at_once }) => {
                let when =
                    if at_once { "at once, or as soon as the daemon runs".to_owned() } else { format!("at {starts}") };
                let games = counted(games as u64, "game", "games");
                note(&format!("'{}': {players} players, {games}; it starts {when}", self.name));
                Ok(())
            }
            Answer::Refused(why) => bail!("{why}"),
            _ => foreign(),
        }
    }
}

fn list(place: &Place, json: bool) -> anyhow::Result<()> {
    let all = tournament::list(&place.data()?)?;
    if json { write_json(&all) } else { print(&list_text(&all)) }
}

fn show(place: &Place, name: &TournamentName, json: bool, csv: bool) -> anyhow::Result<()> {
    let Some(report) = tournament::show(&place.data()?, name)? else {
        bail!("there is no tournament '{name}'; `modiar tournament list` shows them all")
    };
    match (json, csv) {
        (true, _) => write_json(&report),
        (_, true) => write_stdout(csv_of(&report)?.as_bytes()),
        _ => print(&text_of(&report)),
    }
}

fn cancel(place: &Place, name: TournamentName) -> anyhow::Result<()> {
    let command = Command::Tournament { what: Box::new(TournamentCommand::Cancel(name.clone())) };
    match admin::execute(&place.data()?, &[], command)? {
        Answer::Done => note(&format!("'{name}' is cancelled; no more games of it start")),
        Answer::Refused(why) => bail!("{why}"),
        _ => return foreign(),
    }
    Ok(())
}

fn foreign() -> anyhow::Result<()> {
    bail!("the daemon answered something else; use the same version")
}

fn write_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string(value).context("it cannot be written as JSON")?;
    write_stdout(format!("{text}\n").as_bytes())
}
