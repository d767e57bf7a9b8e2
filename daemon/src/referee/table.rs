//! A table: one game under one short lock, the two who play it and those who watch.
//!
//! Whoever read a move applies it here and writes the opponent's turn itself; nothing is awaited and no queue crossed
//! while the game changes. Only a finished game leaves through a queue, to the store.

use super::flags::Flags;
use super::game::{Game, Phase, Played, Refused, Terms, Verdict};
use super::{messages, record};
use crate::clock::{Arrival, Micros, Moment};
use crate::config::Pool;
use crate::lobby::{Bot, Pairing};
use crate::net::Outlet;
use crate::store::StoreHandle;
use crate::time::now;
use jiff::Timestamp;
use modiar_protocol::client::Move;
use modiar_protocol::limits::{SPECTATORS, WAITING_ANSWERS};
use modiar_protocol::server::Error;
use modiar_protocol::{ErrorCode, GameId, GameResult, Ref, ServerMessage, Termination};
use modiar_rules::{BySide, ReplayError, Side};
use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tokio_util::sync::CancellationToken;
use tracing::{Span, debug, error, info, info_span};
use uuid::Uuid;

/// How long a connection has to read what the kernel holds before its game is looked at again.
const LOOK_AGAIN: Micros = Micros(100_000);

thread_local! {
    /// Lines are made here: a ply allocates nothing.
    static SCRATCH: RefCell<Vec<u8>> = RefCell::default();
}

/// Who is told that a game is over and stored.
pub trait Host: std::fmt::Debug + Send + Sync {
    /// The result of the game at `table` is durable: whoever keeps the tables counts the game no longer, has the table
    /// [conclude](Table::conclude), and only then does what follows.
    fn finished(&self, table: &Arc<Table>);
}

/// What all tables share.
#[derive(Debug)]
pub struct Referee {
    store: StoreHandle,
    flags: Arc<Flags>,
    node: String,
    /// Cancelled where results can no longer be stored: the daemon must stop.
    failed: CancellationToken,
    host: OnceLock<Weak<dyn Host>>,
}

impl Referee {
    /// A referee who keeps results in `store`.
    #[must_use]
    pub fn new(store: StoreHandle, flags: Arc<Flags>, node: String, failed: CancellationToken) -> Arc<Self> {
        Arc::new(Self { store, flags, node, failed, host: OnceLock::new() })
    }

    /// Names who is told of finished games, once.
    pub fn report_to(&self, host: &Arc<dyn Host>) {
        self.host.get_or_init(|| Arc::downgrade(host));
    }
}

/// A bot at a table.
#[derive(Clone, Debug)]
pub struct Seat {
    /// Who.
    pub bot: Arc<Bot>,
    /// Where its turns go.
    pub outlet: Arc<Outlet>,
}

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
    pool: Pool,
    pairing: Pairing,
    referee: Arc<Referee>,
    span: Span,
    started: Timestamp,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    game: Game,
    seats: BySide<Seat>,
    spectators: Vec<Arc<Outlet>>,
    /// The ply that ended the game, told together with its result.
    last: Option<Played>,
    /// Who is to read `game_over` once the result is told.
    waiting: Vec<(Arc<Outlet>, Option<Ref>)>,
    /// When the flags look here next.
    armed: Moment,
    /// Until when an absent side, found late, is waited for; and at which ply.
    grace: Option<(u32, Moment)>,
}

impl Table {
    /// Opens a table and starts its game: both sides read `started`, the first its turn.
    ///
    /// # Errors
    /// The pool's opening cannot be played.
    pub fn open(
        pairing: Pairing,
        pool: Pool,
        seats: BySide<Seat>,
        referee: Arc<Referee>,
    ) -> Result<Arc<Self>, ReplayError> {
        let id = GameId::new(Uuid::now_v7());
        let terms =
            Terms { control: pool.time.into(), rules: pool.rules, opening: Vec::new(), must_show: pairing.must_show };
        let game = Game::new(terms, now())?;
        let span = info_span!(parent: None, "game", %id, pool = %pool.name, south = %seats.south.bot.name, north = %seats.north.bot.name);
        let state = State {
            game,
            seats,
            spectators: Vec::new(),
            last: None,
            waiting: Vec::new(),
            armed: Moment(u64::MAX),
            grace: None,
        };
        let table =
            Arc::new(Self { id, pool, pairing, referee, span, started: Timestamp::now(), state: Mutex::new(state) });
        table.start();
        Ok(table)
    }

    /// The game's id.
    #[must_use]
    pub const fn id(&self) -> GameId {
        self.id
    }

    /// What brought the two together.
    #[must_use]
    pub const fn pairing(&self) -> &Pairing {
        &self.pairing
    }

