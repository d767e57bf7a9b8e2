//! The two tables, with and without the values.

use super::column::{Column, Head, Value};
use super::games::{GAMES, GameRow};
use super::plies::{PLIES, PlyRow};
use super::values::{GAME_VALUES, GameValues, PLY_VALUES, PlyValues};
use crate::records::{PliesError, fault_of_line};
use crate::store::Line;
use modiar_oracle::Table as Oracle;
use modiar_rules::Position;
use std::rc::Rc;
use thiserror::Error;

/// A table of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// One row a finished game.
    Games,
    /// One row a ply.
    Plies,
}

impl Table {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Games, Self::Plies];

    /// Its name in files and in `schema.json`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Games => "games",
            Self::Plies => "plies",
        }
    }
}

/// Why a stored line has no rows.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum RowError {
    #[error("it is no record: {}", fault_of_line(.0))]
    Json(#[from] serde_json::Error),
    #[error("'{0}' is no time")]
    Time(String),
    #[error("it does not replay: {0}")]
    Plies(#[from] PliesError),
    #[error("the oracle has no value for the position at ply {0}")]
    NoValue(u32),
}

/// The columns of a table, in their order; with the values that `--analysis` adds, or without.
#[must_use]
pub fn heads(table: Table, analysis: bool) -> Vec<Head> {
    fn both<T, V>(base: &[Column<T>], values: &[Column<V>], analysis: bool) -> Vec<Head> {
        let values = values.iter().filter(|_| analysis).map(Column::head);
        base.iter().map(Column::head).chain(values).collect()
    }
    match table {
        Table::Games => both(&GAMES, &GAME_VALUES, analysis),
        Table::Plies => both(&PLIES, &PLY_VALUES, analysis),
    }
}

/// What the rows of one game are read from.
#[derive(Debug)]
pub struct Rows {
    game: Rc<GameRow>,
    plies: Vec<(PlyRow, Option<PlyValues>)>,
    values: Option<GameValues>,
}

/// The rows of a stored game; with values where there is an oracle to ask.
///
/// # Errors
/// The line is no record that replays.
pub fn rows(line: &Line, oracle: Option<&Oracle>) -> Result<Rows, RowError> {
    let game = Rc::new(GameRow::new(line)?);
    let plies = PlyRow::all(&game)?;
    let Some(oracle) = oracle else {
        let plies = plies.into_iter().map(|ply| (ply, None)).collect();
        return Ok(Rows { game, plies, values: None });
    };
    let begin = beginning(&game, &plies);
    let judge = |row: PlyRow| PlyValues::new(oracle, &row).map(|values| (row, values));
    let judged: Vec<_> = plies.into_iter().map(judge).collect::<Result<_, _>>()?;
    let values = Some(GameValues::new(oracle, &begin, &judged)?);
    Ok(Rows { game, plies: judged.into_iter().map(|(row, values)| (row, Some(values))).collect(), values })
}

/// The position after the opening.
fn beginning(game: &GameRow, plies: &[PlyRow]) -> Position {
    let played = |row: &PlyRow| {
        let mut position = *row.position();
        position.play_unchecked(row.ply.pit);
        position
    };
    match plies.get(game.record.opening.len()) {
        Some(first) => *first.position(),
        None => plies.last().map_or(Position::START, played),
    }
}

impl Rows {
    /// When the game ended, in microseconds since 1970.
    #[must_use]
    pub fn ended_us(&self) -> i64 {
        self.game.ended
    }

    /// The rows of a table, each with the values of [`heads`] in that order.
    pub fn each<E>(&self, table: Table, mut each: impl FnMut(&[Value<'_>]) -> Result<(), E>) -> Result<(), E> {
        match table {
            Table::Games => each(&values(&GAMES, &*self.game, &GAME_VALUES, self.values.as_ref())),
            Table::Plies => {
                self.plies.iter().try_for_each(|(row, judged)| each(&values(&PLIES, row, &PLY_VALUES, judged.as_ref())))
            }
        }
    }
}

fn values<'a, T, V>(base: &[Column<T>], row: &'a T, more: &[Column<V>], judged: Option<&'a V>) -> Vec<Value<'a>> {
    let mut values: Vec<Value<'a>> = base.iter().map(|column| column.value(row)).collect();
    values.extend(judged.into_iter().flat_map(|judged| more.iter().map(move |column| column.value(judged))));
    values
}
