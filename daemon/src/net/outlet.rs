//! The writing end of a connection: anyone may write a line to it, at any moment, without waiting.
//!
//! A line goes straight to the socket where nothing waits; only what the socket does not take is kept, within a bound,
//! for the connection's own task to write when there is room.

use crate::metrics::Metrics;
use modiar_protocol::limits::OUTPUT_BYTES;
use modiar_protocol::{GoodbyeReason, Ref, ServerMessage};
use std::io;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use tokio::net::tcp::OwnedWriteHalf;

/// A connection's writing end and the bell that wakes its task.
#[derive(Debug)]
pub struct Outlet {
    out: Mutex<Out>,
    bell: Bell,
    /// Where errors told are counted; none where nobody is there to read them.
    metrics: Option<Arc<Metrics>>,
}

#[derive(Debug)]
struct Out {
    /// Gone once the connection's task has ended.
    sink: Option<OwnedWriteHalf>,
    waiting: Vec<u8>,
    closing: Option<GoodbyeReason>,
    /// The peer no longer takes anything; what it has sent may still be read.
    broken: bool,
}

/// What the connection's task should look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rung(u8);

impl Rung {
    const NOTHING: u8 = 0;
    const OUTPUT: u8 = 1;
    const FLAGS: u8 = 2;

    pub(super) const fn flags(self) -> bool {
        self.0 & Self::FLAGS != 0
    }
}

impl Outlet {
    pub(crate) fn new(sink: OwnedWriteHalf, metrics: Arc<Metrics>) -> Self {
        let out = Out { sink: Some(sink), waiting: Vec::new(), closing: None, broken: false };
        Self { out: Mutex::new(out), bell: Bell::default(), metrics: Some(metrics) }
    }

    /// The outlet of nobody: what is sent to it is dropped.
    #[must_use]
    pub fn closed() -> Self {
        let out = Out { sink: None, waiting: Vec::new(), closing: None, broken: true };
        Self { out: Mutex::new(out), bell: Bell::default(), metrics: None }
    }

    /// Sends whole lines: at once as far as the socket takes them. What cannot be sent to a connection that is closing,
    /// broken or gone is dropped. A reader too slow for [`OUTPUT_BYTES`] is closed (`session.slow-reader`).
    pub fn send(&self, lines: &[u8]) {
        let mut out = self.lock();
        if out.closing.is_none() {
            self.push(&mut out, lines);
        }
    }

    /// Sends one message.
    pub fn tell(&self, message: &ServerMessage) {
        if let (ServerMessage::Error(error), Some(metrics)) = (message, &self.metrics) {
            metrics.error(error.code);
        }
        self.send(&message.to_line());
    }

    /// Says goodbye; nothing is sent after it and nothing read (`session.goodbye`).
    pub fn goodbye(&self, reason: GoodbyeReason, message: &'static str, reference: Option<Ref>) {
        let mut out = self.lock();
        if out.closing.is_none() {
            let goodbye = ServerMessage::Goodbye { reason, message: message.into(), reference };
            self.push(&mut out, &goodbye.to_line());
            out.closing.get_or_insert(reason);
            self.bell.ring(Rung::OUTPUT);
        }
    }

    /// Whether a peer is there to play: neither closing nor gone.
    #[must_use]
    pub fn is_live(&self) -> bool {
        let out = self.lock();
        out.sink.is_some() && out.closing.is_none()
    }

    /// Asks the connection's task to read what lies in the kernel, and then to check the flags of its games.
    pub fn check_flags(&self) {
        self.bell.ring(Rung::FLAGS);
    }

    /// Why the connection closes, if it does.
    pub(super) fn closing(&self) -> Option<GoodbyeReason> {
        self.lock().closing
    }

    /// Closes without a goodbye.
    pub(super) fn cut(&self, reason: GoodbyeReason) {
        let mut out = self.lock();
        out.waiting = Vec::new();
        out.closing = Some(reason);
    }

    /// Lets go of the socket; the kernel tells the peer.
    pub(super) fn close(&self) {
        let mut out = self.lock();
        out.sink = None;
        out.waiting = Vec::new();
    }

    /// Registers the connection's task and takes what was rung since.
    pub(super) fn listen(&self, context: &Context<'_>) -> Rung {
        self.bell.listen(context)
    }

    /// Writes what waits, as far as the socket takes it, and tells how much that was and how much still waits.
    pub(super) fn flush(&self) -> (usize, usize) {
        let mut out = self.lock();
        let waiting = std::mem::take(&mut out.waiting);
        let written = out.write(&waiting);
        if written < waiting.len() && !out.broken {
            out.waiting = waiting[written..].to_vec();
        }
        (written, out.waiting.len())
    }

    fn push(&self, out: &mut Out, lines: &[u8]) {
        let written = if out.waiting.is_empty() { out.write(lines) } else { 0 };
        let rest = &lines[written..];
        if rest.is_empty() || out.broken || out.sink.is_none() {
            return;
        }
        if out.waiting.len() + rest.len() > OUTPUT_BYTES {
            out.waiting = Vec::new();
            out.closing = Some(GoodbyeReason::SlowReader);
        } else {
            out.waiting.extend_from_slice(rest);
        }
        self.bell.ring(Rung::OUTPUT);
    }

    fn lock(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Out {
    /// One write, no waiting: the number of bytes the socket took.
    fn write(&mut self, bytes: &[u8]) -> usize {
        let Some(sink) = self.sink.as_ref().filter(|_| !self.broken && !bytes.is_empty()) else { return 0 };
        match sink.try_write(bytes) {
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(_) => {
                self.broken = true;
                0
            }
        }
    }
}

/// Wakes one task, and remembers why.
#[derive(Debug, Default)]
struct Bell {
    rung: AtomicU8,
    sleeper: Mutex<Option<Waker>>,
}

impl Bell {
    fn ring(&self, why: u8) {
        self.rung.fetch_or(why, Ordering::AcqRel);
        let sleeper = self.sleeper.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waker) = sleeper.as_ref() {
            waker.wake_by_ref();
        }
    }

    fn listen(&self, context: &Context<'_>) -> Rung {
        let mut sleeper = self.sleeper.lock().unwrap_or_else(PoisonError::into_inner);
        if !sleeper.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            *sleeper = Some(context.waker().clone());
        }
        drop(sleeper);
        Rung(self.rung.swap(Rung::NOTHING, Ordering::AcqRel))
    }
}
