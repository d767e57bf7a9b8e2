//! What the host may ask of a data directory, the same whether a daemon runs on it or not.
//!
//! A running daemon listens on `control.sock` in its data directory: one JSON line a command, one JSON line an answer.
//! Without one, the command claims the directory and does the work itself.

mod control;
mod tournaments;

pub use control::{listen, serve};
pub use tournaments::{PlannedTournament, TournamentCommand};

use crate::config::Pool;
use crate::ladder::{Carry, Season, SeasonName};
use crate::lobby::Hall;
use crate::metrics::Metrics;
use crate::store::journal::{Journal, boot_id};
use crate::store::{
    self, Account, AccountError, Accounts, Archive, BanReason, DataDir, Owner, SqliteStore, Store as _, StoreError,
    StoreHandle,
};
use modiar_protocol::{BotName, GoodbyeReason, Secret};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use thiserror::Error;
use tournaments::Hands;
use tracing::info;

/// A command.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Register a bot.
    Add {
        /// Its name.
        name: BotName,
        /// Whose it is.
        owner: Option<Owner>,
    },
    /// Tell the registered bots.
    List,
    /// Give a bot a new token.
    Token {
        /// Its name.
        name: BotName,
    },
    /// Keep a bot out.
    Ban {
        /// Its name.
        name: BotName,
        /// Why.
        reason: BanReason,
    },
    /// Let it in again.
    Unban {
        /// Its name.
        name: BotName,
    },
    /// Say whose a bot is.
    Owner {
        /// Its name.
        name: BotName,
        /// Whose; nobody's where there is none.
        owner: Option<Owner>,
    },
    /// Remove a bot; its games stay.
    Remove {
        /// Its name.
        name: BotName,
    },
    /// Begin a season of the ladder.
    BeginSeason {
        /// Its name.
        name: SeasonName,
        /// What it takes over.
        carry: Carry,
    },
    /// Tell the seasons.
    Seasons,
    /// Plan or cancel a tournament.
    Tournament {
        /// Which, and how.
        what: Box<TournamentCommand>,
    },
}

impl Command {
    /// The bot it is about.
    #[must_use]
    pub const fn name(&self) -> Option<&BotName> {
        match self {
            Self::List | Self::BeginSeason { .. } | Self::Seasons | Self::Tournament { .. } => None,
            Self::Add { name, .. }
            | Self::Token { name }
            | Self::Ban { name, .. }
            | Self::Unban { name }
            | Self::Owner { name, .. }
            | Self::Remove { name } => Some(name),
        }
    }

    /// What became of the bot, for the log; none where nothing did.
    const fn outcome(&self) -> Option<&'static str> {
        match self {
            Self::List | Self::BeginSeason { .. } | Self::Seasons | Self::Tournament { .. } => None,
            Self::Add { .. } => Some("registered"),
            Self::Token { .. } => Some("has a new token"),
            Self::Ban { .. } => Some("banned"),
            Self::Unban { .. } => Some("may play again"),
            Self::Owner { owner: Some(_), .. } => Some("has an owner"),
            Self::Owner { owner: None, .. } => Some("has no owner"),
            Self::Remove { .. } => Some("removed"),
        }
    }
}

/// An answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is done.
    Done,
    /// The token, told this once.
    Token(Secret),
    /// A tournament is planned.
    Planned(PlannedTournament),
    /// The registered bots.
    Bots(Vec<ListedBot>),
    /// The seasons.
    Seasons(Vec<Season>),
    /// It could not be done.
    Refused(String),
}

/// A registered bot as it is listed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListedBot {
    /// Its name.
    pub name: BotName,
    /// When it was registered, RFC 3339.
    pub created: String,
    /// Whether it is connected.
    pub connected: bool,
    /// Why it is kept out, where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub banned: Option<BanReason>,
    /// Whose it is, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
}

/// Why a command had no answer.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum AdminError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Accounts(#[from] AccountError),
    #[error("{path}: the daemon was not reached: {error}; run this as the user who runs it, and see its log")]
    Control { path: PathBuf, error: std::io::Error },
    #[error(
        "{path}: the daemon has not answered: {error}; see with `modiar bot list` whether it was done, and give the command \
         again where it was not"
    )]
    Unanswered { path: PathBuf, error: std::io::Error },
    #[error(
        "a daemon or another command is at work on this data, and nobody answers on {path}: the socket was removed, or the \
         daemon is starting or stopping; try again, and if that does not help restart the daemon, which makes it anew"
    )]
    Unheard { path: PathBuf },
    #[error("the work could not start: {0}")]
    Start(std::io::Error),
}

