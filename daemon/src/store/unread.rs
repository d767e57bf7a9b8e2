//! The ends of games that registered bots have still to hear of: they outlast a restart.

use modiar_protocol::{BotName, GameId};
use rusqlite::{Connection, Row};

/// A game's record, and a bot that has to hear of its end.
pub type Unread = (String, String);

/// These games, and no others, are unread by `bot`.
pub(super) fn put(database: &mut Connection, bot: &BotName, games: &[GameId]) -> rusqlite::Result<()> {
    let transaction = database.transaction()?;
    delete(&transaction, bot)?;
    {
        let mut insert = transaction.prepare_cached("INSERT INTO unread (bot, game) VALUES (?1, ?2)")?;
        for game in games {
            insert.execute([bot.as_str(), game.as_str()])?;
        }
    }
    transaction.commit()
}

pub(super) fn delete(database: &Connection, bot: &BotName) -> rusqlite::Result<()> {
    database.execute("DELETE FROM unread WHERE bot = ?1", [bot.as_str()]).map(drop)
}

/// All of them, in the order of the games' ends.
pub(super) fn all(database: &Connection) -> rusqlite::Result<Vec<Unread>> {
    let sql = "SELECT bot, record FROM unread JOIN games ON id = game ORDER BY seq";
    let unread = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    database.prepare(sql)?.query_map([], unread)?.collect()
}
