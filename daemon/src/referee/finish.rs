//! The end of a game: decided, stored, told, in this order.

use super::game::Phase;
use super::office::Reader;
use super::seat::{Link, Seat};
use super::table::{State, Table};
use super::{messages, record};
use crate::clock::Moment;
use crate::ladder::change;
use crate::lobby::Fate;
use crate::metrics::Invariant;
use crate::net::Outlet;
use crate::store::Stored;
use jiff::Timestamp;
use modiar_protocol::server::Ended;
use modiar_protocol::{GameResult, ServerMessage, Termination};
use modiar_rules::{BySide, Side};
use std::sync::Arc;
use tracing::{debug, info};

impl Table {
    /// The game is Decided: its record goes to the store, and only what comes back from there is told.
    pub(super) fn finish(self: &Arc<Self>, state: &mut State) {
        if state.finishing {
            return self.alarm(Invariant::OneEnd);
        }
        let Some(decision) = state.game.decision() else { return };
        let occasion = record::Occasion {
            id: self.id(),
            pool: &self.pool,
            rated: self.pairing().rated && !state.disowned,
            seats: &state.seats,
            started: self.started,
            ended: Timestamp::now(),
            node: &self.referee.node,
        };
        let record = record::record(&occasion, &state.game, decision);
        self.keep_evidence(state);
        state.finishing = true;
        self.referee.flags.disarm(self.slot, std::mem::replace(&mut state.armed, Moment(u64::MAX)));
        let table = Arc::clone(self);
        self.referee.store.finish(record, move |stored| table.stored(stored));
    }

    fn stored(self: Arc<Self>, stored: Stored) {
        let stored = stored.map(|record| {
            if record.rating_after.is_some() {
                self.lock().changes = Some(Box::new(BySide::from_fn(|side| change(&record, side))));
            }
        });
        match (stored, self.referee.host()) {
            (Ok(()), Some(host)) => host.finished(&self),
            (Ok(()), None) => self.conclude(),
            // At a stop, without room: the journal keeps the game.
            (Err(error), _) if error.is_full() => {}
            (Err(error), _) => self.referee.fail(&error),
        }
    }

    /// The result is durable: the last news, `ended` to everybody, and the answers that waited for it.
    pub fn conclude(self: &Arc<Self>) {
        for outlet in self.lay_end() {
            outlet.write_laid();
        }
    }

    /// As [`Self::conclude`], but all lies ready only, in these outlets.
    pub fn lay_end(self: &Arc<Self>) -> Vec<Arc<Outlet>> {
        let (outlets, readers) = self.change(Default::default(), |state| (self.tell_end(state), readers(state)));
        self.referee.told(self.slot, self.id(), readers);
        outlets
    }

    fn tell_end(&self, state: &mut State) -> Vec<Arc<Outlet>> {
        if matches!(state.game.phase(), Phase::Over(_)) {
            self.alarm(Invariant::OneEnd);
            return Vec::new();
        }
        state.game.committed();
        let Some(decision) = state.game.decision() else { return Vec::new() };
        let (pool, plies) = (&self.pool.name, state.game.line().moves().len());
        let [south, north] = Side::ALL.map(|side| &state.seats[side].bot.name);
        let (result, termination) = (decision.result, decision.termination);
        // The archive tells of every game; the log of those that something went wrong with.
        if result == GameResult::None {
            info!(game = %self.id(), pool, %south, %north, %termination, plies, "ended without a result");
        } else {
            debug!(game = %self.id(), pool, %south, %north, %result, %termination, plies, "ended");
        }
        let ended = messages::ended(self.id(), &state.game, decision);
        self.referee.metrics.game_finished(termination);
        let mut outlets = self.tell_players(state, &ended);
        outlets.extend(self.tell_others(state, ended));
        outlets
    }

    fn tell_players(&self, state: &State, ended: &Ended) -> Vec<Arc<Outlet>> {
        let news = self.untold(state);
        for side in Side::ALL {
            let Seat { bot, link: Link { outlet, updates }, .. } = &state.seats[side];
            if state.owed[side] {
                outlet.lay_message(&self.resumed_line(state, side));
            } else if *updates {
                outlet.lay(&news);
            }
            let rating = state.changes.as_ref().and_then(|changes| changes[side]);
            let ended = Ended { rating, ..ended.clone() };
            outlet.lay_message(&ServerMessage::Ended(Box::new(ended.clone())));
            bot.rise(ended, outlet);
            self.referee.keep_unread(bot);
        }
        Side::ALL.map(|side| Arc::clone(&state.seats[side].link.outlet)).into()
    }

    fn tell_others(&self, state: &mut State, ended: Ended) -> Vec<Arc<Outlet>> {
        let mut outlets = std::mem::take(&mut state.spectators);
        if !outlets.is_empty() {
            let mut news = self.untold(state);
            ServerMessage::Ended(Box::new(ended)).write(&mut news);
            for spectator in &outlets {
                spectator.lay(&news);
            }
        }
        for (outlet, reference) in std::mem::take(&mut state.waiting) {
            outlet.lay_message(&ServerMessage::Error(Box::new(messages::game_over(self.id(), reference))));
            outlets.push(outlet);
        }
        outlets
    }

    /// The ply that ended the game, which waited for the result, or one that waited for space on the disk; every other
    /// was told when it was played.
    fn untold(&self, state: &State) -> Vec<u8> {
        let waited = state.game.line().ending().is_some() || state.stalled.is_some();
        let last = if waited { messages::moved(self.id(), &state.game) } else { None };
        last.map_or_else(Vec::new, |moved| moved.to_line())
    }

    /// How it went for those who paired the two.
    #[must_use]
    pub fn fate(&self) -> Fate {
        let state = self.lock();
        let Some(decision) = state.game.decision() else { return Fate::default() };
        let loser = match decision.result {
            GameResult::South => Some(Side::North),
            GameResult::North => Some(Side::South),
            GameResult::Draw | GameResult::None => None,
        };
        let on_time = decision.termination == Termination::TimeForfeit && decision.absent.is_none();
        Fate {
            absent: decision.absent,
            flagged: loser.filter(|_| on_time),
            aborted: decision.result == GameResult::None,
        }
    }

    /// Whether the game goes on.
    #[must_use]
    pub fn is_running(&self) -> bool {
        *self.lock().game.phase() == Phase::Running
    }
}

/// The registered bots at the table: what was told to them may have to be told again after a restart.
fn readers(state: &State) -> Vec<Reader> {
    let reader = |side| {
        let Seat { bot, link, .. } = &state.seats[side];
        let told = || (Arc::clone(bot), Arc::downgrade(&link.outlet));
        bot.is_registered().then(|| Reader { side, name: bot.name.clone(), link: Some(told()) })
    };
    Side::ALL.into_iter().filter_map(reader).collect()
}