    /// Whether the game goes on.
    #[must_use]
    pub fn is_running(&self) -> bool {
        *self.lock().game.phase() == Phase::Running
    }

    /// Which side did not show up, and whether the game was aborted.
    #[must_use]
    pub fn fate(&self) -> (Option<Side>, bool) {
        let state = self.lock();
        let Some(decision) = state.game.decision() else { return (None, false) };
        let aborted = decision.result == GameResult::None;
        let no_show = state.game.charges().len() < 2 && decision.unfinished.is_some();
        let late = matches!(decision.termination, Termination::Aborted | Termination::TimeForfeit);
        ((no_show && late).then(|| state.game.side_to_move()), aborted)
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
        let mut state = self.lock();
        match state.game.play(side, wanted, arrival, limited) {
            Verdict::Accepted(played) => {
                self.played(&mut state, played);
                Told::Accepted
            }
            Verdict::Decided => {
                self.finish(&state);
                Told::Nothing
            }
            Verdict::TooLate => self.too_late(&mut state, side, reference),
            Verdict::Limited => Told::Limited,
            Verdict::Refused(refused) => Told::Error(Box::new(self.error(refused, reference))),
            Verdict::Nothing => Told::Nothing,
        }
    }

    /// `side` gives up.
    pub fn resign(self: &Arc<Self>, side: Side, reference: Option<Ref>, arrival: &dyn Arrival) {
        let mut state = self.lock();
        match state.game.resign(side, arrival) {
            Verdict::Decided => self.finish(&state),
            Verdict::TooLate => {
                if let Told::Error(error) = self.too_late(&mut state, side, reference) {
                    state.seats[side].outlet.tell(&ServerMessage::Error(error));
                }
            }
            _ => {}
        }
    }

    /// Ends the game without a result.
    pub fn abort(self: &Arc<Self>, termination: Termination) {
        let mut state = self.lock();
        if state.game.abort(termination) == Verdict::Decided {
            self.finish(&state);
        }
    }

    /// The flag of the side to move, all that its connection sent until `asked` having been judged.
    pub fn confirm_flag(self: &Arc<Self>, asked: Moment) {
        let mut state = self.lock();
        self.flag(&mut state, asked);
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
        let again = state.spectators.iter().any(|spectator| Arc::ptr_eq(spectator, outlet));
        if !again && state.spectators.len() >= SPECTATORS {
            return Err(Box::new(Error::new(
                ErrorCode::GamesLimit,
                format!("{SPECTATORS} connections watch that game already"),
            )));
        }
        outlet.tell(&messages::started(
            self.id,
            &self.pool,
            self.pairing.rated,
            &state.seats,
            &state.game,
            None,
            reference,
        ));
        if !again {
            state.spectators.push(Arc::clone(outlet));
        }
        Ok(())
    }

    /// Somebody watches no longer.
    pub fn unwatch(&self, outlet: &Arc<Outlet>) {
        self.lock().spectators.retain(|other| !Arc::ptr_eq(other, outlet));
    }

    /// The flags look here, as armed for `at`; when to look again.
    pub(super) fn look(self: &Arc<Self>, at: Moment, now: Moment) -> Option<Moment> {
        let mut state = self.lock();
        let deadline = state.game.deadline()?;
        if at != state.armed {
            return None;
        }
        let again = if now <= deadline {
            deadline + Micros(1)
        } else if state.outlet_to_move().is_live() {
            state.outlet_to_move().check_flags();
            now + LOOK_AGAIN
        } else {
            self.look_for_absent(&mut state, deadline, now)?
        };
        state.armed = again.max(now + Micros(1));
        Some(state.armed)
    }

    /// Nobody can be asked what is on its way: a check that comes late by some time waits as long again.
    fn look_for_absent(self: &Arc<Self>, state: &mut State, deadline: Moment, now: Moment) -> Option<Moment> {
        let ply = state.game.line().position().ply();
        match state.grace {
            Some((of, until)) if of == ply && now >= until => {
                self.flag(state, now);
                None
            }
            Some((of, until)) if of == ply => Some(until),
            _ => {
                let until = now + now.since(deadline);
                state.grace = Some((ply, until));
                Some(until)
            }
        }
    }

    fn flag(self: &Arc<Self>, state: &mut State, now: Moment) {
        if state.game.flag(now) == Verdict::Decided {
            self.finish(state);
        }
    }

    fn start(self: &Arc<Self>) {
        let mut state = self.lock();
        self.span.in_scope(|| info!("started"));
        for side in Side::ALL {
            let Seat { bot, outlet } = &state.seats[side];
            bot.sit(side, Arc::clone(self));
            outlet.tell(&messages::started(
                self.id,
                &self.pool,
                self.pairing.rated,
                &state.seats,
                &state.game,
                Some(side),
                None,
            ));
        }
        if state.game.decision().is_some() {
            return self.finish(&state);
        }
        self.write_turn(&mut state, None);
    }

