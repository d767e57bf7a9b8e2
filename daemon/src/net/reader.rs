//! The life of a connection, in reading order: one task reads, opens what is sealed, cuts lines, hands them to the
//! session, and writes what was left waiting.

use super::admission::Pass;
use super::arrival::SocketRead;
use super::farewell::Farewell;
use super::kernel;
use super::layer::Opened;
use super::outlet::Outlet;
use crate::clock::{Micros, Moment};
use crate::metrics::{Close, Connection};
use crate::session::Client;
use crate::time::{Heartbeat, now, ran_since};
use modiar_protocol::{GoodbyeReason, Lines};
use std::cell::RefCell;
use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tokio::io::{AsyncRead as _, ReadBuf};
use tokio::net::tcp::OwnedReadHalf;
use tokio::time::{Sleep, sleep};
use tracing::info;

/// One read takes at most so many bytes.
const READ_BYTES: usize = 16 * 1024;

thread_local! {
    /// Every connection of a worker thread reads into this; what is kept of a read is at most the tail of a line.
    pub(super) static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into());
}

/// What is known of a connection when it comes.
pub(super) struct Incoming<'a> {
    /// Since when it has come.
    pub(super) since: Moment,
    /// How many bytes were said to it.
    pub(super) said: u64,
    /// What was read of it.
    pub(super) early: &'a [u8],
}

/// Serves one connection until it ends. Not an `async fn`: that would hold all it is given twice, here and in the
/// [`Reader`], as long as the connection lasts.
pub(super) fn serve(
    read: OwnedReadHalf,
    outlet: Arc<Outlet>,
    client: Client,
    heartbeat: &'static Heartbeat,
    incoming: Incoming<'_>,
    connection: Connection,
    pass: Pass,
) -> impl Future<Output = ()> + use<> {
    let (sealed, came) = (outlet.is_layered(), incoming.since);
    let limits = client.limits();
    let deadline = Box::pin(sleep(limits.handshake()));
    let mut reader = Reader {
        read,
        sealed,
        outlet,
        client,
        heartbeat,
        lines: Lines::default(),
        held: None,
        previous: came,
        made_up: came,
        handshake: Some(Box::new(Handshake {
            heard: sealed,
            since: now(),
            limit: limits.handshake().into(),
            deadline,
        })),
        write_limit: limits.write_deadline(),
        write_deadline: None,
        connection,
        _pass: pass,
        waker: None,
    };
    // What ends it here ends it at the first look too.
    if !incoming.early.is_empty() {
        reader.take(Ok(incoming.early));
    }
    async move {
        let close = poll_fn(|context| reader.poll(context)).await;
        reader.connection.ends(close);
        info!(caller = %reader.client.caller(), reason = %close.as_str(), "connection ended");
        reader.client.leave();
        let Reader { read, outlet, .. } = &mut reader;
        // A box, for it is as large as all the rest, and not needed before the end.
        Box::pin(Farewell { read, outlet }.say()).await;
        let taken = kernel::taken_by_peer(kernel::descriptor(read.as_ref()));
        reader.client.seen_off(taken.unwrap_or(u64::MAX));
    }
}

struct Reader {
    read: OwnedReadHalf,
    outlet: Arc<Outlet>,
    /// Whether what comes goes through a layer.
    sealed: bool,
    client: Client,
    heartbeat: &'static Heartbeat,
    lines: Lines,
    /// What came behind a hello that waits for the store.
    held: Option<Box<Held>>,
    /// When the read before returned; until the bot is welcome, when it cannot have been here yet.
    previous: Moment,
    /// When the newest read returned: stops before it are made up for.
    made_up: Moment,
    /// Until the bot is welcome.
    handshake: Option<Box<Handshake>>,
    /// Longest time that output may wait without one byte leaving.
    write_limit: Duration,
    write_deadline: Option<Pin<Box<Sleep>>>,
    connection: Connection,
    _pass: Pass,
    /// What the outlet wakes this task by.
    waker: Option<Waker>,
}

