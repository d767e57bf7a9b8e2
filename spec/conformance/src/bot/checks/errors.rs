//! Errors that a bot reads and goes on.

use super::Check;
use crate::bot::referee::{Referee, Step};
use modiar_rules::Pit;
use serde_json::json;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "error-duplicate",
        "goes on after the error duplicate",
        &["verdict.duplicate", "verdict.error-free"],
        "An error about a move costs nothing and ends nothing: log it. duplicate says that the move counted already.",
        |at| survives(at, "duplicate", "this move was played already; it counted"),
    ),
    Check::new(
        "error-stale-ply",
        "goes on after the error stale_ply",
        &["verdict.stale-ply", "verdict.error-free"],
        "At stale_ply answer the newest turn; where you have, there is nothing to do.",
        |at| survives(at, "stale_ply", "that ply was played already; answer the newest turn"),
    ),
    Check::new(
        "error-not-your-turn",
        "goes on after the error not_your_turn",
        &["verdict.not-your-turn", "verdict.error-free"],
        "At not_your_turn wait for turn; do not resign, and do not leave.",
        |at| survives(at, "not_your_turn", "the other side is to move; wait for turn"),
    ),
    Check::new(
        "error-wrong-game",
        "goes on after the error wrong_game",
        &["verdict.wrong-game", "verdict.error-free"],
        "At wrong_game keep to the ids that started told; the games that run are not touched by it.",
        |at| survives(at, "wrong_game", "the game is not one of yours; use the id from started"),
    ),
    Check::new(
        "error-rate-limited",
        "goes on after the error rate_limited",
        &["session.rate"],
        "At rate_limited send less, and that message again later: the connection stays.",
        |at| survives(at, "rate_limited", "more than 20 messages a second; send less"),
    ),
    Check::new(
        "error-internal",
        "goes on after the error internal",
        &["errors.fatal"],
        "Only an error whose fatal is true ends the connection: after internal read on.",
        |at| survives(at, "internal", "the server failed at this message; report it to the host"),
    ),
    Check::new(
        "error-unknown",
        "goes on after an error whose code it does not know",
        &["message.additions", "errors.not-acted-on"],
        "Treat an unknown code as an error that was not acted on: log its message and read on, unless fatal is true.",
        |at| survives(at, "too_windy", "the seeds are blown away; wait for better weather"),
    ),
    Check::new(
        "illegal-forgiven",
        "plays one of legal after an illegal move that is forgiven, or resigns",
        &["verdict.illegal-allowed"],
        "At the error illegal_move choose again among its legal and send that with the same ply: no new turn comes, and your clock runs.",
        illegal_forgiven,
    ),
];

/// The error comes while the opponent is to move, about the bot's last move where it is about one.
fn survives(at: &mut Referee<'_>, code: &str, message: &str) -> Step {
    at.begin()?;
    at.hear_move()?;
    let game = at.game().id.clone();
    let about_a_game = ["duplicate", "stale_ply", "not_your_turn", "wrong_game"].contains(&code);
    at.say_error(code, message, if about_a_game { json!({"game": game}) } else { json!({}) });
    at.exchange(2)
}

fn illegal_forgiven(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    let before = at.game().line.clone();
    let pit = at.hear_move()?;
    // Whatever it was is taken back, and said to be forbidden.
    let others: Vec<u8> = before.legal().iter().filter(|other| *other != pit).map(Pit::index).collect();
    at.game().take_back(before, None);
    let error = json!({"game": at.game().id, "clause": "rules.feed.must", "legal": others});
    at.say_error("illegal_move", "that pit may not be played; send another move; your clock runs", error);
    if at.hear_resignation()? {
        // It keeps a board of its own, and does not believe the error: it may give the game up, and lives on.
        return at.goes_on();
    }
    let again = at.hear_move()?;
    if !others.contains(&again.index()) {
        return at.fault_text(at.clause(), "a move of the error's legal pits", format!("pit {again} again"));
    }
    at.exchange(1)
}
