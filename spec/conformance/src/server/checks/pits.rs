//! Every pit that no side may play, in every state of a game.

use super::Row;
use crate::report::{Step, skip};
use crate::search;
use crate::server::desk::{Bot, Desk, Heard};
use crate::server::game::{Game, Pool, pits};
use modiar_rules::{Illegal, Pit};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A text of an id's form that names no game.
const NO_GAME: &str = "g00000000000000000000000000000000";

/// What a server may take for its own delay where it has none (spec/clock.md), and more: it may have some.
const OWN: Duration = Duration::from_millis(500);

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "pits-in-time",
        "A pit that may not be played loses the game by its clause; what is no pit costs nothing",
        &["verdict.legality", "verdict.illegal-loses", "verdict.bad-field", "forfeit.winner"],
        "Ask the clauses of a pit in the order of spec/verdict.md, and end the game with detail; of what is no pit name the field.",
        |at| in_each_row(at, in_time),
    ),
    Row::new(
        "pits-late",
        "No pit is played once its side's time is over",
        &["verdict.deadline", "clock.flag", "verdict.bad-field"],
        "Look at the clock before the pit: who is late has lost by time_forfeit, whatever the pit.",
        late,
    )
    .slow(),
    Row::new(
        "pits-not-my-turn",
        "Out of turn every pit is answered not_your_turn, what is no pit bad_field",
        &["verdict.not-your-turn", "verdict.bad-field", "verdict.error-free"],
        "Ask whose turn it is before you ask whether the pit is legal, and change nothing.",
        |at| in_each_row(at, not_my_turn),
    ),
    Row::new(
        "pits-before-a-game",
        "Before a game every pit is answered wrong_game, what is no pit bad_field",
        &["verdict.wrong-game", "verdict.bad-field"],
        "Answer wrong_game for an id that nobody has, in whatever state the bot is.",
        |at| in_each_row(at, before_a_game),
    ),
    Row::new(
        "pits-after-the-end",
        "After the end every pit is answered game_over, what is no pit bad_field",
        &["verdict.game-over", "verdict.bad-field"],
        "Remember a bot's ended games, and answer game_over to whatever comes for them.",
        |at| in_each_row(at, after_the_end),
    ),
    Row::new(
        "pits-of-others",
        "In a game of others every pit is answered wrong_game, what is no pit bad_field",
        &["verdict.wrong-game", "verdict.bad-field"],
        "Answer for a game of others as for one that nobody knows.",
        |at| in_each_row(at, of_others),
    ),
];

/// A pit that no side may play.
#[derive(Debug)]
struct Case {
    name: &'static str,
    /// The line that leads to the position.
    moves: Vec<Pit>,
    /// What is sent for `pit`; absent where null.
    pit: Value,
    /// What it breaks; nothing where it is no pit at all.
    clause: Option<&'static str>,
}

fn cases() -> Vec<Case> {
    let illegal = [
        ("empty pit", Illegal::EmptyPit),
        ("singleton", Illegal::Singleton),
        ("opponent's pit", Illegal::OpponentPit),
        ("grand slam", Illegal::GrandSlam),
        ("not feeding", Illegal::NotFeeding),
    ];
    let illegal = illegal.into_iter().filter_map(|(name, reason)| {
        let (moves, pit) =
            search::line_to(&|position| Pit::ALL.into_iter().find(|pit| position.check(*pit) == Err(reason)))?;
        Some(Case { name, moves, pit: json!(pit.index()), clause: Some(reason.clause()) })
    });
    let no_pit = [
        ("6", json!(6)),
        ("-1", json!(-1)),
        ("255", json!(255)),
        ("2^53", json!(1_u64 << 53)),
        ("missing", Value::Null),
    ];
    let no_pit = no_pit.into_iter().map(|(name, pit)| Case { name, moves: pits("24"), pit, clause: None });
    illegal.chain(no_pit).collect()
}

impl Case {
    /// The move, and its `ref`: the state, and the name.
    fn message(&self, game: &str, state: &str) -> (Value, String) {
        let reference = format!("{state}: {}", self.name);
        let mut message = json!({"type": "move", "game": game, "ref": reference});
        if !self.pit.is_null() {
            message["pit"] = self.pit.clone();
        }
        (message, reference)
    }

    /// Sends the pit where it can have no effect, and reads the error: this one, or `bad_field` of what is no pit.
    fn is_refused(&self, at: &mut Desk<'_>, bot: Bot, game: &str, state: &str, code: &str) -> Step {
        let (message, reference) = self.message(game, state);
        at.say(bot, &message);
        let error = at.expect_error(bot, if self.clause.is_some() { code } else { "bad_field" }, &reference)?;
        if self.clause.is_none() && error["field"] != "pit" {
            return at.fault("verdict.bad-field", "bad_field with the field pit", &error.to_string());
        }
        at.quiet(bot)
    }
}

/// Three guests: two play, and one only looks.
struct Table {
    south: Bot,
    north: Bot,
    stranger: Bot,
    pool: Pool,
}

