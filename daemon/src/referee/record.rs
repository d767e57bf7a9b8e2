//! A finished game as a record.

use super::game::{Decision, Game};
use super::seat::Seat;
use crate::clock::{Charge, Micros};
use crate::config::Pool;
use crate::ladder::{is_marked, put};
use jiff::Timestamp;
use modiar_ladder::Rating;
use modiar_protocol::{GameId, GameResult, Record, RecordSeat, UnfinishedTurn, ZERO_HASH};
use modiar_rules::{BySide, moves_text};

/// Who, where and when: what the game itself does not know.
pub(super) struct Occasion<'a> {
    pub(super) id: GameId,
    pub(super) pool: &'a Pool,
    pub(super) rated: bool,
    pub(super) seats: &'a BySide<Seat>,
    pub(super) started: Timestamp,
    pub(super) ended: Timestamp,
    pub(super) node: &'a str,
}

/// The record, its place in the order of commits still open: the store gives `seq` and `prev`.
pub(super) fn record(occasion: &Occasion<'_>, game: &Game, decision: &Decision) -> Record {
    let column = |part: fn(&Charge) -> Micros| game.charges().iter().map(|charge| part(charge).0).collect();
    let (south, north) = (seat(&occasion.seats.south, occasion.pool), seat(&occasion.seats.north, occasion.pool));
    // A restored game's pool may be rated no longer.
    let rated = occasion.rated && is_marked(&south) && is_marked(&north);
    Record {
        record: 1,
        seq: 0,
        prev: ZERO_HASH.to_owned(),
        game: occasion.id,
        pool: occasion.pool.name.clone(),
        rated: rated && decision.result != GameResult::None,
        started: rfc3339(occasion.started),
        ended: rfc3339(occasion.ended),
        time: occasion.pool.time,
        rules: occasion.pool.rules,
        south,
        north,
        opening: moves_text(&game.terms().opening).to_string(),
        moves: moves_text(game.line().moves()).to_string(),
        elapsed_us: column(|charge| charge.elapsed),
        own_us: column(|charge| charge.own),
        charged_us: column(|charge| charge.charged),
        remaining_us: game.clock().remaining().map(|time| time.0).into(),
        unfinished_turn: decision.unfinished.map(|Charge { elapsed, own, charged }| UnfinishedTurn {
            elapsed_us: elapsed.0,
            own_us: own.0,
            charged_us: charged.0,
        }),
        result: decision.result,
        termination: decision.termination,
        detail: decision.detail.clone(),
        score: game.score().into(),
        pits: game.line().position().pits(),
        rating_after: None,
        node: occasion.node.to_owned(),
        server: crate::SERVER.to_owned(),
    }
}

/// A side of the record. One that has a rating is marked so, by that of which nothing is known: the store, which alone knows
/// the order of games, puts the right one there (`record.ratings-read`).
fn seat(seat: &Seat, pool: &Pool) -> RecordSeat {
    let bot = &seat.bot;
    let mut side = RecordSeat {
        name: bot.name.clone(),
        guest: bot.is_guest(),
        version: seat.version.clone(),
        rating: None,
        rd: None,
        volatility: None,
    };
    if seat.is_rated(pool) {
        put(&mut side, Rating::default());
    }
    side
}

/// `2026-11-30T12:00:00.000000Z`: always microseconds, so that texts sort as times.
fn rfc3339(time: Timestamp) -> String {
    format!("{time:.6}")
}
