//! A table: one game under one short lock, the two who play it and those who watch.
//!
//! Whoever read a move applies it here and writes the opponent's turn itself; nothing is awaited and no queue crossed
//! while the game changes. Only a finished game leaves through a queue, to the store.

use super::game::{Game, Phase, Played, Refused, Terms, Verdict};
use super::messages;
use super::office::Referee;
use super::seat::Seat;
use crate::clock::{Arrival, Charge, Micros, Moment};
use crate::config::Pool;
use crate::lobby::{Pairing, Source};
use crate::net::Outlet;
use crate::store::StoreError;
use crate::store::journal::{Opening, SavedGame, Slot};
use jiff::Timestamp;
use modiar_protocol::client::Move;
use modiar_protocol::limits::WAITING_ANSWERS;
use modiar_protocol::server::{Error, RatingChange};
use modiar_protocol::{ErrorCode, GameId, Ref, ServerMessage, Termination};
use modiar_rules::{BySide, MovesError, ReplayError, Side, moves_text, parse_moves};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thiserror::Error;
use tracing::{error, warn};
use uuid::Uuid;

/// How long a connection has to read what the kernel holds before its game is looked at again.
const LOOK_AGAIN: Micros = Micros(100_000);
/// A check later than this may come after a stop of the server.
const LATE: Micros = Micros(15_000);

/// What is to be said to the sender of a move.
#[derive(Debug)]
pub enum Told {
    /// Nothing: it stands.
    Accepted,
    /// Nothing: the game has ended by it.
    Nothing,
    /// Nothing yet: an answer waits for the result to be stored.
    Later,
    /// That it was over the rate.
    Limited,
    /// This.
    Error(Box<Error>),
}

/// A game and those around it.
#[derive(Debug)]
pub struct Table {
    id: GameId,
    pairing: Pairing,
    pub(super) slot: Slot,
    pub(super) pool: Pool,
    pub(super) referee: Arc<Referee>,
    pub(super) started: Timestamp,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) game: Game,
    pub(super) seats: BySide<Seat>,
    pub(super) spectators: Vec<Arc<Outlet>>,
    /// Whether it was started: before that no turn is written.
    pub(super) begun: bool,
    /// A ply that stands but is not in the journal yet: nobody has been told.
    pub(super) stalled: Option<Played>,
    /// Its record is on its way to the store.
    pub(super) finishing: bool,
    /// What it did to the ratings of the two, once it is stored.
    pub(super) changes: Option<Box<BySide<Option<RatingChange>>>>,
    /// One of the two was removed by the host: it counts no more.
    pub(super) disowned: bool,
    /// Who is to read `game_over` once the result is told.
    pub(super) waiting: Vec<(Arc<Outlet>, Option<Ref>)>,
    /// Who is still to read `started`: it came while a ply was stalled, or the end on its way to the store.
    pub(super) owed: BySide<bool>,
    /// Who has been here since the daemon started.
    pub(super) come_back: BySide<bool>,
    /// Whether who has not been here since is waited for.
    pub(super) waits: bool,
    /// When the flags look here next.
    pub(super) armed: Moment,
    /// Until when a side, found late, is waited for; and at which ply.
    grace: Option<(u32, Moment)>,
    #[cfg(test)]
    pub(super) sabotage: super::guard::Sabotage,
}

impl State {
    fn new(game: Game, seats: BySide<Seat>, here: bool) -> Self {
        Self {
            game,
            begun: !here,
            seats,
            spectators: Vec::new(),
            stalled: None,
            owed: BySide::default(),
            finishing: false,
            changes: None,
            disowned: false,
            waiting: Vec::new(),
            come_back: BySide::new(here, here),
            waits: !here,
            armed: Moment(u64::MAX),
            grace: None,
            #[cfg(test)]
            sabotage: super::guard::Sabotage::default(),
        }
    }

    /// A check that comes late by some time waits as long again, where who is to move may wait to be heard or to be let in;
    /// until when it does (`clock.flag-away`).
    fn wait_longer(&mut self, deadline: Moment, now: Moment, live: bool) -> Option<Moment> {
        let ply = self.game.line().position().ply();
        let waited = self.grace.filter(|(of, _)| *of == ply).map(|(_, until)| until);
        let due = waited.map_or(deadline, |until| until.max(deadline));
        let late = now.since(due);
        let until = if now < due {
            due
        } else if late > LATE || waited.is_none() && !live {
            now + late
        } else {
            return None;
        };
        self.grace = Some((ply, until));
        Some(until)
    }

    fn outlet_to_move(&self) -> &Arc<Outlet> {
        &self.seats[self.game.side_to_move()].link.outlet
    }
}