fn in_each_row(at: &mut Desk<'_>, row: fn(&mut Desk<'_>, &Table, &Case) -> Step) -> Step {
    let (south, north, stranger) = (at.guest()?, at.guest()?, at.guest()?);
    let pool = at.calm(south)?;
    let table = Table { south, north, stranger, pool };
    for case in cases() {
        row(at, &table, &case)?;
    }
    Ok(())
}

/// A game at the case's position, the turn read.
fn seat(at: &mut Desk<'_>, table: &Table, case: &Case) -> Step<(Game, Value)> {
    let mut game = at.game_between(table.south, table.north, &table.pool)?;
    at.play(&mut game, &case.moves)?;
    let turn = at.turn(&game)?;
    Ok((game, turn))
}

fn in_time(at: &mut Desk<'_>, table: &Table, case: &Case) -> Step {
    let (mut game, turn) = seat(at, table, case)?;
    let Some(clause) = case.clause else {
        // It was no move: the turn is still there to be played.
        let mover = game.mover();
        case.is_refused(at, mover, &game.id, "in time", "bad_field")?;
        let Some(pit) = game.line.legal().first() else { return skip("no pit is legal there") };
        at.send_pit(&mut game, pit)?;
        at.turn(&game)?;
        return at.give_up(&game).map(drop);
    };
    at.say(game.mover(), &case.message(&game.id, "in time").0);
    let ended = at.ended(&game, "illegal_move", &game.line.position().side().other().to_string())?;
    let detail = json!({"pit": case.pit, "clause": clause, "legal": turn["legal"]});
    let is_told = ["pit", "clause", "legal"].iter().all(|key| ended["detail"][key] == detail[key]);
    if is_told { Ok(()) } else { at.wrong(&format!("ended with the detail {detail}"), &ended.to_string()) }
}

fn not_my_turn(at: &mut Desk<'_>, table: &Table, case: &Case) -> Step {
    let (game, _) = seat(at, table, case)?;
    case.is_refused(at, game.waiting(), &game.id, "out of turn", "not_your_turn")?;
    at.quiet(game.mover())?;
    at.give_up(&game).map(drop)
}

fn before_a_game(at: &mut Desk<'_>, table: &Table, case: &Case) -> Step {
    case.is_refused(at, table.stranger, NO_GAME, "before", "wrong_game")
}

fn after_the_end(at: &mut Desk<'_>, table: &Table, case: &Case) -> Step {
    let (game, _) = seat(at, table, case)?;
    at.give_up(&game)?;
    case.is_refused(at, game.south, &game.id, "after", "game_over")?;
    case.is_refused(at, game.north, &game.id, "after", "game_over")
}

fn of_others(at: &mut Desk<'_>, table: &Table, case: &Case) -> Step {
    let (game, _) = seat(at, table, case)?;
    case.is_refused(at, table.stranger, &game.id, "others", "wrong_game")?;
    at.quiet(game.south)?;
    at.quiet(game.north)?;
    at.give_up(&game).map(drop)
}

/// Each case has a game of its own, and all clocks run at the same time.
fn late(at: &mut Desk<'_>) -> Step {
    let mut games = Vec::new();
    for case in cases() {
        let (south, north) = (at.guest()?, at.guest()?);
        let pool = at.fast(south)?;
        let mut game = at.game_between(south, north, &pool)?;
        at.play(&mut game, &case.moves)?;
        let turn = at.turn(&game)?;
        let left = pool.left(&turn);
        games.push((case, game, Instant::now() + left));
    }
    for (case, game, over) in games {
        std::thread::sleep(over.saturating_duration_since(Instant::now()) + OWN);
        let (message, reference) = case.message(&game.id, "late");
        at.say(game.mover(), &message);
        is_lost(at, &case, &game, &reference)?;
    }
    Ok(())
}

/// The game was lost on time, once for each side; what is no pit is told so, and a pit at most that the game is over.
fn is_lost(at: &mut Desk<'_>, case: &Case, game: &Game, reference: &str) -> Step {
    let (mover, winner) = (game.mover(), game.line.position().side().other());
    at.say(mover, &json!({"type": "ping", "ref": "late"}));
    let code = if case.clause.is_some() { "game_over" } else { "bad_field" };
    let (mut ends, mut errors, mut pong) = (Vec::new(), 0, false);
    // The flag may fall behind the answers.
    while !pong || ends.is_empty() {
        match at.hear(mover)? {
            Heard::Line(line) if line["type"] == "ended" && line["game"] == game.id => ends.push(line),
            Heard::Line(line) if line["type"] == "pong" => pong = true,
            Heard::Line(line) if line["code"] == code && line["ref"] == reference && errors == 0 => errors += 1,
            heard => {
                return at.surprise("verdict.deadline", &format!("ended by time_forfeit, or error {code}"), &heard);
            }
        }
    }
    let other = at.expect(game.waiting(), "ended")?;
    let is_right = |ended: &Value| ended["termination"] == "time_forfeit" && ended["result"] == winner.to_string();
    match &ends[..] {
        [ended] if is_right(ended) && *ended == other && (errors == 1 || case.clause.is_some()) => Ok(()),
        _ => at.wrong(
            &format!("one ended by time_forfeit, {winner} the winner, the same for both"),
            &json!(ends).to_string(),
        ),
    }
}
