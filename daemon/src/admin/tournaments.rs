//! What the host asks for of tournaments that changes something; to list and show them only the database is read.

use super::Answer;
use crate::config::Pool;
use crate::lobby::Hall;
use crate::store::{Accounts, StoreHandle, TournamentName};
use crate::tournament::{Desk, DeskError, Planned, Wish, add, cancel};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A command about a tournament.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TournamentCommand {
    /// Plan one.
    Add(Wish),
    /// End one that is not over.
    Cancel(TournamentName),
}

/// What was planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTournament {
    /// Its players.
    pub players: usize,
    /// Games that it comes to, those that decide level matches not counted.
    pub games: usize,
    /// When it starts, RFC 3339.
    pub starts: String,
    /// Whether that is now, or was.
    pub at_once: bool,
}

/// Who does what is asked for.
#[derive(Clone, Copy)]
pub(super) enum Hands<'a> {
    /// The desk of a running daemon.
    Desk(&'a Arc<Desk>),
    /// This command, with the configuration's pools.
    Own(&'a StoreHandle, &'a [Pool]),
}

impl<'a> Hands<'a> {
    /// The running hall.
    pub(super) fn hall(self) -> Option<&'a Arc<Hall>> {
        match self {
            Self::Desk(desk) => Some(desk.hall()),
            Self::Own(..) => None,
        }
    }
}

pub(super) async fn perform(hands: Hands<'_>, accounts: &Accounts, command: TournamentCommand) -> Answer {
    let done: Result<Answer, DeskError> = match (command, hands) {
        (TournamentCommand::Add(wish), Hands::Desk(desk)) => desk.add(wish).await.map(planned),
        (TournamentCommand::Add(wish), Hands::Own(store, pools)) => {
            add(store, accounts, pools, wish).await.map(planned)
        }
        (TournamentCommand::Cancel(name), Hands::Desk(desk)) => desk.cancel(&name).await.map(|()| Answer::Done),
        (TournamentCommand::Cancel(name), Hands::Own(store, _)) => cancel(store, &name).await.map(|()| Answer::Done),
    };
    done.unwrap_or_else(|error| Answer::Refused(error.to_string()))
}

fn planned(Planned { stored, plan, .. }: Planned) -> Answer {
    let (players, games) = (plan.bots.len(), plan.games());
    // Both in the one form that sorts as time does.
    let at_once = stored.starts <= stored.created;
    Answer::Planned(PlannedTournament { players, games, starts: stored.starts, at_once })
}