/// Why a game could not start or go on.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum OpenError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("its plies cannot be played: {0}")]
    Plies(#[from] ReplayError),
    #[error("its moves cannot be read: {0}")]
    Moves(#[from] MovesError),
}

impl Table {
    /// Opens a table: both bots sit at it, and `started` lies ready for them until it [starts](Self::start).
    ///
    /// # Errors
    /// The pool's opening cannot be played, or the journal is full.
    pub fn open(
        pairing: Pairing,
        pool: Pool,
        seats: BySide<Seat>,
        referee: Arc<Referee>,
    ) -> Result<Arc<Self>, OpenError> {
        let terms = Terms {
            control: pool.time.into(),
            rules: pool.rules,
            opening: pairing.opening.to_vec(),
            must_show: pairing.must_show,
        };
        let game = Game::new(terms)?;
        let id = match pairing.source {
            Source::Tournament(id) => id,
            _ => GameId::new(Uuid::now_v7()),
        };
        let mut opening = Opening {
            slot: Slot(0),
            game: id,
            pool: pool.name.clone(),
            time: pool.time,
            rules: pool.rules,
            rated: pairing.rated,
            opening: moves_text(&game.terms().opening).to_string(),
            seats: [seats.south.saved(), seats.north.saved()],
            started: Timestamp::now(),
        };
        referee.keep_opening(&mut opening)?;
        let table = Self::around(game, &opening, pairing, pool, seats, true, referee);
        table.sit();
        table.lay_started();
        Ok(table)
    }

    /// Sets a table up as the journal has it, its bots away. A game that had ended by its last ply is finished now, and
    /// where power failed, what was told may be gone: the game is aborted. One whose plies cannot be played ends with a server
    /// error before the first that cannot (`forfeit.server-error`).
    ///
    /// # Errors
    /// Its opening cannot be played.
    pub fn restore(
        saved: &SavedGame,
        pairing: Pairing,
        pool: Pool,
        seats: BySide<Seat>,
        referee: Arc<Referee>,
    ) -> Result<Arc<Self>, OpenError> {
        let SavedGame { opening, plies, forgiven, lost, .. } = saved;
        let terms = Terms {
            control: opening.time.into(),
            rules: opening.rules,
            opening: parse_moves(&opening.opening)?,
            must_show: pairing.must_show,
        };
        let plies: Vec<_> = plies.iter().map(|ply| (ply.pit, terms.control.charge(ply.elapsed, ply.own))).collect();
        let (game, end) = match Game::resume(terms.clone(), &plies, *forgiven) {
            Ok(game) => (game, lost.then_some(Termination::Aborted)),
            Err(error) => {
                error!(game = %opening.game, %error, "a game cannot go on");
                let whole = usize::try_from(error.ply).unwrap_or(1).saturating_sub(1 + terms.opening.len());
                (Game::resume(terms, &plies[..whole], *forgiven)?, Some(Termination::ServerError))
            }
        };
        let table = Self::around(game, opening, pairing, pool, seats, false, referee);
        table.lock().disowned = saved.disowned.south || saved.disowned.north;
        table.sit();
        table.resume(end);
        Ok(table)
    }

    fn around(
        game: Game,
        opening: &Opening,
        pairing: Pairing,
        pool: Pool,
        seats: BySide<Seat>,
        here: bool,
        referee: Arc<Referee>,
    ) -> Arc<Self> {
        let (id, started, slot) = (opening.game, opening.started, opening.slot);
        let state = Mutex::new(State::new(game, seats, here));
        Arc::new(Self { id, pairing, slot, pool, referee, started, state })
    }

    /// The game's id.
    #[must_use]
    pub const fn id(&self) -> GameId {
        self.id
    }

    /// The pool by whose terms it is played.
    #[must_use]
    pub const fn pool(&self) -> &Pool {
        &self.pool
    }

    /// What brought the two together.
    #[must_use]
    pub const fn pairing(&self) -> &Pairing {
        &self.pairing
    }

    /// The bot of a side is removed by the host: the game runs on, and counts for nobody (`ladder.removal`).
    pub fn disown(&self, side: Side) {
        self.lock().disowned = true;
        if let Err(error) = self.referee.journal.disowned(&[(self.slot, side)]) {
            warn!(%error, game = %self.id, "that its bot was removed is not in the journal");
        }
    }

    /// A move of `side`.
    pub fn play(
        self: &Arc<Self>,
        side: Side,
        wanted: Move,
        limited: bool,
        reference: Option<Ref>,
        arrival: &dyn Arrival,
    ) -> Told {
        self.change(Told::Nothing, |state| self.judge(state, side, wanted, limited, reference, arrival))
    }

    fn judge(
        self: &Arc<Self>,
        state: &mut State,
        side: Side,
        wanted: Move,
        limited: bool,
        reference: Option<Ref>,
        arrival: &dyn Arrival,
    ) -> Told {
        if state.stalled.is_some() {
            return Told::Error(Box::new(self.waits_for_space(reference)));
        }
        let verdict = state.game.play(side, wanted, arrival, limited);
        #[cfg(test)]
        state.sabotage.strike();
        match verdict {
            Verdict::Accepted(played) => {
                self.measure(state, Some(played.charge));
                self.played(state, played);
                Told::Accepted
            }
            Verdict::Decided => {
                self.measure(state, state.game.decision().and_then(|decision| decision.unfinished));
                self.finish(state);
                Told::Nothing
            }
            Verdict::TooLate => self.too_late(state, side, reference),
            Verdict::Limited => Told::Limited,
            Verdict::Refused(refused) => {
                if refused.illegal.is_some()
                    && let Err(error) = self.referee.keep_forgiven(self.slot, side)
                {
                    warn!(%error, game = %self.id, "a forgiven pit is not in the journal");
                }
                Told::Error(Box::new(self.error(refused, reference)))
            }
            Verdict::Nothing => Told::Nothing,
        }
    }

    /// `side` gives up.
    pub fn resign(self: &Arc<Self>, side: Side, reference: Option<Ref>, arrival: &dyn Arrival) {
        self.change((), |state| match state.game.resign(side, arrival) {
            Verdict::Decided => self.finish(state),
            Verdict::TooLate => {
                if let Told::Error(error) = self.too_late(state, side, reference) {
                    state.seats[side].link.outlet.tell(&ServerMessage::Error(error));
                }
            }
            _ => {}
        });
    }

    /// Ends the game without a result.
    pub fn abort(self: &Arc<Self>, termination: Termination) {
        self.change((), |state| {
            if state.game.abort(termination) == Verdict::Decided {
                self.finish(state);
            }
        });
    }

    /// The flag of `side` where it is to move, all that its connection sent until `asked` having been judged. Of the other
    /// side's connection nothing is known here.
    pub fn confirm_flag(self: &Arc<Self>, side: Side, asked: Moment) {
        self.change((), |state| {
            if state.game.side_to_move() == side {
                self.flag(state, asked);
            }
        });
    }

    /// The flags look here, as armed for `at`; when to look again.
    pub(super) fn look(self: &Arc<Self>, at: Moment, now: Moment) -> Option<Moment> {
        self.change(None, |state| self.look_at(state, at, now))
    }

    fn look_at(self: &Arc<Self>, state: &mut State, at: Moment, now: Moment) -> Option<Moment> {
        if at != state.armed {
            return None;
        }
        let Some(deadline) = state.game.deadline() else {
            state.armed = Moment(u64::MAX);
            return None;
        };
        let live = state.outlet_to_move().is_live();
        let again = if now <= deadline {
            deadline + Micros(1)
        } else if let Some(until) = state.wait_longer(deadline, now, live) {
            until
        } else if live {
            state.outlet_to_move().check_flags();
            now + LOOK_AGAIN
        } else {
            self.flag(state, now);
            return None;
        };
        // Never at once: a game that is due while its connection reads is looked at a little later.
        state.armed = again.max(now + Micros(1));
        Some(state.armed)
    }

    fn flag(self: &Arc<Self>, state: &mut State, now: Moment) {
        let nobody = !state.come_back.south && !state.come_back.north;
        let verdict = match state.game.deadline() {
            // After a restart a game that nobody has come back to is nobody's loss (`clock.restart-nobody`).
            Some(deadline) if nobody && now > deadline => state.game.abandon(now),
            _ => state.game.flag(now),
        };
        if verdict == Verdict::Decided {
            self.finish(state);
        }
    }

    fn measure(&self, state: &State, charge: Option<Charge>) {
        if let Some(charge) = charge {
            self.referee.metrics.judged(charge, state.game.terms().control.grace);
        }
    }

    pub(super) fn waits_for_space(&self, reference: Option<Ref>) -> Error {
        let message = "the server's disk is full: the game stands, and no clock runs; wait for your turn";
        Error { game: Some(self.id), reference, ..Error::new(ErrorCode::Internal, message) }
    }

    fn too_late(&self, state: &mut State, side: Side, reference: Option<Ref>) -> Told {
        if matches!(state.game.phase(), Phase::Over(_)) {
            return Told::Error(Box::new(messages::game_over(self.id, reference)));
        }
        if state.waiting.len() >= WAITING_ANSWERS {
            return Told::Limited;
        }
        let outlet = Arc::clone(&state.seats[side].link.outlet);
        state.waiting.push((outlet, reference));
        Told::Later
    }

    fn error(&self, refused: Refused, reference: Option<Ref>) -> Error {
        let (clause, legal) =
            refused.illegal.map_or((None, None), |(clause, legal)| (Some(clause.into()), Some(legal)));
        Error { game: Some(self.id), reference, clause, legal, ..Error::new(refused.code, refused.message) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
