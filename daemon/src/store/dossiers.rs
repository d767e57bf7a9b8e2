//! What forfeited games were, beside their records.

use super::sqlite::open_beside;
use super::{DataDir, Dossiers, StoreError};
use modiar_protocol::GameId;
use rusqlite::{Connection, OptionalExtension as _};

/// Keeps them. One that was kept before, of an end that was not stored, is no more.
pub(super) fn put(database: &Connection, dossiers: &Dossiers) -> rusqlite::Result<()> {
    let sql = "INSERT INTO dossiers VALUES (?1, ?2) ON CONFLICT (game) DO UPDATE SET dossier = excluded.dossier";
    dossiers
        .iter()
        .try_for_each(|(game, text)| database.prepare_cached(sql)?.execute([game.as_str(), text.as_str()]).map(drop))
}

/// The dossier of a game, as JSON, where it was forfeited.
///
/// # Errors
/// As [`super::read_records`].
pub fn read_dossier(data: &DataDir, game: GameId) -> Result<Option<String>, StoreError> {
    let store = open_beside(data)?;
    let read = || -> rusqlite::Result<Option<String>> {
        // An older database has none; the next start of a daemon brings it up.
        if !store.database.table_exists(None, "dossiers")? {
            return Ok(None);
        }
        let sql = "SELECT dossier FROM dossiers WHERE game = ?1";
        store.database.query_row(sql, [game.as_str()], |row| row.get(0)).optional()
    };
    read().map_err(StoreError::sqlite(&store.path))
}
