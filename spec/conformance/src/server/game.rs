//! Games between guests of one's own, by challenge.

use super::desk::{Bot, Desk, Heard};
use crate::report::{Step, skip};
use modiar_rules::{EndRules, Line, Pit, Side, parse_moves};
use serde_json::{Value, json};
use std::time::Duration;

/// A game that is to be played in peace has at least so much time, in ms.
const CALM_MS: u64 = 10_000;
/// A clock is waited for if it runs out within this time, in ms.
const FAST_MS: u64 = 15_000;

/// A pool of the server, as its welcome has it.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    pub(super) name: String,
    pub(super) rules: EndRules,
    base_ms: u64,
    grace_ms: u64,
    move_ms: Option<u64>,
    illegal_moves: u64,
}

impl Pool {
    fn read(pool: &Value) -> Option<Self> {
        let (time, rules) = (&pool["time"], &pool["rules"]);
        let small = |value: &Value| u16::try_from(value.as_u64()?).ok();
        Some(Self {
            name: pool["name"].as_str()?.to_owned(),
            rules: EndRules {
                repetition: small(&rules["repetition"])?,
                quiet_plies: small(&rules["quiet_plies"])?,
                majority: rules["majority"].as_bool()?,
            },
            base_ms: time["base_ms"].as_u64()?,
            grace_ms: time["grace_ms"].as_u64()?,
            move_ms: time["move_ms"].as_u64(),
            illegal_moves: rules["illegal_moves"].as_u64()?,
        })
    }

    /// The longest that a side may take for a move at first, in ms.
    fn longest_ms(&self) -> u64 {
        self.move_ms.map_or(self.base_ms, |move_ms| move_ms.min(self.base_ms)).saturating_add(self.grace_ms)
    }

    /// Whether a game in it is played in peace, and an illegal move loses.
    pub(super) fn is_calm(&self) -> bool {
        self.illegal_moves == 0 && self.longest_ms() >= CALM_MS
    }

    /// After this time without a move a clock has run out, the server's own delay aside.
    pub(super) fn clock(&self) -> Duration {
        Duration::from_millis(self.longest_ms())
    }

    /// How long after this turn its side's clock runs out.
    pub(super) fn left(&self, turn: &Value) -> Duration {
        let side = turn["side"].as_str().unwrap_or_default();
        // What is told is rounded down, and can be little more than all that there was.
        let most_ms = self.base_ms.saturating_add(MOST_GAINED_MS);
        let remaining_ms = turn["remaining_ms"][side].as_u64().unwrap_or(self.base_ms).min(most_ms);
        Duration::from_millis(remaining_ms.saturating_add(self.grace_ms).saturating_add(1))
    }
}

/// What increments may add in a game of a check, in ms.
const MOST_GAINED_MS: u64 = 10_000;

/// A game between two guests.
#[derive(Clone, Debug)]
pub(super) struct Game {
    pub(super) id: String,
    pub(super) south: Bot,
    pub(super) north: Bot,
    pub(super) line: Line,
}

impl Game {
    /// Who has this side.
    pub(super) const fn bot(&self, side: Side) -> Bot {
        match side {
            Side::South => self.south,
            Side::North => self.north,
        }
    }

    /// Who is to move.
    pub(super) fn mover(&self) -> Bot {
        self.bot(self.line.position().side())
    }

    /// Who is not.
    pub(super) fn waiting(&self) -> Bot {
        self.bot(self.line.position().side().other())
    }

    /// A move of this game.
    pub(super) fn r#move(&self, pit: Pit) -> Value {
        json!({"type": "move", "game": self.id, "pit": pit.index()})
    }

    pub(super) fn resign(&self) -> Value {
        json!({"type": "resign", "game": self.id})
    }
}

