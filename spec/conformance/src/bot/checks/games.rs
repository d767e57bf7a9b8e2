//! Games: who is to move, and what may be played.

use super::Check;
use crate::bot::referee::{Heard, Referee, Step};
use crate::report::skip;
use modiar_rules::Side;
use std::time::Duration;

/// How long the opponent thinks where the bot must not move.
const THOUGHT: Duration = Duration::from_millis(250);
/// The same where a bot may grow impatient.
const LONG_THOUGHT: Duration = Duration::from_millis(500);
/// Eight plies; South is to move.
const OPENING: &str = "24031504";
/// South has two pits with seeds enough, and may play only the higher: the other one does not feed, or takes all.
pub(super) const ONE_LEGAL: &str = "052324";

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "north-side",
        "plays as North",
        &["rules.move.own-row", "rules.board.pits"],
        "Pits are absolute on both sides: South plays 0 1 2, North 3 4 5. Take one of the turn's legal pits as it stands, without turning the board.",
        |at| {
            at.sit()?;
            at.start(Side::North, "")?;
            at.exchange(3)
        },
    ),
    Check::new(
        "opening",
        "plays a game that begins behind an opening",
        &["session.pairs", "verdict.no-ply"],
        "Take ply, pits and legal from the turn: a game may start at ply 9, with seeds captured already, and its first turn has no last.",
        |at| {
            at.sit()?;
            at.start(Side::South, OPENING)?;
            at.exchange(2)
        },
    ),
    Check::new(
        "waits-for-turn",
        "does not move at started where the other side is to move",
        &["verdict.not-your-turn"],
        "Move when turn comes, and only then: started tells the state, side_to_move may be the opponent, in the first game too.",
        waits_for_turn,
    ),
    Check::new(
        "one-move-per-turn",
        "sends one move for a turn, and nothing while the opponent thinks",
        &["verdict.duplicate"],
        "Answer each turn once. An accepted move has no answer of its own: silence is the opponent's thought, no reason to send again.",
        one_move_per_turn,
    ),
    Check::new(
        "legal-list",
        "plays the one legal pit where others look playable",
        &["rules.feed.must", "rules.slam.banned"],
        "Choose among the turn's legal, or mend your rules: a pit with seeds enough may be banned, for it does not feed or takes the whole row.",
        |at| {
            at.sit()?;
            at.start(Side::South, ONE_LEGAL)?;
            at.hear_move().map(drop)
        },
    ),
    Check::new(
        "moved-ignored",
        "ignores moved of its own games",
        &["session.updates"],
        "Answer turn alone: moved tells a ply that was played, of either side, and asks for nothing.",
        moved_ignored,
    ),
    Check::new(
        "whole-game",
        "plays a whole game until nobody can move",
        &["rules.end.immobile", "transport.game-order"],
        "Answer every turn until ended comes, however long the game is; the referee says when it is over.",
        whole_game,
    ),
    Check::new(
        "games-in-a-row",
        "plays a second game after the first",
        &["session.seek-count"],
        "Forget all of a game at its ended: the next one has another id, another side, and begins at ply 1 again.",
        games_in_a_row,
    ),
    Check::new(
        "games-at-once",
        "plays two games at the same time, where its hello allows it",
        &["limits.games", "transport.game-order"],
        "Keep the state of each game by its id, and send a move with the game of its turn: two turns may come before you answer one.",
        games_at_once,
    ),
];

fn waits_for_turn(at: &mut Referee<'_>) -> Step {
    at.sit()?;
    // One ply is played: South has to wait in a game that is new to it.
    at.start(Side::South, "1")?;
    at.quiet(THOUGHT, "no move before turn")?;
    at.exchange(2)
}

fn one_move_per_turn(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.hear_move()?;
    match at.hear(LONG_THOUGHT)? {
        Heard::Silence(_) => at.exchange(2),
        heard => at.fault(at.clause(), "nothing while the opponent thinks", &heard),
    }
}

fn moved_ignored(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    for _ in 0..2 {
        at.hear_move()?;
        let moved = at.game().moved_last();
        at.say(&moved);
        at.quiet(THOUGHT / 2, "no answer to moved")?;
        at.reply()?;
    }
    at.hear_move().map(drop)
}

fn whole_game(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    while at.game().ended.is_none() {
        at.exchange(1)?;
        if at.game().ended.is_none() && !at.game().is_bots() {
            at.reply()?;
        }
    }
    at.goes_on()
}

fn games_in_a_row(at: &mut Referee<'_>) -> Step {
    at.sit()?;
    at.short_game()?;
    at.need_second()?;
    at.start(Side::North, "")?;
    at.exchange(2)
}

fn games_at_once(at: &mut Referee<'_>) -> Step {
    at.sit()?;
    if at.hello.as_ref().is_none_or(|hello| hello.games < 2) {
        return skip("the bot's hello allows one game at once");
    }
    if at.seek.as_ref().is_some_and(|seek| seek.left == Some(1)) {
        return skip("the bot wanted one game; let it play two, as with --games 2");
    }
    // Both turns are told before either is answered.
    at.together(|at| {
        at.start(Side::South, "")?;
        at.start(Side::South, OPENING)
    })?;
    for _ in 0..2 {
        at.hear_move()?;
        at.hear_move()?;
        at.together(|at| -> Step {
            for game in 0..2 {
                at.now = game;
                at.reply()?;
            }
            Ok(())
        })?;
    }
    at.hear_move().map(drop)
}
