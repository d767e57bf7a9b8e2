//! What is done about the server's errors.

use super::seeking::SEEK;
use super::{Alarm, HELLO, Player, is_mark, later};
use crate::Error;
use crate::error::ProtocolError;
use modiar_protocol::server::Error as Refusal;
use modiar_protocol::{ErrorCode, GameId};
use std::time::Instant;

/// After so long a limited seek, move or resignation is said again, the latter so often.
const SEEK_AGAIN_MS: u64 = 1000;
const MOVE_AGAIN_MS: u64 = 200;
const MOVES_AGAIN: u32 = 5;

/// Whether who comes back later may not read this again.
fn is_passing(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::Draining | ErrorCode::TooManyConnections)
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
            _ if !self.link.welcomed => self.hello_refused(refusal),
            _ if is_mark(reference, SEEK) => self.seek_refused(refusal, at),
            (ErrorCode::IllegalMove, Some(game)) => self.forgiven(game, refusal),
            (ErrorCode::RateLimited, Some(game)) => self.alarms.push((later(at, MOVE_AGAIN_MS), Alarm::Again(game))),
            // duplicate, stale_ply, not_your_turn, game_over, wrong_game: the game says what is next.
            _ => {}
        }
    }

    fn hello_refused(&mut self, refusal: &Refusal) {
        let code = refusal.code;
        let told = ProtocolError::from(refusal);
        let busy = self.welcomed && matches!(code, ErrorCode::RateLimited | ErrorCode::Internal);
        if is_passing(code) || busy {
            self.link.refused = true;
            self.hang_up = true;
        } else if !is_mark(refusal.reference.as_ref(), HELLO) && !refusal.fatal {
            // It is about something else.
        } else if !is_about_name(code) {
            self.fail(Error::Protocol(told));
        } else if !self.welcomed || self.refusals > 0 {
            self.fail(Error::Auth(told));
        } else {
            self.refusals += 1;
            self.hang_up = true;
            if self.token.is_none() && self.games.is_empty() {
                // A guest whom the server has forgotten is a new one.
                self.name = None;
                self.resume = None;
            }
        }
    }

    fn seek_refused(&mut self, refusal: &Refusal, at: Instant) {
        match refusal.code {
            code if is_passing(code) => {
                self.link.seeking = false;
                self.link.refused = true;
                self.hang_up = true;
            }
            ErrorCode::RateLimited | ErrorCode::Internal => self.pause(at, SEEK_AGAIN_MS),
            ErrorCode::AlreadySeeking => {}
            _ => self.fail(Error::Protocol(refusal.into())),
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