/// Does what `command` says on the data directory; where no daemon runs on it, `pools` are those that a tournament may be
/// played in.
///
/// # Errors
/// Neither a running daemon nor this process could.
pub fn execute(data: &DataDir, pools: &[Pool], command: Command) -> Result<Answer, AdminError> {
    if let Some(answer) = control::ask(data, &command)? {
        return Ok(answer);
    }
    data.check()?;
    if !matches!(command, Command::Add { .. }) && !data.has_database()? {
        return Err(StoreError::NoData { path: data.path().to_owned() }.into());
    }
    let _claim = data.claim().map_err(|error| match error {
        StoreError::InUse { .. } => AdminError::Unheard { path: data.control() },
        error => error.into(),
    })?;
    let mut store = SqliteStore::look(data)?;
    Archive::check(&data.archive(), &store)?;
    store.settle(data)?;
    let archive = Archive::open(&data.archive(), &store)?;
    if let Some(name) = command.name().filter(|_| matches!(command, Command::Add { .. }))
        && plays(data, &store, name)?
    {
        return Ok(Answer::Refused(AccountError::InUse(name.clone()).to_string()));
    }
    let (handle, writer) = store::start(store, archive, Metrics::new(None)).map_err(AdminError::Start)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(AdminError::Start)?;
    let answer = runtime.block_on(async {
        let accounts = Accounts::load(handle.clone()).await?;
        Ok(perform(&accounts, Hands::Own(&handle, pools), command).await)
    });
    drop(handle);
    // It ends with its last handle, which is gone.
    let _ = writer.join();
    answer
}

/// Whether the journal has a game of somebody who has the name but does not own it: the next start tells him of it.
fn plays(data: &DataDir, store: &SqliteStore, name: &BotName) -> Result<bool, StoreError> {
    if store.accounts()?.iter().any(|account| account.name == *name) {
        return Ok(false);
    }
    let recovered = Journal::look(&data.journal(), &boot_id()?)?;
    Ok(recovered.games.iter().flat_map(|saved| &saved.opening.seats).any(|seat| seat.name == *name))
}

/// Does what `command` says where the accounts are at hand; a running hall lets those go who may no longer play.
async fn perform(accounts: &Accounts, hands: Hands<'_>, command: Command) -> Answer {
    let hall = hands.hall();
    let dismiss = |name: &BotName, reason, message: Cow<'static, str>| {
        hall.is_some_and(|hall| hall.dismiss_bot(name, reason, message))
    };
    let (bot, done) = (command.name().cloned(), command.outcome());
    let outcome = match command {
        Command::Add { name, owner } => {
            let is_free = |name: &BotName| hall.is_none_or(|hall| hall.make_way(name, None));
            accounts.add(name, owner, is_free).await.map(Answer::Token)
        }
        Command::List => Ok(Answer::Bots(list(accounts, hall))),
        Command::Tournament { what } => return tournaments::perform(hands, accounts, *what).await,
        Command::Token { name } => accounts.renew(&name).await.map(|token| {
            dismiss(&name, GoodbyeReason::Replaced, "the bot was given a new token".into());
            Answer::Token(token)
        }),
        Command::Ban { name, reason } => accounts.ban(&name, Some(reason.clone())).await.map(|()| {
            dismiss(&name, GoodbyeReason::Banned, reason.told().into());
            Answer::Done
        }),
        Command::Unban { name } => accounts.ban(&name, None).await.map(|()| Answer::Done),
        Command::Owner { name, owner } => accounts.give(&name, owner.clone()).await.map(|()| {
            if let Some(hall) = hall {
                hall.give(&name, owner);
            }
            Answer::Done
        }),
        Command::Remove { name } => accounts.remove(&name).await.map(|()| {
            if let Some(hall) = hall {
                hall.remove_bot(&name, "the host removed this bot".into());
            }
            Answer::Done
        }),
        Command::BeginSeason { name, carry } => {
            let begun = begin_season(accounts.store(), name, carry).await;
            if let Some(hall) = hall {
                hall.rate_all();
            }
            begun
        }
        Command::Seasons => accounts.store().seasons().await.map(Answer::Seasons).map_err(AccountError::from),
    };
    if let (Ok(_), Some(bot), Some(done)) = (&outcome, bot, done) {
        info!(%bot, "{done}");
    }
    outcome.unwrap_or_else(|error| Answer::Refused(error.to_string()))
}

async fn begin_season(store: &StoreHandle, name: SeasonName, carry: Carry) -> Result<Answer, AccountError> {
    if store.is_full() {
        return Err(AccountError::Full);
    }
    Ok(if store.begin_season(name.clone(), carry).await? {
        info!(season = %name, carry = carry.as_str(), "a season begins");
        Answer::Done
    } else {
        Answer::Refused(format!(
            "there is a season '{name}' already; `modiar season list` shows all, choose another name"
        ))
    })
}

fn list(accounts: &Accounts, hall: Option<&Arc<Hall>>) -> Vec<ListedBot> {
    let listed = |Account { name, created, banned, owner, .. }| ListedBot {
        connected: hall.is_some_and(|hall| hall.is_connected(&name)),
        name,
        created,
        banned,
        owner,
    };
    accounts.list().into_iter().map(listed).collect()
}