    /// A ply stands: the next turn goes out, then the news of it.
    fn played(self: &Arc<Self>, state: &mut State, played: Played) {
        self.span.in_scope(|| debug!(ply = played.ply, pit = %played.pit, taken = played.taken, charged_us = played.charge.charged.0, "played"));
        if state.game.decision().is_some() {
            state.last = Some(played);
            return self.finish(state);
        }
        self.write_turn(state, Some(&played));
        let mover = &state.seats[played.side];
        if mover.bot.updates || !state.spectators.is_empty() {
            let moved = messages::moved(self.id, &state.game, &played).to_line();
            if mover.bot.updates {
                mover.outlet.send(&moved);
            }
            for spectator in &state.spectators {
                spectator.send(&moved);
            }
        }
    }

    /// Writes the turn of the side to move, in one write with the news where it wants those; its clock runs from then.
    fn write_turn(self: &Arc<Self>, state: &mut State, last: Option<&Played>) {
        let State { game, seats, .. } = &mut *state;
        let seat = &seats[game.side_to_move()];
        SCRATCH.with_borrow_mut(|line| {
            line.clear();
            if let Some(last) = last.filter(|_| seat.bot.updates) {
                messages::moved(self.id, game, last).write(line);
            }
            messages::turn(self.id, game, last).write(line);
            seat.outlet.send(line);
        });
        game.turn_written(now());
        if let Some(deadline) = game.deadline().filter(|deadline| *deadline + Micros(1) < state.armed) {
            state.armed = deadline + Micros(1);
            self.referee.flags.arm(state.armed, self);
        }
    }

    /// The game is Decided: its record goes to the store, and only what comes back from there is told.
    fn finish(self: &Arc<Self>, state: &State) {
        let Some(decision) = state.game.decision() else { return };
        let occasion = record::Occasion {
            id: self.id,
            pool: &self.pool,
            rated: self.pairing.rated,
            seats: &state.seats,
            started: self.started,
            ended: Timestamp::now(),
            node: &self.referee.node,
        };
        let record = record::record(&occasion, &state.game, decision);
        let table = Arc::clone(self);
        tokio::spawn(async move {
            match table.referee.store.finish(record).await {
                Ok(()) => match table.referee.host.get().and_then(Weak::upgrade) {
                    Some(host) => host.finished(&table),
                    None => table.conclude(),
                },
                Err(error) => {
                    error!(%error, game = %table.id, "a result could not be stored");
                    table.referee.failed.cancel();
                }
            }
        });
    }

    /// The result is durable: the last news, `ended` to everybody, and the answers that waited for it.
    pub fn conclude(&self) {
        let mut state = self.lock();
        state.game.committed();
        let Some(decision) = state.game.decision() else { return };
        self.span.in_scope(|| info!(result = %decision.result, termination = %decision.termination, plies = state.game.line().moves().len(), "ended"));
        let ended = messages::ended(self.id, &state.game, decision).to_line();
        let mut with_news =
            state.last.map_or_else(Vec::new, |last| messages::moved(self.id, &state.game, &last).to_line());
        with_news.extend_from_slice(&ended);
        for side in Side::ALL {
            let Seat { bot, outlet } = &state.seats[side];
            outlet.send(if bot.updates { &with_news } else { &ended });
            bot.rise(self.id);
        }
        for spectator in std::mem::take(&mut state.spectators) {
            spectator.send(&with_news);
        }
        for (outlet, reference) in std::mem::take(&mut state.waiting) {
            outlet.tell(&ServerMessage::Error(Box::new(messages::game_over(self.id, reference))));
        }
    }

    fn too_late(&self, state: &mut State, side: Side, reference: Option<Ref>) -> Told {
        if matches!(state.game.phase(), Phase::Over(_)) {
            return Told::Error(Box::new(messages::game_over(self.id, reference)));
        }
        if state.waiting.len() >= WAITING_ANSWERS {
            return Told::Limited;
        }
        let outlet = Arc::clone(&state.seats[side].outlet);
        state.waiting.push((outlet, reference));
        Told::Later
    }

    fn error(&self, refused: Refused, reference: Option<Ref>) -> Error {
        let (clause, legal) =
            refused.illegal.map_or((None, None), |(clause, legal)| (Some(clause.into()), Some(legal)));
        Error { game: Some(self.id), reference, clause, legal, ..Error::new(refused.code, refused.message) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn outlet_to_move(&self) -> &Arc<Outlet> {
        &self.seats[self.game.side_to_move()].outlet
    }
}