/// The rest of a read, which is heard later.
struct Held {
    bytes: Vec<u8>,
    read: SocketRead,
    full: bool,
}

/// A connection whose bot is not welcome yet.
struct Handshake {
    /// Whether bytes came before: those of a layer, or a refused hello. They may have waited too.
    heard: bool,
    since: Moment,
    /// How long it may take.
    limit: Micros,
    deadline: Pin<Box<Sleep>>,
}

/// Also where its task panicked: the tables hold its outlet, the peer must see the end.
impl Drop for Reader {
    fn drop(&mut self) {
        self.outlet.close();
    }
}

/// Whether a connection goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Go,
    End(Close),
}

impl Next {
    /// By what has been said over `outlet`.
    fn of(outlet: &Outlet) -> Self {
        outlet.closing().map_or(Self::Go, |reason| Self::End(Close::Goodbye(reason)))
    }
}

impl Reader {
    /// Ready when the connection is to end.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Close> {
        self.register(context);
        loop {
            let rung = self.outlet.take_rung();
            if rung.flags()
                && let Next::End(close) = self.read_kernel()
            {
                return Poll::Ready(close);
            }
            if rung.output() || self.write_deadline.is_some() {
                self.poll_write(context);
            }
            if self.client.is_registering() {
                if let Next::End(close) = Next::of(&self.outlet) {
                    return Poll::Ready(close);
                }
                if let Next::End(close) = ready!(self.poll_registration(context)) {
                    return Poll::Ready(close);
                }
                continue;
            }
            if self.handshake.is_some()
                && let Next::End(close) = self.poll_handshake(context)
            {
                return Poll::Ready(close);
            }
            if let Next::End(close) = Next::of(&self.outlet) {
                return Poll::Ready(close);
            }
            if let Next::End(close) = ready!(self.poll_read(context)) {
                return Poll::Ready(close);
            }
        }
    }

    /// Lets the outlet wake this task. Its waker stays the same as long as the task does.
    fn register(&mut self, context: &Context<'_>) {
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            self.waker = Some(context.waker().clone());
            self.outlet.register(context.waker().clone());
        }
    }

    /// One read, and all the lines it completed. tokio asks the kernel again only after a read that filled the buffer.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<Next> {
        BUFFER.with_borrow_mut(|buffer| {
            let mut space = ReadBuf::new(buffer);
            let read = ready!(Pin::new(&mut self.read).poll_read(context, &mut space));
            Poll::Ready(self.take(read.map(|()| space.filled())))
        })
    }

    /// What lies in the kernel now is judged by its own arrival, then the flags of the games are checked; not where the
    /// connection turns out to have ended, for its bot may be back on another one (`clock.flag-away`).
    fn read_kernel(&mut self) -> Next {
        let (asked, there) = (now(), kernel::unread(self.read.as_ref()));
        let next = BUFFER.with_borrow_mut(|buffer| {
            let mut taken = 0;
            // What came later is no reason to wait. One read more than that: the end of the stream is no byte.
            while taken <= there && !self.client.is_registering() {
                let read = match kernel::read_now(self.read.as_ref(), buffer) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    read => read.map(|length| &buffer[..length]),
                };
                taken += read.as_ref().map_or(0, |bytes| bytes.len());
                let next = self.take(read);
                if next != Next::Go {
                    return next;
                }
            }
            Next::of(&self.outlet)
        });
        if next == Next::Go {
            self.client.check_flags(asked);
        }
        next
    }

    /// The outcome of a read: bytes, the end of the stream, or a broken connection. The moment is taken here, below TLS.
    fn take(&mut self, read: io::Result<&[u8]>) -> Next {
        let bytes = match read {
            Ok([]) => return Next::End(Close::Eof),
            Ok(bytes) => bytes,
            Err(_) => return Next::End(Close::Reset),
        };
        let arrival = SocketRead::new(kernel::descriptor(self.read.as_ref()), self.heartbeat, self.previous);
        let full = bytes.len() == READ_BYTES;
        let stopped = arrival.stopped_since(std::mem::replace(&mut self.made_up, arrival.received()));
        if self.handshake.is_none() {
            if stopped > Micros(0) {
                self.client.make_up(stopped, arrival.received());
            }
            // Of what a full read has left in the kernel nothing is known but that it came after the one before.
            if !full {
                self.previous = arrival.received();
            }
        }
        if !self.sealed {
            return self.hear(bytes, &arrival, full);
        }
        let mut text = Vec::new();
        let opened = self.outlet.open(bytes, &mut text);
        match (self.hear(&text, &arrival, full), opened) {
            (Next::Go, Opened::Closed) => Next::End(Close::Eof),
            (Next::Go, Opened::Broken(close)) => Next::End(close),
            (next, _) => next,
        }
    }

    /// Hands the session every line that these bytes complete, `full` if more may follow at once, until the connection is to
    /// end: its bot may have come back on another one at any moment, while these were read too (`session.replaced-lines`).
    fn hear(&mut self, mut input: &[u8], arrival: &SocketRead, full: bool) -> Next {
        while let Some(line) = self.lines.next(&mut input) {
            let next = Next::of(&self.outlet);
            if next != Next::Go {
                return next;
            }
            let heard = self.handshake.as_ref().is_some_and(|handshake| handshake.heard);
            let last = memchr::memchr(b'\n', input).is_none() && !heard && !full;
            self.client.hear(line, &arrival.line(last));
            if self.client.is_registering() {
                self.held = Some(Box::new(Held { bytes: input.to_vec(), read: arrival.clone(), full }));
                break;
            }
        }
        if let Some(handshake) = &mut self.handshake {
            handshake.heard = true;
        }
        Next::Go
    }

    /// Waits for the store, and reads nothing meanwhile; then hears what was held back. That time was not the bot's.
    fn poll_registration(&mut self, context: &mut Context<'_>) -> Poll<Next> {
        let Some(held) = &self.held else { return Poll::Ready(Next::Go) };
        ready!(self.client.poll_registration(context, &held.read.line(false)));
        if let Some(handshake) = &mut self.handshake {
            handshake.since = now();
            handshake.deadline = Box::pin(sleep(Duration::from_micros(handshake.limit.0)));
        }
        let held = self.held.take();
        Poll::Ready(held.map_or(Next::Go, |held| self.hear(&held.bytes, &held.read, held.full)))
    }

    /// Writes what waits; a peer that takes nothing for too long is cut off (`session.slow-reader`).
    fn poll_write(&mut self, context: &mut Context<'_>) {
        loop {
            let (written, waiting) = self.outlet.flush();
            if waiting == 0 {
                self.write_deadline = None;
                return;
            }
            if written > 0 {
                self.write_deadline = None;
            }
            let deadline = self.write_deadline.get_or_insert_with(|| Box::pin(sleep(self.write_limit)));
            if deadline.as_mut().poll(context).is_ready() {
                self.outlet.cut(GoodbyeReason::SlowReader);
                return;
            }
            if self.read.as_ref().poll_write_ready(context).is_pending() {
                return;
            }
        }
    }

    fn poll_handshake(&mut self, context: &mut Context<'_>) -> Next {
        let Some(handshake) = self.handshake.as_mut().filter(|_| !self.client.is_welcome()) else {
            // What is read from here on came after this.
            (self.handshake, self.previous) = (None, now());
            return Next::Go;
        };
        if handshake.deadline.as_mut().poll(context).is_pending() {
            return Next::Go;
        }
        // While the server stood still nobody could be welcomed.
        let limit = handshake.limit;
        let left = limit.less(ran_since(handshake.since));
        if left > Micros(0) {
            handshake.deadline = Box::pin(sleep(Duration::from_micros(left.0)));
            return self.poll_handshake(context);
        }
        // A hello that lies in the kernel came before this was looked at.
        let next = self.read_kernel();
        if next == Next::Go && !self.client.is_welcome() && !self.client.is_registering() {
            self.client.handshake_expired(limit);
        }
        next
    }
}
