//! What is done about the server's errors.

use super::seeking::{AGAIN_MS, SEEK};
use super::{Alarm, Player, is_mark, later};
use crate::Error;
use crate::error::ProtocolError;
use modiar_protocol::server::Error as Refusal;
use modiar_protocol::{ErrorCode, GameId};
use std::time::Instant;

/// After so long a limited move or resignation is said again, so often.
const MOVE_AGAIN_MS: u64 = 200;
const MOVES_AGAIN: u32 = 5;

/// Whether no second hello or seek would change it.
fn is_for_good(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::BadProtocol | ErrorCode::BadField | ErrorCode::UnknownPool)
}

/// Whether the name is not let in.
fn is_about_name(code: ErrorCode) -> bool {
    use ErrorCode::{AuthFailed, BadName, GuestsClosed, NameTaken, RegistrationClosed};
    matches!(code, AuthFailed | BadName | GuestsClosed | NameTaken | RegistrationClosed)
}

impl Player {
    /// A message was not acted on.
    pub(super) fn refused(&mut self, refusal: &Refusal, at: Instant) {
        self.log.warn(format_args!("error {}: {}", refusal.code, refusal.message));
        let reference = refusal.reference.as_ref();
        let game = refusal.game.filter(|game| self.games.contains_key(game));
        match (refusal.code, game) {
            _ if self.link.welcomed.is_none() => self.hello_refused(refusal),
            _ if is_mark(reference, SEEK) => self.seek_refused(refusal, at),
            (ErrorCode::IllegalMove, Some(game)) => self.forgiven(game, refusal),
            (ErrorCode::RateLimited, Some(game)) => self.alarms.push((later(at, MOVE_AGAIN_MS), Alarm::Again(game))),
            // duplicate, stale_ply, not_your_turn, game_over, wrong_game: the game says what is next.
            _ => {}
        }
    }

    fn hello_refused(&mut self, refusal: &Refusal) {
        let told = ProtocolError::from(refusal);
        self.hang_up = true;
        if is_about_name(refusal.code) {
            if !self.welcomed || self.refusals > 0 {
                self.fail(Error::Auth(told));
            }
            self.refusals += 1;
            if self.token.is_none() && self.games.is_empty() {
                // A guest whom the server has forgotten is a new one.
                self.name = None;
                self.resume = None;
            }
        } else if !self.welcomed || is_for_good(refusal.code) {
            self.fail(Error::Protocol(told));
        }
    }

    fn seek_refused(&mut self, refusal: &Refusal, at: Instant) {
        match refusal.code {
            ErrorCode::AlreadySeeking => {}
            ErrorCode::Draining | ErrorCode::TooManyConnections => {
                self.link.seeking = false;
                self.hang_up = true;
            }
            code if is_for_good(code) => self.fail(Error::Protocol(refusal.into())),
            _ => self.pause(at, AGAIN_MS),
        }
    }

    /// Asks again for a ply at which an illegal pit was forgiven; the clock runs.
    fn forgiven(&mut self, id: GameId, refusal: &Refusal) {
        let Some(game) = self.games.get_mut(&id) else { return };
        let answered = game.answered.map(|(ply, _)| ply);
        let Some(mut turn) = game.turn.clone().filter(|turn| Some(turn.ply) == answered && !game.resigned) else {
            return;
        };
        game.answered = None;
        if let Some(legal) = refusal.legal.filter(|legal| !legal.0.is_empty()) {
            turn.legal = legal.0.iter().collect();
        }
        self.ask(turn);
    }

    /// Repeats what was limited.
    pub(super) fn say_again(&mut self, id: GameId) {
        let Some(game) = self.games.get_mut(&id).filter(|game| game.limited < MOVES_AGAIN) else { return };
        if let Some(said) = game.said.clone() {
            game.limited += 1;
            self.say(said);
        }
    }
}
