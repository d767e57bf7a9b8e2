//! The one writer: a thread that takes finished games as they come, as many as wait in one commit.

use super::{Archive, Store, StoreError};
use modiar_protocol::Record;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tokio::sync::{mpsc, oneshot};
use tracing::{debug, error};

/// Finished games that may wait for the writer; a finish beyond them waits in its own task.
const WAITING: usize = 1024;
/// Finished games in one commit.
const GROUP: usize = 256;

type Acknowledge = oneshot::Sender<Result<(), Arc<StoreError>>>;

/// Hands finished games to the writer.
#[derive(Clone, Debug)]
pub struct StoreHandle(mpsc::Sender<(Record, Acknowledge)>);

impl StoreHandle {
    /// Stores a finished game; returns when it is durable.
    ///
    /// # Errors
    /// It was not stored.
    pub async fn finish(&self, record: Record) -> Result<(), Arc<StoreError>> {
        let (acknowledge, acknowledged) = oneshot::channel();
        let stopped = || Arc::new(StoreError::Stopped);
        self.0.send((record, acknowledge)).await.map_err(|_| stopped())?;
        acknowledged.await.map_err(|_| stopped())?
    }
}

/// Starts the writer. It ends when the last handle is gone, all that was handed to it stored.
///
/// # Errors
/// No thread could be started.
pub fn start(store: impl Store + 'static, archive: Archive) -> std::io::Result<(StoreHandle, JoinHandle<()>)> {
    let (sender, receiver) = mpsc::channel(WAITING);
    let thread = thread::Builder::new().name("store".into()).spawn(move || run(store, archive, receiver))?;
    Ok((StoreHandle(sender), thread))
}

fn run(mut store: impl Store, mut archive: Archive, mut finished: mpsc::Receiver<(Record, Acknowledge)>) {
    while let Some(first) = finished.blocking_recv() {
        let mut group = vec![first];
        while group.len() < GROUP
            && let Ok(next) = finished.try_recv()
        {
            group.push(next);
        }
        let (records, waiting): (Vec<Record>, Vec<Acknowledge>) = group.into_iter().unzip();
        debug!(games = records.len(), "committing");
        let (outcome, lines) = match store.commit(records) {
            Ok(lines) => (Ok(()), lines),
            Err(error) => (Err(Arc::new(error)), Vec::new()),
        };
        for acknowledge in waiting {
            // Who no longer waits needs no answer.
            let _ = acknowledge.send(outcome.clone());
        }
        if let Err(error) = archive.append(&lines) {
            error!(%error, "the archive could not be written; the next start brings it up to date");
        }
    }
}
