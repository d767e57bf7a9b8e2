//! The writing end of a connection: anyone may write a line to it, at any moment, without waiting.
//!
//! A line goes straight to the socket where nothing waits; only what the socket does not take is kept, within a bound,
//! for the connection's own task to write when there is room.

use super::bell::{Bell, Rung};
use super::heard::Heard;
use super::kernel;
use super::layer::{Layer, Opened};

use crate::clock::Moment;
use crate::metrics::Metrics;
use modiar_protocol::{GoodbyeReason, Ref, ServerMessage};
use std::borrow::Cow;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::net::tcp::OwnedWriteHalf;

/// A connection's writing end and the bell that wakes its task.
#[derive(Debug)]
pub struct Outlet {
    out: Mutex<Out>,
    /// Why it closes; nothing is sent any more.
    closing: OnceLock<GoodbyeReason>,
    /// Whether its peer is a bot within this process.
    inside: bool,
    /// Most that may wait, in bytes.
    most: usize,
    bell: Bell,
    /// Where errors told are counted; none where nobody is there to read them.
    metrics: Option<Arc<Metrics>>,
}

/// Where what is said goes.
#[derive(Debug)]
enum Sink {
    Socket(OwnedWriteHalf),
    /// Nowhere: all waits until the peer's task [takes](Outlet::take) it.
    Inside,
}

impl Sink {
    const fn socket(&self) -> Option<&OwnedWriteHalf> {
        match self {
            Self::Socket(socket) => Some(socket),
            Self::Inside => None,
        }
    }
}

#[derive(Debug)]
struct Out {
    /// Gone once the connection's task has ended.
    sink: Option<Sink>,
    /// Where the lines are not bare: what is sent is sealed by it, and what came is opened by it.
    layer: Option<Box<Layer>>,
    /// Bytes that were said, sent or waiting, as the socket takes them.
    said: u64,
    /// How many of these the peer's kernel has taken, when it was asked last.
    taken: u64,
    /// What came last from the peer, as evidence.
    heard: Heard,
    /// What the socket did not take, as the socket will take it.
    waiting: Vec<u8>,
    /// Bytes of it that do not count as waiting for the reader: the server has them to tell, however many they are.
    owed: usize,
    /// What waits was laid ready and not offered to the socket yet.
    laid: bool,
    /// The peer no longer takes anything; what it has sent may still be read.
    broken: bool,
}

impl Outlet {
    /// The writing end of a connection for which at most `most` bytes wait, through `layer` if there is one; so many bytes were
    /// `said` before.
    pub(crate) fn new(
        sink: OwnedWriteHalf,
        layer: Option<Box<Layer>>,
        said: u64,
        most: usize,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self::over(Out { said, ..Out::new(Some(Sink::Socket(sink)), layer) }, most, Some(metrics))
    }

    /// The writing end of a connection within this process, for which at most `most` bytes wait.
    pub(crate) fn inside(most: usize, metrics: Arc<Metrics>) -> Self {
        Self { inside: true, ..Self::over(Out::new(Some(Sink::Inside), None), most, Some(metrics)) }
    }

    /// The outlet of nobody: what is sent to it is dropped.
    #[must_use]
    pub fn closed() -> Self {
        Self::over(Out::new(None, None), 0, None)
    }

    fn over(out: Out, most: usize, metrics: Option<Arc<Metrics>>) -> Self {
        let (out, closing) = (Mutex::new(out), OnceLock::new());
        Self { out, closing, inside: false, most, bell: Bell::default(), metrics }
    }

    /// Whether its peer is a bot within this process: no other has a name of the house.
    #[must_use]
    pub const fn is_inside(&self) -> bool {
        self.inside
    }

    /// A line came from the peer, which is kept as evidence for a while.
    pub fn note_heard(&self, at: Moment, line: &[u8]) {
        self.lock().heard.note(at, line);
    }

    /// The last lines that came from the peer while it played, the oldest first, and when.
    #[must_use]
    pub fn heard(&self) -> Vec<(Moment, Vec<u8>)> {
        self.lock().heard.lines()
    }

    /// Sends whole lines: at once as far as the socket takes them. What cannot be sent to a connection that is closing,
    /// broken or gone is dropped. A reader for which too much waits is closed (`session.slow-reader`).
    pub fn send(&self, lines: &[u8]) {
        let mut out = self.lock();
        if self.closing.get().is_none() {
            self.say(&mut out, lines);
            self.write_out(&mut out);
        }
    }

