//! The life of a connection, in reading order: one task reads, cuts lines, hands them to the session, writes what was
//! left waiting, and at the end sees the peer off.

use super::arrival::SocketRead;
use super::kernel;
use super::outlet::Outlet;
use crate::clock::Moment;
use crate::metrics::{Close, Connection};
use crate::session::Client;
use crate::time::{Heartbeat, now};
use modiar_protocol::limits::{GOODBYE, HANDSHAKE, WRITE_DEADLINE};
use modiar_protocol::{GoodbyeReason, Lines};
use std::cell::RefCell;
use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead as _, ReadBuf};
use tokio::net::tcp::OwnedReadHalf;
use tokio::time::{Sleep, sleep, timeout};

/// One read takes at most so many bytes.
const READ_BYTES: usize = 16 * 1024;

thread_local! {
    /// Every connection of a worker thread reads into this; what is kept of a read is at most the tail of a line.
    static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into());
}

/// Serves one connection until it ends.
pub(super) async fn serve(
    read: OwnedReadHalf,
    outlet: Arc<Outlet>,
    client: Client,
    heartbeat: &'static Heartbeat,
    connection: Connection,
) {
    let mut reader = Reader {
        read,
        outlet,
        client,
        heartbeat,
        lines: Lines::default(),
        previous: now(),
        handshake: Some(Box::pin(sleep(HANDSHAKE))),
        write_deadline: None,
        connection,
    };
    poll_fn(|context| reader.poll(context)).await;
    if let Some(reason) = reader.outlet.closing() {
        reader.connection.ends(Close::Goodbye(reason));
    }
    reader.client.leave();
    reader.see_off().await;
}

struct Reader {
    read: OwnedReadHalf,
    outlet: Arc<Outlet>,
    client: Client,
    heartbeat: &'static Heartbeat,
    lines: Lines,
    previous: Moment,
    handshake: Option<Pin<Box<Sleep>>>,
    write_deadline: Option<Pin<Box<Sleep>>>,
    connection: Connection,
}

/// Whether a connection goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Go,
    End,
}

impl Reader {
    /// Ready when the connection is to end.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.outlet.listen(context).flags() && self.read_kernel() == Next::End {
                return Poll::Ready(());
            }
            self.poll_write(context);
            self.poll_handshake(context);
            if self.outlet.closing().is_some() {
                return Poll::Ready(());
            }
            if ready!(self.poll_read(context)) == Next::End {
                return Poll::Ready(());
            }
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
        let asked = now();
        let next = BUFFER.with_borrow_mut(|buffer| {
            loop {
                match kernel::read_now(self.read.as_ref(), buffer) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Next::Go,
                    read => {
                        if self.take(read.map(|length| &buffer[..length])) == Next::End {
                            return Next::End;
                        }
                    }
                }
            }
        });
        if next == Next::Go {
            self.client.check_flags(asked);
        }
        next
    }

    /// The outcome of a read: bytes, the end of the stream, or a broken connection.
    fn take(&mut self, read: io::Result<&[u8]>) -> Next {
        let mut input = match read {
            Ok([]) => {
                self.connection.ends(Close::Eof);
                return Next::End;
            }
            Ok(bytes) => bytes,
            Err(_) => return Next::End,
        };
        let arrival = SocketRead::new(kernel::descriptor(self.read.as_ref()), self.heartbeat, self.previous);
        self.previous = arrival.received();
        while let Some(line) = self.lines.next(&mut input) {
            let last = memchr::memchr(b'\n', input).is_none();
            self.client.hear(line, &arrival.line(last));
            if self.outlet.closing().is_some() {
                return Next::End;
            }
        }
        Next::Go
    }

    /// Writes what waits; a peer that takes nothing for [`WRITE_DEADLINE`] is cut off (`session.slow-reader`).
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
            let deadline = self.write_deadline.get_or_insert_with(|| Box::pin(sleep(WRITE_DEADLINE)));
            if deadline.as_mut().poll(context).is_ready() {
                self.outlet.cut(GoodbyeReason::SlowReader);
                return;
            }
            if self.read.as_ref().poll_write_ready(context).is_pending() {
                return;
            }
        }
    }

    fn poll_handshake(&mut self, context: &mut Context<'_>) {
        if self.client.is_welcome() {
            self.handshake = None;
        } else if self.handshake.as_mut().is_some_and(|deadline| deadline.as_mut().poll(context).is_ready()) {
            self.handshake = None;
            self.client.handshake_expired();
        }
    }

    /// Lets the peer read what was written to it: up to a second, in which nothing that it sends is looked at. Closing
    /// on unread bytes at once would make the kernel throw away what the peer has not read yet.
    async fn see_off(mut self) {
        let farewell = async {
            poll_fn(|context| {
                loop {
                    let (_, waiting) = self.outlet.flush();
                    if waiting == 0 || self.read.as_ref().poll_write_ready(context)?.is_pending() {
                        return if waiting == 0 { Poll::Ready(io::Result::Ok(())) } else { Poll::Pending };
                    }
                }
            })
            .await?;
            self.outlet.close();
            poll_fn(|context| self.poll_discard(context)).await
        };
        // Whether the peer read it all or the second is over: it ends here.
        let _ = timeout(GOODBYE, farewell).await;
        self.outlet.close();
    }

    fn poll_discard(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        BUFFER.with_borrow_mut(|buffer| {
            loop {
                let mut space = ReadBuf::new(buffer);
                ready!(Pin::new(&mut self.read).poll_read(context, &mut space))?;
                if space.filled().is_empty() {
                    return Poll::Ready(Ok(()));
                }
            }
        })
    }
}
