//! The oracle's table as the daemon and the commands come by it: from the data directory, or solved anew.

use crate::logging::note;
use crate::store::DataDir;
use modiar_oracle::{Table, balanced_openings, solve};
use modiar_rules::Pit;
use std::sync::Arc;
use tracing::{info, warn};

/// The table of a data directory that a daemon has claimed; where there is none that can be used it is solved and kept.
/// Takes a part of a second, on all processors.
#[must_use]
pub fn establish(data: &DataDir) -> Table {
    let path = data.oracle();
    match Table::read(&path) {
        Ok(table) => return table,
        Err(error) if error.is_absent() => {}
        Err(error) => warn!(%error, "the oracle's table is made anew"),
    }
    let table = solve();
    match table.write(&path) {
        Ok(()) => info!(path = %path.display(), "the oracle's table stands"),
        // It serves all the same, and the next start tries again.
        Err(error) => warn!(%error, "the oracle's table could not be kept"),
    }
    table
}

/// The lines that games of pools with balanced openings start from.
#[must_use]
pub fn openings(table: &Table) -> Vec<Arc<[Pit]>> {
    balanced_openings(table).into_iter().map(|opening| opening.moves.into()).collect()
}

/// The table for a command: that of the data directory, where there is one that can be used, else solved now. Nothing is
/// written.
#[must_use]
pub fn consult(data: &DataDir) -> Table {
    Table::read(&data.oracle()).unwrap_or_else(|error| {
        if !error.is_absent() {
            note(&format!("{error} (`modiar oracle --build FILE`, or the daemon's next start); until then every command solves the game anew"));
        }
        solve()
    })
}
