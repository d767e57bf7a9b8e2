//! `modiar bot`: the registered bots. Works beside a running daemon and without one.

use super::place::Place;
use super::streams::{print, write_stdout};
use crate::admin::{self, Answer, Command, ListedBot};
use crate::logging::note;
use crate::store::{BanReason, Owner};
use anyhow::bail;
use clap::{Args, Subcommand};
use modiar_protocol::{BotName, Secret};
use serde_json::json;
use std::fmt::Write as _;
use std::process::ExitCode;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  modiar bot add dice\n  modiar bot list --json\n  modiar bot ban dice --reason \"floods the server\""
)]
pub(super) struct Bot {
    #[command(subcommand)]
    action: Action,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Register a bot and print its token, this once
    Add {
        /// Its name
        #[arg(value_parser = bot_name)]
        name: BotName,
        /// Whose it is: bots of one owner play no rated games with each other
        #[arg(long, value_parser = bot_owner)]
        owner: Option<Owner>,
    },
    /// List the registered bots
    List,
    /// Give a bot a new token; the old one ends at once
    Token {
        /// Its name
        #[arg(value_parser = bot_name)]
        name: BotName,
    },
    /// Keep a bot out
    Ban {
        /// Its name
        #[arg(value_parser = bot_name)]
        name: BotName,
        /// Why; the bot's author reads it
        #[arg(long, default_value = "no reason given", value_parser = ban_reason)]
        reason: BanReason,
    },
    /// Let a bot in again
    Unban {
        /// Its name
        #[arg(value_parser = bot_name)]
        name: BotName,
    },
    /// Say whose a bot is: bots of one owner play no rated games with each other
    Owner {
        /// Its name
        #[arg(value_parser = bot_name)]
        name: BotName,
        /// Whose; the same for all bots of one owner, upper or lower case
        #[arg(value_parser = bot_owner, required_unless_present = "none")]
        owner: Option<Owner>,
        /// It has no owner any more
        #[arg(long, conflicts_with = "owner")]
        none: bool,
    },
    /// Remove a bot; its games stay
    Remove {
        /// Its name
        #[arg(value_parser = bot_name)]
        name: BotName,
    },
}

pub(super) fn bot_name(text: &str) -> Result<BotName, String> {
    BotName::new(text).map_err(|error| error.to_string())
}

fn ban_reason(text: &str) -> Result<BanReason, String> {
    text.to_owned().try_into()
}

fn bot_owner(text: &str) -> Result<Owner, String> {
    text.to_owned().try_into()
}

impl Bot {
    pub(super) fn run(self, place: &Place) -> anyhow::Result<ExitCode> {
        let command = match self.action {
            Action::Add { name, owner } => Command::Add { name, owner },
            Action::List => Command::List,
            Action::Token { name } => Command::Token { name },
            Action::Ban { name, reason } => Command::Ban { name, reason },
            Action::Unban { name } => Command::Unban { name },
            Action::Owner { name, owner, .. } => Command::Owner { name, owner },
            Action::Remove { name } => Command::Remove { name },
        };
        let name = command.name().map(ToString::to_string).unwrap_or_default();
        let done = match &command {
            Command::Ban { reason, .. } => format!("'{name}' is kept out: {}", reason.as_str()),
            Command::Unban { .. } => format!("'{name}' may play again"),
            Command::Owner { owner: Some(owner), .. } => format!("'{name}' is a bot of '{}'", owner.as_str()),
            Command::Owner { owner: None, .. } => format!("'{name}' has no owner"),
            Command::Remove { .. } => format!("'{name}' was removed; its games stay"),
            _ => String::new(),
        };
        let data = place.data()?;
        if matches!(command, Command::Add { .. }) && !data.has_database()? && data.check().is_ok() {
            note("it holds no data yet; a database is made in it");
        }
        match admin::execute(&data, &[], command)? {
            Answer::Refused(why) => bail!("{why}"),
            Answer::Done => note(&done),
            Answer::Token(token) => print_token(&name, &token, self.json)?,
            Answer::Bots(bots) => print_bots(&bots, self.json)?,
            Answer::Seasons(_) | Answer::Planned(_) => {
                bail!("the daemon's answer is of another kind; use the same version")
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print_token(name: &str, token: &Secret, as_json: bool) -> anyhow::Result<()> {
    let token = token.expose();
    let text = if as_json { json!({ "name": name, "token": token }).to_string() } else { token.to_owned() };
    write_stdout(format!("{text}\n").as_bytes())?;
    if !as_json {
        note(&format!("this is the token of '{name}': keep it in a file, it is not shown again"));
    }
    Ok(())
}

fn print_bots(bots: &[ListedBot], as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return write_stdout(format!("{}\n", serde_json::to_string(bots)?).as_bytes());
    }
    let mut text = String::new();
    writeln!(text, "{:<24}  {:<27}  {:<9}  {:<16}  banned", "name", "registered", "connected", "owner")?;
    for bot in bots {
        let connected = if bot.connected { "yes" } else { "no" };
        let banned = bot.banned.as_ref().map_or("", BanReason::as_str);
        let owner = bot.owner.as_ref().map_or("", Owner::as_str).escape_debug().to_string();
        let (name, created, banned) = (bot.name.as_str(), &bot.created, banned.escape_debug());
        writeln!(text, "{name:<24}  {created:<27}  {connected:<9}  {owner:<16}  {banned}")?;
    }
    print(&text)
}
