//! What is kept of tournaments: plans, which games are theirs, and who did not come. Results are the games' own.

use super::sqlite::{SqliteStore, open_beside};
use super::{DataDir, StoreError};
use modiar_protocol::{BotName, GameId, Record};
use rusqlite::types::{FromSqlError, Type};
use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Longest name of a tournament, in characters.
pub const TOURNAMENT_NAME_CHARS: usize = 40;

/// A tournament's name: letters, digits, `-`, `_` and `.`, 1 to [`TOURNAMENT_NAME_CHARS`] of them (`ladder.tournament-name`).
/// Two that differ by case alone are the same to the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TournamentName(String);

impl TournamentName {
    /// As typed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether they name the same.
    #[must_use]
    pub const fn is(&self, other: &Self) -> bool {
        self.0.as_bytes().eq_ignore_ascii_case(other.0.as_bytes())
    }
}

impl TryFrom<String> for TournamentName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if (1..=TOURNAMENT_NAME_CHARS).contains(&text.len()) && text.bytes().all(fits) {
            return Ok(Self(text));
        }
        let shown: String = text.chars().take(64).collect();
        Err(format!(
            "'{}' is no name of a tournament: 1 to {TOURNAMENT_NAME_CHARS} of the characters A-Z a-z 0-9 - _ .",
            shown.escape_debug()
        ))
    }
}

impl From<TournamentName> for String {
    fn from(TournamentName(text): TournamentName) -> Self {
        text
    }
}

impl fmt::Display for TournamentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Where a tournament stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TournamentState {
    /// Its time has not come.
    Planned,
    /// Its games are played.
    Running,
    /// All is played.
    Over,
    /// The host has ended it.
    Cancelled,
}

impl TournamentState {
    const ALL: [Self; 4] = [Self::Planned, Self::Running, Self::Over, Self::Cancelled];

    /// As it is stored and told.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Running => "running",
            Self::Over => "over",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether games of it are still to come.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Planned | Self::Running)
    }
}

/// A tournament as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTournament {
    /// Its name.
    pub name: TournamentName,
    /// What it follows from, as JSON.
    pub plan: String,
    /// Where it stands.
    pub state: TournamentState,
    /// When it was added, RFC 3339.
    pub created: String,
    /// When it starts, RFC 3339.
    pub starts: String,
}

/// A try at a game of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TournamentGame {
    /// The match, from 1.
    pub number: usize,
    /// The game of the match, from 1.
    pub game: usize,
    /// Which try at it, from 1.
    pub attempt: usize,
    /// The game's id.
    pub id: GameId,
}

/// A bot that did not come to a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentForfeit {
    /// The match, from 1.
    pub number: usize,
    /// Who.
    pub bot: BotName,
    /// Whether it comes to no later one either.
    pub withdrawn: bool,
}

/// Takes a try and, where the game is stored, its record.
pub type EachTry<'a> = dyn FnMut(TournamentGame, Option<Record>) + 'a;

/// Where tournaments are kept; part of every [`Store`](super::Store).
pub trait TournamentStore {
    /// All tournaments, those added first in front.
    ///
    /// # Errors
    /// They cannot be read.
    fn tournaments(&self) -> Result<Vec<StoredTournament>, StoreError>;

    /// Adds a tournament, durably; false where one has its name already.
    ///
    /// # Errors
    /// Nothing was stored.
    fn add_tournament(&mut self, tournament: &StoredTournament) -> Result<bool, StoreError>;

    /// A tournament stands there from now on, durably.
    ///
    /// # Errors
    /// Nothing was stored.
    fn set_tournament(&mut self, name: &TournamentName, state: TournamentState) -> Result<(), StoreError>;

    /// These tries belong to the tournament, durably, all or none; one that is known gets another id.
    ///
    /// # Errors
    /// Nothing was stored.
    fn put_tournament_games(&mut self, name: &TournamentName, games: &[TournamentGame]) -> Result<(), StoreError>;

    /// These bots did not come, durably, all or none.
    ///
    /// # Errors
    /// Nothing was stored.
    fn put_tournament_forfeits(
        &mut self,
        name: &TournamentName,
        forfeits: &[TournamentForfeit],
    ) -> Result<(), StoreError>;

    /// The tries of a tournament, in the order of matches, games and tries.
    ///
    /// # Errors
    /// They cannot be read.
    fn tournament_games(&self, name: &TournamentName, each: &mut EachTry<'_>) -> Result<(), StoreError>;

    /// Who did not come, in the order of matches.
    ///
    /// # Errors
    /// They cannot be read.
    fn tournament_forfeits(&self, name: &TournamentName) -> Result<Vec<TournamentForfeit>, StoreError>;
}

impl TournamentStore for SqliteStore {
    fn tournaments(&self) -> Result<Vec<StoredTournament>, StoreError> {
        self.ask(|database| {
            let sql = "SELECT name, plan, state, created, starts FROM tournaments ORDER BY created, name";
            database.prepare(sql)?.query_map([], tournament)?.collect()
        })
    }

