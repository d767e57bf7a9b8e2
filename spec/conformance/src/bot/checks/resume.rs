//! A link that breaks, in every state of a game.

use super::{Check, Seat};
use crate::bot::referee::{Referee, Step};
use modiar_rules::Side;
use serde_json::Value;
use std::time::Duration;

/// How long the opponent thinks after the bot's return.
const THOUGHT: Duration = Duration::from_millis(250);

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "back-while-seeking",
        "comes back and seeks again where the link breaks before a game",
        &["session.connection-scope"],
        "A seek ends with its connection: after the welcome of a new one, with no games in it, seek again.",
        back_while_seeking,
    ),
    Check::new(
        "back-on-its-turn",
        "comes back to its own turn, of which half a line had come",
        &["session.resume", "transport.line"],
        "Begin each connection with an empty read buffer: half a line of the old one is no part of the new. Answer the turn that follows started.",
        back_on_its_turn,
    ),
    Check::new(
        "back-on-other-turn",
        "comes back while the opponent is to move, and waits",
        &["session.resume", "verdict.not-your-turn"],
        "After a return move only where turn follows started: the game may be the opponent's to move.",
        back_on_other_turn,
    ),
    Check::new(
        "same-answer",
        "answers a turn that is told again with the same pit",
        &["session.resume", "verdict.stale-ply"],
        "Remember the pit for (game, ply), and send it again with ply where the same turn comes again: the first may have counted.",
        same_answer,
    ),
    Check::new(
        "guest-comes-back",
        "comes back as the same guest: with its name and resume token",
        &["session.guest-resume"],
        "Keep bot.name and resume of the newest welcome and send both in the next hello: without them you are another guest, and your game runs out of time.",
        guest_comes_back,
    ),
    Check::new(
        "missed-end",
        "counts a game that ended while it was away",
        &["session.missed"],
        "Read missed of welcome: each is an ended that you have not read. Count it, forget the game, and seek what is left or leave.",
        missed_end,
    ),
    Check::new(
        "end-told-twice",
        "counts a game once whose end is told twice",
        &["session.missed"],
        "Count games by their id: missed of welcome may repeat an ended that you have read.",
        end_told_twice,
    ),
    Check::new(
        "missed-before",
        "does not count games of before it was started",
        &["session.missed"],
        "What missed of the first welcome tells ended before your program began: it is none of the games that you want to play now.",
        missed_before,
    )
    .seated(Seat::Registered),
];

fn back_while_seeking(at: &mut Referee<'_>) -> Step {
    at.sit()?;
    at.cut();
    at.begin()?;
    at.exchange(1)
}

fn back_on_its_turn(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.hear_move()?;
    at.plays_unseen()?;
    let turn = at.game().turn();
    let line = at.style.line(&turn);
    at.say_text(&line[..line.len() / 2]);
    at.cut();
    at.back(&[])?;
    at.exchange(2)
}

fn back_on_other_turn(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.hear_move()?;
    at.cut();
    at.arrive()?;
    at.resume(&[]);
    at.quiet(THOUGHT, "no move on the opponent's turn")?;
    at.exchange(2)
}

fn same_answer(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.exchange(1)?;
    at.reply()?;
    let (before, last) = (at.game().line.clone(), at.game().last);
    let first = at.hear_move()?;
    // It got lost on its way.
    at.game().take_back(before, last);
    at.cut();
    at.back(&[])?;
    let second = at.hear_move()?;
    if first != second {
        return at.fault_text(at.clause(), &format!("pit {first} again"), format!("pit {second}"));
    }
    at.exchange(1)
}

fn guest_comes_back(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.hear_move()?;
    let name = at.name();
    at.cut();
    let hello = at.arrive()?;
    let same_name = hello.name.as_ref().is_some_and(|again| again.to_string() == name);
    let resume = hello.resume.as_ref().map(|resume| resume.expose() == crate::bot::referee::RESUME);
    match (same_name, resume) {
        (true, Some(true)) => {}
        (false, _) => return at.fault_text(at.clause(), &format!("the name {name}"), "another".to_owned()),
        (true, None) => return at.fault_text(at.clause(), "welcome's resume", "none".to_owned()),
        (true, Some(false)) => return at.fault_text(at.clause(), "welcome's resume", "another".to_owned()),
    }
    at.plays_unseen()?;
    at.resume(&[]);
    at.exchange(2)
}

/// A short game whose end the bot does not read; what was left of its seek behind it.
fn lose_an_end(at: &mut Referee<'_>) -> Step<(Value, Option<u64>)> {
    at.begin()?;
    at.hear_move()?;
    let left = at.seek.as_ref().and_then(|seek| seek.left);
    at.cut();
    let game = at.game();
    let ended = game.ended_by(Some(game.side), "resignation");
    game.ended = Some(ended.clone());
    Ok((ended, left.map(|left| left - 1)))
}

fn missed_end(at: &mut Referee<'_>) -> Step {
    let (ended, left) = lose_an_end(at)?;
    at.back(&[ended])?;
    let wants_more = at.wants_more()?;
    let sought = at.seek.as_ref().and_then(|seek| seek.left);
    match left {
        // Who asks for one game a seek may want another; who asked for more has told how many.
        Some(left) if left > 0 && wants_more && sought != Some(left) && sought != Some(1) => at.fault_text(
            at.clause(),
            &format!("a seek for the {left} left"),
            sought.map_or_else(|| "a seek without end".to_owned(), |sought| format!("a seek for {sought}")),
        ),
        Some(left) if left > 0 && !wants_more => {
            at.fault_text(at.clause(), &format!("a seek for the {left} left"), "the bot left".to_owned())
        }
        _ => Ok(()),
    }
}

fn end_told_twice(at: &mut Referee<'_>) -> Step {
    at.sit()?;
    at.short_game()?;
    at.need_second()?;
    let ended = at.game().ended.clone();
    at.cut();
    at.back(&ended.into_iter().collect::<Vec<_>>())?;
    at.hear_seek()?;
    at.start(Side::South, "")?;
    at.hear_move().map(drop)
}

fn missed_before(at: &mut Referee<'_>) -> Step {
    at.arrive()?;
    let old: Vec<Value> = at.old_ends();
    at.welcome(&old);
    at.hear_seek()?;
    at.start(Side::South, "")?;
    at.exchange(2)
}
