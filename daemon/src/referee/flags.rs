//! The flags of all games: one task, one entry a game, touched only where a deadline comes nearer.

use super::table::Table;
use crate::clock::{Micros, Moment};
use crate::time::now;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// When to look at which game.
#[derive(Debug, Default)]
pub struct Flags {
    due: Mutex<BinaryHeap<Reverse<Due>>>,
    sooner: Notify,
}

#[derive(Debug)]
struct Due {
    at: Moment,
    table: Weak<Table>,
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

impl Flags {
    /// Looks at `table` at `at`.
    pub fn arm(&self, at: Moment, table: &Arc<Table>) {
        let mut due = self.lock();
        let sooner = due.peek().is_none_or(|Reverse(first)| at < first.at);
        due.push(Reverse(Due { at, table: Arc::downgrade(table) }));
        drop(due);
        if sooner {
            self.sooner.notify_one();
        }
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
        while let Some(due) = self.pop(now) {
            let Some(table) = due.table.upgrade() else { continue };
            if let Some(again) = table.look(due.at, now) {
                // Never at once: a game that is due while its connection reads is looked at a little later.
                let at = again.max(now + Micros(1));
                self.lock().push(Reverse(Due { at, table: due.table }));
            }
        }
        self.lock().peek().map(|Reverse(first)| first.at)
    }

    fn pop(&self, now: Moment) -> Option<Due> {
        let mut due = self.lock();
        if due.peek()?.0.at > now {
            return None;
        }
        due.pop().map(|Reverse(first)| first)
    }

    fn lock(&self) -> MutexGuard<'_, BinaryHeap<Reverse<Due>>> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
