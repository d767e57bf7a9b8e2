//! What the daemon counts of itself, for `/metrics`; `daemon/METRICS.md` tells what each means.
//!
//! One [`Metrics`] is made at the start and passed down. It holds a handle of every counter, those with labels too, made
//! when it was: a ply costs some relaxed additions (one for the move, two for each histogram that it touches, one to
//! three for the tally of own delay), no lock, no look-up by label and no allocation. prometheus-client's own histogram
//! takes a lock, so [`Histogram`] stands in for it. No name of a bot is ever a label.

mod histogram;
mod process;
mod tally;
mod words;

pub use histogram::Histogram;
pub use tally::{Counted, Tally};
pub use words::{Close, Invariant, Login, Reading, Registration};

use crate::clock::{Charge, Micros};
use crate::time;
use modiar_protocol::{ErrorCode, GameId, GoodbyeReason, Termination};
use process::Process;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::error;
use words::Words;

/// How long the task that measures the loop's lag sleeps.
const NAP: Duration = Duration::from_millis(10);

/// Everything that is counted.
pub struct Metrics {
    registry: Registry,
    connections: Gauge,
    connections_closed: Words,
    slow_readers: Counter,
    games_running: Gauge,
    games_finished: Words,
    moves: Counter,
    errors: Words,
    own_delay: Histogram,
    move_time: Histogram,
    loop_lag: Histogram,
    seeks_waiting: Gauge,
    oldest_seek: Gauge<f64, AtomicU64>,
    /// How long seeks waited that were paired.
    pub pairing_wait: Histogram,
    invariant_failures: Words,
    logins_refused: Words,
    registrations: Words,
    reloads: Words,
    /// The disk's time for a group of plies.
    pub journal_sync: Histogram,
    /// The database's time for a group of results.
    pub store_commit: Histogram,
    /// How many results stood in one commit.
    pub store_commit_games: Histogram,
    /// Own delay of the judged moves.
    pub own_tally: Tally,
    /// Lag of the loop.
    pub lag_tally: Tally,
}

impl Metrics {
    /// Nothing counted yet. Delays above `limit` are too long; `None`: none is.
    #[must_use]
    pub fn new(limit: Option<Micros>) -> Arc<Self> {
        let mut registry = Registry::default();
        register_process(&mut registry);
        let into = &mut registry;
        let limit = limit.unwrap_or(Micros(u64::MAX));
        Arc::new(Self {
            connections: gauge(into, "modiar_connections", "Open connections of bots"),
            connections_closed: Words::register(
                into,
                "modiar_connections_closed",
                "Connections that ended",
                "reason",
                Close::all(),
            ),
            slow_readers: counter(into, "modiar_slow_readers", "Connections ended because their bot did not read"),
            games_running: gauge(into, "modiar_games_running", "Running games"),
            games_finished: Words::register(
                into,
                "modiar_games_finished",
                "Games stored and told",
                "termination",
                words::terminations(),
            ),
            moves: counter(into, "modiar_moves", "Accepted plies"),
            errors: Words::register(into, "modiar_errors", "Errors told to bots", "code", words::codes()),
            own_delay: times(into, "modiar_own_delay", "Own delay of judged moves where it was measured"),
            move_time: times(into, "modiar_move", "From a turn's writing to its move's arrival, own delay taken off"),
            seeks_waiting: gauge(into, "modiar_seeks_waiting", "Seeks that wait for an opponent, in all pools"),
            oldest_seek: seconds(into, "modiar_oldest_seek", "How long the seek has waited that waits longest"),
            pairing_wait: times(into, "modiar_pairing_wait", "How long seeks waited that were paired"),
            loop_lag: times(into, "modiar_loop_lag", "How much too late a sleeping task woke"),
            invariant_failures: Words::register(
                into,
                "modiar_invariant_failures",
                "What must never be and was: each is a bug",
                "invariant",
                Invariant::all(),
            ),
            logins_refused: Words::register(
                into,
                "modiar_logins_refused",
                "Hellos with a token that were refused",
                "reason",
                Login::all(),
            ),
            registrations: outcomes(into, "modiar_registrations", "Registrations over the wire", Registration::all()),
            reloads: outcomes(into, "modiar_reloads", "Times the configuration was read again", Reading::all()),
            journal_sync: times(into, "modiar_journal_sync", "Bringing played plies to the disk"),
            store_commit: times(into, "modiar_store_commit", "Committing finished games"),
            store_commit_games: counts(into, "modiar_store_commit_games", "Finished games in one commit"),
            own_tally: Tally::new(limit),
            lag_tally: Tally::new(limit),
            registry,
        })
    }

    /// The text of `OpenMetrics`.
    ///
    /// # Errors
    /// None that a String can give.
    pub fn render(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::with_capacity(32 * 1024);
        encode(&mut text, &self.registry)?;
        Ok(text)
    }

    /// A connection is there, and counted until the guard is dropped.
    #[must_use]
    pub fn connection(self: &Arc<Self>) -> Connection {
        self.connections.inc();
        Connection { metrics: Arc::clone(self), close: Close::Reset }
    }

    /// A connection was turned away at once.
    pub fn connection_refused(&self) {
        self.connections_closed.inc(Close::Refused.place());
    }

