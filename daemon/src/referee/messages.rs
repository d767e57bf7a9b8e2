//! What a game looks like on the wire.

use super::game::{Decision, Game};
use super::seat::Seat;
use crate::clock::{Micros, Moment};
use crate::config::Pool;
use modiar_protocol::server::{Ended, Error, Last, Moved, Player, Started, Turn};
use modiar_protocol::{ErrorCode, GameId, PitList, Ref, ServerMessage, Sides};
use modiar_rules::{BySide, Side, moves_text};

/// The game as `started` tells it at this moment, to one side or to a spectator.
pub(super) fn started(
    id: GameId,
    pool: &Pool,
    rated: bool,
    players: BySide<Player>,
    game: &Game,
    side: Option<Side>,
    now: Moment,
) -> Started {
    let position = game.line().position();
    Started {
        game: id,
        pool: pool.name.clone(),
        rated,
        side,
        spectator: side.is_none(),
        south: players.south,
        north: players.north,
        time: pool.time,
        rules: pool.rules,
        opening: moves_text(&game.terms().opening).to_string(),
        moves: moves_text(game.line().moves()).to_string(),
        ply: position.ply(),
        side_to_move: position.side(),
        pits: position.pits(),
        captured: position.captured().into(),
        remaining_ms: in_ms(game.left(now)),
        resumed: false,
        reference: None,
    }
}

/// The turn of the side to move.
#[must_use]
pub fn turn(id: GameId, game: &Game) -> Turn {
    let position = game.line().position();
    Turn {
        game: id,
        ply: position.ply(),
        side: position.side(),
        pits: position.pits(),
        captured: position.captured().into(),
        legal: PitList(game.line().legal()),
        remaining_ms: remaining_ms(game),
        last: game.last().map(|last| Last {
            ply: last.ply,
            side: last.side,
            pit: last.pit,
            taken: last.taken,
            elapsed_ms: last.charge.elapsed.ms(),
        }),
    }
}

/// The same, where it is told again while its clock runs (`clock.wire-running`).
pub(super) fn turn_again(id: GameId, game: &Game, now: Moment) -> Turn {
    Turn { remaining_ms: in_ms(game.left(now)), ..turn(id, game) }
}

/// The newest ply, where one was played.
pub(super) fn moved(id: GameId, game: &Game) -> Option<ServerMessage> {
    let (position, last) = (game.line().position(), game.last()?);
    Some(ServerMessage::Moved(Moved {
        game: id,
        ply: last.ply,
        side: last.side,
        pit: last.pit,
        taken: last.taken,
        elapsed_ms: last.charge.elapsed.ms(),
        pits: position.pits(),
        captured: position.captured().into(),
        remaining_ms: remaining_ms(game),
    }))
}

/// The end of the game, as who watches reads it: of ratings each of the two is told its own.
pub(super) fn ended(id: GameId, game: &Game, decision: &Decision) -> Ended {
    let position = game.line().position();
    Ended {
        game: id,
        result: decision.result,
        termination: decision.termination,
        score: game.score().into(),
        pits: position.pits(),
        ply: position.ply() - 1,
        detail: decision.detail.clone(),
        rating: None,
    }
}

/// What a bot reads that sends more for a game that has ended.
pub(crate) const GAME_OVER: &str = "the game is over; read its ended, and send nothing more for it";

/// The answer to what came after the end.
pub(super) fn game_over(id: GameId, reference: Option<Ref>) -> Error {
    Error { game: Some(id), reference, ..Error::new(ErrorCode::GameOver, GAME_OVER) }
}

/// One of the two, and its rating where it has one.
pub(super) fn player(seat: &Seat, rating: Option<f64>) -> Player {
    Player { name: seat.bot.name.clone(), guest: seat.bot.is_guest(), rating, version: seat.version.clone() }
}

fn remaining_ms(game: &Game) -> Sides<u64> {
    in_ms(game.clock().remaining())
}

fn in_ms(times: BySide<Micros>) -> Sides<u64> {
    times.map(Micros::ms).into()
}
