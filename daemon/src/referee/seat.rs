//! A bot at a table.

use crate::config::Pool;
use crate::lobby::Bot;
use crate::net::Outlet;
use crate::store::journal::SavedSeat;
use std::sync::Arc;

/// Who sits there, and how it is reached at present.
#[derive(Clone, Debug)]
pub struct Seat {
    /// Who.
    pub bot: Arc<Bot>,
    /// Its build when it sat down.
    pub version: Option<String>,
    /// Where its turns go.
    pub link: Link,
}

/// A bot's connection, as the tables need it.
#[derive(Clone, Debug)]
pub struct Link {
    /// Where its lines go.
    pub outlet: Arc<Outlet>,
    /// Whether it wants `moved` for its own games.
    pub updates: bool,
}

impl Link {
    /// No connection.
    #[must_use]
    pub fn absent() -> Self {
        Self { outlet: Arc::new(Outlet::closed()), updates: false }
    }
}

impl Seat {
    /// Whether its bot has a rating in a pool: a guest has none, and an unrated pool has none.
    pub(super) fn is_rated(&self, pool: &Pool) -> bool {
        pool.rated && !self.bot.is_guest()
    }

    /// The seat as the journal keeps it.
    pub(super) fn saved(&self) -> SavedSeat {
        let resume = self.bot.resume.as_ref().map(|hash| hash.as_str().to_owned());
        SavedSeat { name: self.bot.name.clone(), resume, version: self.version.clone() }
    }
}
