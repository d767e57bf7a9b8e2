//! How a bot comes and goes.

use super::{Check, Seat};
use crate::bot::play::Next;
use crate::bot::referee::{Heard, Referee, Step, TOKEN};
use crate::report::skip;
use serde_json::json;
use std::time::{Duration, Instant};

/// The most games that a bot is let play to its end.
const MOST_GAMES: usize = 4;
/// How long welcome is held back, and how long a bot must not act on what did not come.
const HELD: Duration = Duration::from_millis(150);
/// How long a bot may take to find that its stdin is at its end.
const STDIN_READ: Duration = Duration::from_secs(1);
/// The pause of a penalised seek.
const PAUSE: Duration = Duration::from_millis(700);
/// What clocks that read whole milliseconds may differ.
const ROUNDING: Duration = Duration::from_millis(5);
/// The most hellos with a token that was refused.
const TRIES: usize = 3;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "hello-first",
        "says hello first, and nothing more until welcome",
        &["session.hello-first"],
        "Send one hello when the connection stands, and wait for welcome before you seek: what comes earlier is answered expected_hello, and three such lines end the connection.",
        hello_first,
    ),
    Check::new(
        "token-sent",
        "sends the name and the token of its environment",
        &["session.auth-failed"],
        "Read MODIAR_NAME and MODIAR_TOKEN from the environment, and send them as name and token of every hello.",
        token_sent,
    )
    .seated(Seat::Registered),
    Check::new(
        "secret-kept",
        "writes no token to stdout or stderr",
        &["session.auth-failed"],
        "Never print or log the token: leave it out where you print settings, a hello, or the lines of a connection.",
        secret_kept,
    )
    .seated(Seat::Registered),
    Check::new(
        "wrong-token",
        "stops with words and a status that is not 0 where its token is refused",
        &["session.auth-failed", "limits.failed-logins"],
        "Stop at auth_failed: say on stderr that name and token do not belong together, and exit with a status that is not 0. The same token is refused again, and after 20 in a minute the address is held off.",
        wrong_token,
    )
    .seated(Seat::Registered),
    Check::new(
        "stdin-closed",
        "plays though its stdin is at its end",
        &["transport.tcp"],
        "Do not read stdin, or take its end for nothing: services and arenas start bots without one.",
        |at| {
            at.begin()?;
            at.hear_move()?;
            at.quiet(STDIN_READ, "the bot to stay")?;
            at.exchange(1)
        },
    )
    .seated(Seat::StdinClosed),
    Check::new(
        "penalised-seek",
        "seeks again after a penalty, and not before until_ms",
        &["forfeit.penalty"],
        "At seek_ended with reason penalised wait until until_ms (Unix time in ms), then seek again: sooner it is refused once more.",
        penalised_seek,
    ),
    Check::new(
        "challenge-comes",
        "lives on where another bot challenges it",
        &["session.challenge"],
        "Answer challenged by accept or decline, or ignore it: it expires by itself.",
        challenge_comes,
    ),
    Check::new(
        "exits-when-done",
        "ends with status 0 once its games are played",
        &["session.seek-done", "session.bye"],
        "When seek_ended says done and no game runs, send bye, read goodbye for a second at most, and exit with status 0.",
        exits_when_done,
    ),
];

fn hello_first(at: &mut Referee<'_>) -> Step {
    at.arrive()?;
    at.quiet(HELD, "nothing before welcome")?;
    at.welcome(&[]);
    at.hear_seek()
}

fn token_sent(at: &mut Referee<'_>) -> Step {
    let hello = at.arrive()?;
    let token = hello.token.as_ref().map(|token| token.expose().to_owned());
    if token.as_deref() != Some(TOKEN) {
        let came = if token.is_some() { "another token" } else { "no token" };
        return at.fault_text(at.clause(), "the token of MODIAR_TOKEN", came.to_owned());
    }
    if hello.name.is_none() {
        return at.fault_text(at.clause(), "the name of MODIAR_NAME", "no name".to_owned());
    }
    Ok(())
}

