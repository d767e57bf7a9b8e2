//! Many connections, and one that never reads.

use super::Row;
use crate::report::{Step, skip};
use crate::search;
use crate::server::desk::{Bot, Desk, Heard};
use crate::server::game::{Game, Pool};
use modiar_rules::{Line, Pit, Side};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Connections at the same time: with those of other checks below what one address has where the host sets nothing.
const MANY: usize = 150;
/// More games than any limit of what may wait lets a connection have unread: some 20 KB each.
const GAMES: u32 = 400;
/// The longest time of a write (`session.slow-reader`): a server may hear nothing of whom it cannot tell anything.
const WRITE: Duration = Duration::from_secs(10);
/// Between two looks whether a connection is still there.
const LOOK: Duration = Duration::from_millis(100);

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "many-connections",
        "150 bots at the same time are welcomed, and served",
        &["limits.connections", "session.guest-name"],
        "Take connections while others are served, and give each guest a name of its own.",
        many_connections,
    ),
    Row::new(
        "slow-reader",
        "Who never reads is dropped, and its game goes on with it or without",
        &["session.slow-reader", "session.resume"],
        "Bound what waits for a connection in bytes and in time, close one that is beyond without a goodbye, and let nobody else wait for it.",
        slow_reader,
    )
    .slow(),
];

fn many_connections(at: &mut Desk<'_>) -> Step {
    let mut bots = Vec::new();
    for _ in 0..MANY {
        let bot = at.connect()?;
        at.say(bot, &json!({"type": "hello", "protocol": 1}));
        bots.push(bot);
    }
    let mut names = BTreeSet::new();
    for bot in &bots {
        at.welcomed(*bot)?;
        names.insert(at.name(*bot));
    }
    if names.len() < MANY {
        return at.fault("session.guest-name", "a name for each", &format!("{} names for {MANY} guests", names.len()));
    }
    bots.into_iter().try_for_each(|bot| at.quiet(bot))
}

/// One side reads nothing from its welcome on, and plays a series: its moves are known beforehand, and an accepted move is
/// free.
fn slow_reader(at: &mut Desk<'_>) -> Step {
    let long = "\u{10348}".repeat(64);
    let updates = json!({"updates": true, "client": long, "version": long});
    let (slow, other) = (at.guest_with(updates.clone())?, at.guest_with(updates)?);
    let pool = at.calm(slow)?;
    let moves = search::long_line(pool.rules);
    if moves.is_empty() {
        return skip("no random game ends by the rules of the pool with the most time");
    }
    let challenge = json!({"type": "challenge", "opponent": at.name(slow), "pool": pool.name, "games": GAMES});
    at.say(other, &challenge);
    let sent = at.expect(other, "challenge_sent")?;
    at.say(slow, &json!({"type": "accept", "challenge": sent["challenge"]}));
    for _ in 0..GAMES {
        match play_unread(at, slow, other, &pool, &moves)? {
            Played::ToTheEnd => {}
            Played::Dropped(games) => return comes_back(at, slow, other, &games),
        }
    }
    at.wrong("a close of who reads nothing", &format!("{GAMES} games of {} plies were played", moves.len()))
}

/// What became of a game whose one side reads nothing.
enum Played {
    ToTheEnd,
    /// Who reads nothing was dropped; the game that is left, if one is.
    Dropped(Vec<String>),
}

fn play_unread(at: &mut Desk<'_>, slow: Bot, other: Bot, pool: &Pool, moves: &[Pit]) -> Step<Played> {
    let started = match at.hear(other)? {
        Heard::Line(line) if line["type"] == "started" => line,
        Heard::Line(line) if line["type"] == "challenge_ended" => return Ok(Played::Dropped(Vec::new())),
        heard => return at.surprise("session.series", "started", &heard),
    };
    let (south, north) = if started["side"] == "south" { (other, slow) } else { (slow, other) };
    let id = started["game"].as_str().unwrap_or_default().to_owned();
    let mut game = Game { id, south, north, line: Line::new(pool.rules) };
    for pit in moves {
        let (mover, side) = (game.mover(), game.line.position().side());
        at.send_pit(&mut game, *pit)?;
        if !is_heard(at, other, side, (mover == slow).then_some(slow))? {
            return Ok(Played::Dropped(vec![game.id]));
        }
    }
    at.skip_to(other, "ended")?;
    Ok(Played::ToTheEnd)
}

/// Whether this side's ply was played, as who reads is told. It must be, but for one of `slow`, who may be gone.
fn is_heard(at: &mut Desk<'_>, other: Bot, side: Side, slow: Option<Bot>) -> Step<bool> {
    let deadline = Instant::now() + WRITE + at.patience;
    loop {
        match at.hear_within(other, LOOK)? {
            Heard::Line(line) if line["type"] == "moved" && line["side"] == side.to_string() => return Ok(true),
            Heard::Line(_) => {}
            Heard::Silence(_) if slow.is_some_and(|slow| !at.is_open(slow)) => return Ok(false),
            Heard::Silence(_) if Instant::now() < deadline => {}
            heard => return at.surprise("session.slow-reader", "moved, or the close of who reads nothing", &heard),
        }
    }
}

/// Its game, if one is left, goes on, and ends for both.
fn comes_back(at: &mut Desk<'_>, slow: Bot, other: Bot, games: &[String]) -> Step {
    let back = at.come_back(slow)?;
    let told = at.welcome(back)["games"].clone();
    if told != json!(games) {
        return at.fault("session.resume", &format!("welcome with the games {}", json!(games)), &told.to_string());
    }
    for game in games {
        at.say(other, &json!({"type": "resign", "game": game}));
        at.skip_to(other, "ended")?;
        at.skip_to(back, "ended")?;
    }
    Ok(())
}
