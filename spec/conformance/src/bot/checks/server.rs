//! A server that stops, comes back, or wants the bot away.

use super::Check;
use crate::bot::referee::{Heard, Referee, Step};
use serde_json::json;
use std::time::{Duration, Instant};

/// How long a restarted server listens to nobody.
const RESTART: Duration = Duration::from_millis(600);
/// How long a bot that was sent away is watched.
const AWAY: Duration = Duration::from_millis(1200);
/// How long the tries of a bot that finds no server are counted, and how many they may be.
const COUNTED: Duration = Duration::from_millis(1500);
const TRIES: usize = 10;
/// How long a seek is waited for before the next connection is closed.
const SEEK: Duration = Duration::from_millis(100);
/// How long no seek must follow one that was refused for a drain.
const DRAIN: Duration = Duration::from_millis(300);

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "server-restart",
        "comes back to its game after a restart of the server",
        &["session.kill", "session.resume"],
        "Take a refused connection for a failed try as long as a game runs: wait, longer each time, and try again. The game goes on after the restart.",
        server_restart,
    ),
    Check::new(
        "turned-away",
        "tries again where the full server turns it away on its return",
        &["limits.connections"],
        "At too_many_connections wait and come back as after a lost link: your game still runs.",
        turned_away,
    ),
    Check::new(
        "reconnects-spaced",
        "spaces its tries where the server closes each of them at once",
        &["session.resume"],
        "Wait between tries, a time by chance whose bound doubles from 0.25 s to 15 s, and begin anew once a move of yours has counted, or a connection stood for 10 s.",
        reconnects_spaced,
    ),
    Check::new(
        "seeking-loop",
        "spaces its tries where the server closes each of them once it seeks",
        &["session.resume"],
        "Begin the pauses anew neither at welcome nor at seeking: a server that breaks down says both, too.",
        seeking_loop,
    ),
    Check::new(
        "turn-loop",
        "spaces its tries where the server closes each of them at its turn",
        &["session.resume"],
        "Begin the pauses anew where a later turn of the game comes than the one you answered, or its end: the same turn again is no step.",
        turn_loop,
    ),
    Check::new(
        "notice-draining",
        "plays on after the notice that the server drains",
        &["session.drain", "session.drain-suspend"],
        "At notice draining play your games on: they may end before until_ms, and go on after the restart where not.",
        notice_draining,
    ),
    Check::new(
        "goodbye-draining",
        "comes back after goodbye draining",
        &["session.drain-suspend", "session.resume"],
        "Take goodbye draining for a lost link: wait and come back, for the game is suspended, not over.",
        goodbye_draining,
    ),
    Check::new(
        "seek-draining",
        "does not seek again and again on a server that drains",
        &["session.drain"],
        "Where a seek ends draining, or is answered by the error draining, seek no more on this connection: wait for the server to go, come back, and seek then.",
        seek_draining,
    ),
    Check::new(
        "banned",
        "stays away after goodbye banned",
        &["session.banned"],
        "After goodbye banned do not come back: tell the host's words, and exit with a status that is not 0.",
        |at| sent_away(at, "banned", "the host keeps this bot out: ask the host"),
    ),
    Check::new(
        "replaced",
        "stays away after goodbye replaced",
        &["session.newest-wins"],
        "After goodbye replaced do not come back: another program is this bot now, and the two would throw each other out for ever.",
        |at| sent_away(at, "replaced", "this bot connected anew"),
    ),
];

fn server_restart(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.exchange(1)?;
    at.stop_for(RESTART)?;
    at.back(&[])?;
    at.exchange(2)
}

fn turned_away(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.hear_move()?;
    at.cut();
    for _ in 0..2 {
        at.arrive()?;
        at.say_error("too_many_connections", "the server has its fill of connections", json!({"fatal": true}));
        at.cut();
    }
    at.back(&[])?;
    at.exchange(2)
}

fn reconnects_spaced(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.hear_move()?;
    spaced(at, |_| Ok(()))
}

fn seeking_loop(at: &mut Referee<'_>) -> Step {
    at.sit()?;
    spaced(at, |at| {
        at.hear_hello()?;
        at.welcome(&[]);
        at.hear_seek_within(SEEK)
    })
}

fn turn_loop(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.hear(at.patience)?;
    spaced(at, |at| {
        at.hear_hello()?;
        at.resume(&[]);
        // Its move gets lost.
        at.hear(at.patience).map(drop)
    })
}

/// Few tries come in some time, where the server closes each of them after this.
fn spaced(at: &mut Referee<'_>, meet: fn(&mut Referee<'_>) -> Step) -> Step {
    at.cut();
    let end = Instant::now() + COUNTED;
    let mut tries = 0;
    while at.accept_within(end.saturating_duration_since(Instant::now()))? {
        tries += 1;
        meet(at)?;
        at.cut();
        if tries > TRIES {
            let came = format!("{tries} in {:?}", COUNTED - end.saturating_duration_since(Instant::now()));
            return at.fault_text(at.clause(), &format!("at most {TRIES} connections in {COUNTED:?}"), came);
        }
    }
    match at.process.status() {
        Some(status) => at.fault_text(at.clause(), "a bot that tries again", format!("an end with status {status}")),
        None => Ok(()),
    }
}

fn notice_draining(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.hear_move()?;
    at.say(&draining());
    at.exchange(3)
}

fn goodbye_draining(at: &mut Referee<'_>) -> Step {
    at.begin()?;
    at.hear_move()?;
    at.say_goodbye("draining", "the server stops; come back after the restart");
    at.back(&[])?;
    at.exchange(2)
}

fn seek_draining(at: &mut Referee<'_>) -> Step {
    at.arrive()?;
    at.welcome(&[]);
    let seek = at.hear_refused_seek()?;
    let reference = seek.reference.map_or_else(|| json!({}), |reference| json!({"ref": reference}));
    at.say_error("draining", "the server is about to stop; come back later", reference);
    match at.hear(DRAIN)? {
        Heard::Silence(_) => at.say_goodbye("draining", "the server stops; come back after the restart"),
        // It did not wait for the goodbye.
        Heard::Closed => {}
        heard => return at.fault(at.clause(), "no other seek on this connection", &heard),
    }
    at.begin()?;
    at.exchange(1)
}

fn draining() -> serde_json::Value {
    let message = "the server stops; games may end until then, and go on after the restart";
    json!({"type": "notice", "code": "draining", "message": message, "until_ms": 1_796_083_200_000_u64})
}

fn sent_away(at: &mut Referee<'_>, reason: &str, message: &str) -> Step {
    at.begin()?;
    at.hear_move()?;
    at.say_goodbye(reason, message);
    if at.accept_within(AWAY)? {
        return at.fault_text(at.clause(), "no connection more", "another one".to_owned());
    }
    Ok(())
}