    fn add_tournament(&mut self, tournament: &StoredTournament) -> Result<bool, StoreError> {
        let StoredTournament { name, plan, state, created, starts } = tournament;
        self.ask(|database| {
            let sql = "INSERT INTO tournaments (name, plan, state, created, starts) VALUES (?1, ?2, ?3, ?4, ?5)
                       ON CONFLICT (name) DO NOTHING";
            Ok(database.execute(sql, params![name.as_str(), plan, state.as_str(), created, starts])? == 1)
        })
    }

    fn set_tournament(&mut self, name: &TournamentName, state: TournamentState) -> Result<(), StoreError> {
        self.ask(|database| {
            let sql = "UPDATE tournaments SET state = ?2 WHERE name = ?1";
            database.execute(sql, [name.as_str(), state.as_str()]).map(drop)
        })
    }

    fn put_tournament_games(&mut self, name: &TournamentName, games: &[TournamentGame]) -> Result<(), StoreError> {
        self.ask(|database| {
            let transaction = database.unchecked_transaction()?;
            let sql = "INSERT INTO tournament_games (tournament, match, game, try, id) VALUES (?1, ?2, ?3, ?4, ?5)
                       ON CONFLICT (tournament, match, game, try) DO UPDATE SET id = excluded.id";
            for TournamentGame { number, game, attempt, id } in games {
                let numbers = [number, game, attempt].map(|number| i64::try_from(*number).unwrap_or(i64::MAX));
                let row = params![name.as_str(), numbers[0], numbers[1], numbers[2], id.as_str()];
                transaction.prepare_cached(sql)?.execute(row)?;
            }
            transaction.commit()
        })
    }

    fn put_tournament_forfeits(
        &mut self,
        name: &TournamentName,
        forfeits: &[TournamentForfeit],
    ) -> Result<(), StoreError> {
        self.ask(|database| {
            let transaction = database.unchecked_transaction()?;
            let sql = "INSERT INTO tournament_forfeits (tournament, match, bot, withdrawn) VALUES (?1, ?2, ?3, ?4)
                       ON CONFLICT (tournament, match, bot) DO NOTHING";
            for TournamentForfeit { number, bot, withdrawn } in forfeits {
                let number = i64::try_from(*number).unwrap_or(i64::MAX);
                transaction.execute(sql, params![name.as_str(), number, bot.as_str(), withdrawn])?;
            }
            transaction.commit()
        })
    }

    fn tournament_games(&self, name: &TournamentName, each: &mut EachTry<'_>) -> Result<(), StoreError> {
        let mut unread = Ok(());
        self.ask(|database| {
            let sql = "SELECT match, game, try, tournament_games.id, record FROM tournament_games
                       LEFT JOIN games ON games.id = tournament_games.id WHERE tournament = ?1 ORDER BY match, game, try";
            let mut query = database.prepare(sql)?;
            let mut rows = query.query([name.as_str()])?;
            while let (Some(row), Ok(())) = (rows.next()?, &unread) {
                let record = row.get::<_, Option<String>>(4)?.map(|line| serde_json::from_str(&line)).transpose();
                match record {
                    Ok(record) => each(attempt(row)?, record),
                    Err(error) => unread = Err(error),
                }
            }
            Ok(())
        })?;
        Ok(unread?)
    }

    fn tournament_forfeits(&self, name: &TournamentName) -> Result<Vec<TournamentForfeit>, StoreError> {
        self.ask(|database| {
            let sql = "SELECT match, bot, withdrawn FROM tournament_forfeits WHERE tournament = ?1 ORDER BY match, bot";
            database.prepare(sql)?.query_map([name.as_str()], forfeit)?.collect()
        })
    }
}

/// A value of a column that is none of those which are written there.
fn foreign(column: usize, what: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(FromSqlError::Other(what.into())))
}

