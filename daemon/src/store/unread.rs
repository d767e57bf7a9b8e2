//! The ends of games that registered bots have still to hear of: they outlast a restart.

use modiar_protocol::limits::MISSED_GAMES;
use modiar_protocol::{BotName, GameId};
use rusqlite::{Connection, Row};
use std::collections::HashMap;

/// These games, and no others, are unread by `bot`.
pub(super) fn put(database: &Connection, bot: &BotName, games: &[GameId]) -> rusqlite::Result<()> {
    delete(database, bot)?;
    let mut insert = database.prepare_cached("INSERT INTO unread (bot, game) VALUES (?1, ?2)")?;
    games.iter().try_for_each(|game| insert.execute([bot.as_str(), game.as_str()]).map(drop))
}

pub(super) fn delete(database: &Connection, bot: &BotName) -> rusqlite::Result<()> {
    database.prepare_cached("DELETE FROM unread WHERE bot = ?1")?.execute([bot.as_str()]).map(drop)
}

/// All of them, in the order of the games' ends: a bot's name, and the record.
pub(super) fn all(database: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let sql = "SELECT bot, record FROM unread JOIN games ON id = game ORDER BY seq";
    let unread = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    database.prepare(sql)?.query_map([], unread)?.collect()
}

/// The records of the games that ended since this time: those that a registered bot may have to hear of, the newest
/// [`MISSED_GAMES`] of each.
pub(super) fn recent(database: &Connection, since: &str) -> rusqlite::Result<Vec<String>> {
    /// Games that are looked at: as many as end in the time, unless the wall clock went back.
    const MOST: i64 = 100_000;
    let (mut found, mut records) = (registered(database)?, Vec::new());
    let sql = "SELECT south, north, ended, record FROM games ORDER BY seq DESC LIMIT ?1";
    let mut query = database.prepare(sql)?;
    let mut rows = query.query([MOST])?;
    while let Some(row) = rows.next()? {
        let [south, north, ended] = [0, 1, 2].map(|column| row.get::<_, String>(column));
        let ended = ended?;
        if *ended < *since {
            break;
        }
        let mut wanted = false;
        for name in [south?, north?] {
            if let Some((created, games)) = BotName::new(&name).ok().and_then(|name| found.get_mut(&name)) {
                wanted |= *games < MISSED_GAMES && *created <= ended;
                *games += 1;
            }
        }
        if wanted {
            records.push(row.get(3)?);
        }
    }
    Ok(records)
}

/// The registered bots, since when they are, and that no game was found yet.
fn registered(database: &Connection) -> rusqlite::Result<HashMap<BotName, (String, usize)>> {
    let mut query = database.prepare("SELECT name, created FROM bots")?;
    let bots = query.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
    bots.filter_map(|bot| bot.map(|(name, created)| Some((BotName::new(&name).ok()?, (created, 0)))).transpose())
        .collect()
}
