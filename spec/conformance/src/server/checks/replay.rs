//! Every message of a game that was played, sent once more.

use super::Row;
use crate::report::Step;
use crate::search::Dice;
use crate::server::desk::{Bot, Desk, End, Heard};
use crate::server::game::pits;
use serde_json::{Value, json};

/// Orders that are tried.
const SHUFFLES: u64 = 4;

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "replay-in-order",
        "Moves that are sent again are duplicates; after the end nothing is played again",
        &["verdict.duplicate", "verdict.game-over", "session.challenge-first", "session.second-hello"],
        "Judge a message by the state of its game when it comes: a ply that was played is duplicate, an ended game game_over.",
        in_order,
    ),
    Row::new(
        "replay-shuffled",
        "The messages of others' game, in any order, on a new connection, lead to nothing",
        &["verdict.wrong-game", "session.challenge-first", "session.second-hello", "session.hello-first"],
        "Hold ids against the bot that sends them, on every message, in whatever order they come.",
        shuffled,
    ),
];

/// What was said in a game that is over: all of both sides.
struct Recorded {
    south: Bot,
    messages: Vec<Value>,
}

/// Plays a game, with each move sent again in it; both sides are gone afterwards.
fn record(at: &mut Desk<'_>) -> Step<Recorded> {
    let (south, north) = (at.guest()?, at.guest()?);
    let pool = at.calm(south)?;
    let mut game = at.game_between(south, north, &pool)?;
    let mut messages = vec![
        json!({"type": "hello", "protocol": 1}),
        json!({"type": "challenge", "opponent": at.name(north), "pool": pool.name, "side": "south"}),
        json!({"type": "accept", "challenge": NO_CHALLENGE}),
    ];
    for pit in pits("240315") {
        at.turn(&game)?;
        let (mover, ply) = (game.mover(), game.line.position().ply());
        let mut message = game.r#move(pit);
        message["ply"] = json!(ply);
        at.send_pit(&mut game, pit)?;
        let mut again = message.clone();
        again["ref"] = json!("again: in the game");
        at.say(mover, &again);
        at.expect_error(mover, "duplicate", "again: in the game")?;
        messages.push(message);
    }
    at.turn(&game)?;
    at.give_up(&game)?;
    messages.push(game.resign());
    for bot in [south, north] {
        at.end(bot, End::Fin);
        at.expect_close(bot)?;
    }
    Ok(Recorded { south, messages })
}

/// An id of a challenge that nobody made.
const NO_CHALLENGE: &str = "c0";

fn in_order(at: &mut Desk<'_>) -> Step {
    let recorded = record(at)?;
    let back = at.come_back(recorded.south)?;
    for message in &recorded.messages {
        is_refused(at, back, message, "game_over", "again")?;
    }
    at.quiet(back)
}

fn shuffled(at: &mut Desk<'_>) -> Step {
    let Recorded { mut messages, .. } = record(at)?;
    for seed in 1..=SHUFFLES {
        Dice(seed).shuffle(&mut messages);
        let bot = at.guest()?;
        for message in &messages {
            is_refused(at, bot, message, "wrong_game", "mixed")?;
        }
        at.quiet(bot)?;
        without_hello(at, &messages)?;
    }
    Ok(())
}

/// Says it again; it is refused by the code that its type has, one about the game by this one.
fn is_refused(at: &mut Desk<'_>, bot: Bot, message: &Value, of_game: &str, how: &str) -> Step {
    let kind = message["type"].as_str().unwrap_or_default();
    let code = match kind {
        "hello" => "unexpected_hello",
        "challenge" => "unknown_bot",
        "accept" => "unknown_challenge",
        _ => of_game,
    };
    let (mut message, reference) = (message.clone(), format!("{how}: {kind}"));
    message["ref"] = json!(reference);
    at.say(bot, &message);
    at.expect_error(bot, code, &reference).map(drop)
}

/// Before a hello each of them is a bad line, and the third ends it.
fn without_hello(at: &mut Desk<'_>, messages: &[Value]) -> Step {
    let bot = at.connect()?;
    for message in messages.iter().filter(|message| message["type"] != "hello").take(3) {
        at.say(bot, message);
        match at.hear(bot)? {
            Heard::Line(line) if line["code"] == "expected_hello" => {}
            heard => return at.surprise("session.hello-first", "error expected_hello", &heard),
        }
    }
    at.expect_goodbye(bot, &["handshake"], at.patience)
}
