//! The dossier of a game that was forfeited (`forfeit.dossier`).

use super::game::{Decision, Game};
use super::messages;
use super::table::{State, Table};
use crate::clock::Charge;
use crate::records::{Dossier, DossierClock, HeardLine};
use crate::time::now;
use modiar_protocol::{ServerMessage, Sides, Termination};
use modiar_rules::Side;
use tracing::error;

impl Table {
    /// Keeps how the game ended, where a side forfeited it or the server failed.
    pub(super) fn keep_evidence(&self, state: &State) {
        let Some(dossier) = self.dossier(state) else { return };
        match serde_json::to_string(&dossier) {
            Ok(text) => self.referee.store.keep_dossier(dossier.game, text),
            Err(error) => error!(%error, game = %dossier.game, "the evidence of a forfeit cannot be kept"),
        }
    }

    fn dossier(&self, state: &State) -> Option<Dossier> {
        let game = &state.game;
        let decision = game.decision()?;
        let clause = clause(decision)?;
        let (side, position, now) = (game.side_to_move(), game.line().position(), now());
        let heard = |side: Side| {
            let lines = state.seats[side].link.outlet.heard().into_iter();
            lines.map(|(came, line)| HeardLine::new(now.since(came).0, &line)).collect()
        };
        Some(Dossier {
            game: self.id(),
            bot: state.seats[side].bot.name.clone(),
            side: side.to_string(),
            termination: decision.termination,
            clause,
            ply: position.ply(),
            clock: decision.unfinished.map(|charge| clock(game, charge)),
            heard: Sides { south: heard(Side::South), north: heard(Side::North) },
            turns: Sides { south: self.turn_of(state, Side::South), north: self.turn_of(state, Side::North) },
        })
    }

    /// The last turn of a side, as it was first written.
    fn turn_of(&self, state: &State, side: Side) -> Option<String> {
        let game = &state.game;
        if !state.begun {
            return None;
        }
        if game.side_to_move() == side {
            return Some(text(&ServerMessage::Turn(messages::turn(self.id(), game))));
        }
        // One ply back it was to move.
        let opening = game.terms().opening.len();
        let plies: Vec<_> =
            game.line().moves()[opening..].iter().copied().zip(game.charges().iter().copied()).collect();
        let (_, before) = plies.split_last()?;
        let then = Game::resume(game.terms().clone(), before, Default::default()).ok()?;
        Some(text(&ServerMessage::Turn(messages::turn(self.id(), &then))))
    }
}

fn text(message: &ServerMessage) -> String {
    String::from_utf8_lossy(&message.to_line()).trim_end().to_owned()
}

/// The clause by which a side has forfeited; none where it has not.
fn clause(decision: &Decision) -> Option<String> {
    let clause = match (decision.termination, decision.absent) {
        (Termination::TimeForfeit, Some(_)) => "forfeit.second",
        (Termination::TimeForfeit, None) => "clock.flag",
        (Termination::Aborted, Some(_)) => "forfeit.no-show",
        (Termination::ServerError, _) => "forfeit.server-error",
        (Termination::IllegalMove, _) => return decision.detail.as_ref().map(|detail| detail.clause.to_string()),
        _ => return None,
    };
    Some(clause.to_owned())
}

fn clock(game: &Game, charge: Charge) -> DossierClock {
    DossierClock {
        elapsed_us: charge.elapsed.0,
        own_us: charge.own.0,
        grace_us: game.terms().control.grace.0,
        charged_us: charge.charged.0,
        allowed_us: game.allowance().0,
    }
}
