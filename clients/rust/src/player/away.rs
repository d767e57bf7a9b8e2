//! Links that break, and when the next is tried.

use super::{Link, Player};
use crate::Error;
use std::time::{Duration, Instant};

/// Between two tries to come back: a random time up to this, which doubles from the first to the last, so that not all bots
/// come at once.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(250);
pub(super) const LAST_PAUSE: Duration = Duration::from_secs(15);
/// How often a bot without a game tries; with one there is no limit.
pub(super) const IDLE_TRIES: u32 = 60;
/// A link that stood for so long was of use, though no move counted over it.
pub(super) const HELD: Duration = Duration::from_secs(10);

impl Link {
    /// Whether to come back at once is more than to be thrown out again.
    fn was_of_use(&self, now: Instant) -> bool {
        self.moved || self.welcomed.is_some_and(|at| now.saturating_duration_since(at) >= HELD)
    }
}

impl Player {
    /// A connection ended, or none could be made: how long to wait before the next. `cause` is none where the server closed it;
    /// `chance` is any number.
    ///
    /// # Errors
    /// There is nothing to come back for.
    pub(crate) fn lost(&mut self, cause: Option<&str>, now: Instant, chance: u64) -> Result<Duration, Error> {
        let was = std::mem::take(&mut self.link);
        self.out.clear();
        self.alarms.clear();
        self.hang_up = false;
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        } else if self.bye || self.leaving {
            return Err(Error::Closed);
        } else if !self.welcomed {
            let cause = cause.unwrap_or("it closed before a welcome; MODIAR_PORT may be no port for bots");
            return Err(self.unreachable(cause));
        }
        self.tries += 1;
        let cause = cause.unwrap_or("the server closed the connection");
        if self.tries > IDLE_TRIES && self.games.is_empty() {
            return Err(self.unreachable(&format!("{IDLE_TRIES} tries, the last: {cause}")));
        }
        if was.was_of_use(now) {
            self.pauses = 0;
        }
        let most = FIRST_PAUSE.saturating_mul(1 << self.pauses.min(16)).min(LAST_PAUSE);
        self.pauses += 1;
        let pause = Duration::from_micros(chance % u64::try_from(most.as_micros()).unwrap_or(1));
        let Self { address, tries, .. } = self;
        self.log.warn(format_args!("no connection to {address}: {cause}; try {tries} in {:.2} s", pause.as_secs_f64()));
        Ok(pause)
    }

    pub(super) fn unreachable(&self, cause: &str) -> Error {
        Error::Connect(format!("cannot connect to {}: {cause}", self.address))
    }
}
