//! A bot as the tables and its connections share it.

use crate::clock::{Micros, Moment};
use crate::referee::Table;
use crate::store::TokenHash;
use crate::time::now;
use modiar_protocol::limits::{MISSED_GAMES, MISSED_WINDOW, REMEMBERED_GAMES};
use modiar_protocol::server::Ended;
use modiar_protocol::{BotName, GameId};
use modiar_rules::Side;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Who a bot is, and its games: they belong to the bot, not to its connection.
#[derive(Debug)]
pub struct Bot {
    /// Its name.
    pub name: BotName,
    /// The hash of a guest's resume token; a registered bot has its own token.
    pub resume: Option<TokenHash>,
    games: Mutex<Games>,
}

#[derive(Debug, Default)]
struct Games {
    running: Vec<(GameId, Side, Arc<Table>)>,
    over: VecDeque<GameId>,
    endings: VecDeque<Ending>,
    /// When its last connection ended.
    left: Option<Moment>,
}

/// A game's end as it was told.
#[derive(Debug)]
struct Ending {
    at: Moment,
    /// Whether it was sent as it came, to a bot that was there.
    live: bool,
    ended: Ended,
}

impl Bot {
    /// A bot without games; a guest where there is a resume token.
    #[must_use]
    pub fn new(name: BotName, resume: Option<TokenHash>) -> Self {
        Self { name, resume, games: Mutex::default() }
    }

    /// Whether the name is a guest's.
    #[must_use]
    pub const fn is_guest(&self) -> bool {
        self.resume.is_some()
    }

    /// It sits down at a table.
    pub fn sit(&self, side: Side, table: Arc<Table>) {
        self.games().running.push((table.id(), side, table));
    }

    /// Its game is over, and that was told it, `live` if it was there. The last [`REMEMBERED_GAMES`] are remembered.
    pub fn rise(&self, ended: Ended, live: bool) {
        let mut games = self.games();
        games.running.retain(|(id, ..)| *id != ended.game);
        if games.over.len() == REMEMBERED_GAMES {
            games.over.pop_front();
        }
        games.over.push_back(ended.game);
        games.keep(Ending { at: now(), live, ended });
    }

    /// A game ended that it may not have heard of.
    pub fn missed(&self, ended: Ended) {
        let mut games = self.games();
        if !games.over.contains(&ended.game) {
            games.over.push_back(ended.game);
            games.keep(Ending { at: now(), live: false, ended });
        }
    }

    /// The ends of games that it may not have read (`session.missed`); so it is still until [`Self::has_read`].
    #[must_use]
    pub fn unread(&self) -> Vec<Ended> {
        let mut games = self.games();
        let broke = games.left.take().unwrap_or_else(now);
        games.endings.retain(|ending| !ending.live || ending.at + MISSED_WINDOW.into() >= broke);
        let told = games.endings.iter_mut().map(|ending| {
            ending.live = false;
            ending.ended.clone()
        });
        told.collect()
    }

    /// It has read what [`Self::unread`] told last.
    pub fn has_read(&self) {
        self.games().endings.retain(|ending| ending.live);
    }

    /// Its connection has ended.
    pub fn left(&self) {
        self.games().left = Some(now());
    }

    /// Whether nothing is lost by forgetting it: no game runs, and it has been away for `time` or has nothing to read.
    #[must_use]
    pub fn is_forgettable(&self, time: Micros) -> bool {
        let games = self.games();
        let long_gone = games.left.is_some_and(|left| now().since(left) > time);
        games.running.is_empty() && (long_gone || !self.is_guest() && games.endings.is_empty())
    }

    /// Since when it is away, where no game of it runs.
    #[must_use]
    pub fn away_since(&self) -> Option<Moment> {
        let games = self.games();
        games.left.filter(|_| games.running.is_empty())
    }

    /// Its seat in a running game.
    #[must_use]
    pub fn seat(&self, game: GameId) -> Option<(Arc<Table>, Side)> {
        let games = self.games();
        let (_, side, table) = games.running.iter().find(|(id, ..)| *id == game)?;
        Some((Arc::clone(table), *side))
    }

    /// Whether `game` is one of its last games.
    #[must_use]
    pub fn remembers(&self, game: GameId) -> bool {
        self.games().over.contains(&game)
    }

    /// Its running games.
    #[must_use]
    pub fn tables(&self) -> Vec<(Arc<Table>, Side)> {
        self.games().running.iter().map(|(_, side, table)| (Arc::clone(table), *side)).collect()
    }

    fn games(&self) -> MutexGuard<'_, Games> {
        self.games.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Games {
    /// Keeps an end that may have to be told again, and drops those that were surely read.
    fn keep(&mut self, ending: Ending) {
        let now = ending.at;
        let was_read = |ending: &Ending| ending.live && ending.at + MISSED_WINDOW.into() < now;
        while self.endings.front().is_some_and(was_read) || self.endings.len() == MISSED_GAMES {
            self.endings.pop_front();
        }
        self.endings.push_back(ending);
    }
}
