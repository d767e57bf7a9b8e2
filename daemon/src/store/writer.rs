//! The one writer: a thread that takes finished games as they come, as many as wait in one commit.

use super::{Archive, Committed, Dossiers, Store, StoreError, Unread};
use crate::clock::Moment;
use crate::ladder::{Carry, Ratings, Season, SeasonName, seasons};
use crate::metrics::Metrics;
use crate::time::now;
use modiar_protocol::{BotName, GameId, Record};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

/// Finished games in one commit.
pub const GROUP: usize = 1024;
/// Commits follow each other no faster, unless a whole group waits: under load one sync of the disk then serves many
/// games, and a game that ends alone waits for nothing.
const PACE: Duration = Duration::from_millis(20);
/// How long a full disk is left alone before the next try.
const FULL: Duration = Duration::from_millis(200);

/// What became of a result: the record as it is stored.
pub type Stored = Result<Record, Arc<StoreError>>;
type Done = Result<(), Arc<StoreError>>;
type Then = Box<dyn FnOnce(Stored) + Send>;
type Work = Box<dyn FnOnce(&mut dyn Store) -> Done + Send>;

enum Job {
    Finish(Box<Record>, Then),
    Other(Work),
    Unread(Unread),
    Dossier(GameId, String),
    Stop,
}

/// Hands work to the writer. What waits for it is bounded by what runs: a game hands over one result.
#[derive(Clone, Debug)]
pub struct StoreHandle {
    jobs: mpsc::Sender<Job>,
    full: Arc<AtomicBool>,
    stopping: Arc<AtomicBool>,
    failed: CancellationToken,
    unread: Arc<Count>,
    ratings: Arc<Ratings>,
}

/// Of what is unread: how much was handed over, and how much of it is stored.
#[derive(Debug, Default)]
struct Count {
    asked: Mutex<u64>,
    stored: AtomicU64,
}

impl Count {
    fn asked(&self) -> MutexGuard<'_, u64> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoreHandle {
    /// Stores a finished game; `then` runs on the writer's thread once it is durable, or never will be. Where the disk is
    /// full the game waits for space.
    pub fn finish(&self, record: Record, then: impl FnOnce(Stored) + Send + 'static) {
        if let Err(mpsc::SendError(Job::Finish(_, then))) =
            self.jobs.send(Job::Finish(Box::new(record), Box::new(then)))
        {
            then(Err(Arc::new(StoreError::Stopped)));
        }
    }

    /// Has the writer do something else with the store, after all that was handed to it before.
    ///
    /// # Errors
    /// What the work fails with.
    pub async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Arc<StoreError>> {
        let (acknowledge, acknowledged) = oneshot::channel();
        let work: Work = Box::new(move |store| {
            let done = work(store).map_err(Arc::new);
            let outcome = done.as_ref().map(drop).map_err(Arc::clone);
            // Who no longer waits needs no answer.
            let _ = acknowledge.send(done);
            outcome
        });
        self.jobs.send(Job::Other(work)).map_err(|_| Arc::new(StoreError::Stopped))?;
        acknowledged.await.map_err(|_| Arc::new(StoreError::Stopped))?
    }

    /// Stores what a registered bot has still to hear of, as soon as the disk has room for it; nobody waits for that.
    pub fn keep_unread(&self, bot: BotName, games: Vec<GameId>) {
        // Held meanwhile: they are stored in the order in which they are counted.
        let mut asked = self.unread.asked();
        *asked += 1;
        // Where the writer has ended nothing is stored any more.
        let _ = self.jobs.send(Job::Unread((bot, games)));
    }

    /// Stores the evidence of a forfeit, as JSON, no later than the finished game that is handed over next.
    pub fn keep_dossier(&self, game: GameId, dossier: String) {
        // Where the writer has ended nothing is stored any more.
        let _ = self.jobs.send(Job::Dossier(game, dossier));
    }

    /// How often [`Self::keep_unread`] was asked for.
    #[must_use]
    pub fn unread_asked(&self) -> u64 {
        *self.unread.asked()
    }

    /// How many of these are stored, in their order.
    #[must_use]
    pub fn unread_stored(&self) -> u64 {
        self.unread.stored.load(Ordering::Relaxed)
    }

    /// Waits until every result that was handed over is stored, and what was to follow is done.
    pub async fn emptied(&self) {
        // Where the writer has ended nothing is left to wait for.
        let _ = self.with(|_| Ok(())).await;
    }

