//! Accepting connections.

use super::entrance::Entrance;
use crate::clock::Moment;
use crate::time::now;
use socket2::{Domain, Protocol, Socket, Type};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::coop::has_budget_remaining;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// Connections that may wait to be accepted: a ladder's bots come all at once.
const BACKLOG: i32 = 4096;
/// How long accepting rests after the system refused it, out of descriptors for one.
const REST: Duration = Duration::from_millis(100);

/// Binds a listening socket.
///
/// # Errors
/// The address is taken or not ours.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// The connections that wait to be accepted.
#[derive(Debug)]
pub struct Backlog {
    socket: TcpListener,
    /// When there was none last: whoever waits has come since.
    empty: Moment,
}

impl Backlog {
    /// Those of a listening socket.
    #[must_use]
    pub fn new(socket: TcpListener) -> Self {
        Self { socket, empty: now() }
    }

    /// The next connection, however long the system refuses one.
    pub async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        // Told once, however long it lasts.
        let mut refused = false;
        loop {
            match poll_fn(|context| self.poll(context)).await {
                Ok(accepted) => {
                    if refused {
                        info!("connections are accepted again");
                    }
                    return accepted;
                }
                Err(error) if concerns_one(&error) => {}
                Err(error) => {
                    if !std::mem::replace(&mut refused, true) {
                        warn!(%error, "no connection can be accepted at present");
                    }
                    tokio::time::sleep(REST).await;
                }
            }
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        // Where tokio lets others have their turn it says Pending too, however many wait.
        let asked = has_budget_remaining();
        let accepted = self.socket.poll_accept(context);
        if accepted.is_pending() && asked {
            self.empty = now();
        }
        accepted
    }
}

/// Lets the bots in that connect to `socket`, until `stop`.
pub async fn listen(socket: TcpListener, entrance: Arc<Entrance>, stop: CancellationToken) {
    let mut backlog = Backlog::new(socket);
    while let Some((stream, peer)) = stop.run_until_cancelled(backlog.accept()).await {
        entrance.admit(stream, peer, backlog.empty);
    }
}

/// Whether accepting failed for the sake of one connection, which is gone; another may be there.
fn concerns_one(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, PermissionDenied};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | PermissionDenied)
}
