//! The table `games`: one row a finished game, aborted ones included.

use super::RowError;
use super::column::Column;
use super::column::Read::{Bool, Float64, Int8, Int16, Int32, Int64, Text, Time};
use super::column::column;
use super::number::{micros, narrow, whole};
use crate::store::Line;
use modiar_protocol::{Record, RecordSeat, SeatRating};
use modiar_rules::{BySide, Side};

/// What the row of a game is read from.
#[derive(Debug)]
pub(super) struct GameRow {
    pub(super) record: Record,
    /// The hash of the record's line.
    hash: String,
    /// Microseconds since 1970.
    started: i64,
    pub(super) ended: i64,
    /// Charged to each side, in microseconds.
    used: BySide<u64>,
}

impl GameRow {
    /// The row of a stored line.
    ///
    /// # Errors
    /// The line is no record, or one of its times is none.
    pub(super) fn new(line: &Line) -> Result<Self, RowError> {
        let record: Record = serde_json::from_str(&line.text)?;
        let mut used = BySide::new(0u64, 0);
        for (ply, charged) in (record.opening.len() + 1..).zip(&record.charged_us) {
            let side = if ply % 2 == 1 { Side::South } else { Side::North };
            used[side] = used[side].saturating_add(*charged);
        }
        let (started, ended) = (micros(&record.started)?, micros(&record.ended)?);
        Ok(Self { record, hash: line.hash.clone(), started, ended, used })
    }

    fn margin(&self) -> i16 {
        let score = self.record.score;
        i16::from(score.south) - i16::from(score.north)
    }

    fn unfinished(&self, part: fn(&modiar_protocol::UnfinishedTurn) -> u64) -> i64 {
        self.record.unfinished_turn.as_ref().map_or(0, |turn| whole(part(turn)))
    }
}

const fn has_rating(seat: &RecordSeat) -> bool {
    seat.rating.is_some()
}

/// The rating after the game: where the game changed none, the one before it.
fn after(row: &GameRow, side: Side) -> SeatRating {
    let seat = if side == Side::South { &row.record.south } else { &row.record.north };
    let before = SeatRating {
        rating: seat.rating.unwrap_or_default(),
        rd: seat.rd.unwrap_or_default(),
        volatility: seat.volatility.unwrap_or_default(),
    };
    row.record.rating_after.map_or(before, |after| if side == Side::South { after.south } else { after.north })
}

const POINTS: &str = "rating points";

