//! What outlives the server: the journal of running games and the stored results.

use modiar::clock::{Charge, Control};
use modiar::lobby::Pairing;
use modiar::referee::{Decision, Game, Terms};
use modiar_protocol::{GameResult, Termination};
use modiar_rules::{BySide, Line, Pit, Side};
use std::collections::BTreeMap;

#[derive(Default)]
pub struct Disk {
    pub full: bool,
    pub journal: BTreeMap<usize, Saved>,
    pub stored: BTreeMap<usize, Stored>,
}

/// A running game in the journal.
#[derive(Clone)]
pub struct Saved {
    pub terms: Terms,
    pub pairing: Pairing,
    pub bots: BySide<usize>,
    pub plies: Vec<(Pit, Charge)>,
    pub forgiven: BySide<u16>,
}

/// A stored result.
pub struct Stored {
    pub terms: Terms,
    pub moves: Vec<Pit>,
    pub charges: Vec<Charge>,
    pub remaining: BySide<u64>,
    pub decision: Decision,
    pub score: BySide<u8>,
}

/// `base + n·increment − Σ charged`, or that it is below nothing on the way.
pub fn remaining(control: Control, first: Side, charges: &[Charge]) -> Result<BySide<u64>, String> {
    let mut left = BySide::new(control.base.0, control.base.0);
    let mut side = first;
    for charge in charges {
        let after = left[side].checked_sub(charge.charged.0).ok_or_else(|| format!("{side} overdrew: {charges:?}"))?;
        left[side] = after + control.increment.0;
        side = side.other();
    }
    Ok(left)
}

impl Stored {
    pub fn new(game: &Game) -> Option<Self> {
        Some(Self {
            terms: game.terms().clone(),
            moves: game.line().moves().to_vec(),
            charges: game.charges().to_vec(),
            remaining: game.clock().remaining().map(|time| time.0),
            decision: game.decision()?.clone(),
            score: game.score(),
        })
    }

    /// Referees the game again, by the rules and arithmetic alone.
    pub fn replay(&self) -> Result<(), String> {
        let line =
            Line::replay(self.terms.rules.ends(), self.moves.iter().copied()).map_err(|error| error.to_string())?;
        let opening = self.terms.opening.len();
        let first = Side::on_ply(u32::try_from(opening).unwrap() + 1);
        if self.charges.len() + opening != self.moves.len() {
            return Err("a ply has no charge, or a charge no ply".into());
        }
        if remaining(self.terms.control, first, &self.charges)? != self.remaining {
            return Err(format!("what remains does not add up: {:?}", self.remaining));
        }
        let (result, score) = match line.ending() {
            Some(_) => (GameResult::by_score(line.score()), line.score()),
            None => (self.result_without_end(&line)?, line.position().captured()),
        };
        let ended = line.ending().map(Termination::from);
        if ended.is_some_and(|ending| ending != self.decision.termination) {
            return Err(format!("ended by {ended:?}, stored as {:?}", self.decision.termination));
        }
        if (result, score) != (self.decision.result, self.score) {
            return Err(format!("replays to {result:?} {score:?}, stored as {:?} {:?}", self.decision, self.score));
        }
        Ok(())
    }

    fn result_without_end(&self, line: &Line) -> Result<GameResult, String> {
        let mover = line.position().side();
        match self.decision.termination {
            Termination::IllegalMove => {
                let detail = self.decision.detail.as_ref().ok_or("no detail of the illegal move")?;
                if line.check(detail.pit).is_ok() || detail.legal.0 != line.legal() {
                    return Err(format!("{detail:?} was legal"));
                }
                Ok(GameResult::win(mover.other()))
            }
            Termination::TimeForfeit => {
                let charge = self.decision.unfinished.ok_or("a flag without its turn")?;
                let most = self.terms.control.per_move.map_or(u64::MAX, |most| most.0);
                let left =
                    self.remaining[mover].min(most).min(if self.charges.len() < 2 { 30_000_000 } else { u64::MAX });
                if charge.charged.0 <= left {
                    return Err(format!("the flag fell with {left} µs to spend and {charge:?}"));
                }
                Ok(GameResult::win(mover.other()))
            }
            Termination::Aborted | Termination::ServerError => Ok(GameResult::None),
            Termination::Resignation if self.decision.result != GameResult::None => Ok(self.decision.result),
            other => Err(format!("{other:?} without an end by the rules")),
        }
    }
}