    /// Sends one message.
    pub fn tell(&self, message: &ServerMessage) {
        self.count(message);
        self.send(&message.to_line());
    }

    /// Tells one message of what a bot has to read when it is back: of many games it may be more than may wait.
    pub fn tell_owed(&self, message: &ServerMessage) {
        let line = message.to_line();
        self.lock().owed += line.len();
        self.send(&line);
    }

    /// Lays whole lines ready, without a system call: for whoever holds a lock that others wait for, and
    /// [writes](Self::write_laid) after it. Lines that are sent before that follow them.
    pub fn lay(&self, lines: &[u8]) {
        let mut out = self.lock();
        if self.closing.get().is_none() {
            out.laid |= out.waiting.is_empty();
            self.say(&mut out, lines);
        }
    }

    /// Lays one message ready.
    pub fn lay_message(&self, message: &ServerMessage) {
        self.count(message);
        self.lay(&message.to_line());
    }

    /// Writes what was laid ready.
    pub fn write_laid(&self) {
        self.write_out(&mut self.lock());
    }

    /// Says goodbye; nothing is sent after it and nothing read (`session.goodbye`).
    pub fn goodbye(&self, reason: GoodbyeReason, message: impl Into<Cow<'static, str>>, reference: Option<Ref>) {
        let mut out = self.lock();
        if self.closing.get().is_none() {
            let goodbye = ServerMessage::Goodbye { reason, message: message.into(), reference };
            self.say(&mut out, &goodbye.to_line());
            self.closing.get_or_init(|| reason);
            self.bell.ring(Rung::OUTPUT);
        }
    }