    /// How all bots stand, by what is stored; empty before they are [loaded](Self::load_ratings).
    #[must_use]
    pub const fn ratings(&self) -> &Arc<Ratings> {
        &self.ratings
    }

    /// Reads how all bots stand.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn load_ratings(&self) -> Result<(), Arc<StoreError>> {
        let ratings = Arc::clone(&self.ratings);
        self.with(move |store| store.standings().map(|rows| ratings.replace(rows))).await
    }

    /// Begins a season; false where there is one of that name.
    ///
    /// # Errors
    /// Nothing was changed.
    pub async fn begin_season(&self, name: SeasonName, carry: Carry) -> Result<bool, Arc<StoreError>> {
        let ratings = Arc::clone(&self.ratings);
        self.with(move |store| {
            let is_taken = seasons(&store.rating_events()?).iter().any(|season| season.name == name);
            if !is_taken {
                ratings.replace(store.begin_season(name, carry)?);
            }
            Ok(!is_taken)
        })
        .await
    }

    /// All seasons.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn seasons(&self) -> Result<Vec<Season>, Arc<StoreError>> {
        self.with(|store| Ok(seasons(&store.rating_events()?))).await
    }

    /// Whether results wait for space on the disk.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Cancelled where the disk has failed: the daemon must stop.
    #[must_use]
    pub fn failed(&self) -> CancellationToken {
        self.failed.clone()
    }

    /// Has the writer end when all that was handed to it is stored; what then still waits for space on the disk never is.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        // Where it has ended already nothing is to be done.
        let _ = self.jobs.send(Job::Stop);
    }
}

/// Starts the writer. It ends when it is [stopped](StoreHandle::stop) or the last handle is gone, all that was handed to
/// it stored; or where the disk [failed](StoreHandle::failed): then nothing more is stored.
///
/// # Errors
/// No thread could be started.
pub fn start(
    store: impl Store + 'static,
    archive: Archive,
    metrics: Arc<Metrics>,
) -> std::io::Result<(StoreHandle, JoinHandle<()>)> {
    let (jobs, receiver) = mpsc::channel();
    let (full, stopping) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (failed, unread) = (CancellationToken::new(), Arc::new(Count::default()));
    let ratings = Arc::<Ratings>::default();
    let mut writer = Writer {
        store: Box::new(store),
        archive,
        full: Arc::clone(&full),
        stopping: Arc::clone(&stopping),
        failed: failed.clone(),
        behind: false,
        unread: Arc::clone(&unread),
        ratings: Arc::clone(&ratings),
        metrics,
        next: None,
        paced: Instant::now(),
    };
    let thread = thread::Builder::new().name("store".into()).spawn(move || writer.run(&receiver))?;
    Ok((StoreHandle { jobs, full, stopping, failed, unread, ratings }, thread))
}

struct Writer {
    store: Box<dyn Store>,
    archive: Archive,
    full: Arc<AtomicBool>,
    stopping: Arc<AtomicBool>,
    failed: CancellationToken,
    /// The archive lacks lines that the store has.
    behind: bool,
    unread: Arc<Count>,
    ratings: Arc<Ratings>,
    metrics: Arc<Metrics>,
    /// A job that was taken out behind a group and is none of it.
    next: Option<Job>,
    /// When the next commit may be.
    paced: Instant,
}

/// What goes into one commit: finished games, with what follows for each, and what bots have still to hear of, a bot once.
#[derive(Default)]
struct Group {
    records: Vec<Record>,
    then: Vec<Then>,
    unread: HashMap<BotName, Vec<GameId>>,
    dossiers: Vec<(GameId, String)>,
    /// How often it was said what is unread, the same bot's several times.
    said: u64,
}

impl Group {
    /// Takes a job, or gives it back: it is none for a group.
    fn add(&mut self, job: Job) -> Option<Job> {
        match job {
            Job::Finish(record, then) => {
                self.records.push(*record);
                self.then.push(then);
            }
            Job::Unread((bot, games)) => {
                self.unread.insert(bot, games);
                self.said += 1;
            }
            Job::Dossier(game, text) => self.dossiers.push((game, text)),
            other => return Some(other),
        }
        None
    }

    fn is_full(&self) -> bool {
        self.records.len() + self.unread.len() >= GROUP
    }
}

