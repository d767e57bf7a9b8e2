//! What is done once the hall is unlocked. Whoever holds the lock of all only lays lines ready, in the order of what
//! happened; the system calls come after it.

use super::hall::{Hall, State};
use crate::net::Outlet;
use crate::referee::Table;
use std::sync::Arc;

/// Where lines lie ready, and games that are to start.
#[derive(Debug, Default)]
pub(super) struct After {
    pub(super) outlets: Vec<Arc<Outlet>>,
    pub(super) tables: Vec<Arc<Table>>,
}

impl After {
    fn run(self) {
        // A game's first turn takes along what lies ready for its bot.
        for table in self.tables {
            table.start();
        }
        for outlet in self.outlets {
            outlet.write_laid();
        }
    }
}

impl Hall {
    /// Makes one change under the hall's lock, then does what was put off.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let outcome = change(&mut state);
        let after = std::mem::take(&mut state.after);
        drop(state);
        after.run();
        outcome
    }
}