    /// Whether a peer is there to play: neither closing nor gone.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.closing.get().is_none() && self.lock().sink.is_some()
    }

    /// How many bytes have been said so far, to a peer that is there to play.
    #[must_use]
    pub fn said(&self) -> Option<u64> {
        let out = self.lock();
        (self.closing.get().is_none() && out.sink.is_some()).then_some(out.said)
    }

    /// Whether the peer's kernel has taken so many of these. What lies there the peer can still read, whatever becomes of
    /// the link. Where the system does not tell it has; where the connection is gone nothing more is taken.
    #[must_use]
    pub fn has_taken(&self, said: u64) -> bool {
        let mut out = self.lock();
        // What was taken once is: the kernel is asked only where that does not tell.
        if out.taken < said
            && let Some(socket) = out.sink.as_ref().and_then(Sink::socket)
        {
            out.taken = kernel::taken_by_peer(kernel::descriptor(socket.as_ref())).unwrap_or(u64::MAX);
        }
        said <= out.taken
    }

    /// Asks the connection's task to read what lies in the kernel, and then to check the flags of its games.
    pub fn check_flags(&self) {
        self.bell.ring(Rung::FLAGS);
    }

    /// Why the connection closes, if it does.
    pub(super) fn closing(&self) -> Option<GoodbyeReason> {
        self.closing.get().copied()
    }

    /// Closes without a goodbye.
    pub(super) fn cut(&self, reason: GoodbyeReason) {
        self.cut_off(&mut self.lock(), reason);
    }

    /// Whether the lines go through a layer.
    pub(super) fn is_layered(&self) -> bool {
        self.lock().layer.is_some()
    }

    /// Whether the handshake of TLS goes on, so that nothing can be sent yet.
    pub(super) fn is_handshaking(&self) -> bool {
        let out = self.lock();
        !out.broken && out.layer.as_ref().is_some_and(|layer| layer.is_handshaking())
    }

    /// Opens what came from the socket and lays its text behind `text`; sends what the layer's protocol wants sent.
    pub(super) fn open(&self, sealed: &[u8], text: &mut Vec<u8>) -> Opened {
        let mut out = self.lock();
        let Some(layer) = out.layer.as_mut() else { return Opened::Closed };
        let opened = layer.open(sealed, text);
        let answer = layer.take();
        self.push_sealed(&mut out, answer);
        // What was wrong has been told, as far as the socket took it; a peer that speaks something else cannot be told more.
        out.broken |= matches!(opened, Opened::Broken(_));
        opened
    }

    /// Nothing is sent after this: the layer says so to the peer.
    pub(super) fn finish(&self) {
        let mut out = self.lock();
        if let Some(layer) = out.layer.as_mut() {
            let last = layer.close();
            self.push_sealed(&mut out, last);
        }
    }

    /// Lets go of the socket; the kernel tells the peer.
    pub(super) fn close(&self) {
        let mut out = self.lock();
        out.sink = None;
        out.waiting = Vec::new();
    }

    /// Wakes the connection's task by `waker` from now on.
    pub(super) fn register(&self, waker: Waker) {
        self.bell.register(waker);
    }

    /// What was rung since it was last taken.
    pub(super) fn take_rung(&self) -> Rung {
        self.bell.take()
    }

    /// What was rung, once something is.
    pub(super) fn poll_rung(&self, context: &Context<'_>) -> Poll<Rung> {
        self.bell.poll(context)
    }

    /// Takes all that waits for a bot within this process, in the place of what `lines` held.
    pub(super) fn take(&self, lines: &mut Vec<u8>) {
        lines.clear();
        let mut out = self.lock();
        std::mem::swap(lines, &mut out.waiting);
        (out.taken, out.owed, out.laid) = (out.said, 0, false);
    }

    /// Writes what waits, as far as the socket takes it, and tells how much that was and how much still waits.
    pub(super) fn flush(&self) -> (usize, usize) {
        let mut out = self.lock();
        out.laid = false;
        out.flush()
    }

    fn count(&self, message: &ServerMessage) {
        if let (ServerMessage::Error(error), Some(metrics)) = (message, &self.metrics) {
            metrics.error(error.code);
        }
    }

    fn write_out(&self, out: &mut Out) {
        if std::mem::take(&mut out.laid) && out.flush().1 > 0 {
            self.bell.ring(Rung::OUTPUT);
        }
    }

    fn say(&self, out: &mut Out, lines: &[u8]) {
        if out.broken || out.sink.is_none() {
            return;
        }
        match out.layer.as_mut().map(|layer| layer.seal(lines)) {
            None => self.push(out, lines),
            Some(sealed) => self.push_sealed(out, sealed),
        }
    }

    fn push_sealed(&self, out: &mut Out, sealed: io::Result<Vec<u8>>) {
        match sealed {
            Ok(sealed) => self.push(out, &sealed),
            Err(_) => out.broken = true,
        }
    }

    fn push(&self, out: &mut Out, lines: &[u8]) {
        out.said += lines.len() as u64;
        // What lies ready comes first, and whoever laid it there writes.
        let free = out.waiting.is_empty() && !out.laid;
        let written = if free { out.write(lines) } else { 0 };
        let rest = &lines[written..];
        if rest.is_empty() || out.broken || out.sink.is_none() {
            return;
        }
        if out.waiting.len() + rest.len() > self.most + out.owed {
            self.cut_off(out, GoodbyeReason::SlowReader);
            return self.bell.ring(Rung::OUTPUT);
        }
        out.waiting.extend_from_slice(rest);
        // Where something waited already the task waits for room in the socket, and need not be told.
        if free {
            self.bell.ring(Rung::OUTPUT);
        }
    }

    /// Closes without a word: the peer may have half a line, so nothing may follow it.
    fn cut_off(&self, out: &mut Out, reason: GoodbyeReason) {
        out.waiting = Vec::new();
        out.broken = true;
        self.closing.get_or_init(|| reason);
    }

    fn lock(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Out {
    /// Nothing said yet; without a `sink` nothing ever is.
    const fn new(sink: Option<Sink>, layer: Option<Box<Layer>>) -> Self {
        let broken = sink.is_none();
        let heard = Heard::nothing();
        Self { sink, layer, said: 0, taken: 0, heard, waiting: Vec::new(), owed: 0, laid: false, broken }
    }

    /// Writes what waits: how much the socket took, and how much still waits.
    fn flush(&mut self) -> (usize, usize) {
        let mut waiting = std::mem::take(&mut self.waiting);
        let written = self.write(&waiting);
        if written < waiting.len() && !self.broken {
            // Nothing moves where nothing was taken: a peer that does not read costs no copy.
            waiting.drain(..written);
            self.waiting = waiting;
        }
        (written, self.waiting.len())
    }

    /// One write, no waiting: the number of bytes the socket took.
    fn write(&mut self, bytes: &[u8]) -> usize {
        let sink = self.sink.as_ref().filter(|_| !self.broken && !bytes.is_empty());
        let Some(socket) = sink.and_then(Sink::socket) else { return 0 };
        match socket.try_write(bytes) {
            Ok(written) => {
                self.owed = self.owed.saturating_sub(written);
                written
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(_) => {
                self.broken = true;
                0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use tokio::net::{TcpListener, TcpStream};

    /// A writing end and its peer.
    async fn pair() -> (Outlet, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let peer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_, sink) = listener.accept().await.unwrap().0.into_split();
        sink.writable().await.unwrap();
        (Outlet::new(sink, None, 0, 1000, Metrics::new(None)), peer)
    }

    #[tokio::test]
    async fn what_was_laid_ready_goes_out_when_it_is_written_or_before_what_is_sent() {
        let (outlet, mut peer) = pair().await;
        outlet.lay(b"one ");
        outlet.lay(b"two ");
        peer.set_nonblocking(true).unwrap();
        assert_eq!(peer.read(&mut [0; 16]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        outlet.send(b"three ");
        outlet.lay(b"four");
        outlet.write_laid();
        outlet.write_laid();
        peer.set_nonblocking(false).unwrap();
        let mut text = [0; 18];
        peer.read_exact(&mut text).unwrap();
        assert_eq!(&text, b"one two three four");
    }

    /// Within the process all waits until it is taken, within the same bound.
    #[tokio::test]
    async fn a_bot_within_the_process_takes_what_was_said() {
        let outlet = Outlet::inside(10, Metrics::new(None));
        let mut lines = b"of before".to_vec();
        let rung = async || std::future::poll_fn(|context| outlet.poll_rung(context)).await;
        outlet.lay(b"one ");
        outlet.write_laid();
        assert!(rung().await.output());
        outlet.send(b"two ");
        assert_eq!((outlet.said(), outlet.has_taken(1)), (Some(8), false));
        outlet.take(&mut lines);
        assert_eq!((&*lines, outlet.has_taken(8)), (&b"one two "[..], true));
        outlet.send(&[b' '; 10]);
        assert!(rung().await.output() && outlet.closing().is_none());
        outlet.send(b" ");
        assert_eq!(outlet.closing(), Some(GoodbyeReason::SlowReader));
    }

    /// A writing end whose peer does not read, with its socket full; the peer with it.
    async fn stuck(most: usize) -> (Outlet, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (_, sink) = listener.accept().await.unwrap().0.into_split();
        // Twice: the kernel may move some to the peer meanwhile.
        for _ in 0..2 {
            while (&*socket2::SockRef::from(sink.as_ref())).write(&[b' '; 4096]).is_ok() {}
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        (Outlet::new(sink, None, 0, most, Metrics::new(None)), peer)
    }

    /// What the peer's kernel has is the peer's; what waits here is not.
    #[tokio::test]
    async fn what_the_peer_s_kernel_has_taken_is_told_from_what_it_has_not() {
        let (outlet, _peer) = pair().await;
        outlet.send(b"one two");
        assert_eq!(outlet.said(), Some(7));
        while !outlet.has_taken(7) {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        outlet.lay(b"three");
        assert_eq!((outlet.said(), outlet.has_taken(7), outlet.has_taken(8)), (Some(12), true, false));
        outlet.close();
        assert_eq!((outlet.said(), outlet.has_taken(7), outlet.has_taken(8)), (None, true, false));
    }

    /// `session.resume`: who comes back to many games is no slow reader for what is told of them, and is one for more.
    #[tokio::test]
    async fn what_is_owed_waits_beside_the_bound() {
        let (outlet, _peer) = stuck(1000).await;
        let owed =
            ServerMessage::Goodbye { reason: GoodbyeReason::Bye, message: "m".repeat(5000).into(), reference: None };
        let bytes = owed.to_line().len();
        outlet.tell_owed(&owed);
        assert_eq!((outlet.closing(), outlet.flush().1), (None, bytes));
        outlet.send(&[b' '; 1000]);
        assert_eq!((outlet.closing(), outlet.flush().1), (None, bytes + 1000));
        outlet.send(b" ");
        assert_eq!(outlet.closing(), Some(GoodbyeReason::SlowReader));
    }

    /// `session.slow-reader`: at the bound and one byte past it.
    #[tokio::test]
    async fn what_waits_is_bounded_to_the_byte() {
        for (bytes, closing) in [(1000, None), (1001, Some(GoodbyeReason::SlowReader))] {
            let (outlet, _peer) = stuck(1000).await;
            outlet.send(&vec![b' '; bytes - 1]);
            assert_eq!(outlet.closing(), None, "{bytes}");
            outlet.send(b" ");
            assert_eq!(outlet.closing(), closing, "{bytes}");
            assert_eq!(outlet.flush().1, if closing.is_some() { 0 } else { bytes });
        }
    }
}
