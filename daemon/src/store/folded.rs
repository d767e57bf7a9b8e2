//! The ladder folded from the stored games: made anew, checked, and as it stood when a season ended.

use super::sqlite::open_beside;
use super::{DataDir, SqliteStore, Store as _, StoreError, ladder};
use crate::ladder::{Happening, Row, Season, SeasonName, seasons};
use modiar_protocol::{GameId, Record};

impl SqliteStore {
    /// Makes ratings and meetings anew from the stored games and the events between them (`ladder.rebuild`); what was otherwise,
    /// a text for each row.
    ///
    /// # Errors
    /// Nothing was changed.
    pub fn rebuild_ratings(&mut self) -> Result<Vec<String>, StoreError> {
        self.change(|transaction| {
            let fold = ladder::fold(transaction, &ladder::events(transaction)?, None, &mut |_, _| {})?;
            let differences = ladder::differences(transaction, &fold)?;
            if !differences.is_empty() {
                ladder::replace(transaction, &fold)?;
            }
            Ok(differences)
        })
    }
}

/// Tells of each rating that does not follow from the games before it: on a record, with its game, or in the ladder's tables.
///
/// # Errors
/// As [`super::read_records`].
pub fn find_misrated(data: &DataDir, found: &mut dyn FnMut(Option<GameId>, String)) -> Result<(), StoreError> {
    let Some(mut store) = open_ladder(data)? else { return Ok(()) };
    // Games and tables as they are at one moment: a daemon may go on meanwhile.
    store.change(|snapshot| {
        let mut each = |record: &Record, what| found(Some(record.game), what);
        let fold = ladder::fold(snapshot, &ladder::events(snapshot)?, None, &mut each)?;
        ladder::differences(snapshot, &fold)?.into_iter().for_each(|what| found(None, what));
        Ok(())
    })
}

/// The seasons, the first one first (`ladder.season`).
///
/// # Errors
/// As [`super::read_records`].
pub fn read_seasons(data: &DataDir) -> Result<Vec<Season>, StoreError> {
    let events = open_ladder(data)?.map_or_else(|| Ok(Vec::new()), |store| store.rating_events());
    Ok(seasons(&events?))
}

/// How all bots stand, or stood at the end of a season; none where there is no such season.
///
/// # Errors
/// As [`super::read_records`].
pub fn read_standings(data: &DataDir, season: Option<&SeasonName>) -> Result<Option<Vec<Row>>, StoreError> {
    let Some(mut store) = open_ladder(data)? else { return Ok(season.is_none().then(Vec::new)) };
    let Some(season) = season else { return store.standings().map(Some) };
    store.change(|snapshot| {
        let events = ladder::events(snapshot)?;
        let Some(at) = seasons(&events).iter().position(|known| known.name == *season) else { return Ok(None) };
        let mut begins =
            events.iter().enumerate().filter(|(_, event)| matches!(event.happening, Happening::Season(..)));
        match begins.nth(at) {
            Some((next, event)) => {
                let fold = ladder::fold(snapshot, &events[..next], Some(event.seq), &mut |_, _| {})?;
                Ok(Some(fold.rows()))
            }
            None => ladder::ratings(snapshot).map(Some),
        }
    })
}

/// Opens the database beside a daemon, where it is of a form that has a ladder; an older one is brought up by its next start.
fn open_ladder(data: &DataDir) -> Result<Option<SqliteStore>, StoreError> {
    let store = open_beside(data)?;
    let there = store.database.table_exists(None, "rating_events").map_err(StoreError::sqlite(&store.path))?;
    Ok(there.then_some(store))
}
