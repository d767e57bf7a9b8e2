//! A real game: the board by the rules, and what the bot is told of it.

use modiar_rules::{BySide, EndRules, Line, Pit, Side, moves_text};
use serde_json::{Value, json};

/// The name of whoever plays against the bot.
pub(crate) const OPPONENT: &str = "Referee";
/// The time of every pool here: the referee charges nothing of it.
const BASE_MS: u64 = 60_000;
/// The word of the ordinary end: the opponent gives up after a move of the bot.
pub(crate) const RESIGNATION: &str = "resignation";

/// The ply that was played last.
#[derive(Clone, Copy)]
pub(crate) struct Played {
    ply: u32,
    pit: Pit,
    taken: u8,
}

/// One game of the bot.
pub(crate) struct Game {
    pub(crate) id: String,
    pub(crate) pool: String,
    pub(crate) rated: bool,
    /// The bot, and the side that it has.
    pub(crate) bot: String,
    pub(crate) guest: bool,
    pub(crate) side: Side,
    pub(crate) line: Line,
    opening: usize,
    pub(crate) last: Option<Played>,
    /// The ply of the newest turn that the bot was told.
    pub(crate) told: Option<u32>,
    /// How it ended.
    pub(crate) ended: Option<Value>,
}

impl Game {
    /// A game that stands where its opening leads.
    pub(crate) fn new(number: u128, pool: &str, bot: &str, side: Side, line: Line) -> Self {
        /// As ids of a real server look.
        const FIRST: u128 = 0x0192_f0c1_a2b3_7c4d_8e5f_6071_8293_a400;
        Self {
            id: format!("g{:032x}", FIRST + number),
            pool: pool.to_owned(),
            rated: false,
            bot: bot.to_owned(),
            guest: true,
            side,
            opening: line.moves().len(),
            line,
            last: None,
            told: None,
            ended: None,
        }
    }

    /// The ply to be played.
    pub(crate) fn ply(&self) -> u32 {
        self.line.position().ply()
    }

    /// Whether the bot is to move.
    pub(crate) fn is_bots(&self) -> bool {
        self.ended.is_none() && self.line.ending().is_none() && self.line.position().side() == self.side
    }

    /// Whether this side of the bot played that pit at that ply, after the opening.
    pub(crate) fn played(&self, ply: u32, pit: Pit) -> bool {
        let at = usize::try_from(ply).unwrap_or(usize::MAX).saturating_sub(1);
        at >= self.opening && Side::on_ply(ply) == self.side && self.line.moves().get(at) == Some(&pit)
    }

    /// Plays a pit, which must be legal.
    ///
    /// # Errors
    /// The clause that it breaks.
    pub(crate) fn play(&mut self, pit: Pit) -> Result<(), &'static str> {
        let ply = self.ply();
        self.line.position().check(pit).map_err(modiar_rules::Illegal::clause)?;
        let taken = self.line.play(pit).map_err(|_| "forfeit.once")?;
        self.last = Some(Played { ply, pit, taken });
        Ok(())
    }

    /// Stands again as it did: the bot's last move was not played.
    pub(crate) fn take_back(&mut self, before: Line, last: Option<Played>) {
        self.line = before;
        self.last = last;
    }

    /// What the opponent plays: a pit that ends the game where there is one, or the highest.
    pub(crate) fn reply(&self) -> Option<Pit> {
        let ends = |pit: &Pit| {
            let mut line = self.line.clone();
            line.play(*pit).is_ok() && line.ending().is_some()
        };
        self.line.legal().iter().find(ends).or_else(|| self.line.legal().iter().last())
    }

    pub(crate) fn started(&self, resumed: bool) -> Value {
        let position = self.line.position();
        let bot = self.player(&self.bot, self.guest);
        let opponent = self.player(OPPONENT, false);
        let (south, north) = if self.side == Side::South { (bot, opponent) } else { (opponent, bot) };
        json!({
            "type": "started", "game": self.id, "pool": self.pool, "rated": self.rated, "side": self.side.to_string(),
            "south": south, "north": north, "time": time(), "rules": rules(self.line.rules()),
            "opening": moves_text(&self.line.moves()[..self.opening]).to_string(),
            "moves": moves_text(self.line.moves()).to_string(),
            "ply": position.ply(), "side_to_move": position.side().to_string(), "pits": position.pits(),
            "captured": sides(position.captured()), "remaining_ms": remaining(), "resumed": resumed,
        })
    }

    fn player(&self, name: &str, guest: bool) -> Value {
        let mut player = json!({"name": name, "guest": guest});
        if self.pool != "practice" && !guest {
            player["rating"] = json!(1500.0);
        }
        player
    }

    pub(crate) fn turn(&self) -> Value {
        let position = self.line.position();
        let legal: Vec<u8> = self.line.legal().iter().map(Pit::index).collect();
        let mut turn = json!({
            "type": "turn", "game": self.id, "ply": position.ply(), "side": self.side.to_string(), "pits": position.pits(),
            "captured": sides(position.captured()), "legal": legal, "remaining_ms": remaining(),
        });
        if let Some(Played { ply, pit, taken }) = self.last {
            let side = Side::on_ply(ply).to_string();
            turn["last"] = json!({"ply": ply, "side": side, "pit": pit.index(), "taken": taken, "elapsed_ms": 7});
        }
        turn
    }

    /// What who follows the game reads of the ply before.
    pub(crate) fn moved_last(&self) -> Value {
        let Some(Played { ply, pit, taken }) = self.last else { return Value::Null };
        let position = self.line.position();
        json!({
            "type": "moved", "game": self.id, "ply": ply, "side": Side::on_ply(ply).to_string(), "pit": pit.index(),
            "taken": taken, "elapsed_ms": 7, "pits": position.pits(), "captured": sides(position.captured()),
            "remaining_ms": remaining(),
        })
    }

    /// The end by the rules, once there is one.
    pub(crate) fn ended_by_rules(&self) -> Option<Value> {
        let winner = self.line.winner().map_or_else(|| "draw".to_owned(), |side| side.to_string());
        Some(self.ended(&winner, &self.line.ending()?.to_string(), self.line.score()))
    }

    /// An end of another kind: the score is what was captured so far (forfeit.score).
    pub(crate) fn ended_by(&self, winner: Option<Side>, termination: &str) -> Value {
        let result = winner.map_or_else(|| "none".to_owned(), |side| side.to_string());
        self.ended(&result, termination, self.line.position().captured())
    }

    fn ended(&self, result: &str, termination: &str, score: BySide<u8>) -> Value {
        let position = self.line.position();
        let mut ended = json!({
            "type": "ended", "game": self.id, "result": result, "termination": termination, "score": sides(score),
            "pits": position.pits(), "ply": position.ply() - 1,
        });
        if self.rated && result != "none" {
            ended["rating"] = json!({"before": 1500.0, "after": 1498.5, "rd": 210.25});
        }
        ended
    }
}

fn sides<T: serde::Serialize>(values: BySide<T>) -> Value {
    json!({"south": values.south, "north": values.north})
}

fn remaining() -> Value {
    sides(BySide::new(BASE_MS, BASE_MS))
}

pub(crate) fn time() -> Value {
    json!({"base_ms": BASE_MS, "increment_ms": 1000, "grace_ms": 50})
}

pub(crate) fn rules(EndRules { repetition, quiet_plies, majority }: EndRules) -> Value {
    json!({"name": "modiar", "repetition": repetition, "quiet_plies": quiet_plies, "majority": majority, "illegal_moves": 3})
}
