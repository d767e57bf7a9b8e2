//! `modiar season`: seasons of the ladder. Works beside a running daemon and without one.

use super::place::Place;
use super::streams::print;
use crate::admin::{self, Answer, Command};
use crate::ladder::{BadSeason, Carry, Season as Stretch, SeasonName};
use crate::logging::note;
use anyhow::bail;
use clap::{Args, Subcommand};
use std::fmt::Write as _;
use std::process::ExitCode;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  modiar season begin 2027-spring --carry half\n  modiar season list --json")]
pub(super) struct Season {
    #[command(subcommand)]
    action: Action,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Begin a season, in all pools: counts start anew, and ratings as --carry says; house bots keep theirs
    Begin {
        /// Its name: 1 to 40 letters, digits, - _ and .
        #[arg(value_parser = season_name)]
        name: SeasonName,
        /// What is taken over of the ratings: none (everybody begins at 1500) or half (half the way to 1500)
        #[arg(long, default_value = "none", value_parser = carry)]
        carry: Carry,
    },
    /// List the seasons, and which games are theirs
    List,
}

pub(super) fn season_name(text: &str) -> Result<SeasonName, BadSeason> {
    text.to_owned().try_into()
}

fn carry(word: &str) -> Result<Carry, String> {
    Carry::named(word).ok_or_else(|| format!("'{word}' is neither none nor half"))
}

impl Season {
    pub(super) fn run(self, place: &Place) -> anyhow::Result<ExitCode> {
        let (command, done) = match self.action {
            Action::Begin { name, carry } => {
                let done = format!("season '{name}' has begun; `modiar season list` tells which games are whose");
                (Command::BeginSeason { name, carry }, done)
            }
            Action::List => (Command::Seasons, String::new()),
        };
        match admin::execute(&place.data()?, &[], command)? {
            Answer::Refused(why) => bail!("{why}"),
            Answer::Seasons(seasons) => print_seasons(&seasons, self.json)?,
            Answer::Done => note(&done),
            _ => bail!("the daemon's answer is of another kind; use the same version"),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print_seasons(seasons: &[Stretch], as_json: bool) -> anyhow::Result<()> {
    let mut text = String::new();
    if as_json {
        writeln!(text, "{}", serde_json::to_string(seasons)?)?;
    } else {
        writeln!(text, "{:<40}  {:<27}  {:<5}  games by place", "name", "begun", "carry")?;
        for Stretch { name, begun, carry, after, to, .. } in seasons {
            let (begun, carry) = (begun.as_deref().unwrap_or("-"), carry.map_or("-", Carry::as_str));
            let games = match to {
                Some(to) if to == after => "none".to_owned(),
                Some(to) => format!("{} to {to}", after + 1),
                None => format!("from {}", after + 1),
            };
            writeln!(text, "{name:<40}  {begun:<27}  {carry:<5}  {games}")?;
        }
    }
    print(&text)
}
