//! The life of a connection within this process: a bot of the server's own at its other end, and no socket between. Lines,
//! session, hall and tables are those of every connection; only what is read and written is memory.

use super::outlet::Outlet;
use crate::clock::{Arrival, Micros, Moment};
use crate::config::Pool;
use crate::lobby::{Hall, Visitor};
use crate::session::{Caller, Client};
use crate::time::{now, stopped_within};
use modiar_protocol::Lines;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::yield_now;
use tokio::time::{Interval, MissedTickBehavior, interval};
use tracing::info;

/// Lines that are read before others have their turn.
const AT_ONCE: usize = 32;
/// How often a bot is asked what it has left to say.
const REMINDER: Duration = Duration::from_secs(10);
/// What is kept of a buffer that once had to be larger, in bytes.
const KEPT_BYTES: usize = 64 * 1024;

/// A bot within this process, as its connection needs it. What it says goes behind `say`, in whole lines.
pub trait Resident: Send + 'static {
    /// It comes in.
    fn enter(&mut self, say: &mut Vec<u8>);

    /// It reads a line of the server's, its newline included.
    fn read(&mut self, line: &[u8], say: &mut Vec<u8>);

    /// Some time has passed; these are the pools now.
    fn remember(&mut self, pools: &[Pool], say: &mut Vec<u8>);
}

/// Serves the connection of a bot within this process until it is sent away.
pub async fn serve_inside(visitor: Visitor, hall: Arc<Hall>, resident: impl Resident) {
    let most = hall.current().limits.of_house().output();
    let outlet = Arc::new(Outlet::inside(most, Arc::clone(hall.metrics())));
    let client = Client::new(Caller { visitor, peer: None }, Arc::clone(&outlet), Arc::clone(&hall));
    Inside { resident, client, hall, outlet, lines: Lines::default(), said: Vec::new() }.serve().await;
}

struct Inside<R> {
    resident: R,
    client: Client,
    hall: Arc<Hall>,
    outlet: Arc<Outlet>,
    lines: Lines,
    said: Vec<u8>,
}

/// Also where its task panicked: the tables hold its outlet.
impl<R> Drop for Inside<R> {
    fn drop(&mut self) {
        self.outlet.close();
    }
}

impl<R: Resident> Inside<R> {
    async fn serve(mut self) {
        let mut reminder = interval(REMINDER);
        reminder.set_missed_tick_behavior(MissedTickBehavior::Delay);
        self.have_say(|resident, say| resident.enter(say));
        let mut ready = Vec::new();
        while self.outlet.closing().is_none() {
            let checks_flags = self.wait(&mut reminder).await;
            let asked = now();
            self.outlet.take(&mut ready);
            self.read(&ready).await;
            if checks_flags {
                self.client.check_flags(asked);
            }
            ready.shrink_to(KEPT_BYTES);
        }
        let reason = self.outlet.closing().map_or("", |reason| reason.as_str());
        info!(caller = %self.client.caller(), reason, "connection ended");
    }

    /// Waits until something lies ready; whether the flags of its games are to be checked.
    async fn wait(&mut self, reminder: &mut Interval) -> bool {
        let outlet = Arc::clone(&self.outlet);
        let rung = tokio::select! {
            biased;
            rung = poll_fn(|context| outlet.poll_rung(context)) => Some(rung),
            _ = reminder.tick() => None,
        };
        if rung.is_none() {
            let pools = self.hall.pools();
            self.have_say(|resident, say| resident.remember(&pools, say));
        }
        rung.is_some_and(|rung| rung.flags())
    }

    /// Has the bot read what lay ready. Nothing is heard of it after its goodbye (`session.goodbye`).
    async fn read(&mut self, ready: &[u8]) {
        for (read, line) in ready.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if self.outlet.closing().is_some() {
                return;
            }
            if read % AT_ONCE == AT_ONCE - 1 {
                yield_now().await;
            }
            self.have_say(|resident, say| resident.read(line, say));
        }
    }

    /// Has the bot think, and hears what it says then.
    fn have_say(&mut self, think: impl FnOnce(&mut R, &mut Vec<u8>)) {
        let began = now();
        self.said.clear();
        think(&mut self.resident, &mut self.said);
        if self.said.is_empty() {
            return;
        }
        let (mut said, thought) = (&self.said[..], Thought { began, received: now() });
        while let Some(line) = self.lines.next(&mut said) {
            self.client.hear(line, &thought);
        }
    }
}

/// How a line arrived from a bot within this process: thought out from one moment to another.
struct Thought {
    began: Moment,
    /// When its line was there.
    received: Moment,
}

impl Arrival for Thought {
    fn received(&self) -> Moment {
        self.received
    }

    /// `clock.own-memory`: what it waited for a thread, for a lock or behind other lines is none of the bot's time.
    fn own(&self, turn: Moment) -> Micros {
        let Self { began, received } = *self;
        let took = received.since(began).less(stopped_within(began, received));
        received.since(turn).less(took)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, Control};

    /// `clock.own-memory`: whatever lies between the writing of a turn and the bot's beginning to think is the server's.
    #[test]
    fn a_bot_within_the_process_is_charged_for_its_thinking_alone() {
        let ms = |ms: u64| Moment(ms * 1000);
        let control =
            Control { base: Micros::from_ms(1000), increment: Micros(0), grace: Micros::from_ms(50), per_move: None };
        // When the turn was written, when the bot began to think, and when its line was there; elapsed, own and charged.
        for (written, began, received, wanted) in [
            (0, 35, 40, (40, 0, 0)),
            (0, 2995, 3000, (5, 2995, 0)),
            (0, 2930, 3000, (70, 2930, 20)),
            (0, 0, 70, (70, 0, 20)),
            (30, 0, 100, (70, 0, 20)),
            (200, 95, 100, (0, 0, 0)),
        ] {
            let mut clock = Clock::new(control);
            clock.turn_written(ms(written));
            let charge = clock.charge(&Thought { began: ms(began), received: ms(received) });
            assert_eq!(
                (charge.elapsed.ms(), charge.own.ms(), charge.charged.ms()),
                wanted,
                "{written} {began} {received}"
            );
        }
    }
}