impl Desk<'_> {
    /// The pools that this bot was told.
    pub(super) fn pools(&self, bot: Bot) -> Vec<Pool> {
        self.welcome(bot)["pools"].as_array().into_iter().flatten().filter_map(Pool::read).collect()
    }

    /// The pool with the most time, in which an illegal move loses.
    pub(super) fn calm(&self, bot: Bot) -> Step<Pool> {
        match self.pools(bot).into_iter().filter(Pool::is_calm).max_by_key(Pool::longest_ms) {
            Some(pool) => Ok(pool),
            None => skip(format!("no pool gives a side {CALM_MS} ms and forgives no illegal move")),
        }
    }

    /// The pool whose clocks run out first, without a limit of its own for a move.
    pub(super) fn fast(&self, bot: Bot) -> Step<Pool> {
        let fast = |pool: &Pool| pool.illegal_moves == 0 && pool.move_ms.is_none() && pool.longest_ms() <= FAST_MS;
        match self.pools(bot).into_iter().filter(fast).min_by_key(Pool::longest_ms) {
            Some(pool) => Ok(pool),
            None => skip(format!("no pool's clock runs out within {FAST_MS} ms")),
        }
    }

    /// A new game of two new guests in a calm pool.
    pub(super) fn game(&mut self) -> Step<Game> {
        let (south, north) = (self.guest()?, self.guest()?);
        let pool = self.calm(south)?;
        self.game_between(south, north, &pool)
    }

    /// A game of these two; nothing of it but `started` is read.
    pub(super) fn game_between(&mut self, south: Bot, north: Bot, pool: &Pool) -> Step<Game> {
        let challenge = self.challenge(south, north, pool)?;
        self.say(north, &json!({"type": "accept", "challenge": challenge}));
        let started = self.expect(south, "started")?;
        self.expect(north, "started")?;
        let id = started["game"].as_str().unwrap_or_default().to_owned();
        Ok(Game { id, south, north, line: Line::new(pool.rules) })
    }

    /// One challenges the other, and takes South: the challenge.
    pub(super) fn challenge(&mut self, south: Bot, north: Bot, pool: &Pool) -> Step<Value> {
        let opponent = self.name(north);
        self.say(south, &json!({"type": "challenge", "opponent": opponent, "pool": pool.name, "side": "south"}));
        self.expect(south, "challenge_sent")?;
        Ok(self.expect(north, "challenged")?["challenge"].clone())
    }

    /// The turn of who is to move, held against the rules.
    pub(super) fn turn(&mut self, game: &Game) -> Step<Value> {
        let turn = self.expect(game.mover(), "turn")?;
        let legal: Vec<u8> = game.line.legal().iter().map(Pit::index).collect();
        let position = game.line.position();
        let awaited = json!({"game": game.id, "ply": position.ply(), "legal": legal, "pits": position.pits()});
        let told = json!({"game": turn["game"], "ply": turn["ply"], "legal": turn["legal"], "pits": turn["pits"]});
        if told == awaited {
            return Ok(turn);
        }
        self.fault("verdict.legality", &format!("turn with {awaited}"), &turn.to_string())
    }

    /// Plays these pits, each after its turn has been read. The next turn is not read.
    pub(super) fn play(&mut self, game: &mut Game, moves: &[Pit]) -> Step {
        for pit in moves {
            self.turn(game)?;
            self.send_pit(game, *pit)?;
        }
        Ok(())
    }

    /// Sends the move of who is to move.
    pub(super) fn send_pit(&mut self, game: &mut Game, pit: Pit) -> Step {
        let mover = game.mover();
        self.say(mover, &game.r#move(pit));
        game.line.play(pit).map_err(std::io::Error::other)?;
        Ok(())
    }

    /// Both sides' `ended`, which must be the next line of each and say the same.
    pub(super) fn ended(&mut self, game: &Game, termination: &str, result: &str) -> Step<Value> {
        self.ended_within(game, termination, result, self.patience)
    }

    /// The same where it may take this long.
    pub(super) fn ended_within(&mut self, game: &Game, termination: &str, result: &str, time: Duration) -> Step<Value> {
        let wanted = json!({"type": "ended", "game": game.id, "termination": termination, "result": result});
        let south = self.end_of(game.south, &wanted, time)?;
        let north = self.end_of(game.north, &wanted, self.patience)?;
        if south == north {
            return Ok(south);
        }
        self.fault("forfeit.once", &format!("the same for both, {south}"), &north.to_string())
    }

    fn end_of(&mut self, bot: Bot, wanted: &Value, time: Duration) -> Step<Value> {
        match self.hear_within(bot, time)? {
            Heard::Line(line)
                if ["type", "game", "termination", "result"].iter().all(|key| line[key] == wanted[key]) =>
            {
                Ok(line)
            }
            heard => self.surprise("forfeit.once", &wanted.to_string(), &heard),
        }
    }

    /// The side that is to move gives up, and both read so.
    pub(super) fn give_up(&mut self, game: &Game) -> Step<Value> {
        self.say(game.mover(), &game.resign());
        self.ended(game, "resignation", &game.line.position().side().other().to_string())
    }
}

/// The pits of a text that is written here.
pub(super) fn pits(moves: &str) -> Vec<Pit> {
    parse_moves(moves).unwrap_or_default()
}
