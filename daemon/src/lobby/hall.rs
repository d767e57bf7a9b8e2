//! The hall: the one lock around the lobby, and the hands that do what the lobby decides.
//!
//! Effects are carried out under the lock, so that what a bot reads is in the order of what happened. A game's lock may
//! be taken under the hall's, never the other way round.

use super::bot::Bot;
use super::machine::{Effect, Lobby, Now, Pairing, Visitor};
use crate::config::Pool;
use crate::net::Outlet;
use crate::referee::{Host, Referee, Seat, Table};
use crate::time;
use modiar_protocol::client::{Challenge, Hello};
use modiar_protocol::limits::{CLIENT_LINE_BYTES, GAMES_AT_ONCE, MESSAGES_PER_SECOND};
use modiar_protocol::server::{Error, PoolInfo, Welcome, WelcomeLimits, WelcomedBot};
use modiar_protocol::{
    BotName, ChallengeId, ErrorCode, GameId, GoodbyeReason, PROTOCOL, Ref, ServerMessage, Termination,
};
use modiar_rules::BySide;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tracing::{error, info};
use uuid::Uuid;

/// What a hall is opened with.
#[derive(Debug)]
pub struct Setup {
    /// The pools, at least one.
    pub pools: Arc<[Pool]>,
    /// Whether bots without a token may play.
    pub guests: bool,
    /// Where chance starts.
    pub seed: u64,
}

/// Everybody who is here.
#[derive(Debug)]
pub struct Hall {
    pools: Arc<[Pool]>,
    guests: bool,
    referee: Arc<Referee>,
    state: Mutex<State>,
    /// A challenge was made: the next one to lapse may be nearer than it was.
    challenged: Notify,
    running: watch::Sender<usize>,
}

#[derive(Debug)]
struct State {
    lobby: Lobby,
    outlets: HashMap<Visitor, Arc<Outlet>>,
    bots: HashMap<BotName, (Arc<Bot>, Arc<Outlet>)>,
    tables: HashMap<GameId, Arc<Table>>,
}

type Refused = Result<Vec<Effect>, Box<Error>>;

fn this_moment() -> Now {
    Now { moment: time::now(), unix_ms: time::unix_ms() }
}

impl Hall {
    /// An empty hall whose games `referee` keeps.
    #[must_use]
    pub fn open(setup: Setup, referee: Arc<Referee>) -> Arc<Self> {
        let Setup { pools, guests, seed } = setup;
        let lobby = Lobby::new(Arc::clone(&pools), seed);
        let state = State { lobby, outlets: HashMap::new(), bots: HashMap::new(), tables: HashMap::new() };
        let hall = Arc::new(Self {
            pools,
            guests,
            referee,
            state: Mutex::new(state),
            challenged: Notify::new(),
            running: watch::Sender::new(0),
        });
        let host: Arc<dyn Host> = hall.clone();
        hall.referee.report_to(&host);
        hall
    }