    /// So many games run.
    pub fn games_running(&self, games: usize) {
        self.games_running.set(i64::try_from(games).unwrap_or(i64::MAX));
    }

    /// So many seeks wait, and the first of them so long.
    pub fn seeks_wait(&self, waiting: usize, longest: Micros) {
        self.seeks_waiting.set(i64::try_from(waiting).unwrap_or(i64::MAX));
        self.oldest_seek.set(Duration::from_micros(longest.0).as_secs_f64());
    }

    /// A game's result was told.
    pub fn game_finished(&self, termination: Termination) {
        self.games_finished.inc(termination as usize);
    }

    /// A move was judged by its time. Where it came within the grace its own delay was not asked for, and is less.
    pub fn judged(&self, charge: Charge, grace: Micros) {
        if charge.elapsed + charge.own > grace {
            self.own_delay.time(charge.own);
        }
        self.own_tally.take(charge.own);
    }

    /// A ply stands.
    pub fn moved(&self, charge: Charge) {
        self.moves.inc();
        self.move_time.time(charge.elapsed);
    }

    /// A bot reads an error.
    pub fn error(&self, code: ErrorCode) {
        self.errors.inc(code as usize);
    }

    /// A hello with a token was refused.
    pub fn login_refused(&self, why: Login) {
        self.logins_refused.inc(why as usize);
    }

    /// A bot has tried to register itself.
    pub fn registration(&self, outcome: Registration) {
        self.registrations.inc(outcome as usize);
    }

    /// The configuration was read again.
    pub fn reload(&self, outcome: Reading) {
        self.reloads.inc(outcome as usize);
    }

    /// What must never be has been in a game: for whoever watches, an alarm.
    pub fn alarm(&self, invariant: Invariant, game: GameId) {
        error!(%game, invariant = invariant.as_str(), "an invariant does not hold: this is a bug in the server");
        self.invariant_failures.inc(invariant as usize);
    }

    /// Measures how late a sleeping task wakes, until `stop`.
    pub async fn watch_loop(self: Arc<Self>, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let due = time::now() + NAP.into();
            tokio::time::sleep(NAP).await;
            let lag = time::now().since(due);
            self.loop_lag.time(lag);
            self.lag_tally.take(lag);
        }
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// An open connection, counted as long as this stands.
#[derive(Debug)]
pub struct Connection {
    metrics: Arc<Metrics>,
    close: Close,
}

impl Connection {
    /// Why it ends.
    pub const fn ends(&mut self, close: Close) {
        self.close = close;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.metrics.connections.dec();
        self.metrics.connections_closed.inc(self.close.place());
        if self.close == Close::Goodbye(GoodbyeReason::SlowReader) {
            self.metrics.slow_readers.inc();
        }
    }
}

fn register_process(registry: &mut Registry) {
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    registry.register("modiar_build", "The program that runs", Info::new(version));
    #[allow(clippy::cast_precision_loss)] // milliseconds since 1970 are exact for 285,000 years
    let started = time::unix_ms() as f64 / 1000.0;
    registry.register_collector(Box::new(Process { started }));
}

fn gauge(registry: &mut Registry, name: &str, help: &str) -> Gauge {
    let gauge = Gauge::default();
    registry.register(name, help, gauge.clone());
    gauge
}

fn seconds(registry: &mut Registry, name: &str, help: &str) -> Gauge<f64, AtomicU64> {
    let gauge = Gauge::default();
    registry.register_with_unit(name, help, Unit::Seconds, gauge.clone());
    gauge
}

fn counter(registry: &mut Registry, name: &str, help: &str) -> Counter {
    let counter = Counter::default();
    registry.register(name, help, counter.clone());
    counter
}

fn outcomes(registry: &mut Registry, name: &str, help: &str, all: impl IntoIterator<Item = &'static str>) -> Words {
    Words::register(registry, name, help, "outcome", all)
}

fn times(registry: &mut Registry, name: &str, help: &str) -> Histogram {
    let histogram = Histogram::of_times();
    registry.register_with_unit(name, help, Unit::Seconds, histogram.clone());
    histogram
}

fn counts(registry: &mut Registry, name: &str, help: &str) -> Histogram {
    let histogram = Histogram::of_counts();
    registry.register(name, help, histogram.clone());
    histogram
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The histogram has own delay where it was asked for, the tally has it always.
    #[test]
    fn a_move_within_the_grace_has_no_own_delay_to_show() {
        let metrics = Metrics::new(Some(Micros(50_000)));
        let charge = |elapsed, own| Charge { elapsed: Micros(elapsed), own: Micros(own), charged: Micros(0) };
        metrics.judged(charge(50_000, 0), Micros(50_000));
        metrics.judged(charge(10_000, 60_000), Micros(50_000));
        let text = metrics.render().unwrap();
        assert!(text.contains("modiar_own_delay_seconds_count 1\n"), "{text}");
        assert!(text.contains("modiar_own_delay_seconds_sum 0.06\n"), "{text}");
        assert_eq!(metrics.own_tally.counted(), Counted { all: 2, above: 1, above_half: 1 });
    }
}
