//! The hall: the one lock around the lobby, and the hands that do what the lobby decides.
//!
//! Effects are carried out under the lock, so that what a bot reads is in the order of what happened. A game's lock may
//! be taken under the hall's, never the other way round.

use super::after::After;
use super::attempts::Attempts;
use super::bot::Bot;
use super::load::Load;
use super::machine::{Effect, Lobby, Now, Visitor};
use super::pairing::{Pairing, Sitter, Source};
use crate::config::{Limits, Reloadable};
use crate::ladder::Meeting;
use crate::metrics::Metrics;
use crate::net::Outlet;
use crate::referee::{Host, Link, Referee, Seat, Table};
use crate::store::{Accounts, StoreHandle};
use crate::time;
use modiar_protocol::client::Challenge;
use modiar_protocol::server::Error;
use modiar_protocol::{BotName, ChallengeId, ErrorCode, GameId, GoodbyeReason, Ref, ServerMessage};
use modiar_rules::{BySide, Pit};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};
use uuid::Uuid;

/// How often the house is looked after.
const TICK: Duration = Duration::from_millis(100);
/// Every so many ticks those who will not come back are forgotten.
const FORGET_TICKS: u64 = 600;

/// What a hall is opened with.
#[derive(Debug)]
pub struct Setup {
    /// The registered bots.
    pub accounts: Arc<Accounts>,
    /// What may change while it is open.
    pub current: Reloadable,
    /// Whether house bots will come.
    pub house: bool,
    /// On which sides bots have played (`Lobby::recall_sides`).
    pub sides: HashMap<String, i64>,
    /// Where chance starts.
    pub seed: u64,
}

fn say_goodbye(outlet: &Outlet) {
    outlet.goodbye(GoodbyeReason::Draining, "the server stops; come back after its start", None);
}

/// Everybody who is here.
#[derive(Debug)]
pub struct Hall {
    pub(super) accounts: Arc<Accounts>,
    pub(super) house: bool,
    pub(super) referee: Arc<Referee>,
    /// What the host has said last.
    current: RwLock<Arc<Reloadable>>,
    /// What came from which address of late.
    pub(super) attempts: Mutex<Attempts>,
    state: Mutex<State>,
    /// A challenge was made: the next one to lapse may be nearer than it was.
    challenged: Notify,
    running: watch::Sender<usize>,
    /// A game has ended that may be one of a tournament.
    pub(super) ended: Notify,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) lobby: Lobby,
    /// Every connection's writing end.
    pub(super) connected: HashMap<Visitor, Arc<Outlet>>,
    /// What everybody reads once no games start any more, and who comes later after its welcome (`session.drain`).
    pub(super) notice: Vec<u8>,
    /// Everybody was sent away.
    dismissed: bool,
    pub(super) present: HashMap<Visitor, Present>,
    /// Those who are here, and those who may come back.
    pub(super) bots: HashMap<BotName, Arc<Bot>>,
    pub(super) tables: HashMap<GameId, Arc<Table>>,
    hold: Hold,
    pub(super) after: After,
}

/// Why no games start at present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Hold {
    /// The disk has no room for them.
    full: bool,
    /// The server does not keep up with those that run.
    overloaded: bool,
}

/// A bot that is connected.
#[derive(Debug)]
pub(super) struct Present {
    pub(super) bot: Arc<Bot>,
    pub(super) version: Option<String>,
    pub(super) link: Link,
}

type Refused = Result<Vec<Effect>, Box<Error>>;

pub(super) fn this_moment() -> Now {
    Now { moment: time::now(), unix_ms: time::unix_ms() }
}

impl Hall {
    /// An empty hall whose games `referee` keeps.
    #[must_use]
    pub fn open(setup: Setup, referee: Arc<Referee>) -> Arc<Self> {
        let Setup { accounts, current, house, sides, seed } = setup;
        let mut lobby = Lobby::new(Arc::clone(&current.pools), current.limits.games_per_bot, seed);
        lobby.cap(current.limits.games_per_pair_and_day);
        lobby.recall_sides(sides);
        let state = State {
            lobby,
            connected: HashMap::new(),
            notice: Vec::new(),
            dismissed: false,
            present: HashMap::new(),
            bots: HashMap::new(),
            tables: HashMap::new(),
            hold: Hold::default(),
            after: After::default(),
        };
        let (state, challenged, running) = (Mutex::new(state), Notify::new(), watch::Sender::new(0));
        let (ended, current, attempts) = (Notify::new(), RwLock::new(Arc::new(current)), Mutex::default());
        let hall = Arc::new(Self { accounts, house, referee, current, attempts, state, challenged, running, ended });
        let host: Arc<dyn Host> = hall.clone();
        hall.referee.report_to(&host);
        hall
    }

