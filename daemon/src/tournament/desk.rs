//! The desk that runs the tournaments: it does what their courses decide.
//!
//! That a game belongs to a match is stored before it is asked for at the lobby, and its result is the stored game: a daemon
//! that is killed at any moment finds each game running, stored, or never begun (`ladder.tournament-restart`).

use super::course::{Course, Told};
use super::plan::{Plan, PlanError, Wish};
use crate::config::Pool;
use crate::house::Brain;
use crate::lobby::{Hall, Summons};
use crate::store::{
    Accounts, StoreError, StoreHandle, StoredTournament, TournamentForfeit, TournamentGame, TournamentName,
    TournamentState,
};
use crate::time;
use jiff::Timestamp;
use modiar_protocol::{BotName, GameId};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};
use uuid::Uuid;

/// How often it is looked who is here, while a tournament runs.
const LOOK: Duration = Duration::from_millis(100);
/// How often it is looked what time it is, while one is planned.
const WAIT: Duration = Duration::from_secs(1);
/// Most tournaments that are planned or run at once.
const MOST_OPEN: usize = 64;

/// Why a tournament was not added or cancelled.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum DeskError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("there is a tournament '{0}' already; choose another name")]
    Taken(TournamentName),
    #[error("{MOST_OPEN} tournaments are planned or run already; cancel one, or wait for the end of one")]
    Many,
    #[error("there is no tournament '{0}'; `modiar tournament list` shows them all")]
    Unknown(TournamentName),
    #[error("the tournament '{name}' is {} already", state.as_str())]
    Closed { name: TournamentName, state: TournamentState },
    #[error(transparent)]
    Store(#[from] Arc<StoreError>),
}

/// What came of a wish.
#[derive(Clone, Debug)]
pub struct Planned {
    /// As it is stored.
    pub stored: StoredTournament,
    /// The plan.
    pub plan: Plan,
    /// When it starts.
    pub starts: Timestamp,
}

/// All tournaments that are planned or run.
#[derive(Debug)]
pub struct Desk {
    hall: Arc<Hall>,
    accounts: Arc<Accounts>,
    store: StoreHandle,
    open: Mutex<Open>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    planned: Vec<Planned>,
    running: Vec<Running>,
}

#[derive(Debug)]
struct Running {
    course: Course,
    /// The pool's place in the list.
    pool: usize,
    /// When it was added: who is registered later is none of its players.
    added: String,
}

/// Makes the plan that is asked for, and stores it; nothing is started by this.
///
/// # Errors
/// It cannot be had, or not be stored.
pub async fn add(
    store: &StoreHandle,
    accounts: &Accounts,
    pools: &[Pool],
    mut wish: Wish,
) -> Result<Planned, DeskError> {
    let accounts = accounts.list();
    let welcome = accounts.iter().filter(|account| account.banned.is_none()).map(|account| account.name.clone());
    wish.bots = Some(wish.bots.unwrap_or_else(|| welcome.collect()));
    let registered: Vec<BotName> = accounts.into_iter().map(|account| account.name).collect();
    let (pool, named) = (wish.pool.clone(), wish.named(&registered).to_vec());
    let rows = store.with(|store| store.standings()).await?.into_iter();
    let its = rows.filter(|row| row.pool == pool && named.contains(&row.bot));
    let ratings = its.map(|row| (row.bot, row.standing.rating.rating)).collect();
    let now = Timestamp::now();
    let (name, starts) = (wish.name.clone(), wish.at.unwrap_or(now));
    // Few enough digits that every reader of JSON keeps them.
    let seed = u64::from(Uuid::new_v4().as_fields().0);
    let plan = wish.plan(pools, &registered, &ratings, seed)?;
    let stored = StoredTournament {
        name: name.clone(),
        plan: serde_json::to_string(&plan).map_err(|error| Arc::new(error.into()))?,
        state: TournamentState::Planned,
        created: format!("{now:.6}"),
        starts: format!("{starts:.6}"),
    };
    let row = stored.clone();
    let added = store.with(move |store| {
        let open = store.tournaments()?.iter().filter(|known| known.state.is_open()).count();
        if open < MOST_OPEN { store.add_tournament(&row).map(Some) } else { Ok(None) }
    });
    match added.await? {
        None => Err(DeskError::Many),
        Some(false) => Err(DeskError::Taken(name)),
        Some(true) => Ok(Planned { stored, plan, starts }),
    }
}

