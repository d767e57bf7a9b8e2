//! The flags of all games: one task, one entry a running game, touched only where a deadline comes nearer.

use super::table::Table;
use crate::clock::Moment;
use crate::store::journal::Slot;
use crate::time::now;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// When to look at which game.
#[derive(Debug, Default)]
pub struct Flags {
    due: Mutex<BTreeMap<(Moment, Slot), Weak<Table>>>,
    sooner: Notify,
}

impl Flags {
    /// Looks at `table` at `at`, and no longer when it was `armed` for before.
    pub fn arm(&self, table: &Arc<Table>, armed: Moment, at: Moment) {
        let mut due = self.lock();
        due.remove(&(armed, table.slot));
        let sooner = due.first_key_value().is_none_or(|((first, _), _)| at < *first);
        due.insert((at, table.slot), Arc::downgrade(table));
        drop(due);
        if sooner {
            self.sooner.notify_one();
        }
    }

    /// Looks at a game no longer: it is over, and its memory is wanted.
    pub fn disarm(&self, slot: Slot, armed: Moment) {
        self.lock().remove(&(armed, slot));
    }

    /// Looks at each game when it is due, until `stop`.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        loop {
            let next = self.look(now());
            let wait = next.map_or(Duration::from_secs(3600), |next| Duration::from_micros(next.since(now()).0));
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.sooner.notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Looks at all that are due; the moment of the next.
    fn look(&self, now: Moment) -> Option<Moment> {
        while let Some((at, table)) = self.pop(now) {
            let Some(table) = table.upgrade() else { continue };
            if let Some(again) = table.look(at, now) {
                self.lock().insert((again, table.slot), Arc::downgrade(&table));
            }
        }
        self.lock().first_key_value().map(|((first, _), _)| *first)
    }

    fn pop(&self, now: Moment) -> Option<(Moment, Weak<Table>)> {
        let mut due = self.lock();
        let first = due.first_entry().filter(|first| first.key().0 <= now)?;
        let ((at, _), table) = first.remove_entry();
        Some((at, table))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(Moment, Slot), Weak<Table>>> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