fn tournament(row: &Row<'_>) -> rusqlite::Result<StoredTournament> {
    let state: String = row.get(2)?;
    let known = TournamentState::ALL.into_iter().find(|known| known.as_str() == state);
    Ok(StoredTournament {
        name: TournamentName::try_from(row.get::<_, String>(0)?).map_err(|error| foreign(0, error))?,
        plan: row.get(1)?,
        state: known.ok_or_else(|| foreign(2, state))?,
        created: row.get(3)?,
        starts: row.get(4)?,
    })
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<usize> {
    let number: i64 = row.get(column)?;
    usize::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

fn attempt(row: &Row<'_>) -> rusqlite::Result<TournamentGame> {
    let id = GameId::read(&row.get::<_, String>(3)?);
    Ok(TournamentGame { number: number(row, 0)?, game: number(row, 1)?, attempt: number(row, 2)?, id })
}

fn forfeit(row: &Row<'_>) -> rusqlite::Result<TournamentForfeit> {
    let bot = BotName::new(&row.get::<_, String>(1)?).map_err(|error| foreign(1, error.to_string()))?;
    Ok(TournamentForfeit { number: number(row, 0)?, bot, withdrawn: row.get(2)? })
}

/// The database of `data`, to read its tournaments beside a running daemon or without one; `None` where it has none yet,
/// for the program that wrote it last knew of none.
///
/// # Errors
/// There is no database, or it cannot be read.
pub fn look_at_tournaments(data: &DataDir) -> Result<Option<SqliteStore>, StoreError> {
    let store = open_beside(data)?;
    let there = store.ask(|database: &Connection| database.table_exists(None, "tournaments"))?;
    Ok(there.then_some(store))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store as _;
    use uuid::Uuid;

    fn named(text: &str) -> TournamentName {
        text.to_owned().try_into().unwrap()
    }

    fn record(id: u128, change: &[(&str, serde_json::Value)]) -> Record {
        let page = include_str!("../../../spec/record.md");
        let line = page.lines().find(|line| line.starts_with("{\"record\"")).unwrap();
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        value["game"] = GameId::new(Uuid::from_u128(id)).as_str().into();
        for (key, new) in change {
            value[*key] = new.clone();
        }
        serde_json::from_value(value).unwrap()
    }

    /// A store in a folder of its own, and that.
    fn store() -> (SqliteStore, tempfile::TempDir) {
        let folder = tempfile::TempDir::new().unwrap();
        let data = DataDir::new(folder.path().join("data"));
        let _claim = data.claim().unwrap();
        (SqliteStore::open(&data).unwrap(), folder)
    }

    #[test]
    fn a_name_is_of_letters_digits_and_three_marks() {
        for good in ["a", "Winter-2026_1.b", &"x".repeat(40)] {
            assert!(TournamentName::try_from(good.to_owned()).is_ok(), "{good}");
        }
        for bad in ["", "a b", "a/b", "é", &"x".repeat(41)] {
            let told = TournamentName::try_from(bad.to_owned()).unwrap_err();
            assert!(told.contains("1 to 40 of the characters"), "{told}");
        }
    }

    #[test]
    fn what_is_stored_of_a_tournament_is_read_again_with_the_games_that_are_stored() {
        let (mut store, _folder) = store();
        let cup = StoredTournament {
            name: named("Cup"),
            plan: "{}".to_owned(),
            state: TournamentState::Planned,
            created: "2026-11-30T12:00:00.000000Z".to_owned(),
            starts: "2026-12-01T12:00:00.000000Z".to_owned(),
        };
        assert!(store.add_tournament(&cup).unwrap());
        assert!(!store.add_tournament(&StoredTournament { name: named("CUP"), ..cup.clone() }).unwrap());
        store.set_tournament(&named("cup"), TournamentState::Running).unwrap();
        assert_eq!(store.tournaments().unwrap(), [StoredTournament { state: TournamentState::Running, ..cup }]);

        let row =
            |number, game, attempt, id| TournamentGame { number, game, attempt, id: GameId::new(Uuid::from_u128(id)) };
        store.put_tournament_games(&named("cup"), &[row(2, 1, 1, 3), row(1, 1, 1, 1), row(1, 1, 2, 2)]).unwrap();
        store.put_tournament_games(&named("CUP"), &[row(2, 1, 1, 4)]).unwrap();
        store.commit(&mut [record(1, &[]), record(3, &[])], &[], &[]).unwrap();
        let mut rows = Vec::new();
        let mut each = |row, record: Option<Record>| rows.push((row, record.is_some()));
        store.tournament_games(&named("cup"), &mut each).unwrap();
        assert_eq!(rows, [(row(1, 1, 1, 1), true), (row(1, 1, 2, 2), false), (row(2, 1, 1, 4), false)]);

        let late = |number, bot, withdrawn| TournamentForfeit { number, bot: BotName::new(bot).unwrap(), withdrawn };
        store.put_tournament_forfeits(&named("cup"), &[late(2, "anna", true), late(1, "bert", false)]).unwrap();
        let forfeits = store.tournament_forfeits(&named("cup")).unwrap();
        assert_eq!(forfeits, [late(1, "bert", false), late(2, "anna", true)]);
    }
}
