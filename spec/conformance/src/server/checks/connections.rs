//! Connections that say nothing, that end, and that are followed by another of the same bot.

use super::Row;
use crate::report::Step;
use crate::server::desk::{Bot, Desk, End, HANDSHAKE, Heard};
use crate::server::game::Game;
use modiar_rules::Pit;
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "silent-connection",
        "Who says no hello is seen off in time, whatever else was said",
        &["session.hello-deadline"],
        "Begin the time to a hello when the connection is made, and let no bad, empty or half line begin it anew.",
        silent_connection,
    )
    .slow(),
    Row::new(
        "slow-hello",
        "A hello that comes byte by byte counts in time, and not after it",
        &["session.hello-deadline", "transport.line"],
        "Hold the whole hello to one deadline, not each of its bytes, and wait for its newline until then.",
        slow_hello,
    )
    .slow(),
    Row::new(
        "fin-in-every-state",
        "A connection may end in every state, with its other side told and served",
        &["session.challenge-cancelled", "session.connection-scope", "session.resume", "transport.tcp"],
        "At the end of file close your half too, end the connection's challenges, and keep its games.",
        |at| ends_in_every_state(at, End::Fin),
    ),
    Row::new(
        "reset-in-every-state",
        "A connection may break in every state, with its other side told and served",
        &["session.challenge-cancelled", "session.connection-scope", "session.resume", "transport.tcp"],
        "Take a reset for an end like any other: end the connection's challenges, and keep its games.",
        |at| ends_in_every_state(at, End::Reset),
    ),
    Row::new(
        "newest-connection",
        "The same bot again while its old connection hangs: the newest counts, the old one is heard no more",
        &["session.newest-wins", "session.replaced-lines", "session.resume"],
        "At an accepted hello of a connected bot say goodbye replaced on the older connection, read nothing more there, and go on with its games here.",
        newest_connection,
    ),
    Row::new(
        "missed-once",
        "An ended that a reset may have lost is in the next welcome, once",
        &["session.missed", "session.resume-ending", "forfeit.once"],
        "Keep for each bot the ended of its last 10 s and of its absence, and repeat them in missed, each game once.",
        missed_once,
    ),
];

fn silent_connection(at: &mut Desk<'_>) -> Step {
    let said: [&[u8]; 4] = [b"", b"{\"type\":\"hel", b"\n\r\n\n", b"one bad line\n"];
    let mut bots = Vec::new();
    for bytes in said {
        let bot = at.connect()?;
        if !bytes.is_empty() {
            at.say_bytes(bot, bytes);
        }
        bots.push(bot);
    }
    bots.into_iter().try_for_each(|bot| at.expect_goodbye(bot, &["handshake"], HANDSHAKE + at.patience))
}

fn slow_hello(at: &mut Desk<'_>) -> Step {
    const HELLO: &[u8] = b"{\"type\":\"hello\",\"protocol\":1}\n";
    let bot = at.connect()?;
    for byte in HELLO {
        at.say_bytes(bot, &[*byte]);
        sleep(Duration::from_millis(50));
    }
    at.welcomed(bot)?;
    let (bot, begun) = (at.connect()?, Instant::now());
    for byte in HELLO {
        at.say_bytes(bot, &[*byte]);
        match at.hear_within(bot, Duration::from_secs(1))? {
            Heard::Silence(_) if begun.elapsed() < HANDSHAKE + at.patience => {}
            Heard::Line(line) if line["reason"] == "handshake" => return at.expect_close(bot),
            heard => return at.surprise("session.hello-deadline", "goodbye handshake", &heard),
        }
    }
    at.wrong("goodbye handshake", "nothing, to the hello's last byte")
}

/// What else was at a connection that ended.
enum Beside {
    Nobody,
    /// The other side of a challenge.
    Challenge(Bot),
    /// A game, and who of it is left.
    Game(Game, Bot),
}

