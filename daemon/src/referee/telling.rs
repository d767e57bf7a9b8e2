//! What a table tells while its game runs: the start, each turn, each ply; and in which order that and the journal come.

use super::game::Played;
use super::messages;
use super::table::{State, Table};
use crate::clock::Micros;
use crate::time::now;
use modiar_protocol::server::Started;
use modiar_protocol::{ServerMessage, Termination};
use modiar_rules::{BySide, Side};
use std::cell::RefCell;
use std::sync::Arc;
use tracing::{debug, info, warn};

thread_local! {
    /// Lines are made here: a ply allocates nothing.
    static SCRATCH: RefCell<Vec<u8>> = RefCell::default();
}

impl Table {
    pub(super) fn sit(self: &Arc<Self>) {
        let state = self.lock();
        for side in Side::ALL {
            state.seats[side].bot.sit(side, Arc::clone(self));
        }
    }

    /// Lays `started` ready for both sides: what the hall lays for them after it follows it.
    pub(super) fn lay_started(self: &Arc<Self>) {
        self.change((), |state| {
            for side in Side::ALL {
                state.seats[side].link.outlet.lay_message(&self.started_line(state, side));
            }
        });
    }

    /// Starts the game: both sides read `started`, which lies ready for them, and the first its turn.
    pub fn start(self: &Arc<Self>) {
        self.change((), |state| {
            let (pool, south, north) = (&self.pool.name, &state.seats.south.bot.name, &state.seats.north.bot.name);
            debug!(game = %self.id(), pool, %south, %north, "started");
            state.begun = true;
            let first = state.game.side_to_move();
            state.seats[first.other()].link.outlet.write_laid();
            // A bot that came back meanwhile knows of the game, and may have played or given up.
            let untouched = !state.finishing && state.game.charges().is_empty();
            if untouched && state.game.decision().is_none() {
                return self.write_turn(state, false);
            }
            state.seats[first].link.outlet.write_laid();
            if untouched {
                self.finish(state);
            }
        });
    }

    pub(super) fn resume(self: &Arc<Self>, end: Option<Termination>) {
        self.change((), |state| {
            info!(game = %self.id(), ply = state.game.line().position().ply(), end = end.map(Termination::as_str), "resumed");
            if let Some(end) = end {
                state.game.abort(end);
            }
            if state.game.decision().is_some() {
                self.finish(state);
            }
        });
    }

    /// A ply stands: it goes to the journal, and once it is there the next turn goes out, then the news of it.
    pub(super) fn played(self: &Arc<Self>, state: &mut State, played: Played) {
        if !self.is_sound(state) {
            return;
        }
        if self.referee.keep_ply(self.slot, &played, self) {
            self.tell_played(state, played, BySide::new(true, true));
        } else {
            // Not where it is tried again, many times a second; where the disk failed that is said elsewhere.
            if !self.referee.has_failed() {
                warn!(game = %self.id(), ply = played.ply, "a ply waits for space on the disk");
            }
            state.stalled = Some(played);
            state.game.stand();
        }
    }

    /// There may be space again for the ply that waits for it.
    pub(super) fn go_on(self: &Arc<Self>) {
        self.change((), |state| {
            // Where it was given up or aborted meanwhile its end is on its way, and the ply with it.
            let given_up = state.finishing;
            let Some(played) = state.stalled.take_if(|_| !given_up) else { return };
            if !self.referee.keep_ply(self.slot, &played, self) {
                state.stalled = Some(played);
                return;
            }
            let owed = std::mem::take(&mut state.owed);
            for side in Side::ALL.into_iter().filter(|side| owed[*side]) {
                state.seats[side].link.outlet.tell(&self.resumed_line(state, side));
            }
            // Who reads the whole state reads no news of what stands in it.
            self.tell_played(state, played, owed.map(|owed| !owed));
        });
    }

    /// A ply is in the journal: the next turn goes out, and to whom it is `news` the ply.
    fn tell_played(self: &Arc<Self>, state: &mut State, played: Played, news: BySide<bool>) {
        self.referee.metrics.moved(played.charge);
        let Played { ply, pit, taken, charge, .. } = played;
        debug!(game = %self.id(), ply, pit = pit.index(), taken, charged_us = charge.charged.0, "played");
        if state.game.decision().is_some() {
            return self.finish(state);
        }
        self.write_turn(state, news[played.side.other()]);
        let mover = &state.seats[played.side].link;
        let mover_wants = mover.updates && news[played.side];
        if (mover_wants || !state.spectators.is_empty())
            && let Some(moved) = messages::moved(self.id(), &state.game)
        {
            let line = moved.to_line();
            if mover_wants {
                mover.outlet.send(&line);
            }
            for spectator in &state.spectators {
                spectator.send(&line);
            }
        }
    }

    fn started_line(&self, state: &State, side: Side) -> ServerMessage {
        ServerMessage::Started(Box::new(self.as_started(state, Some(side))))
    }

    /// Writes the turn of the side to move, in one write with the `news` of the ply before where it wants those. Its clock
    /// runs from then, whether the socket took the line or it joined what waits (`clock.start`, `clock.start-queued`). Who has
    /// not come back after a restart is waited for (`clock.restart`).
    pub(super) fn write_turn(self: &Arc<Self>, state: &mut State, news: bool) {
        if !self.may_tell(state) {
            return;
        }
        if state.waits && !state.come_back[state.game.side_to_move()] {
            return state.game.stand();
        }
        let State { game, seats, .. } = &*state;
        let link = &seats[game.side_to_move()].link;
        SCRATCH.with_borrow_mut(|line| {
            line.clear();
            if news
                && link.updates
                && let Some(moved) = messages::moved(self.id(), game)
            {
                moved.write(line);
            }
            messages::turn(self.id(), game).write(line);
            link.outlet.send(line);
        });
        state.game.turn_written(now());
        self.arm(state);
    }

    /// The flags look here at the deadline, unless they look earlier anyway.
    pub(super) fn arm(self: &Arc<Self>, state: &mut State) {
        let due = state.game.deadline().map(|deadline| deadline + Micros(1));
        if let Some(due) = due.filter(|due| *due < state.armed) {
            self.referee.flags.arm(self, std::mem::replace(&mut state.armed, due), due);
        }
    }

    /// The whole state of the game, to one side or to a spectator.
    pub(super) fn as_started(&self, state: &State, side: Option<Side>) -> Started {
        let player = |side: Side| {
            let seat = &state.seats[side];
            let rating = || self.referee.store.ratings().of(&self.pool.name, &seat.bot.name).rating;
            messages::player(seat, seat.is_rated(&self.pool).then(rating))
        };
        let players = BySide::from_fn(player);
        messages::started(self.id(), &self.pool, self.pairing().rated, players, &state.game, side, now())
    }
}
