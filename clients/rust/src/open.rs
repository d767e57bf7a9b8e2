//! A turn, and the client to answer it by.

use crate::{Client, Error, IllegalMove, Turn};
use modiar_protocol::GameId;
use modiar_rules::Pit;
use std::ops::Deref;

/// A client of either kind, as an answer needs it.
pub trait Table {
    /// Answers a turn.
    fn play(&self, turn: &Turn, pit: Pit) -> Result<(), Error>;

    /// Gives a game up.
    fn resign(&self, game: GameId) -> Result<(), Error>;
}

/// A turn that waits for its answer. To give it does not wait: the client sends it.
pub struct OpenTurn<'c, C = Client> {
    pub(crate) turn: Turn,
    pub(crate) client: &'c C,
}

impl<C: Table> OpenTurn<'_, C> {
    /// Plays a pit.
    ///
    /// # Errors
    /// [`Error::IllegalMove`], of which nothing is sent; [`Error::GameOver`], [`Error::Played`]. A lost link is none: the move
    /// is sent again when the client is back.
    pub fn play(&self, pit: Pit) -> Result<(), Error> {
        check(&self.turn, pit)?;
        self.play_raw(pit)
    }

    /// Sends any pit, to see what the server says to it.
    ///
    /// # Errors
    /// [`Error::GameOver`], [`Error::Played`].
    pub fn play_raw(&self, pit: Pit) -> Result<(), Error> {
        self.client.play(&self.turn, pit)
    }

    /// Gives the game up.
    ///
    /// # Errors
    /// [`Error::GameOver`].
    pub fn resign(&self) -> Result<(), Error> {
        self.client.resign(self.turn.game)
    }
}

impl<C> Deref for OpenTurn<'_, C> {
    type Target = Turn;

    fn deref(&self) -> &Turn {
        &self.turn
    }
}

/// Refuses what no server would let pass.
fn check(turn: &Turn, pit: Pit) -> Result<(), IllegalMove> {
    if turn.legal.contains(&pit) {
        return Ok(());
    }
    // What the server has called illegal is so, whatever is thought here.
    Err(IllegalMove { pit, clause: turn.position.clause(pit).unwrap_or("verdict.legality") })
}
