//! The table `plies`: one row a ply, those of an opening included.

use super::column::Column;
use super::column::Read::{Bool, Int8, Int16, Int32, Int64, Text, Time};
use super::column::column;
use super::games::GameRow;
use super::number::{narrow, whole};
use crate::records::{PliesError, Ply, PlyTimes, plies};
use modiar_oracle::Layout;
use modiar_rules::{PitSet, Position, Side};
use std::collections::HashMap;
use std::rc::Rc;

/// What the row of a ply is read from.
#[derive(Debug)]
pub(super) struct PlyRow {
    pub(super) game: Rc<GameRow>,
    pub(super) ply: Ply,
    legal: PitSet,
    /// How often the pits had stood with this side to move, now included.
    standing: i32,
}

impl PlyRow {
    /// The rows of a game.
    ///
    /// # Errors
    /// Its record does not replay.
    pub(super) fn all(game: &Rc<GameRow>) -> Result<Vec<Self>, PliesError> {
        let mut stood: HashMap<([u8; 6], Side), i32> = HashMap::new();
        let rows = plies(&game.record)?.into_iter().map(|ply| {
            let standing = stood.entry((ply.position.pits(), ply.position.side())).or_default();
            *standing += 1;
            let standing = *standing;
            if ply.taken > 0 {
                // Captured seeds do not come back, so that nothing before stands again.
                stood.clear();
            }
            Self { game: Rc::clone(game), ply, legal: ply.position.legal(), standing }
        });
        Ok(rows.collect())
    }

    /// Whether the mover could choose, and it was not the server that did.
    pub(super) const fn is_choice(&self) -> bool {
        self.legal.len() > 1 && !self.is_from_opening()
    }

    /// Whether the server played it.
    pub(super) const fn is_from_opening(&self) -> bool {
        self.ply.times.is_none()
    }

    pub(super) const fn position(&self) -> &Position {
        &self.ply.position
    }

    fn bot(&self, side: Side) -> &str {
        let Self { game, .. } = self;
        if side == Side::South { &game.record.south } else { &game.record.north }.name.as_str()
    }

    fn pit(&self, pit: usize) -> i8 {
        self.position().pits()[pit].cast_signed()
    }

    fn sown(&self) -> u8 {
        self.position().board().seeds(self.ply.pit)
    }

    /// Pits that the ply captured: those that it sowed or found filled and left empty.
    fn chain(&self) -> i8 {
        if self.ply.taken == 0 {
            return 0;
        }
        let mut sown = self.position().pits();
        let origin = usize::from(self.ply.pit.index());
        let seeds = std::mem::take(&mut sown[origin]);
        (0..usize::from(seeds)).for_each(|at| sown[(origin + at) % 6] += 1);
        let mut next = *self.position();
        next.play_unchecked(self.ply.pit);
        let captured = sown.iter().zip(next.pits()).filter(|(before, after)| **before > 0 && *after == 0);
        i8::try_from(captured.count()).unwrap_or(i8::MAX)
    }

    fn layout(&self) -> i32 {
        // Seeds leave a game in twos, fours and sixes: each of its layouts has a number.
        Layout::of(self.position()).number().map_or(0, narrow)
    }

    fn time(&self, part: fn(&PlyTimes) -> u64) -> i64 {
        self.ply.times.as_ref().map_or(0, |times| whole(part(times)))
    }
}

/// Pits as digits: `02`.
pub(super) fn digits(pits: PitSet) -> String {
    pits.iter().map(|pit| char::from(b'0' + pit.index())).collect()
}

/// The columns, in their order.
pub(super) static PLIES: [Column<PlyRow>; 30] = [
    column("schema_version", "", Int16(|_| super::SCHEMA_VERSION), "the version of these tables"),
    column("game", "", Text(|row| row.game.record.game.as_str().into()), "id of the game"),
    column("pool", "", Text(|row| (&*row.game.record.pool).into()), "name of the game's pool"),
    column("ended", "UTC", Time(|row| row.game.ended), "when the game ended, by the wall clock"),
    column(
        "ply",
        "",
        Int32(|row| i32::try_from(row.position().ply()).unwrap_or(i32::MAX)),
        "number of the ply, from 1",
    ),
    column("side", "", Text(|row| row.position().side().to_string().into()), "the mover: south, north"),
    column("bot", "", Text(|row| row.bot(row.position().side()).into()), "the mover's name"),
    column("opponent", "", Text(|row| row.bot(row.position().side().other()).into()), "the other's name"),
    column("from_opening", "", Bool(PlyRow::is_from_opening), "whether the server played it; its times are then 0"),
    column("pit", "", Int8(|row| row.ply.pit.index().cast_signed()), "the pit that was played"),
    column("legal", "", Text(|row| digits(row.legal).into()), "the legal pits, a digit each"),
    column("legal_count", "pits", Int8(|row| i8::try_from(row.legal.len()).unwrap_or(i8::MAX)), "how many"),
    column("forced", "", Bool(|row| row.legal.len() == 1), "whether there was only one"),
    column("pit_0", "seeds", Int8(|row| row.pit(0)), "in pit 0, before the ply"),
    column("pit_1", "seeds", Int8(|row| row.pit(1)), "in pit 1"),
    column("pit_2", "seeds", Int8(|row| row.pit(2)), "in pit 2"),
    column("pit_3", "seeds", Int8(|row| row.pit(3)), "in pit 3"),
    column("pit_4", "seeds", Int8(|row| row.pit(4)), "in pit 4"),
    column("pit_5", "seeds", Int8(|row| row.pit(5)), "in pit 5"),
    column(
        "south_captured_seeds",
        "seeds",
        Int8(|row| row.position().captured().south.cast_signed()),
        "captured by South before the ply",
    ),
    column(
        "north_captured_seeds",
        "seeds",
        Int8(|row| row.position().captured().north.cast_signed()),
        "captured by North before the ply",
    ),
    column("sown_seeds", "seeds", Int8(|row| row.sown().cast_signed()), "lifted and sown by the ply"),
    column("taken_seeds", "seeds", Int8(|row| row.ply.taken.cast_signed()), "captured by the ply"),
    column("chain_pits", "pits", Int8(PlyRow::chain), "pits captured by the ply"),
    column(
        "standing",
        "standings",
        Int32(|row| row.standing),
        "how often the pits stood with this side to move, this time included",
    ),
    column(
        "layout",
        "",
        Int32(PlyRow::layout),
        "number of the pits as the mover sees them, the same for all that look so: 0 to 6540555",
    ),
    column("elapsed_us", "µs", Int64(|row| row.time(|times| times.elapsed_us)), "the server's delay taken off"),
    column("own_us", "µs", Int64(|row| row.time(|times| times.own_us)), "the server's own delay"),
    column("charged_us", "µs", Int64(|row| row.time(|times| times.charged_us)), "what was taken off the clock"),
    column(
        "remaining_us",
        "µs",
        Int64(|row| row.time(|times| times.remaining_us)),
        "left to the mover then, the increment added",
    ),
];
