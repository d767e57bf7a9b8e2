//! Every way in which a game may end.

use super::Check;
use crate::bot::referee::{Referee, Step};
use modiar_rules::{EndRules, Ending, Pit, Side};
use serde_json::json;
use std::thread::sleep;
use std::time::Duration;

/// How long the end of a game may take behind its last move, and more.
const LATE: Duration = Duration::from_millis(1200);

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "ended-repetition",
        "lives on where a game ends by repetition",
        &["rules.endless.repetition"],
        "Read ended at any moment, also before your first turn of a game, and with every termination of forfeits.md.",
        |at| by_rules(at, Ending::Repetition),
    ),
    Check::new(
        "ended-quiet-plies",
        "lives on where a game ends after plies without a capture",
        &["rules.endless.quiet-plies"],
        "Read ended with termination quiet_plies: a pool may allow few of them, and started tells how many.",
        |at| by_rules(at, Ending::QuietPlies),
    ),
    Check::new(
        "ended-majority",
        "lives on where a game ends at a majority",
        &["rules.end.majority"],
        "Read ended with termination majority: a pool may end a game once a side has 22 seeds, though moves are left.",
        |at| by_rules(at, Ending::Majority),
    ),
    Check::new(
        "opponent-resigns",
        "lives on where the opponent resigns while it thinks",
        &["verdict.resign", "verdict.game-over"],
        "Read ended while your own move is on its way: the error game_over that answers the move does no harm.",
        opponent_resigns,
    ),
    Check::new(
        "ended-time-forfeit",
        "lives on where a game ends by time",
        &["forfeit.winner"],
        "Read ended with termination time_forfeit: one side's time ran out, and the other has won.",
        |at| forfeit(at, "time_forfeit"),
    ),
    Check::new(
        "ended-illegal-move",
        "lives on where a game ends by an illegal move",
        &["verdict.illegal-loses", "forfeit.winner"],
        "Read ended with termination illegal_move; its detail names the pit, the clause and the legal pits.",
        |at| forfeit(at, "illegal_move"),
    ),
    Check::new(
        "aborted-not-counted",
        "does not count a game that was aborted",
        &["forfeit.none-unrated", "forfeit.opponent"],
        "A game with result none counts for nothing: the seek goes on, and the next started comes without another seek.",
        |at| not_counted(at, "aborted"),
    ),
    Check::new(
        "server-error-not-counted",
        "does not count a game that ended by a fault of the server",
        &["forfeit.server-error", "forfeit.none-unrated"],
        "A game with result none counts for nothing, whatever its termination: read on, the seek still stands.",
        |at| not_counted(at, "server_error"),
    ),
    Check::new(
        "late-ended",
        "waits for an ended that comes late",
        &["forfeit.durable", "session.seek-done"],
        "Wait for ended without a limit of your own: the server tells it once the result is stored for good, which may take seconds.",
        late_ended,
    ),
];

/// The rules of a pool, the bot's side and an opening, behind which the game ends so: at the bot's only move and the
/// opponent's next, or at the opponent's first.
fn finale(ending: Ending) -> (EndRules, Side, &'static str) {
    let rules = EndRules::default();
    match ending {
        Ending::Repetition => (rules, Side::North, "24031504231504231504"),
        Ending::QuietPlies => (EndRules { quiet_plies: 6, ..rules }, Side::South, "1305231325241324"),
        Ending::Majority => (EndRules { majority: true, ..rules }, Side::South, "032404"),
        Ending::Immobile => (rules, Side::South, "152323"),
    }
}

fn by_rules(at: &mut Referee<'_>, ending: Ending) -> Step {
    let (rules, side, opening) = finale(ending);
    at.rules = rules;
    at.sit()?;
    at.start(side, opening)?;
    if at.game().is_bots() {
        at.hear_move()?;
    }
    at.reply()?;
    at.goes_on()
}

fn opponent_resigns(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.hear_move()?;
    // The bot's answer to the turn and the end cross each other.
    at.together(|at| -> Step {
        at.reply()?;
        at.opponent_resigns();
        Ok(())
    })?;
    at.goes_on()
}

/// The bot has moved, and wins.
fn forfeit(at: &mut Referee<'_>, termination: &str) -> Step {
    at.begin()?;
    at.exchange(2)?;
    let game = at.game();
    let mut ended = game.ended_by(Some(game.side), termination);
    if termination == "illegal_move" {
        let legal: Vec<u8> = game.line.legal().iter().map(Pit::index).collect();
        ended["detail"] = json!({"pit": 0, "clause": "rules.move.own-row", "legal": legal});
    }
    at.end(ended);
    at.goes_on()
}

fn not_counted(at: &mut Referee<'_>, termination: &str) -> Step {
    at.sit()?;
    // Any number that is counted by mistake is more than the bot has left.
    for _ in 0..3 {
        at.start(Side::South, "")?;
        at.hear_move()?;
        let ended = at.game().ended_by(None, termination);
        at.end(ended);
    }
    at.start(Side::South, "")?;
    at.exchange(2)
}

fn late_ended(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.exchange(2)?;
    sleep(LATE);
    at.opponent_resigns();
    at.goes_on()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bot::game::Game;
    use modiar_rules::{Line, parse_moves};

    #[test]
    fn a_finale_ends_as_it_says() {
        for ending in [Ending::Repetition, Ending::QuietPlies, Ending::Majority, Ending::Immobile] {
            let (rules, side, opening) = finale(ending);
            let line = Line::replay(rules, parse_moves(opening).unwrap()).unwrap();
            let mut game = Game::new(0, "practice", "Tanja", side, line);
            if game.is_bots() {
                assert_eq!(game.line.legal().len(), 1, "{ending}");
                game.play(game.line.legal().first().unwrap()).unwrap();
            }
            game.play(game.reply().unwrap()).unwrap();
            assert_eq!(game.line.ending(), Some(ending), "{ending}");
        }
    }

    #[test]
    fn one_pit_is_legal_and_a_lower_one_looks_so() {
        let line = Line::replay(EndRules::default(), parse_moves(super::super::games::ONE_LEGAL).unwrap()).unwrap();
        let (pits, legal) = (line.position().pits(), line.legal());
        assert_eq!(legal.len(), 1);
        let only = legal.first().unwrap().index();
        assert!((0..only).any(|pit| pits[usize::from(pit)] > 1), "{}", line.position());
    }
}