/// Makes a connection in some state.
type State = fn(&mut Desk<'_>) -> Step<(Bot, Beside)>;

fn stranger(at: &mut Desk<'_>, said: &[u8]) -> Step<(Bot, Beside)> {
    let bot = at.connect()?;
    at.say_bytes(bot, said);
    Ok((bot, Beside::Nobody))
}

fn challenge(at: &mut Desk<'_>) -> Step<(Bot, Bot)> {
    let (from, to) = (at.guest()?, at.guest()?);
    let pool = at.calm(from)?;
    at.challenge(from, to, &pool)?;
    Ok((from, to))
}

const STATES: [State; 11] = [
    |at| Ok((at.connect()?, Beside::Nobody)),
    |at| stranger(at, b"{\"type\":\"hel"),
    |at| stranger(at, b"no hello\n"),
    |at| stranger(at, b"{\"type\":\"hello\",\"protocol\":1}\n"),
    |at| stranger(at, &[b'x'; 5000]),
    |at| Ok((at.guest()?, Beside::Nobody)),
    |at| challenge(at).map(|(from, to)| (from, Beside::Challenge(to))),
    |at| challenge(at).map(|(from, to)| (to, Beside::Challenge(from))),
    |at| {
        let game = at.game()?;
        Ok((game.south, Beside::Game(game.clone(), game.north)))
    },
    |at| {
        let game = at.game()?;
        Ok((game.north, Beside::Game(game.clone(), game.south)))
    },
    |at| {
        let bot = at.guest()?;
        at.say(bot, &json!({"type": "bye"}));
        Ok((bot, Beside::Nobody))
    },
];

fn ends_in_every_state(at: &mut Desk<'_>, end: End) -> Step {
    for state in STATES {
        let (bot, beside) = state(at)?;
        at.end(bot, end);
        if end == End::Fin {
            closes(at, bot)?;
        }
        match beside {
            Beside::Nobody => {}
            Beside::Challenge(other) => {
                let ended = at.expect(other, "challenge_ended")?;
                if ended["reason"] != "cancelled" {
                    return at.wrong("challenge_ended with the reason cancelled", &ended.to_string());
                }
                at.quiet(other)?;
            }
            Beside::Game(game, other) => {
                let back = at.come_back(bot)?;
                resumed(at, back, &game)?;
                at.say(other, &game.resign());
                at.skip_to(other, "ended")?;
                at.skip_to(back, "ended")?;
            }
        }
    }
    let last = at.guest()?;
    at.quiet(last)
}

/// The server closes its half too; what it says before does not matter.
fn closes(at: &mut Desk<'_>, bot: Bot) -> Step {
    let deadline = Instant::now() + at.patience;
    loop {
        match at.hear_within(bot, deadline.saturating_duration_since(Instant::now()))? {
            Heard::Line(_) => {}
            Heard::Closed => return Ok(()),
            heard => return at.surprise("transport.tcp", "a close, for nothing more can be said there", &heard),
        }
    }
}

/// The welcome lists the game, and `started` follows: it.
fn resumed(at: &mut Desk<'_>, bot: Bot, game: &Game) -> Step<Value> {
    if at.welcome(bot)["games"] != json!([game.id]) {
        let games = at.welcome(bot)["games"].to_string();
        return at.fault("session.resume", &format!("welcome with the games [\"{}\"]", game.id), &games);
    }
    let started = at.expect(bot, "started")?;
    if started["game"] == game.id && started["resumed"] == true {
        return Ok(started);
    }
    at.fault("session.resume", "started of the game, resumed", &started.to_string())
}

fn newest_connection(at: &mut Desk<'_>) -> Step {
    let mut game = at.game()?;
    let old = game.south;
    at.turn(&game)?;
    let resign = game.resign().to_string();
    let (half, rest) = resign.split_at(resign.len() / 2);
    at.say_bytes(old, half.as_bytes());
    game.south = at.come_back(old)?;
    resumed(at, game.south, &game)?;
    at.turn(&game)?;
    at.say_bytes(old, format!("{rest}\n{resign}\n").as_bytes());
    at.expect_goodbye(old, &["replaced"], at.patience)?;
    at.send_pit(&mut game, Pit::ALL[0])?;
    at.turn(&game)?;
    at.give_up(&game).map(drop)
}

fn missed_once(at: &mut Desk<'_>) -> Step {
    // Gone before, with, and after the word that ends the game; and after it was told.
    for round in 0..4 {
        let mut game = at.game()?;
        at.play(&mut game, &Pit::ALL[2..3])?;
        if round == 0 {
            at.end(game.north, End::Reset);
        }
        at.say(game.south, &game.resign());
        let told = (round == 2).then(|| at.expect(game.south, "ended")).transpose()?;
        if round > 0 {
            at.end(game.north, End::Reset);
        }
        let told = told.map_or_else(|| at.expect(game.south, "ended"), Ok)?;
        let back = at.come_back(game.north)?;
        let missed = at.welcome(back)["missed"].clone();
        let of_game: Vec<&Value> =
            missed.as_array().into_iter().flatten().filter(|end| end["game"] == game.id).collect();
        match of_game[..] {
            // Its result is not stored yet: then the end follows.
            [] if at.welcome(back)["games"] == json!([game.id]) => {
                at.expect(back, "started")?;
                let ended = at.expect(back, "ended")?;
                same(at, &told, &ended)?;
            }
            [ended] => same(at, &told, ended)?,
            _ => return at.wrong(&format!("one ended of {} in missed", game.id), &missed.to_string()),
        }
        at.quiet(back)?;
    }
    Ok(())
}

fn same(at: &Desk<'_>, told: &Value, ended: &Value) -> Step {
    if told == ended { Ok(()) } else { at.fault("forfeit.once", &told.to_string(), &ended.to_string()) }
}
