//! Who comes to a table while its game runs: its own bots again, and those who watch.

use super::game::Phase;
use super::messages;
use super::seat::Link;
use super::table::{State, Table};
use crate::clock::Arrival;
use crate::net::Outlet;
use crate::time::now;
use modiar_protocol::limits::SPECTATORS;
use modiar_protocol::server::{Error, Started};
use modiar_protocol::{ErrorCode, Ref, ServerMessage};
use modiar_rules::Side;
use std::sync::Arc;

impl Table {
    /// A bot is back, by this hello on a new connection: it reads the whole state, and its turn where it is to move (`session.resume`,
    /// `session.resume-ending`).
    pub fn come_back(self: &Arc<Self>, side: Side, link: Link, hello: &dyn Arrival) {
        self.change((), |state| self.welcome_back(state, side, link, hello));
    }

    fn welcome_back(self: &Arc<Self>, state: &mut State, side: Side, link: Link, hello: &dyn Arrival) {
        state.seats[side].link = link;
        state.come_back[side] = true;
        if state.stalled.is_some() || *state.game.phase() != Phase::Running {
            // The state holds a ply or an end that is not safe yet: nobody is told of it.
            state.owed[side] = true;
            return;
        }
        let to_move = state.game.side_to_move() == side;
        if to_move {
            state.game.excuse(hello);
        }
        state.seats[side].link.outlet.tell_owed(&self.resumed_line(state, side));
        // Before the game starts nobody has a turn.
        if !to_move || !state.begun {
            return;
        }
        if state.game.clock().stands() {
            // What was played before stands in `started`.
            self.write_turn(state, false);
        } else {
            // Its clock has run all the while (`clock.start-away`).
            let turn = messages::turn_again(self.id(), &state.game, now());
            state.seats[side].link.outlet.tell_owed(&ServerMessage::Turn(turn));
        }
    }

    /// The whole state, for a bot that is back.
    pub(super) fn resumed_line(&self, state: &State, side: Side) -> ServerMessage {
        ServerMessage::Started(Box::new(Started { resumed: true, ..self.as_started(state, Some(side)) }))
    }

    /// After a restart nobody is waited for any longer: the clock of the turn runs (`clock.restart`).
    pub fn start_clock(self: &Arc<Self>) {
        self.change((), |state| {
            state.waits = false;
            let stands = state.begun && state.game.clock().stands() && state.stalled.is_none();
            if stands && *state.game.phase() == Phase::Running {
                state.game.turn_written(now());
                self.arm(state);
            }
        });
    }

    /// Somebody watches from now on.
    ///
    /// # Errors
    /// The game is just over, or has its fill of spectators.
    pub fn watch(&self, outlet: &Arc<Outlet>, reference: Option<Ref>) -> Result<(), Box<Error>> {
        let mut state = self.lock();
        if *state.game.phase() != Phase::Running {
            let message = "that game is not running; watch one that is";
            return Err(Box::new(Error::new(ErrorCode::WrongGame, message)));
        }
        if state.stalled.is_some() {
            return Err(Box::new(self.waits_for_space(None)));
        }
        let again = state.spectators.iter().any(|spectator| Arc::ptr_eq(spectator, outlet));
        if !again && state.spectators.len() >= SPECTATORS {
            let message = format!("{SPECTATORS} connections watch that game already");
            return Err(Box::new(Error::new(ErrorCode::GamesLimit, message)));
        }
        let started = Started { reference, ..self.as_started(&state, None) };
        outlet.tell(&ServerMessage::Started(Box::new(started)));
        if !again {
            state.spectators.push(Arc::clone(outlet));
        }
        Ok(())
    }

    /// Somebody watches no longer.
    pub fn unwatch(&self, outlet: &Arc<Outlet>) {
        self.lock().spectators.retain(|other| !Arc::ptr_eq(other, outlet));
    }
}