    /// What holds at present.
    #[must_use]
    pub fn current(&self) -> Arc<Reloadable> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// This holds from now on. Its pools begin with those that were, in their order.
    pub fn reload(&self, current: Reloadable) {
        let mut state = self.lock();
        state.lobby.reload(Arc::clone(&current.pools), current.limits.games_per_bot);
        state.lobby.cap(current.limits.games_per_pair_and_day);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(current);
        drop(state);
        // Those in a pool that is new.
        self.rate_all();
    }

    /// What the connection of this writing end and its bot may take.
    #[must_use]
    pub fn limits_of(&self, outlet: &Outlet) -> Limits {
        let limits = self.current().limits;
        if outlet.is_inside() { limits.of_house() } else { limits }
    }

    /// Where finished games are kept.
    #[must_use]
    pub fn store(&self) -> &StoreHandle {
        self.referee.store()
    }

    /// See [`Lobby::use_openings`].
    pub fn use_openings(&self, lines: &[Arc<[Pit]>], met: &[Meeting]) {
        self.lock().lobby.use_openings(lines, met);
    }

    /// See [`Lobby::seek`].
    pub fn seek(&self, visitor: Visitor, pool: &str, games: u64, reference: Option<Ref>) {
        self.ask(visitor, reference.clone(), |lobby| lobby.seek(visitor, pool, games, reference, this_moment()));
    }

    /// See [`Lobby::unseek`].
    pub fn unseek(&self, visitor: Visitor, pool: Option<&str>, reference: Option<Ref>) {
        self.ask(visitor, reference.clone(), |lobby| lobby.unseek(visitor, pool, reference));
    }

    /// See [`Lobby::challenge`].
    pub fn challenge(&self, visitor: Visitor, terms: Challenge, reference: Option<Ref>) {
        let id = ChallengeId::new(Uuid::now_v7());
        self.ask(visitor, reference.clone(), |lobby| {
            lobby
                .challenge(visitor, id, terms, reference, this_moment())
                .map(|effects| self.rate_challenger(lobby, effects))
        });
        self.challenged.notify_one();
    }

    /// Tells the challenged how strong the challenger is, where it has a rating in that pool.
    fn rate_challenger(&self, lobby: &Lobby, mut effects: Vec<Effect>) -> Vec<Effect> {
        for effect in &mut effects {
            if let Effect::Tell(_, ServerMessage::Challenged(challenged)) = effect {
                let (pool, name) = (&challenged.pool, &challenged.from.name);
                let is_rated = self.is_rated(pool) && !lobby.is_guest(name);
                challenged.from.rating = is_rated.then(|| self.referee.ratings().of(pool, name).rating);
            }
        }
        effects
    }

    /// Whether there is a pool of that name whose games count.
    pub(super) fn is_rated(&self, pool: &str) -> bool {
        self.current().pools.iter().any(|known| known.name == pool && known.rated)
    }

    /// See [`Lobby::accept`].
    pub fn accept(&self, visitor: Visitor, challenge: ChallengeId, reference: Option<Ref>) {
        self.ask(visitor, reference, |lobby| lobby.accept(visitor, challenge, this_moment()));
    }

    /// See [`Lobby::decline`].
    pub fn decline(&self, visitor: Visitor, challenge: ChallengeId, reference: Option<Ref>) {
        self.ask(visitor, reference.clone(), |lobby| lobby.decline(visitor, challenge, reference, this_moment()));
    }

    /// A running game.
    #[must_use]
    pub fn table(&self, game: GameId) -> Option<Arc<Table>> {
        self.lock().tables.get(&game).cloned()
    }

