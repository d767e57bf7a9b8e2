//! Where moments come from: the one monotonic clock, and the heartbeat that shows when this process did not run.

use crate::clock::{Micros, Moment};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How often the heart beats.
const BEAT: Duration = Duration::from_millis(10);
/// A beat later than this was kept from running.
const LATE: Duration = Duration::from_millis(15);
/// Stops remembered; older ones no longer matter to any read.
const STOPS: usize = 64;

/// This moment: the one clock by which anything is decided (`clock.monotonic`).
#[must_use]
pub fn now() -> Moment {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    // An hour after the origin, so that no moment of the process is moment 0 less something.
    let origin = *ORIGIN.get_or_init(Instant::now);
    Moment(3_600_000_000) + Micros::from(origin.elapsed())
}

/// This wall-clock time in Unix milliseconds: for people and logs, never for a decision.
#[must_use]
pub fn unix_ms() -> u64 {
    jiff::Timestamp::now().as_millisecond().cast_unsigned()
}

/// For how much of the time since `earlier` this process ran: what it stood still is no time of anybody's.
#[must_use]
pub fn ran_since(earlier: Moment) -> Micros {
    let now = now();
    now.since(earlier).less(stopped_within(earlier, now))
}

/// The part of the time from `from` to `to` in which this process stood still.
#[must_use]
pub fn stopped_within(from: Moment, to: Moment) -> Micros {
    HEART.get().map_or(Micros(0), |heart| heart.stopped_within(from, to))
}

/// The heart of this process, once it beats.
static HEART: OnceLock<&'static Heartbeat> = OnceLock::new();

/// A thread that beats every 10 ms; a late beat is a stretch in which the process did not run (`clock.own-several`).
#[derive(Debug)]
pub struct Heartbeat {
    pulse: Mutex<Pulse>,
}

#[derive(Debug)]
struct Pulse {
    last: Moment,
    stops: Vec<(Moment, Moment)>,
}

impl Pulse {
    /// A pulse since `now`: the first beat may be late like any other.
    const fn new(now: Moment) -> Self {
        Self { last: now, stops: Vec::new() }
    }

    /// The stretch that a beat at `now` shows to have been missed.
    fn stop_until(&self, now: Moment) -> Option<(Moment, Moment)> {
        (now.since(self.last) > LATE.into()).then(|| (self.last + BEAT.into(), now))
    }

    fn beat(&mut self, now: Moment) {
        if let Some(stop) = self.stop_until(now) {
            if self.stops.len() == STOPS {
                self.stops.remove(0);
            }
            self.stops.push(stop);
        }
        self.last = now;
    }

    fn stopped_within(&self, from: Moment, to: Moment, now: Moment) -> Micros {
        let mut stopped = Micros(0);
        for (start, end) in self.stops.iter().copied().chain(self.stop_until(now)) {
            stopped += end.min(to).since(start.max(from));
        }
        stopped
    }
}

impl Heartbeat {
    /// Starts the beating; it goes on as long as the process.
    ///
    /// # Errors
    /// No thread could be started.
    pub fn start() -> std::io::Result<&'static Self> {
        let heartbeat: &'static Self = Box::leak(Box::new(Self { pulse: Mutex::new(Pulse::new(now())) }));
        std::thread::Builder::new().name("heartbeat".into()).spawn(move || {
            loop {
                heartbeat.pulse.lock().unwrap_or_else(PoisonError::into_inner).beat(now());
                std::thread::sleep(BEAT);
            }
        })?;
        Ok(HEART.get_or_init(|| heartbeat))
    }

    /// The time between `from` and `to` in which the process did not run. A stop that has just ended counts even before
    /// the heart has beaten again.
    #[must_use]
    pub fn stopped_within(&self, from: Moment, to: Moment) -> Micros {
        self.pulse.lock().unwrap_or_else(PoisonError::into_inner).stopped_within(from, to, now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_beats_are_stops() {
        let mut pulse = Pulse::new(Moment(0));
        for ms in [10, 20, 30, 3030, 3040] {
            pulse.beat(Moment(ms * 1000));
        }
        let within =
            |from: u64, to: u64| pulse.stopped_within(Moment(from * 1000), Moment(to * 1000), Moment(3_041_000)).ms();
        assert_eq!(within(0, 4000), 2990);
        assert_eq!(within(1000, 2000), 1000);
        assert_eq!(within(3035, 4000), 0);
    }

    #[test]
    fn a_stop_counts_before_the_next_beat_and_before_the_first() {
        let pulse = Pulse::new(Moment(1_000_000));
        assert_eq!(pulse.stopped_within(Moment(0), Moment(9_000_000), Moment(2_000_000)).ms(), 990);
    }

    #[test]
    fn a_first_beat_that_comes_late_shows_a_stop() {
        let mut pulse = Pulse::new(Moment(1_000_000));
        pulse.beat(Moment(2_000_000));
        assert_eq!(pulse.stopped_within(Moment(0), Moment(9_000_000), Moment(2_000_000)).ms(), 990);
    }
}
