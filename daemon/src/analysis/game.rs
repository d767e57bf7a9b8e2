//! One game: what each ply was worth.

use crate::records::{Uneven, served};
use modiar_oracle::{Bounds, Judgement, Table};
use modiar_protocol::Record;
use modiar_rules::{BySide, MovesError, Pit, PlayError, Position, Side, parse_moves};
use thiserror::Error;

/// How a game ends for a side.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Outcome {
    /// With fewer seeds.
    Loss,
    /// With as many.
    Draw,
    /// With more.
    Win,
}

impl Outcome {
    /// That of a final margin in seeds.
    #[must_use]
    pub const fn of(margin: i16) -> Self {
        match margin {
            ..0 => Self::Loss,
            0 => Self::Draw,
            1.. => Self::Win,
        }
    }

    /// The same for the opponent.
    #[must_use]
    pub const fn turned(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::Draw => Self::Draw,
            Self::Win => Self::Loss,
        }
    }

    /// `win`, `draw` or `loss`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Draw => "draw",
            Self::Win => "win",
        }
    }
}

/// A ply and its worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JudgedPly {
    /// What it was played in.
    pub position: Position,
    /// What was played.
    pub pit: Pit,
    /// What it was worth, and what else there was to play.
    pub judgement: Judgement,
    /// Whether the server played it, as part of an opening: then it is no loss of a bot.
    pub served: bool,
    /// What the mover thought, in microseconds; nothing for the server's plies.
    pub elapsed_us: Option<u64>,
}

impl JudgedPly {
    /// The seeds that its bot gave away by it; none by the server's plies.
    #[must_use]
    pub const fn loss(&self) -> u8 {
        if self.served { 0 } else { self.judgement.loss().unsigned_abs() }
    }

    /// The outcome that the mover was sure of before it, and the one after it.
    #[must_use]
    pub fn outcomes(&self) -> (Outcome, Outcome) {
        let (mover, captured) = (self.position.side(), self.position.captured());
        let ahead = i16::from(captured[mover]) - i16::from(captured[mover.other()]);
        let outcome = |bounds: Bounds| Outcome::of(ahead + i16::from(bounds.lo));
        (outcome(self.judgement.before), outcome(self.judgement.after))
    }
}

/// A ply by which its mover gave away a win or a draw that it was sure of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TurningPoint {
    /// The ply.
    pub ply: u32,
    /// What it was for South until then.
    pub before: Outcome,
    /// What it is for South from then on, under best play.
    pub after: Outcome,
}

/// A game, ply by ply.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GameAnalysis {
    /// All plies, those of the server's opening included.
    pub plies: Vec<JudgedPly>,
    /// The first ply by which each side, still sure of a draw or a win, gave both away.
    pub losing: BySide<Option<u32>>,
    /// The plies at which the outcome changed, in order.
    pub turning_points: Vec<TurningPoint>,
}

impl GameAnalysis {
    /// The first losing move of the game, whosever it was.
    #[must_use]
    pub fn first_losing(&self) -> Option<u32> {
        [self.losing.south, self.losing.north].into_iter().flatten().min()
    }

    /// The plies that this side's bot chose.
    pub fn of_bot(&self, side: Side) -> impl Iterator<Item = &JudgedPly> {
        self.plies.iter().filter(move |ply| ply.position.side() == side && !ply.served)
    }

    fn add(&mut self, ply: JudgedPly) {
        let (before, after) = ply.outcomes();
        if after < before && !ply.served {
            let (number, mover) = (ply.position.ply(), ply.position.side());
            let for_south = |outcome: Outcome| if mover == Side::South { outcome } else { outcome.turned() };
            self.turning_points.push(TurningPoint { ply: number, before: for_south(before), after: for_south(after) });
            if after == Outcome::Loss {
                self.losing[mover].get_or_insert(number);
            }
        }
        self.plies.push(ply);
    }
}

/// Why a record cannot be judged.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum JudgeError {
    #[error("it is of another version than 1")]
    Version,
    #[error("its moves cannot be read: {0}")]
    Moves(#[from] MovesError),
    #[error(transparent)]
    Uneven(#[from] Uneven),
    #[error("ply {ply}: {error}", ply = error.position.ply())]
    Illegal { error: PlayError },
    #[error("ply {ply}: the table of the solved game does not hold its position")]
    Unknown { ply: u32 },
}

/// Judges every ply of a record. Its clocks and its end are taken as they stand: `modiar games verify` checks them.
///
/// # Errors
/// The moves are none, one of them is illegal, or the record does not hold together.
pub fn judge(table: &Table, record: &Record) -> Result<GameAnalysis, JudgeError> {
    if record.record != 1 {
        return Err(JudgeError::Version);
    }
    let (moves, served) = (parse_moves(&record.moves)?, served(record)?);
    let mut game = GameAnalysis { plies: Vec::with_capacity(moves.len()), ..GameAnalysis::default() };
    let mut position = Position::START;
    for (at, pit) in moves.into_iter().enumerate() {
        let Some(judgement) = table.judge(&position, pit) else {
            return Err(refused(position, pit));
        };
        let elapsed_us = at.checked_sub(served).and_then(|at| record.elapsed_us.get(at)).copied();
        game.add(JudgedPly { position, pit, judgement, served: at < served, elapsed_us });
        position = judgement.next;
    }
    Ok(game)
}

#[cold]
fn refused(position: Position, pit: Pit) -> JudgeError {
    match position.play(pit) {
        Err(error) => JudgeError::Illegal { error },
        Ok(_) => JudgeError::Unknown { ply: position.ply() },
    }
}
