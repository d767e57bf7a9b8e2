//! Each end of a game: told once, to both sides and to who watches, the same, and last.

use super::Row;
use crate::report::{Step, skip};
use crate::search;
use crate::server::desk::{Bot, Desk};
use crate::server::game::{Game, Pool, pits};
use modiar_rules::{EndRules, Ending, Pit};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const ADVICE: &str = "Decide the end of a game in one place, once; tell both sides and the spectators the same, and nothing of the game after it.";
/// Plies before a side gives up, runs out of time or errs: an odd number, so that North is to move.
const MOVES: &str = "240315042";
/// A no-show of a challenge has no more than this (`forfeit.no-show`).
const NO_SHOW: Duration = Duration::from_secs(30);

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "ended-immobile",
        "A game ends once where nobody can move",
        &["forfeit.once", "rules.end.immobile", "rules.end.scoop", "forfeit.score"],
        ADVICE,
        |at| by_rules(at, Ending::Immobile),
    ),
    Row::new(
        "ended-repetition",
        "A game ends once by repetition",
        &["forfeit.once", "rules.endless.repetition", "forfeit.score"],
        ADVICE,
        |at| by_rules(at, Ending::Repetition),
    ),
    Row::new(
        "ended-quiet-plies",
        "A game ends once after plies without a capture, where a pool allows few of them",
        &["forfeit.once", "rules.endless.quiet-plies", "forfeit.score"],
        ADVICE,
        |at| by_rules(at, Ending::QuietPlies),
    ),
    Row::new(
        "ended-majority",
        "A game ends once by a majority, where a pool has that end",
        &["forfeit.once", "rules.end.majority", "forfeit.score"],
        ADVICE,
        |at| by_rules(at, Ending::Majority),
    ),
    Row::new(
        "ended-resignation",
        "A game ends once by a resignation, whoever is to move",
        &["forfeit.once", "verdict.resign", "forfeit.winner", "forfeit.score"],
        ADVICE,
        resignation,
    ),
    Row::new(
        "ended-illegal-move",
        "A game ends once by an illegal move",
        &["forfeit.once", "verdict.illegal-loses", "forfeit.winner", "forfeit.score"],
        ADVICE,
        illegal_move,
    ),
    Row::new(
        "ended-time-forfeit",
        "A game ends once where a side's time is over",
        &["forfeit.once", "clock.flag", "forfeit.winner", "forfeit.score"],
        ADVICE,
        time_forfeit,
    )
    .slow(),
    Row::new(
        "ended-aborted",
        "A game without a first ply ends once, and nobody wins",
        &["forfeit.once", "forfeit.no-show", "forfeit.challenge", "forfeit.none-unrated"],
        ADVICE,
        aborted,
    )
    .slow(),
];

/// A game that somebody watches.
fn watched(at: &mut Desk<'_>, south: Bot, north: Bot, pool: &Pool) -> Step<(Game, Bot)> {
    let game = at.game_between(south, north, pool)?;
    let watcher = at.guest()?;
    at.say(watcher, &json!({"type": "watch", "game": game.id}));
    at.expect(watcher, "started")?;
    Ok((game, watcher))
}

/// The end is told once, to all the same, and nothing of the game comes after it.
fn once(at: &mut Desk<'_>, game: &Game, watcher: Bot, termination: &str, result: &str, time: Duration) -> Step<Value> {
    let ended = at.ended_within(game, termination, result, time)?;
    let seen = at.skip_to(watcher, "ended")?;
    if seen != ended {
        return at.fault("session.watch", &ended.to_string(), &seen.to_string());
    }
    for bot in [game.south, game.north] {
        at.say(bot, &json!({"type": "move", "game": game.id, "pit": 0, "ref": "over"}));
        at.expect_error(bot, "game_over", "over")?;
    }
    [game.south, game.north, watcher].into_iter().try_for_each(|bot| at.quiet(bot))?;
    Ok(ended)
}

