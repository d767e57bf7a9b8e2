//! Many records, on all processors, in bounded memory.

use super::game::{JudgeError, judge};
use super::{Fold, GameAnalysis};
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

/// What games are added up to. Of two halves of the games the sums make that of all.
pub trait Folding: Clone + Send + Sync {
    /// Whether a game counts; one that does not is neither judged nor added.
    fn takes(&self, record: &Record) -> bool;

    /// Adds a game, which stands on line or place `place` of where it comes from.
    fn add(&mut self, place: u64, record: &Record, game: &GameAnalysis);

    /// Adds games that come after those of this one.
    fn merge(&mut self, later: Self);
}

impl Folding for Fold {
    fn takes(&self, _: &Record) -> bool {
        true
    }

    fn add(&mut self, place: u64, record: &Record, game: &GameAnalysis) {
        self.add(place, record, game);
    }

    fn merge(&mut self, later: Self) {
        self.merge(later);
    }
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

    fn fold<F: Folding>(&self, table: &Table, mut fold: F) -> Result<F, BadRecord> {
        let mut from = 0;
        for &(place, end) in &self.ends {
            add_line(table, &mut fold, place, &self.text[from..end]).map_err(|fault| BadRecord { place, fault })?;
            from = end;
        }
        Ok(fold)
    }
}

fn add_line(table: &Table, fold: &mut impl Folding, place: u64, line: &[u8]) -> Result<(), Fault> {
    let record: Record = serde_json::from_slice(line)?;
    if fold.takes(&record) {
        fold.add(place, &record, &judge(table, &record)?);
    }
    Ok(())
}

/// Takes records line by line and folds them, a batch a thread.
#[derive(Debug)]
pub struct Analyzer<'a, F = Fold> {
    table: &'a Table,
    threads: usize,
    /// Full batches, fewer than threads.
    full: Vec<Batch>,
    batch: Batch,
    /// What a batch begins with.
    empty: F,
    fold: F,
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
        Self::adding_to(Fold::default(), table, threads)
    }
}

impl<'a, F: Folding> Analyzer<'a, F> {
    /// One that adds games up to another sum, beginning with `empty`, and uses all processors.
    #[must_use]
    pub fn over(empty: F, table: &'a Table) -> Self {
        Self::adding_to(empty, table, thread::available_parallelism().map_or(1, NonZero::get))
    }

    fn adding_to(empty: F, table: &'a Table, threads: usize) -> Self {
        let threads = threads.clamp(1, THREADS);
        Self { table, threads, full: Vec::new(), batch: Batch::default(), fold: empty.clone(), empty }
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
    pub fn finish(mut self) -> Result<F, BadRecord> {
        self.full.push(std::mem::take(&mut self.batch));
        self.fold_batches()?;
        Ok(self.fold)
    }

    /// Folds the full batches at the same time and adds them up in their order.
    fn fold_batches(&mut self) -> Result<(), BadRecord> {
        let (table, empty, batches) = (self.table, &self.empty, std::mem::take(&mut self.full));
        let folds: Vec<Result<F, BadRecord>> = thread::scope(|scope| {
            let threads: Vec<_> =
                batches.iter().map(|batch| scope.spawn(|| batch.fold(table, empty.clone()))).collect();
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