/// Ends a tournament that is planned or runs: no game of it starts any more.
///
/// # Errors
/// There is no such one, it is over, or that cannot be stored.
pub async fn cancel(store: &StoreHandle, name: &TournamentName) -> Result<(), DeskError> {
    let wanted = name.clone();
    let was = store.with(move |store| {
        let known = store.tournaments()?.into_iter().find(|known| known.name.is(&wanted));
        if known.as_ref().is_some_and(|known| known.state.is_open()) {
            store.set_tournament(&wanted, TournamentState::Cancelled)?;
        }
        Ok(known.map(|known| known.state))
    });
    match was.await? {
        None => Err(DeskError::Unknown(name.clone())),
        Some(state) if !state.is_open() => Err(DeskError::Closed { name: name.clone(), state }),
        Some(_) => Ok(()),
    }
}

impl Desk {
    /// The tournaments that the store has, each where it stands.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn open(
        hall: Arc<Hall>,
        accounts: Arc<Accounts>,
        store: StoreHandle,
    ) -> Result<Arc<Self>, Arc<StoreError>> {
        let desk = Self { hall, accounts, store, open: Mutex::default(), changed: Notify::new() };
        let stored = desk.store.with(|store| store.tournaments()).await?;
        for stored in stored.into_iter().filter(|stored| stored.state.is_open()) {
            match (serde_json::from_str::<Plan>(&stored.plan), stored.starts.parse::<Timestamp>()) {
                (Ok(plan), Ok(starts)) if plan.is_sound() => desk.find(Planned { stored, plan, starts }).await?,
                _ => error!(tournament = %stored.name, "its plan cannot be read; cancel it, or restore a backup"),
            }
        }
        Ok(Arc::new(desk))
    }

    /// Where their games are played.
    #[must_use]
    pub const fn hall(&self) -> &Arc<Hall> {
        &self.hall
    }

    /// Runs them until `stop`.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        let mut troubled = false;
        while !stop.is_cancelled() {
            let looked = self.look().await;
            match &looked {
                Err(error) if !troubled => warn!(%error, "the tournaments wait"),
                Ok(_) if troubled => info!("the tournaments go on"),
                _ => {}
            }
            troubled = looked.is_err();
            let rest = looked.unwrap_or(Some(WAIT));
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.changed.notified() => {}
                () = self.hall.tournament_game_ended() => {}
                () = tokio::time::sleep(rest.unwrap_or(Duration::MAX)) => {}
            }
        }
    }

    /// Adds a tournament, which starts when its time has come.
    ///
    /// # Errors
    /// As [`add`].
    pub async fn add(&self, wish: Wish) -> Result<Planned, DeskError> {
        let mut open = self.open.lock().await;
        let planned = add(&self.store, &self.accounts, &self.hall.pools(), wish).await?;
        let Planned { plan, starts, stored } = &planned;
        info!(tournament = %stored.name, format = plan.format.as_str(), players = plan.bots.len(), %starts, "added");
        open.planned.push(planned.clone());
        self.changed.notify_one();
        Ok(planned)
    }

    /// Cancels a tournament; its games that run go on, and count for nothing in it but what they show.
    ///
    /// # Errors
    /// As [`cancel`].
    pub async fn cancel(&self, name: &TournamentName) -> Result<(), DeskError> {
        let mut open = self.open.lock().await;
        cancel(&self.store, name).await?;
        open.planned.retain(|planned| !planned.stored.name.is(name));
        open.running.retain(|running| !running.course.name.is(name));
        info!(tournament = %name, "cancelled");
        self.changed.notify_one();
        Ok(())
    }

    /// Takes up a tournament that a start finds.
    async fn find(&self, planned: Planned) -> Result<(), Arc<StoreError>> {
        if planned.stored.state == TournamentState::Planned {
            self.open.lock().await.planned.push(planned);
            return Ok(());
        }
        // Before the store is read: a game that ends meanwhile is then found in one of the two.
        let running = self.hall.running_games();
        let name = planned.stored.name.clone();
        let (tries, forfeits) = self
            .store
            .with(move |store| {
                let mut tries: Vec<(TournamentGame, Option<Told>)> = Vec::new();
                store.tournament_games(&name, &mut |row, record| tries.push((row, record.as_ref().map(Told::of))))?;
                Ok((tries, store.tournament_forfeits(&name)?))
            })
            .await?;
        let Planned { stored, plan, .. } = planned;
        let course = Course::restore(stored.name.clone(), plan, tries, &forfeits, &running);
        info!(tournament = %course.name, round = course.tournament().round(), running = course.running().len(), "goes on");
        self.take_up(&mut *self.open.lock().await, course, stored.created);
        Ok(())
    }

    fn take_up(&self, open: &mut Open, course: Course, added: String) {
        match self.hall.pools().iter().position(|pool| pool.name == course.plan().pool) {
            Some(pool) => open.running.push(Running { course, pool, added }),
            None => error!(
                tournament = %course.name,
                pool = course.plan().pool,
                "its pool is gone from the configuration; it goes on once that is there again at a start"
            ),
        }
    }

    /// One look at all of them; when to look again, where nothing happens.
    async fn look(&self) -> Result<Option<Duration>, Arc<StoreError>> {
        let mut open = self.open.lock().await;
        self.begin(&mut open).await?;
        for Running { course, .. } in &mut open.running {
            self.take_results(course).await?;
            self.reserve(course).await?;
        }
        self.summon(&mut open.running);
        for Running { course, added, .. } in &mut open.running {
            self.let_late_go(course, added).await?;
        }
        self.close(&mut open).await?;
        let rest = if open.running.is_empty() { WAIT } else { LOOK };
        Ok((!open.running.is_empty() || !open.planned.is_empty()).then_some(rest))
    }

    /// Starts those whose time has come. The wall clock says when, for people name it by that; nothing else hangs on it.
    async fn begin(&self, open: &mut Open) -> Result<(), Arc<StoreError>> {
        let now = Timestamp::now();
        while let Some(due) = open.planned.iter().position(|planned| planned.starts <= now) {
            self.set(&open.planned[due].stored.name, TournamentState::Running).await?;
            let Planned { stored, plan, .. } = open.planned.swap_remove(due);
            info!(tournament = %stored.name, games = plan.games(), "begins");
            self.take_up(open, Course::new(stored.name, plan), stored.created);
        }
        Ok(())
    }

    async fn take_results(&self, course: &mut Course) -> Result<(), Arc<StoreError>> {
        for id in course.running() {
            // In this order: a game leaves its table only when it is stored.
            if self.hall.table(id).is_some() {
                continue;
            }
            match self.store.with(move |store| store.record(id)).await? {
                Some(record) => course.ended(id, &Told::of(&record)),
                None => course.began(id, false),
            }
        }
        Ok(())
    }

    async fn reserve(&self, course: &mut Course) -> Result<(), Arc<StoreError>> {
        let rows = course.unreserved(|| GameId::new(Uuid::now_v7()));
        if !rows.is_empty() {
            let (name, stored) = (course.name.clone(), rows.clone());
            self.store.with(move |store| store.put_tournament_games(&name, &stored)).await?;
            course.reserve(&rows);
        }
        Ok(())
    }

    /// All at once: who is not asked for by this is called no longer.
    fn summon(&self, running: &mut [Running]) {
        let wanted: Vec<Vec<Summons>> =
            running.iter().map(|Running { course, pool, .. }| course.wanted(*pool)).collect();
        let games: Vec<Vec<GameId>> =
            wanted.iter().map(|wanted| wanted.iter().map(|summons| summons.game).collect()).collect();
        let mut answers = self.hall.summon(wanted.into_iter().flatten().collect()).into_iter();
        let now = time::now();
        for (Running { course, .. }, games) in running.iter_mut().zip(games) {
            course.answered(games.into_iter().zip(&mut answers), now);
        }
    }

    async fn let_late_go(&self, course: &mut Course, added: &str) -> Result<(), Arc<StoreError>> {
        let is_gone = |name: &BotName| !self.accounts.welcomes(name, added) && Brain::named(name.as_str()).is_none();
        let late = course.late(is_gone);
        if !late.is_empty() {
            let (name, stored) = (course.name.clone(), late.clone());
            self.store.with(move |store| store.put_tournament_forfeits(&name, &stored)).await?;
            for TournamentForfeit { number, bot, withdrawn } in &late {
                info!(tournament = %course.name, number, %bot, withdrawn, "did not come to its match");
            }
            course.give_up(&late);
            // A next game may be due by this.
            self.changed.notify_one();
        }
        Ok(())
    }

    async fn close(&self, open: &mut Open) -> Result<(), Arc<StoreError>> {
        while let Some(at) = open.running.iter().position(|running| running.course.is_over()) {
            self.set(&open.running[at].course.name, TournamentState::Over).await?;
            let Running { course, .. } = open.running.swap_remove(at);
            let standings = course.tournament().standings();
            let first = standings.first().map(|first| course.plan().name(first.player));
            info!(tournament = %course.name, first = first.map(BotName::as_str), "is over");
        }
        Ok(())
    }

    async fn set(&self, name: &TournamentName, state: TournamentState) -> Result<(), Arc<StoreError>> {
        let name = name.clone();
        self.store.with(move |store| store.set_tournament(&name, state)).await
    }
}