    /// Lets a bot in and welcomes it.
    ///
    /// # Errors
    /// What the bot reads instead of a welcome.
    pub fn enter(
        &self,
        visitor: Visitor,
        outlet: &Arc<Outlet>,
        hello: Hello,
        reference: Option<Ref>,
    ) -> Result<Arc<Bot>, Box<Error>> {
        let mut state = self.lock();
        let refuse = |code, message: &'static str| {
            Err(Box::new(Error { reference: reference.clone(), ..Error::new(code, message) }))
        };
        if hello.name.as_ref().is_some_and(BotName::is_house) {
            return refuse(ErrorCode::BadName, "names beginning house- belong to the server; choose another");
        }
        // A resume token that is not known makes an ordinary guest of a free name.
        if hello.token.is_some() || (hello.resume.is_some() && hello.name.is_none()) {
            return refuse(ErrorCode::AuthFailed, "unknown name or wrong token; a guest sends none");
        }
        if hello.name.as_ref().is_some_and(|name| state.lobby.is_taken(name)) {
            return refuse(ErrorCode::NameTaken, "that name is in use; choose another, or none");
        }
        if hello.register {
            return refuse(
                ErrorCode::RegistrationClosed,
                "this host does not register bots over the wire; play as a guest",
            );
        }
        if !self.guests {
            return refuse(ErrorCode::GuestsClosed, "this host takes no guests; ask it for a name and a token");
        }
        let name = hello.name.unwrap_or_else(|| state.guest_name());
        state.lobby.enter(visitor, name.clone(), true, hello.games);
        let bot = Arc::new(Bot::new(name.clone(), true, hello.client, hello.version, hello.updates));
        state.outlets.insert(visitor, Arc::clone(outlet));
        state.bots.insert(name, (Arc::clone(&bot), Arc::clone(outlet)));
        outlet.tell(&self.welcome(&bot, hello.games, reference));
        Ok(bot)
    }

    /// A connection that had entered is gone.
    pub fn leave(&self, visitor: Visitor) {
        let mut state = self.lock();
        if let Some(outlet) = state.outlets.remove(&visitor) {
            state.bots.retain(|_, (_, other)| !Arc::ptr_eq(other, &outlet));
        }
        let effects = state.lobby.leave(visitor);
        self.carry_out(&mut state, effects);
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
        self.ask(visitor, reference.clone(), |lobby| lobby.challenge(visitor, id, terms, reference, this_moment()));
        self.challenged.notify_one();
    }

    /// See [`Lobby::accept`].
    pub fn accept(&self, visitor: Visitor, challenge: ChallengeId, reference: Option<Ref>) {
        self.ask(visitor, reference, |lobby| lobby.accept(visitor, challenge));
    }

    /// See [`Lobby::decline`].
    pub fn decline(&self, visitor: Visitor, challenge: ChallengeId, reference: Option<Ref>) {
        self.ask(visitor, reference.clone(), |lobby| lobby.decline(visitor, challenge, reference));
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
            let mut state = self.lock();
            let effects = state.lobby.lapse(time::now());
            self.carry_out(&mut state, effects);
        }
    }

    /// No new games; says so to everybody.
    pub fn drain(&self, time: Duration) {
        let until_ms = time::unix_ms() + u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let mut state = self.lock();
        let effects = state.lobby.drain();
        let message = "the server is about to stop; running games may end, no new ones start".to_owned();
        let notice = ServerMessage::Notice { code: ErrorCode::Draining, message, until_ms: Some(until_ms) }.to_line();
        for outlet in state.outlets.values() {
            outlet.send(&notice);
        }
        self.carry_out(&mut state, effects);
        info!(games = state.tables.len(), seconds = time.as_secs(), "draining");
    }

    /// Waits until no game runs.
    pub async fn emptied(&self) {
        // The sender lives as long as this hall: there is no error to see.
        let _ = self.running.subscribe().wait_for(|running| *running == 0).await;
    }

    /// Ends the games that still run, without a result.
    pub fn abort_games(&self) {
        let tables: Vec<Arc<Table>> = self.lock().tables.values().cloned().collect();
        for table in tables {
            table.abort(Termination::Aborted);
        }
    }

    /// Says goodbye to everybody.
    pub fn dismiss(&self) {
        for outlet in self.lock().outlets.values() {
            outlet.goodbye(GoodbyeReason::Draining, "the server stops; come back after its start", None);
        }
    }

    /// Has the lobby decide, and does it; a refusal goes to who asked.
    fn ask(&self, visitor: Visitor, reference: Option<Ref>, decide: impl FnOnce(&mut Lobby) -> Refused) {
        let mut state = self.lock();
        let effects = decide(&mut state.lobby).unwrap_or_else(|error| {
            vec![Effect::Tell(visitor, ServerMessage::Error(Box::new(Error { reference, ..*error })))]
        });
        self.carry_out(&mut state, effects);
    }

    fn carry_out(&self, state: &mut State, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Tell(visitor, message) => {
                    if let Some(outlet) = state.outlets.get(&visitor) {
                        outlet.tell(&message);
                    }
                }
                Effect::Start(pairing) => self.start(state, pairing),
            }
        }
    }

    fn start(&self, state: &mut State, pairing: Pairing) {
        let seat = |name: &BotName| {
            let (bot, outlet) = state.bots.get(name)?;
            Some(Seat { bot: Arc::clone(bot), outlet: Arc::clone(outlet) })
        };
        let BySide { south, north } = &pairing.seats;
        // The lobby pairs only bots that are connected; what it says holds under this lock.
        let (Some(south), Some(north)) = (seat(south), seat(north)) else {
            return error!(?pairing, "a bot that is not here was paired");
        };
        let pool = self.pools[pairing.pool].clone();
        match Table::open(pairing, pool, BySide::new(south, north), Arc::clone(&self.referee)) {
            Ok(table) => {
                state.tables.insert(table.id(), table);
                self.running.send_replace(state.tables.len());
            }
            Err(error) => error!(%error, "a game could not start"),
        }
    }

    fn welcome(&self, bot: &Bot, games: u64, reference: Option<Ref>) -> ServerMessage {
        ServerMessage::Welcome(Box::new(Welcome {
            protocol: PROTOCOL,
            server: crate::SERVER.to_owned(),
            bot: WelcomedBot { name: bot.name.clone(), guest: bot.guest, ratings: BTreeMap::new() },
            token: None,
            resume: None,
            pools: self.pools.iter().map(PoolInfo::from).collect(),
            limits: WelcomeLimits {
                line_bytes: CLIENT_LINE_BYTES as u64,
                messages_per_s: MESSAGES_PER_SECOND.into(),
                games: games.min(GAMES_AT_ONCE),
            },
            games: Vec::new(),
            missed: Vec::new(),
            reference,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host for Hall {
    /// All under one lock, so that a bot that has read `ended` is free for its next game whatever it says then.
    fn finished(&self, table: &Arc<Table>) {
        let mut state = self.lock();
        state.tables.remove(&table.id());
        let (absent, aborted) = table.fate();
        let effects = state.lobby.finished(table.pairing(), absent, aborted, this_moment());
        table.conclude();
        self.carry_out(&mut state, effects);
        self.running.send_replace(state.tables.len());
    }
}

impl State {
    /// A name nobody has, unlike that of any guest before: logs of many days must not take two programs for one.
    fn guest_name(&self) -> BotName {
        loop {
            let digits = Uuid::new_v4().simple().to_string();
            if let Ok(name) = BotName::new(&format!("guest-{}", &digits[..8]))
                && !self.lobby.is_taken(&name)
            {
                return name;
            }
        }
    }
}
