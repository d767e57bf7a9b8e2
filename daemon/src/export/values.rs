//! What `--analysis` adds to both tables: exact values under best play, by the oracle's table.

use super::RowError;
use super::column::Column;
use super::column::Read::{Bool, Int16, Int32, Text};
use super::column::column;
use super::plies::{PlyRow, digits};
use crate::analysis::Outcome;
use modiar_oracle::{Bounds, Judgement, Table};
use modiar_rules::{BySide, Position, Side};

/// A ply judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlyValues {
    judgement: Judgement,
    /// The mover's captures less the other's, before the ply.
    ahead: i16,
    /// Whether the server played it: then nobody lost by it.
    served: bool,
}

impl PlyValues {
    /// # Errors
    /// The table does not hold the position, which no game leads to.
    pub(super) fn new(table: &Table, row: &PlyRow) -> Result<Self, RowError> {
        let position = row.position();
        let judgement = table.judge(position, row.ply.pit).ok_or(RowError::NoValue(position.ply()))?;
        Ok(Self { judgement, ahead: ahead(position), served: row.is_from_opening() })
    }

    /// The final margin, from the mover's view, that the mover was sure of.
    fn before(&self) -> i16 {
        self.ahead + i16::from(self.judgement.before.lo)
    }

    /// What the ply left of it.
    fn after(&self) -> i16 {
        self.ahead + i16::from(self.judgement.after.lo)
    }

    fn loss(&self) -> i16 {
        if self.served { 0 } else { self.judgement.loss().into() }
    }

    fn is_losing(&self) -> bool {
        !self.served && self.before() >= 0 && self.after() < 0
    }
}

/// The mover's captures less the other's.
fn ahead(position: &Position) -> i16 {
    let (captured, mover) = (position.captured(), position.side());
    i16::from(captured[mover]) - i16::from(captured[mover.other()])
}

/// What follows the columns of `plies`.
pub(super) static PLY_VALUES: [Column<PlyValues>; 8] = [
    column(
        "value_before_seeds",
        "seeds",
        Int16(PlyValues::before),
        "final margin under best play before the ply, from the mover's view, captures included; its lower end",
    ),
    column("value_after_seeds", "seeds", Int16(PlyValues::after), "the same after the ply, from the same mover's view"),
    column(
        "loss_seeds",
        "seeds",
        Int16(PlyValues::loss),
        "value before less value after: 0 for a best pit, and for a ply from the opening",
    ),
    column(
        "exact",
        "",
        Bool(|row| row.judgement.before.is_exact()),
        "whether endless play decides nothing; where it does, it counts as worst for the mover",
    ),
    column(
        "class_before",
        "",
        Text(|row| Outcome::of(row.before()).as_str().into()),
        "for the mover before the ply: win, draw, loss",
    ),
    column("class_after", "", Text(|row| Outcome::of(row.after()).as_str().into()), "for the same mover after it"),
    column(
        "losing",
        "",
        Bool(PlyValues::is_losing),
        "whether it led its mover from a win or a draw to a loss; never a ply from the opening",
    ),
    column("best", "", Text(|row| digits(row.judgement.best).into()), "the pits that lose nothing, a digit each"),
];

/// A game judged: its plies after the opening.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GameValues {
    start: i16,
    start_exact: bool,
    loss: BySide<i32>,
    choices: BySide<i32>,
    optimal: BySide<i32>,
    first_loss: i32,
    first_losing: i32,
}

impl GameValues {
    /// From the plies of a game with their values, and the position that its bots began from.
    ///
    /// # Errors
    /// The table does not hold that position, which no game leads to.
    pub(super) fn new(table: &Table, begin: &Position, plies: &[(PlyRow, PlyValues)]) -> Result<Self, RowError> {
        let Bounds { lo, hi } = table.value(begin).ok_or(RowError::NoValue(begin.ply()))?;
        let margin = ahead(begin) + i16::from(lo);
        let start = if begin.side() == Side::South { margin } else { -margin };
        let mut game = Self { start, start_exact: lo == hi, ..Self::default() };
        for (row, values) in plies.iter().filter(|(row, _)| !row.is_from_opening()) {
            game.add(row, *values);
        }
        Ok(game)
    }

    fn add(&mut self, row: &PlyRow, values: PlyValues) {
        let (side, loss) = (row.position().side(), i32::from(values.loss()));
        self.loss[side] += loss;
        if row.is_choice() {
            self.choices[side] += 1;
            self.optimal[side] += i32::from(loss == 0);
        }
        let ply = i32::try_from(row.position().ply()).unwrap_or(i32::MAX);
        if loss > 0 && self.first_loss == 0 {
            self.first_loss = ply;
        }
        if values.is_losing() && self.first_losing == 0 {
            self.first_losing = ply;
        }
    }
}

/// What follows the columns of `games`.
pub(super) static GAME_VALUES: [Column<GameValues>; 10] = [
    column(
        "start_value_seeds",
        "seeds",
        Int16(|row| row.start),
        "final margin under best play from where the bots began, after the opening, from South's view",
    ),
    column(
        "start_exact",
        "",
        Bool(|row| row.start_exact),
        "whether endless play decides nothing; where it does, it counts as worst for the side to move",
    ),
    column("south_loss_seeds", "seeds", Int32(|row| row.loss.south), "lost by South's plies together"),
    column("north_loss_seeds", "seeds", Int32(|row| row.loss.north), "lost by North's plies together"),
    column("south_choices", "plies", Int32(|row| row.choices.south), "South's plies with more than one legal pit"),
    column("north_choices", "plies", Int32(|row| row.choices.north), "North's plies with more than one legal pit"),
    column("south_optimal", "plies", Int32(|row| row.optimal.south), "of South's choices those that lost nothing"),
    column("north_optimal", "plies", Int32(|row| row.optimal.north), "of North's choices those that lost nothing"),
    column("first_loss_ply", "", Int32(|row| row.first_loss), "the first ply that lost a seed; 0: none"),
    column(
        "first_losing_ply",
        "",
        Int32(|row| row.first_losing),
        "the first that led its mover from a win or a draw to a loss; 0: none",
    ),
];
