//! `modiar standings --rebuild`: ratings and meetings made anew from the stored games.

use super::FINDINGS;
use super::streams::print;
use crate::logging::note;
use crate::records::counted;
use crate::store::{Archive, DataDir, SqliteStore, StoreError};
use anyhow::bail;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Makes them anew, and tells the rows that were otherwise.
pub(super) fn rebuild(data: &DataDir) -> anyhow::Result<ExitCode> {
    let differences = fold_anew(data)?;
    if differences.is_empty() {
        note("ratings and meetings are what the stored games lead to");
        return Ok(ExitCode::SUCCESS);
    }
    let mut told = String::new();
    differences.iter().try_for_each(|difference| writeln!(told, "{difference}"))?;
    print(&told)?;
    let rows = counted(differences.len() as u64, "row was", "rows were");
    note(&format!("{rows} not what the stored games lead to; all are right now"));
    Ok(ExitCode::from(FINDINGS))
}

/// Claims the directory for it: a running daemon has the ladder in memory, and would have to stop all ends of games meanwhile.
fn fold_anew(data: &DataDir) -> anyhow::Result<Vec<String>> {
    data.check()?;
    if !data.has_database()? {
        return Err(StoreError::NoData { path: data.path().to_owned() }.into());
    }
    let _claim = match data.claim() {
        Err(error @ StoreError::InUse { .. }) => {
            bail!("{error}; beside a running daemon `modiar games verify` tells whether its ratings are right")
        }
        claimed => claimed?,
    };
    let mut store = SqliteStore::look(data)?;
    Archive::check(&data.archive(), &store)?;
    store.settle(data)?;
    Ok(store.rebuild_ratings()?)
}
