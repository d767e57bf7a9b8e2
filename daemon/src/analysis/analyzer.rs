//! Many records, on all processors, in bounded memory.

use super::Fold;
use super::game::{JudgeError, judge};
use crate::records::fault_of_line;
use modiar_oracle::Table;
use modiar_protocol::Record;
use std::num::NonZero;
use std::thread;
use thiserror::Error;

/// Bytes of records that a thread is given at once.
const BATCH: usize = 1 << 20;
/// Threads that pay: what they share is memory.
const THREADS: usize = 16;

/// Why a line is no game.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum Fault {
    #[error("it is no record: {}", fault_of_line(.0))]
    Unreadable(#[from] serde_json::Error),
    #[error("it does not replay: {0}")]
    Unplayable(#[from] JudgeError),
}

/// A line that is no game, and which one.
#[derive(Debug, Error)]
#[error("{place}: {fault}")]
pub struct BadRecord {
    /// The number of the line, or the place in the store.
    pub place: u64,
    /// What is wrong with it.
    pub fault: Fault,
}

/// Lines one after the other, each with its place and where it ends.
#[derive(Debug, Default)]
struct Batch {
    text: Vec<u8>,
    ends: Vec<(u64, usize)>,
}

impl Batch {
    fn push(&mut self, place: u64, line: &[u8]) {
        self.text.extend_from_slice(line);
        self.ends.push((place, self.text.len()));
    }

    fn fold(&self, table: &Table) -> Result<Fold, BadRecord> {
        let (mut fold, mut from) = (Fold::default(), 0);
        for &(place, end) in &self.ends {
            add_line(table, &mut fold, place, &self.text[from..end]).map_err(|fault| BadRecord { place, fault })?;
            from = end;
        }
        Ok(fold)
    }
}

fn add_line(table: &Table, fold: &mut Fold, place: u64, line: &[u8]) -> Result<(), Fault> {
    let record: Record = serde_json::from_slice(line)?;
    fold.add(place, &record, &judge(table, &record)?);
    Ok(())
}

/// Takes records line by line and folds them, a batch a thread.
#[derive(Debug)]
pub struct Analyzer<'a> {
    table: &'a Table,
    threads: usize,
    /// Full batches, fewer than threads.
    full: Vec<Batch>,
    batch: Batch,
    fold: Fold,
}

impl<'a> Analyzer<'a> {
    /// One that uses all processors.
    #[must_use]
    pub fn new(table: &'a Table) -> Self {
        Self::with_threads(table, thread::available_parallelism().map_or(1, NonZero::get))
    }

    /// One that uses so many threads.
    #[must_use]
    pub fn with_threads(table: &'a Table, threads: usize) -> Self {
        let threads = threads.clamp(1, THREADS);
        Self { table, threads, full: Vec::new(), batch: Batch::default(), fold: Fold::default() }
    }

    /// Takes the next line, which stands on `place`.
    ///
    /// # Errors
    /// One of the lines taken so far is no game: the first of them.
    pub fn take(&mut self, place: u64, line: &[u8]) -> Result<(), BadRecord> {
        self.batch.push(place, line);
        if self.batch.text.len() >= BATCH {
            self.full.push(std::mem::take(&mut self.batch));
        }
        if self.full.len() == self.threads { self.fold_batches() } else { Ok(()) }
    }

    /// What all lines add up to.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn finish(mut self) -> Result<Fold, BadRecord> {
        self.full.push(std::mem::take(&mut self.batch));
        self.fold_batches()?;
        Ok(self.fold)
    }

    /// Folds the full batches at the same time and adds them up in their order.
    fn fold_batches(&mut self) -> Result<(), BadRecord> {
        let (table, batches) = (self.table, std::mem::take(&mut self.full));
        let folds: Vec<Result<Fold, BadRecord>> = thread::scope(|scope| {
            let threads: Vec<_> = batches.iter().map(|batch| scope.spawn(|| batch.fold(table))).collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            // A panic goes on here as it would have without threads.
            joined.map(|fold| fold.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        for fold in folds {
            self.fold.merge(fold?);
        }
        Ok(())
    }
}
