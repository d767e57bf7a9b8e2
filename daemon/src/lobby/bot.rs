//! A bot as the tables and its connection share it.

use crate::referee::Table;
use modiar_protocol::limits::REMEMBERED_GAMES;
use modiar_protocol::{BotName, GameId};
use modiar_rules::Side;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Who a bot is, and its games: they belong to the bot, not to its connection.
#[derive(Debug)]
pub struct Bot {
    /// Its name.
    pub name: BotName,
    /// Whether the name is a guest's.
    pub guest: bool,
    /// The library it speaks with.
    pub client: Option<String>,
    /// Its build.
    pub version: Option<String>,
    /// Whether it wants `moved` for its own games.
    pub updates: bool,
    games: Mutex<Games>,
}

#[derive(Debug, Default)]
struct Games {
    running: Vec<(GameId, Side, Arc<Table>)>,
    over: VecDeque<GameId>,
}

impl Bot {
    /// A bot without games.
    #[must_use]
    pub fn new(name: BotName, guest: bool, client: Option<String>, version: Option<String>, updates: bool) -> Self {
        Self { name, guest, client, version, updates, games: Mutex::default() }
    }

    /// It sits down at a table.
    pub fn sit(&self, side: Side, table: Arc<Table>) {
        self.games().running.push((table.id(), side, table));
    }

    /// Its game is over; the last [`REMEMBERED_GAMES`] are remembered.
    pub fn rise(&self, game: GameId) {
        let mut games = self.games();
        games.running.retain(|(id, ..)| *id != game);
        if games.over.len() == REMEMBERED_GAMES {
            games.over.pop_front();
        }
        games.over.push_back(game);
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
    pub fn tables(&self) -> Vec<Arc<Table>> {
        self.games().running.iter().map(|(.., table)| Arc::clone(table)).collect()
    }

    fn games(&self) -> MutexGuard<'_, Games> {
        self.games.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