/// The columns, in their order.
pub(super) static GAMES: [Column<GameRow>; 65] = [
    column("schema_version", "", Int16(|_| super::SCHEMA_VERSION), "the version of these tables"),
    column("game", "", Text(|row| row.record.game.as_str().into()), "id of the game"),
    column("seq", "", Int64(|row| whole(row.record.seq)), "number of the game in commit order"),
    column("pool", "", Text(|row| (&*row.record.pool).into()), "name of its pool"),
    column("started", "UTC", Time(|row| row.started), "when it started, by the wall clock"),
    column("ended", "UTC", Time(|row| row.ended), "when it ended, by the wall clock"),
    column("rated", "", Bool(|row| row.record.rated), "whether it changed the ratings"),
    column("rules", "", Text(|row| row.record.rules.name.as_str().into()), "name of its rules"),
    column(
        "repetition",
        "standings",
        Int32(|row| row.record.rules.repetition.into()),
        "how often a position stands until the game ends; 0: for ever",
    ),
    column(
        "quiet_plies",
        "plies",
        Int32(|row| row.record.rules.quiet_plies.into()),
        "plies without a capture until the game ends; 0: for ever",
    ),
    column("majority", "", Bool(|row| row.record.rules.majority), "whether 22 captured seeds end the game"),
    column(
        "illegal_moves",
        "moves",
        Int32(|row| row.record.rules.illegal_moves.into()),
        "illegal moves forgiven to each side",
    ),
    column("base_ms", "ms", Int64(|row| whole(row.record.time.base_ms)), "what each side starts with"),
    column("increment_ms", "ms", Int64(|row| whole(row.record.time.increment_ms)), "what a move brings"),
    column("grace_ms", "ms", Int64(|row| whole(row.record.time.grace_ms)), "what is not charged of a move"),
    column(
        "move_ms",
        "ms",
        Int64(|row| whole(row.record.time.move_ms.unwrap_or_default())),
        "most that one move may be charged; 0: no such limit",
    ),
    column("south_bot", "", Text(|row| row.record.south.name.as_str().into()), "South's name"),
    column("south_guest", "", Bool(|row| row.record.south.guest), "whether South had no account"),
    column("south_version", "", Text(|row| version(&row.record.south).into()), "the build that South's hello told"),
    column(
        "south_has_rating",
        "",
        Bool(|row| has_rating(&row.record.south)),
        "whether South had a rating; without one its ratings are 0",
    ),
    column(
        "south_rating",
        POINTS,
        Float64(|row| row.record.south.rating.unwrap_or_default()),
        "South's rating before the game",
    ),
    column("south_rd", POINTS, Float64(|row| row.record.south.rd.unwrap_or_default()), "its deviation, one σ"),
    column("south_volatility", "", Float64(|row| row.record.south.volatility.unwrap_or_default()), "its volatility σ"),
    column(
        "south_rating_after",
        POINTS,
        Float64(|row| after(row, Side::South).rating),
        "South's rating after the game; as before where `rated` is false",
    ),
    column("south_rd_after", POINTS, Float64(|row| after(row, Side::South).rd), "its deviation then"),
    column("south_volatility_after", "", Float64(|row| after(row, Side::South).volatility), "its volatility then"),
    column("north_bot", "", Text(|row| row.record.north.name.as_str().into()), "North's name"),
    column("north_guest", "", Bool(|row| row.record.north.guest), "whether North had no account"),
    column("north_version", "", Text(|row| version(&row.record.north).into()), "the build that North's hello told"),
    column(
        "north_has_rating",
        "",
        Bool(|row| has_rating(&row.record.north)),
        "whether North had a rating; without one its ratings are 0",
    ),
    column(
        "north_rating",
        POINTS,
        Float64(|row| row.record.north.rating.unwrap_or_default()),
        "North's rating before the game",
    ),
    column("north_rd", POINTS, Float64(|row| row.record.north.rd.unwrap_or_default()), "its deviation, one σ"),
    column("north_volatility", "", Float64(|row| row.record.north.volatility.unwrap_or_default()), "its volatility σ"),
    column(
        "north_rating_after",
        POINTS,
        Float64(|row| after(row, Side::North).rating),
        "North's rating after the game; as before where `rated` is false",
    ),
    column("north_rd_after", POINTS, Float64(|row| after(row, Side::North).rd), "its deviation then"),
    column("north_volatility_after", "", Float64(|row| after(row, Side::North).volatility), "its volatility then"),
    column("opening", "", Text(|row| (&*row.record.opening).into()), "plies that the server played, a digit each"),
    column("moves", "", Text(|row| (&*row.record.moves).into()), "all plies, a digit each"),
    column("plies", "plies", Int32(|row| narrow(row.record.moves.len())), "how many plies"),
    column("result", "", Text(|row| row.record.result.as_str().into()), "who won: south, north, draw, none"),
    column("termination", "", Text(|row| row.record.termination.as_str().into()), "why it ended, by forfeits.md"),
    column(
        "illegal_pit",
        "",
        Int8(|row| row.record.detail.as_ref().map_or(0, |detail| detail.pit.index().cast_signed())),
        "the pit of the illegal move that ended it; 0 where `illegal_clause` is empty",
    ),
    column(
        "illegal_clause",
        "",
        Text(|row| row.record.detail.as_ref().map_or("", |detail| &*detail.clause).into()),
        "the clause that it broke",
    ),
    column("south_score_seeds", "seeds", Int16(|row| row.record.score.south.into()), "South's score"),
    column("north_score_seeds", "seeds", Int16(|row| row.record.score.north.into()), "North's score"),
    column("margin_seeds", "seeds", Int16(GameRow::margin), "South's score less North's"),
    column(
        "pit_0",
        "seeds",
        Int8(|row| row.record.pits[0].cast_signed()),
        "in pit 0, before the sides take their rows",
    ),
    column("pit_1", "seeds", Int8(|row| row.record.pits[1].cast_signed()), "in pit 1"),
    column("pit_2", "seeds", Int8(|row| row.record.pits[2].cast_signed()), "in pit 2"),
    column("pit_3", "seeds", Int8(|row| row.record.pits[3].cast_signed()), "in pit 3"),
    column("pit_4", "seeds", Int8(|row| row.record.pits[4].cast_signed()), "in pit 4"),
    column("pit_5", "seeds", Int8(|row| row.record.pits[5].cast_signed()), "in pit 5"),
    column("south_used_us", "µs", Int64(|row| whole(row.used.south)), "charged for South's plies"),
    column("north_used_us", "µs", Int64(|row| whole(row.used.north)), "charged for North's plies"),
    column(
        "south_remaining_us",
        "µs",
        Int64(|row| whole(row.record.remaining_us.south)),
        "left to South after its last ply",
    ),
    column(
        "north_remaining_us",
        "µs",
        Int64(|row| whole(row.record.remaining_us.north)),
        "left to North after its last ply",
    ),
    column(
        "has_unfinished_turn",
        "",
        Bool(|row| row.record.unfinished_turn.is_some()),
        "whether a turn was running when it ended",
    ),
    column("unfinished_elapsed_us", "µs", Int64(|row| row.unfinished(|turn| turn.elapsed_us)), "the time of that turn"),
    column("unfinished_own_us", "µs", Int64(|row| row.unfinished(|turn| turn.own_us)), "the server's own delay in it"),
    column(
        "unfinished_charged_us",
        "µs",
        Int64(|row| row.unfinished(|turn| turn.charged_us)),
        "what was charged for it",
    ),
    column("node", "", Text(|row| (&*row.record.node).into()), "the host that played it"),
    column("server", "", Text(|row| (&*row.record.server).into()), "the program that played it"),
    column(
        "record_version",
        "",
        Int16(|row| i16::try_from(row.record.record).unwrap_or(i16::MAX)),
        "the version of its record",
    ),
    column("record_prev", "", Text(|row| (&*row.record.prev).into()), "hash of the record before it"),
    column("record_sha256", "", Text(|row| (&*row.hash).into()), "hash of its own record"),
];

fn version(seat: &RecordSeat) -> &str {
    seat.version.as_deref().unwrap_or_default()
}