fn by_rules(at: &mut Desk<'_>, ending: Ending) -> Step {
    let (south, north) = (at.guest()?, at.guest()?);
    let mut calm = at.pools(south).into_iter().filter(Pool::is_calm);
    let Some((moves, pool)) = calm.find_map(|pool| Some((line_of(pool.rules, ending)?, pool))) else {
        return skip(format!("in no pool of the server a short game ends by {ending}"));
    };
    let (mut game, watcher) = watched(at, south, north, &pool)?;
    at.play(&mut game, &moves)?;
    let result = game.line.winner().map_or_else(|| "draw".to_owned(), |side| side.to_string());
    let ended = once(at, &game, watcher, &ending.to_string(), &result, at.patience)?;
    has_score(at, &ended, game.line.score().south, game.line.score().north)
}

/// The loop of `spec/rules.md` where it ends so, or a game of random plies.
fn line_of(rules: EndRules, ending: Ending) -> Option<Vec<Pit>> {
    if ending == Ending::Repetition && rules == EndRules::default() {
        return Some(pits("240315042315042315042"));
    }
    let may = match ending {
        Ending::Immobile => true,
        Ending::Repetition => rules.repetition > 0,
        // The search finds no other.
        Ending::QuietPlies => (1..20).contains(&rules.quiet_plies),
        Ending::Majority => rules.majority,
    };
    may.then(|| search::line_ending(rules, ending))?
}

fn has_score(at: &Desk<'_>, ended: &Value, south: u8, north: u8) -> Step {
    let score = json!({"south": south, "north": north});
    if ended["score"] == score {
        return Ok(());
    }
    at.fault("forfeit.score", &format!("ended with the score {score}"), &ended.to_string())
}

/// A watched game in a calm pool after some plies, the turn read.
fn under_way(at: &mut Desk<'_>) -> Step<(Game, Bot)> {
    let (south, north) = (at.guest()?, at.guest()?);
    let pool = at.calm(south)?;
    let (mut game, watcher) = watched(at, south, north, &pool)?;
    at.play(&mut game, &pits(MOVES))?;
    at.turn(&game)?;
    Ok((game, watcher))
}

/// The score of an end that is not by the rules: what was captured so far.
fn has_captures(at: &Desk<'_>, ended: &Value, game: &Game) -> Step {
    let captured = game.line.position().captured();
    has_score(at, ended, captured.south, captured.north)
}

fn resignation(at: &mut Desk<'_>) -> Step {
    for by_mover in [true, false] {
        let (game, watcher) = under_way(at)?;
        let mover = game.line.position().side();
        let (bot, winner) = if by_mover { (game.mover(), mover.other()) } else { (game.waiting(), mover) };
        at.say(bot, &game.resign());
        let ended = once(at, &game, watcher, "resignation", &winner.to_string(), at.patience)?;
        has_captures(at, &ended, &game)?;
    }
    Ok(())
}

fn illegal_move(at: &mut Desk<'_>) -> Step {
    let (game, watcher) = under_way(at)?;
    let mover = game.line.position().side();
    let foreign = Pit::ALL.into_iter().find(|pit| pit.owner() != mover);
    let Some(pit) = foreign else { return skip("there is no such pit") };
    at.say(game.mover(), &game.r#move(pit));
    let ended = once(at, &game, watcher, "illegal_move", &mover.other().to_string(), at.patience)?;
    has_captures(at, &ended, &game)
}

fn time_forfeit(at: &mut Desk<'_>) -> Step {
    let (south, north) = (at.guest()?, at.guest()?);
    let pool = at.fast(south)?;
    let (mut game, watcher) = watched(at, south, north, &pool)?;
    at.play(&mut game, &pits(MOVES))?;
    let left = pool.left(&at.turn(&game)?);
    let winner = game.line.position().side().other().to_string();
    let ended = once(at, &game, watcher, "time_forfeit", &winner, left + at.patience)?;
    has_captures(at, &ended, &game)
}

fn aborted(at: &mut Desk<'_>) -> Step {
    let (south, north) = (at.guest()?, at.guest()?);
    let pool = at.fast(south)?;
    let (game, watcher) = watched(at, south, north, &pool)?;
    let begun = Instant::now();
    at.turn(&game)?;
    let ended = once(at, &game, watcher, "aborted", "none", pool.clock().min(NO_SHOW) + at.patience)?;
    if begun.elapsed() < pool.clock().min(NO_SHOW) / 2 {
        return at.fault(
            "forfeit.no-show",
            "the game is left its time",
            &format!("after {:?} {ended}", begun.elapsed()),
        );
    }
    has_score(at, &ended, 0, 0)
}