    /// Ends challenges when their time is over, until `stop`.
    pub async fn lapse_challenges(self: Arc<Self>, stop: CancellationToken) {
        loop {
            let next = self.lock().lobby.next_lapse();
            let wait = next.map_or(Duration::from_secs(3600), |next| Duration::from_micros(next.since(time::now()).0));
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.challenged.notified() => continue,
                () = tokio::time::sleep(wait) => {}
            }
            self.change(|state| {
                let effects = state.lobby.lapse(time::now());
                self.carry_out(state, effects);
            });
        }
    }

    /// What is counted of all that happens.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.referee.metrics
    }

    /// Why no games start, as a monitor reads it; none where they do.
    #[must_use]
    pub fn obstacles(&self) -> Vec<&'static str> {
        let (draining, Hold { full, overloaded }) = {
            let state = self.lock();
            (state.lobby.is_draining(), state.hold)
        };
        let full = full || !self.referee.has_room();
        let all = [(draining, "draining"), (full, "disk full"), (overloaded, "overloaded")];
        all.into_iter().filter_map(|(holds, name)| holds.then_some(name)).collect()
    }

    /// Starts no games while the disk has no room or the server does not keep up, forgets who will not come back, and
    /// after `restart_wait` waits no longer for those whose games were restored; until `stop`.
    pub async fn keep_house(self: Arc<Self>, restart_wait: Duration, stop: CancellationToken) {
        let (mut load, mut ticks, mut waiting) = (Load::default(), 0u64, true);
        let restarted = time::now();
        while !stop.is_cancelled() {
            let (own, lag) = (self.metrics().own_tally.counted(), self.metrics().lag_tally.counted());
            let overloaded = load.look(own, lag, time::now());
            self.hold(Hold { full: !self.referee.has_room(), overloaded });
            self.pair_waiting();
            if waiting && time::now().since(restarted) >= restart_wait.into() {
                waiting = false;
                self.start_clocks();
            }
            ticks += 1;
            if ticks.is_multiple_of(FORGET_TICKS) {
                self.forget();
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(TICK) => {}
            }
        }
    }

    /// No new games; says so to everybody.
    pub fn drain(&self, time: Duration) {
        let until_ms = time::unix_ms() + u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let message = "the server is about to stop; running games may end, no new ones start".to_owned();
        let notice = ServerMessage::Notice { code: ErrorCode::Draining, message, until_ms: Some(until_ms) };
        let games = self.change(|state| {
            let effects = state.lobby.drain();
            state.notice = notice.to_line();
            for present in state.present.values() {
                present.link.outlet.lay(&state.notice);
                state.after.outlets.push(Arc::clone(&present.link.outlet));
            }
            self.carry_out(state, effects);
            state.tables.len()
        });
        info!(games, seconds = time.as_secs(), "draining");
    }

    /// Waits until no game runs.
    pub async fn emptied(&self) {
        // The sender lives as long as this hall: there is no error to see.
        let _ = self.running.subscribe().wait_for(|running| *running == 0).await;
    }

    /// A connection is there, and has said nothing yet.
    pub fn arrive(&self, visitor: Visitor, outlet: &Arc<Outlet>) {
        let mut state = self.lock();
        state.connected.insert(visitor, Arc::clone(outlet));
        if state.dismissed {
            say_goodbye(outlet);
        }
    }

    /// Says goodbye to everybody, whether welcomed or not, and to who comes after.
    pub fn dismiss(&self) {
        let mut state = self.lock();
        state.dismissed = true;
        for outlet in state.connected.values() {
            say_goodbye(outlet);
        }
    }

    /// Time alone may bring together who waits.
    fn pair_waiting(&self) {
        self.change(|state| {
            let now = this_moment();
            let effects = state.lobby.pair_waiting(now);
            self.carry_out(state, effects);
            let (waiting, longest, waits) = state.lobby.take_waits(now.moment);
            self.metrics().seeks_wait(waiting, longest);
            waits.into_iter().for_each(|wait| self.metrics().pairing_wait.time(wait));
            for (bot, pause, why) in state.lobby.take_pauses() {
                info!(%bot, seconds = pause.ms() / 1000, why = why.told(), "has to pause");
            }
        });
    }

    /// Starts no games while there is a reason; catches up when there is none.
    fn hold(&self, hold: Hold) {
        self.change(|state| {
            if state.hold != hold {
                state.hold = hold;
                match (hold.full, hold.overloaded) {
                    (false, false) => info!("new games start again"),
                    (true, false) => warn!("no new games: disk full"),
                    (false, true) => warn!("no new games: overloaded; own delay or lag is above overload_ms"),
                    (true, true) => warn!("no new games: disk full, overloaded"),
                }
                let effects = state.lobby.hold(hold != Hold::default(), this_moment());
                self.carry_out(state, effects);
            }
        });
    }

    /// Has the lobby decide, and does it; a refusal goes to who asked.
    fn ask(&self, visitor: Visitor, reference: Option<Ref>, decide: impl FnOnce(&mut Lobby) -> Refused) {
        self.change(|state| {
            let effects = decide(&mut state.lobby).unwrap_or_else(|error| {
                vec![Effect::Tell(visitor, ServerMessage::Error(Box::new(Error { reference, ..*error })))]
            });
            self.carry_out(state, effects);
        });
    }

    pub(super) fn carry_out(&self, state: &mut State, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Tell(visitor, message) => {
                    if let Some(present) = state.present.get(&visitor) {
                        present.link.outlet.lay_message(&message);
                        state.after.outlets.push(Arc::clone(&present.link.outlet));
                    }
                }
                Effect::Start(pairing) => self.start(state, pairing),
            }
        }
    }

    fn start(&self, state: &mut State, pairing: Pairing) {
        let seat = |sitter: &Sitter| {
            let Present { bot, version, link, .. } = state.present.get(&sitter.visitor)?;
            Some(Seat { bot: Arc::clone(bot), version: version.clone(), link: link.clone() })
        };
        // The lobby pairs only bots that are connected; what it says holds under this lock.
        let (Some(south), Some(north)) = (seat(&pairing.seats.south), seat(&pairing.seats.north)) else {
            return error!(?pairing, "a bot that is not here was paired");
        };
        let pool = self.current().pools[pairing.pool].clone();
        match Table::open(pairing.clone(), pool, BySide::new(south, north), Arc::clone(&self.referee)) {
            Ok(table) => {
                self.seat(state, Arc::clone(&table));
                state.after.tables.push(table);
            }
            Err(error) => {
                error!(%error, "a game could not start");
                // Nobody is paired again until the house is looked after next.
                state.hold.full = true;
                let effects = state.lobby.fell_through(pairing, this_moment());
                self.carry_out(state, effects);
            }
        }
    }

    /// The ratings of all bots may be others now.
    pub fn rate_all(&self) {
        let State { lobby, present, .. } = &mut *self.lock();
        for name in present.values().map(|present| &present.bot.name) {
            for (at, pool) in self.current().pools.iter().enumerate() {
                lobby.rate(name, at, self.referee.ratings().of(&pool.name, name));
            }
        }
    }

    /// The lobby pairs by what the game has made of the ratings of its two.
    fn rate(&self, lobby: &mut Lobby, table: &Table) {
        let Pairing { pool: at, seats, rated, .. } = table.pairing();
        for sitter in [&seats.south, &seats.north].into_iter().filter(|_| *rated) {
            let current = self.current();
            let Some(pool) = current.pools.get(*at).filter(|pool| pool.name == table.pool().name) else { return };
            lobby.rate(&sitter.bot, *at, self.referee.ratings().of(&pool.name, &sitter.bot));
        }
    }

    pub(super) fn seat(&self, state: &mut State, table: Arc<Table>) {
        state.tables.insert(table.id(), table);
        self.count_games(state);
    }

    fn count_games(&self, state: &State) {
        self.running.send_replace(state.tables.len());
        self.metrics().games_running(state.tables.len());
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host for Hall {
    /// All under one lock, so that a bot that has read `ended` is free for its next game whatever it says then.
    fn finished(&self, table: &Arc<Table>) {
        self.change(|state| {
            state.tables.remove(&table.id());
            self.rate(&mut state.lobby, table);
            let effects = state.lobby.finished(table.pairing(), table.fate(), this_moment());
            state.after.outlets.extend(table.lay_end());
            self.carry_out(state, effects);
            self.count_games(state);
        });
        if matches!(table.pairing().source, Source::Tournament(_) | Source::Restored) {
            self.ended.notify_one();
        }
    }
}
