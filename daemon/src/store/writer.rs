//! The one writer: a thread that takes finished games as they come, as many as wait in one commit.

use super::{Archive, Store, StoreError};
use crate::metrics::Metrics;
use crate::time::now;
use modiar_protocol::Record;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

/// Jobs that may wait for the writer; a finish beyond them waits in its own task.
const WAITING: usize = 1024;
/// Finished games in one commit.
const GROUP: usize = 256;
/// How long a full disk is left alone before the next try.
const FULL: Duration = Duration::from_millis(200);

type Outcome = Result<(), Arc<StoreError>>;
type Acknowledge = oneshot::Sender<Outcome>;
type Work = Box<dyn FnOnce(&mut dyn Store) -> Outcome + Send>;

enum Job {
    Finish(Box<Record>, Acknowledge),
    Other(Work),
    Stop,
}

/// Hands work to the writer.
#[derive(Clone, Debug)]
pub struct StoreHandle {
    jobs: mpsc::Sender<Job>,
    full: Arc<AtomicBool>,
    stopping: Arc<AtomicBool>,
    failed: CancellationToken,
}

impl StoreHandle {
    /// Stores a finished game; returns when it is durable. Where the disk is full it waits for space.
    ///
    /// # Errors
    /// It was not stored, and never will be.
    pub async fn finish(&self, record: Record) -> Result<(), Arc<StoreError>> {
        let (acknowledge, acknowledged) = oneshot::channel();
        self.hand_over(Job::Finish(Box::new(record), acknowledge)).await?;
        acknowledged.await.map_err(|_| Arc::new(StoreError::Stopped))?
    }

    /// Has the writer do something else with the store.
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
        self.hand_over(Job::Other(work)).await?;
        acknowledged.await.map_err(|_| Arc::new(StoreError::Stopped))?
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
    pub async fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        // Where it has ended already nothing is to be done.
        let _ = self.hand_over(Job::Stop).await;
    }

    async fn hand_over(&self, job: Job) -> Result<(), Arc<StoreError>> {
        self.jobs.send(job).await.map_err(|_| Arc::new(StoreError::Stopped))
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
    let (jobs, receiver) = mpsc::channel(WAITING);
    let (full, stopping) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let failed = CancellationToken::new();
    let mut writer = Writer {
        store: Box::new(store),
        archive,
        full: Arc::clone(&full),
        stopping: Arc::clone(&stopping),
        failed: failed.clone(),
        behind: false,
        metrics,
    };
    let thread = thread::Builder::new().name("store".into()).spawn(move || writer.run(receiver))?;
    Ok((StoreHandle { jobs, full, stopping, failed }, thread))
}

struct Writer {
    store: Box<dyn Store>,
    archive: Archive,
    full: Arc<AtomicBool>,
    stopping: Arc<AtomicBool>,
    failed: CancellationToken,
    /// The archive lacks lines that the store has.
    behind: bool,
    metrics: Arc<Metrics>,
}

impl Writer {
    fn run(&mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut next = jobs.blocking_recv();
        while let Some(job) = next.take() {
            match job {
                Job::Stop => return,
                // Whoever asked is told by the work.
                Job::Other(work) => match work(&mut *self.store) {
                    Err(error) if error.is_failure() => return self.fail(&error),
                    _ => {}
                },
                Job::Finish(record, acknowledge) => {
                    let (mut records, mut waiting) = (vec![*record], vec![acknowledge]);
                    while records.len() < GROUP && next.is_none() {
                        match jobs.try_recv() {
                            Ok(Job::Finish(record, acknowledge)) => {
                                records.push(*record);
                                waiting.push(acknowledge);
                            }
                            Ok(other) => next = Some(other),
                            Err(_) => break,
                        }
                    }
                    if self.finish(&records, waiting).is_err() {
                        return;
                    }
                }
            }
            next = next.or_else(|| jobs.blocking_recv());
        }
    }

    /// After a failed sync nothing more is tried: what it lost no later one would bring to the disk, nor tell.
    fn fail(&self, error: &StoreError) {
        error!(%error, "the disk failed");
        self.failed.cancel();
    }

    fn finish(&mut self, records: &[Record], waiting: Vec<Acknowledge>) -> Outcome {
        debug!(games = records.len(), "committing");
        let (outcome, lines) = match self.commit(records) {
            Ok(lines) => (Ok(()), lines),
            Err(error) => (Err(Arc::new(error)), Vec::new()),
        };
        if let Err(error) = &outcome {
            self.fail(error);
        }
        for acknowledge in waiting {
            // Who no longer waits needs no answer.
            let _ = acknowledge.send(outcome.clone());
        }
        outcome?;
        let appended = if self.behind { self.archive.catch_up(&*self.store) } else { self.archive.append(&lines) };
        if let Err(error) = &appended {
            error!(%error, "the archive could not be written; it is brought up to date with the next game");
        }
        self.behind = appended.is_err();
        Ok(())
    }

    /// Commits; where the disk is full, as soon as it no longer is.
    fn commit(&mut self, records: &[Record]) -> Result<Vec<super::Line>, StoreError> {
        loop {
            let began = now();
            let committed = self.store.commit(records);
            if committed.is_ok() {
                self.metrics.store_commit.time(now().since(began));
                self.metrics.store_commit_games.count(records.len() as u64);
            }
            match &committed {
                Err(error) if error.is_full() && !self.stopping.load(Ordering::Relaxed) => {
                    if !self.full.swap(true, Ordering::Relaxed) {
                        warn!(%error, "results wait for space on the disk");
                    }
                    thread::sleep(FULL);
                }
                _ => {
                    self.full.store(false, Ordering::Relaxed);
                    return committed;
                }
            }
        }
    }
}
