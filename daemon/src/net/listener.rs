//! Accepting connections.

use super::admission::{Admission, Admitted, Places, room_for_connections};
use super::farewell::Farewell;
use super::kernel;
use super::outlet::Outlet;
use super::reader;
use super::tls::Certificate;
use crate::clock::Moment;
use crate::config::Limits;
use crate::lobby::{Hall, Visitor};
use crate::session::{Caller, Client};
use crate::time::{Heartbeat, now};
use modiar_protocol::server::Error;
use modiar_protocol::{ErrorCode, ServerMessage};
use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::coop::has_budget_remaining;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{info, warn};

/// Connections that may wait to be accepted: a ladder's bots come all at once.
const BACKLOG: i32 = 4096;
/// How long accepting rests after the system refused it, out of descriptors for one.
const REST: Duration = Duration::from_millis(100);
/// What the kernel holds for a peer that does not read, in bytes (it doubles it): it would take megabytes of its own
/// accord, before anything waits in the daemon's own bound.
const SEND_BUFFER: usize = 64 * 1024;
/// A connection on which nothing came for half of the time in which a vanished peer is to be found out is probed so often.
const KEEPALIVE_PROBES: u32 = 3;

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

/// The bots' door.
#[derive(Debug)]
pub struct Listener {
    backlog: Backlog,
    hall: Arc<Hall>,
    admission: Arc<Admission>,
    /// How many connections the system has descriptors for.
    room: u64,
    /// Where there is one the door speaks TLS.
    certificate: Option<Arc<Certificate>>,
    heartbeat: &'static Heartbeat,
}

impl Listener {
    /// A door to `hall`.
    ///
    /// # Errors
    /// The heartbeat could not start.
    pub fn new(socket: TcpListener, hall: Arc<Hall>, certificate: Option<Arc<Certificate>>) -> io::Result<Self> {
        if !kernel::MEASURES_OWN_DELAY {
            warn!("this system does not tell when data arrived: own delay counts as 0, bots are charged for it");
        }
        let (wanted, room) = (hall.current().limits.connections, room_for_connections());
        if room < wanted {
            warn!(
                wanted,
                room, "the system's limit of open files leaves room for fewer connections; raise it (ulimit -n)"
            );
        }
        let (admission, heartbeat) = (Arc::default(), Heartbeat::start()?);
        Ok(Self { backlog: Backlog::new(socket), hall, admission, room, certificate, heartbeat })
    }

    /// Accepts until `stop`; the connections run under `tasks`.
    pub async fn run(mut self, tasks: TaskTracker, stop: CancellationToken) {
        let mut number = 0u64;
        while let Some((stream, peer)) = stop.run_until_cancelled(self.backlog.accept()).await {
            number += 1;
            self.admit(stream, peer, Visitor(number), &tasks);
        }
    }

    /// Serves a connection, or tells it that there are too many (`limits.connections`).
    fn admit(&self, stream: TcpStream, peer: SocketAddr, visitor: Visitor, tasks: &TaskTracker) {
        let caller = Caller { visitor, peer: Some(peer) };
        let current = self.hall.current();
        let places = Places { all: current.limits.connections.min(self.room), of_one: current.connections_per_address };
        let admitted = self.admission.admit(peer.ip(), places);
        if !matches!(admitted, Admitted::Yes(_)) {
            info!(%caller, "refused: there are too many connections");
            self.hall.metrics().connection_refused();
        }
        if matches!(admitted, Admitted::Unheard) {
            return;
        }
        let (mut read, outlet) = match self.open(stream, &current.limits) {
            Ok((read, outlet)) => (read, Arc::new(outlet)),
            Err(error) => return warn!(%caller, %error, "the connection was gone at once"),
        };
        let (hall, heartbeat, came) = (Arc::clone(&self.hall), self.heartbeat, self.backlog.empty);
        match admitted {
            Admitted::Yes(pass) => {
                let connection = hall.metrics().connection();
                let client = Client::new(caller, Arc::clone(&outlet), Arc::clone(&hall));
                tasks.spawn(reader::serve(read, outlet, client, heartbeat, came, connection, pass))
            }
            Admitted::No(pass) => tasks.spawn(async move {
                let message = format!("too many connections: {places}; close some, or come back later");
                let error = Error { fatal: true, ..Error::new(ErrorCode::TooManyConnections, message) };
                outlet.tell(&ServerMessage::Error(Box::new(error)));
                Farewell { read: &mut read, outlet: &outlet }.say().await;
                drop(pass);
            }),
            Admitted::Unheard => return,
        };
    }

    fn open(&self, stream: TcpStream, limits: &Limits) -> io::Result<(OwnedReadHalf, Outlet)> {
        prepare(&SockRef::from(&stream), limits.vanished())?;
        let cipher = self.certificate.as_ref().map(|certificate| certificate.cipher()).transpose();
        let cipher = cipher.map_err(io::Error::other)?.map(Box::new);
        let (read, write) = stream.into_split();
        let metrics = Arc::clone(self.hall.metrics());
        Ok((read, Outlet::new(write, cipher, limits.output(), metrics)))
    }
}

/// What every accepted socket is set to (`limits.vanished`).
fn prepare(socket: &SockRef<'_>, vanished: Duration) -> io::Result<()> {
    // A turn is one small line that must leave at once.
    socket.set_tcp_nodelay(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    let interval = (vanished / 2 / KEEPALIVE_PROBES).max(Duration::from_secs(1));
    let keepalive = TcpKeepalive::new().with_time(vanished / 2).with_interval(interval);
    #[cfg(target_os = "linux")]
    let keepalive = keepalive.with_retries(KEEPALIVE_PROBES);
    socket.set_tcp_keepalive(&keepalive)?;
    // What was sent and is not acknowledged breaks the connection too; by default that takes a quarter of an hour.
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(vanished))?;
    Ok(())
}

/// Whether accepting failed for the sake of one connection, which is gone; another may be there.
fn concerns_one(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, PermissionDenied};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | PermissionDenied)
}
