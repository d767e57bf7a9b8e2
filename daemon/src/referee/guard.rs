//! What keeps a fault of the server within one game (`forfeit.server-error`): every change of a game runs here, and what
//! must never be is looked for on live games.

use super::game::Phase;
use super::table::{State, Table};
use crate::metrics::Invariant;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

impl Table {
    /// Makes one change under the game's lock. Where it panics the game ends without a result, `otherwise` comes back,
    /// and no other game notices.
    pub(super) fn change<T>(self: &Arc<Self>, otherwise: T, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        // What a panic left half done is put right by `Game::fault`, or the state is not looked at again.
        match catch_unwind(AssertUnwindSafe(|| change(&mut state))) {
            Ok(outcome) => outcome,
            Err(_) => {
                self.give_up(&mut state, Invariant::NoPanic);
                otherwise
            }
        }
    }

    /// Whether the game may go on after a ply; where seeds were lost or made it ends without a result.
    pub(super) fn is_sound(self: &Arc<Self>, state: &mut State) -> bool {
        let sound = state.game.conserves_seeds();
        #[cfg(test)]
        let sound = sound && state.sabotage != Sabotage::LoseSeed;
        if !sound {
            self.give_up(state, Invariant::Seeds);
        }
        sound
    }

    /// Whether anything may still be told of the game.
    pub(super) fn may_tell(&self, state: &State) -> bool {
        let may = !matches!(state.game.phase(), Phase::Over(_));
        if !may {
            self.alarm(Invariant::Silence);
        }
        may
    }

    /// Counts and logs a bug of the server.
    pub(super) fn alarm(&self, invariant: Invariant) {
        self.referee.metrics.alarm(invariant, self.id());
    }

    /// Ends the game where it stands, unless its result is on its way already.
    fn give_up(self: &Arc<Self>, state: &mut State, invariant: Invariant) {
        self.alarm(invariant);
        if state.finishing {
            return;
        }
        // A game that is too broken even for this is over for its bots when the daemon stops.
        let given_up = catch_unwind(AssertUnwindSafe(|| {
            state.game.fault();
            self.finish(state);
        }));
        if given_up.is_err() {
            self.alarm(Invariant::NoPanic);
        }
    }
}

/// What a test does to a game.
#[cfg(test)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sabotage {
    #[default]
    None,
    /// The next move panics when it has been applied.
    Panic,
    /// A seed is missing after the next move.
    LoseSeed,
}

#[cfg(test)]
impl Sabotage {
    pub(super) fn strike(&mut self) {
        if *self == Self::Panic {
            *self = Self::None;
            panic!("sabotage");
        }
    }
}
