//! How a connection ends: the peer reads what was written to it, then the server closes.

use super::outlet::Outlet;
use super::reader::BUFFER;
use modiar_protocol::limits::GOODBYE;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead as _, ReadBuf};
use tokio::net::tcp::OwnedReadHalf;
use tokio::time::timeout;

/// A connection that ends.
pub(super) struct Farewell<'a> {
    pub(super) read: &'a mut OwnedReadHalf,
    pub(super) outlet: &'a Outlet,
}

impl Farewell<'_> {
    /// Lets the peer read what was written to it: up to a second, in which nothing that it sends is looked at. Closing
    /// on unread bytes at once would make the kernel throw away what the peer has not read yet.
    pub(super) async fn say(mut self) {
        // Whether the peer read it all or the second is over: it ends here.
        let _ = timeout(GOODBYE, self.see_off()).await;
        self.outlet.close();
    }

    async fn see_off(&mut self) -> io::Result<()> {
        while self.outlet.is_handshaking() {
            poll_fn(|context| self.poll_greeting(context)).await?;
        }
        self.outlet.finish();
        poll_fn(|context| self.poll_write(context)).await?;
        self.outlet.close();
        poll_fn(|context| self.poll_discard(context)).await
    }

    /// What was said before the handshake of TLS was over can be sent only after it.
    fn poll_greeting(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Poll::Ready(Err(error)) = self.poll_write(context) {
            return Poll::Ready(Err(error));
        }
        BUFFER.with_borrow_mut(|buffer| {
            let mut space = ReadBuf::new(buffer);
            ready!(Pin::new(&mut *self.read).poll_read(context, &mut space))?;
            self.outlet.open(space.filled(), &mut Vec::new());
            let gone = space.filled().is_empty();
            Poll::Ready(if gone { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) })
        })
    }

    fn poll_write(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let (_, waiting) = self.outlet.flush();
            if waiting == 0 {
                return Poll::Ready(Ok(()));
            }
            ready!(self.read.as_ref().poll_write_ready(context))?;
        }
    }

    fn poll_discard(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        BUFFER.with_borrow_mut(|buffer| {
            loop {
                let mut space = ReadBuf::new(buffer);
                ready!(Pin::new(&mut *self.read).poll_read(context, &mut space))?;
                if space.filled().is_empty() {
                    return Poll::Ready(Ok(()));
                }
            }
        })
    }
}
