//! How whoever writes to a connection wakes its task, and tells it what for.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// What the connection's task should look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rung(u8);

impl Rung {
    const NOTHING: u8 = 0;
    pub(super) const OUTPUT: u8 = 1;
    pub(super) const FLAGS: u8 = 2;

    /// Something waits to be written, or the connection closes.
    pub(super) const fn output(self) -> bool {
        self.0 & Self::OUTPUT != 0
    }

    /// The flags of its games are to be checked.
    pub(super) const fn flags(self) -> bool {
        self.0 & Self::FLAGS != 0
    }
}

/// Wakes one task, and remembers why.
#[derive(Debug, Default)]
pub(super) struct Bell {
    rung: AtomicU8,
    sleeper: Mutex<Option<Waker>>,
}

impl Bell {
    pub(super) fn ring(&self, why: u8) {
        self.rung.fetch_or(why, Ordering::AcqRel);
        let sleeper = self.sleeper.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waker) = sleeper.as_ref() {
            waker.wake_by_ref();
        }
    }

    pub(super) fn register(&self, waker: Waker) {
        *self.sleeper.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker);
    }

    /// What was rung since it was last taken; where that is nothing, the next ring wakes the task of `context`.
    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<Rung> {
        // Before the look: what is rung after it wakes the task.
        self.register(context.waker().clone());
        match self.take() {
            Rung(Rung::NOTHING) => Poll::Pending,
            rung => Poll::Ready(rung),
        }
    }

    pub(super) fn take(&self) -> Rung {
        // Nearly always there is nothing; a load leaves the cache line with whoever sends.
        let rung = self.rung.load(Ordering::Acquire) != Rung::NOTHING;
        Rung(if rung { self.rung.swap(Rung::NOTHING, Ordering::AcqRel) } else { Rung::NOTHING })
    }
}