impl Writer {
    fn run(&mut self, jobs: &mpsc::Receiver<Job>) {
        while let Some(job) = self.next.take().or_else(|| jobs.recv().ok()) {
            match job {
                Job::Stop => return,
                // Whoever asked is told by the work.
                Job::Other(work) => match work(&mut *self.store) {
                    Err(error) if error.is_failure() => return self.fail(&error),
                    _ => {}
                },
                job => {
                    let group = self.group(job, jobs);
                    if self.finish(group).is_err() {
                        return;
                    }
                }
            }
        }
    }

    /// What goes into one commit with this job.
    fn group(&mut self, job: Job, jobs: &mpsc::Receiver<Job>) -> Group {
        let mut group = Group::default();
        self.next = group.add(job);
        self.gather(&mut group, jobs);
        let rest = self.paced.saturating_duration_since(Instant::now());
        if !group.is_full() && self.next.is_none() && !rest.is_zero() {
            thread::sleep(rest);
            self.gather(&mut group, jobs);
        }
        self.paced = Instant::now() + PACE;
        group
    }

    /// Adds what waits, in the order of jobs.
    fn gather(&mut self, group: &mut Group, jobs: &mpsc::Receiver<Job>) {
        while !group.is_full() && self.next.is_none() {
            let Ok(job) = jobs.try_recv() else { return };
            self.next = group.add(job);
        }
    }

    /// After a failed sync nothing more is tried: what it lost no later one would bring to the disk, nor tell.
    fn fail(&self, error: &StoreError) {
        error!(%error, "the disk failed");
        self.failed.cancel();
    }

    fn finish(&mut self, Group { mut records, then, unread, dossiers, said }: Group) -> Done {
        debug!(games = records.len(), unread = unread.len(), "committing");
        let unread: Vec<Unread> = unread.into_iter().collect();
        let (outcome, lines) = match self.commit(&mut records, &unread, &dossiers) {
            Ok(Committed { lines, standings }) => {
                self.unread.stored.fetch_add(said, Ordering::Relaxed);
                // Before anybody is told.
                self.ratings.put(standings);
                (Ok(()), lines)
            }
            Err(error) => (Err(Arc::new(error)), Vec::new()),
        };
        match &outcome {
            // Without room at the end: the journal keeps what is not stored.
            Err(error) if error.is_full() => warn!(%error, "not all is stored; the next start goes on with it"),
            Err(error) => self.fail(error),
            Ok(()) => {}
        }
        for (record, then) in records.into_iter().zip(then) {
            let stored = outcome.clone().map(|()| record);
            // A bug in what follows is logged where it panics, and is no reason to store nothing any more.
            let _ = catch_unwind(AssertUnwindSafe(|| then(stored)));
        }
        outcome?;
        let changed = !self.behind && self.archive.was_changed();
        if changed {
            warn!(
                "the archive's file was changed or moved by another program; what it lacks at its end is written again"
            );
        }
        let appended =
            if self.behind || changed { self.archive.catch_up(&*self.store) } else { self.archive.append(&lines) };
        // Once: as long as it cannot be written each commit finds that anew.
        if let (Err(error), false) = (&appended, self.behind) {
            error!(%error, "the archive could not be written; it is tried again with the next game");
        }
        self.behind = appended.is_err();
        Ok(())
    }

    /// Commits; where the disk is full, as soon as it no longer is.
    fn commit(
        &mut self,
        records: &mut [Record],
        unread: &[Unread],
        dossiers: &Dossiers,
    ) -> Result<Committed, StoreError> {
        loop {
            let began = now();
            match self.store.commit(records, unread, dossiers) {
                Err(error) if error.is_full() && !self.stopping.load(Ordering::Relaxed) => {
                    if !self.full.swap(true, Ordering::Relaxed) {
                        warn!(%error, "results wait for space on the disk");
                    }
                    thread::sleep(FULL);
                }
                committed => {
                    self.full.store(false, Ordering::Relaxed);
                    if committed.is_ok() {
                        self.count(began, records.len());
                    }
                    return committed;
                }
            }
        }
    }

    fn count(&self, began: Moment, games: usize) {
        self.metrics.store_commit.time(now().since(began));
        if games > 0 {
            self.metrics.store_commit_games.count(games as u64);
        }
    }
}
