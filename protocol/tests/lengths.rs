//! The longest lines of a game, as `limits` counts on them.

#![allow(clippy::unwrap_used)] // a test fails so

use modiar_protocol::limits::{
    BOUNDED_PLIES, BOUNDED_QUIET_PLIES, GAME_LINES_BYTES, GAMES_AT_ONCE, LEAST_OUTPUT_BYTES, OUTPUT_BYTES, REF_CHARS,
    SERVER_LINE_BYTES, STARTED_BYTES, TEXT_CHARS,
};
use modiar_protocol::server::{Ended, Last, Player, RatingChange, Started, Turn};
use modiar_protocol::{
    BotName, Detail, GameId, GameResult, GameRules, PitList, Ref, ServerMessage, Sides, Termination, TimeControl,
};
use modiar_rules::{EndRules, Pit, PitSet, Side};

/// A day, the longest time that can be configured.
const DAY_MS: u64 = 86_400_000;
/// A day and an increment of a day a ply.
const REMAINING: Sides<u64> = Sides { south: DAY_MS * 20_000, north: DAY_MS * 20_000 };
const PITS: [u8; 6] = [42; 6];
const CAPTURED: Sides<u8> = Sides { south: 42, north: 42 };
/// Longer in JSON than any rating that is rounded.
const RATING: f64 = -1_234.567_890_123_456;

fn game() -> GameId {
    GameId::read("g0192f0c1a2b37c4d8e5f60718293a4b5")
}

/// Characters of four bytes each.
fn wide(count: usize) -> String {
    "\u{10348}".repeat(count)
}

fn all_pits() -> PitList {
    PitList((0..6).filter_map(Pit::new).collect::<PitSet>())
}

/// The longest `started` of a game of so many plies.
fn started(plies: usize) -> usize {
    let player = Player {
        name: BotName::new(&"n".repeat(24)).unwrap(),
        guest: false,
        rating: Some(RATING),
        version: Some(wide(TEXT_CHARS)),
    };
    let started = Started {
        game: game(),
        pool: "p".repeat(24),
        rated: false,
        side: Some(Side::South),
        spectator: true,
        south: player.clone(),
        north: player,
        time: TimeControl { base_ms: DAY_MS, increment_ms: DAY_MS, grace_ms: DAY_MS, move_ms: Some(DAY_MS) },
        rules: GameRules::new(EndRules { repetition: u16::MAX, quiet_plies: u16::MAX, majority: false }, u16::MAX),
        opening: "0".repeat(8),
        moves: "0".repeat(plies),
        ply: u32::MAX,
        side_to_move: Side::South,
        pits: PITS,
        captured: CAPTURED,
        remaining_ms: REMAINING,
        resumed: false,
        reference: Some(Ref::Text(wide(REF_CHARS).into())),
    };
    ServerMessage::Started(Box::new(started)).to_line().len()
}

fn turn() -> usize {
    let pit = Pit::new(5).unwrap();
    let last = Last { ply: u32::MAX, side: Side::South, pit, taken: 42, elapsed_ms: DAY_MS * 20_000 };
    let (ply, side, legal) = (u32::MAX, Side::South, all_pits());
    let turn = Turn {
        game: game(),
        ply,
        side,
        pits: PITS,
        captured: CAPTURED,
        legal,
        remaining_ms: REMAINING,
        last: Some(last),
    };
    ServerMessage::Turn(turn).to_line().len()
}

fn ended() -> usize {
    let clause = "rules.".to_owned() + &"c".repeat(40);
    let ended = Ended {
        game: game(),
        result: GameResult::South,
        termination: Termination::TimeForfeit,
        score: CAPTURED,
        pits: PITS,
        ply: u32::MAX,
        detail: Some(Detail { pit: Pit::new(5).unwrap(), clause: clause.into(), legal: all_pits() }),
        rating: Some(RatingChange { before: RATING, after: RATING, rd: RATING }),
    };
    ServerMessage::Ended(Box::new(ended)).to_line().len()
}

/// `transport.server-line-limit`: 21 plies that capture, each after as many quiet ones as there may be.
#[test]
fn the_longest_game_that_quiet_plies_bound_fits_a_line() {
    assert_eq!(BOUNDED_PLIES, 21 * usize::from(BOUNDED_QUIET_PLIES));
    assert!(started(0) <= STARTED_BYTES, "{} bytes", started(0));
    const { assert!(STARTED_BYTES + BOUNDED_PLIES <= SERVER_LINE_BYTES) };
}

/// Those of 64 games that start together, behind a welcome: whoever reads at once is not closed as a slow reader.
#[test]
fn what_all_games_say_at_once_fits_what_may_wait() {
    // The plies of an opening.
    let lines = started(8) + turn() + ended();
    assert!(lines <= GAME_LINES_BYTES, "{lines} bytes");
    // As the pages and the configuration's template tell it.
    assert_eq!((GAMES_AT_ONCE, LEAST_OUTPUT_BYTES), (64, 180_224));
    const { assert!(LEAST_OUTPUT_BYTES <= OUTPUT_BYTES as u64) };
}