fn secret_kept(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.exchange(2)?;
    at.opponent_resigns();
    at.goes_on()?;
    at.process.ends_within(HELD);
    match at.process.leak() {
        Some(stream) => at.fault_text(at.clause(), "no token in its output", format!("it was written to {stream}")),
        None => Ok(()),
    }
}

fn wrong_token(at: &mut Referee<'_>) -> Step {
    let deadline = Instant::now() + at.patience;
    let mut refused = 0;
    at.arrive()?;
    while refused < TRIES {
        refused += 1;
        at.refuse("auth_failed", "name and token do not belong together; check both");
        // Another hello on the same connection, or on a new one, is another try.
        match at.hear(deadline.saturating_duration_since(Instant::now()))? {
            Heard::Said(again) => at.hello_ref = again.reference,
            Heard::Silence(_) => break,
            Heard::Closed => {
                if !at.accept_within(deadline.saturating_duration_since(Instant::now()))? {
                    break;
                }
                at.hear(at.patience)?;
            }
        }
    }
    at.process.read_out();
    match at.process.status() {
        None => at.fault_text(at.clause(), "the bot stops", format!("it went on after {refused} refused hellos")),
        Some(0) => at.fault_text(at.clause(), "a status that is not 0", "status 0".to_owned()),
        Some(_) if at.process.stderr().trim().is_empty() => {
            at.fault_text(at.clause(), "words on stderr", "none".to_owned())
        }
        Some(_) => Ok(()),
    }
}

fn penalised_seek(at: &mut Referee<'_>) -> Step {
    at.arrive()?;
    at.welcome(&[]);
    let seek = at.hear_refused_seek()?;
    let until = std::time::UNIX_EPOCH.elapsed().unwrap_or_default() + PAUSE;
    at.say(&json!({
        "type": "seek_ended", "pool": seek.pool, "reason": "penalised",
        "until_ms": u64::try_from(until.as_millis()).unwrap_or(u64::MAX),
        "message": "the bot made no first move in a game that it had sought; seek only when it can play",
    }));
    at.hear_seek()?;
    let early = until.saturating_sub(std::time::UNIX_EPOCH.elapsed().unwrap_or_default());
    if early > ROUNDING {
        return at.fault_text(at.clause(), "no seek before until_ms", format!("one {early:?} before it"));
    }
    at.start(modiar_rules::Side::South, "")?;
    at.hear_move().map(drop)
}

fn challenge_comes(at: &mut Referee<'_>) -> Step {
    let challenged = |digit: char| {
        json!({
            "type": "challenged", "challenge": format!("c{}", digit.to_string().repeat(32)), "from": {"name": "Loubna"},
            "pool": "practice", "side": "random", "rated": false, "games": 1, "expires_ms": 60_000,
        })
    };
    at.sit()?;
    at.say(&challenged('a'));
    at.start(modiar_rules::Side::South, "")?;
    at.hear_move()?;
    at.say(&challenged('b'));
    at.exchange(2)
}

fn exits_when_done(at: &mut Referee<'_>) -> Step {
    at.sit()?;
    if at.seek.as_ref().is_some_and(|seek| seek.left.is_none()) {
        return skip("the bot wanted games without end; give it a number, as with --games 2");
    }
    loop {
        at.short_game()?;
        if at.seek.is_none() && matches!(at.next()?, Next::Leaves) {
            break;
        }
        if at.games.len() == MOST_GAMES {
            return skip("the bot wanted more than 4 games; let it play two, as with --games 2");
        }
    }
    match at.process.ends_within(at.patience) {
        Some(0) => Ok(()),
        Some(status) => at.fault_text(at.clause(), "an end with status 0", format!("status {status}")),
        None => at.fault_text(at.clause(), "an end with status 0", "the bot still runs".to_owned()),
    }
}
