//! Letting connections in: how many there may be, and what each is set to.

use super::admission::{Admission, Admitted, Places, room_for_connections};
use super::farewell::Farewell;
use super::frames::Frames;
use super::kernel;
use super::layer::Layer;
use super::outlet::Outlet;
use super::reader::{self, Incoming};
use super::tls::Certificate;
use crate::clock::Moment;
use crate::config::Limits;
use crate::lobby::{Hall, Visitor};
use crate::session::{Caller, Client};
use crate::time::{Heartbeat, now};
use modiar_protocol::server::Error;
use modiar_protocol::{ErrorCode, ServerMessage};
use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio_util::task::TaskTracker;
use tracing::{info, warn};

/// What the kernel holds for a peer that does not read, in bytes (it doubles it): it would take megabytes of its own
/// accord, before anything waits in the daemon's own bound.
const SEND_BUFFER: usize = 64 * 1024;
/// A connection on which nothing came for half of the time in which a vanished peer is to be found out is probed so often.
const KEEPALIVE_PROBES: u32 = 3;

/// Where bots come in, by whichever port.
#[derive(Debug)]
pub struct Entrance {
    hall: Arc<Hall>,
    admission: Arc<Admission>,
    /// How many connections the system has descriptors for.
    room: u64,
    /// Where there is one the bots' port speaks TLS.
    certificate: Option<Arc<Certificate>>,
    heartbeat: &'static Heartbeat,
    /// The connections.
    tasks: TaskTracker,
    /// How many have come.
    came: AtomicU64,
}

impl Entrance {
    /// The one to `hall`; the connections run under `tasks`, and when these are closed nobody comes in any more.
    ///
    /// # Errors
    /// The heartbeat could not start.
    pub fn new(hall: Arc<Hall>, certificate: Option<Arc<Certificate>>, tasks: TaskTracker) -> io::Result<Self> {
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
        let (admission, heartbeat, came) = (Arc::default(), Heartbeat::start()?, AtomicU64::new(0));
        Ok(Self { hall, admission, room, certificate, heartbeat, tasks, came })
    }

    /// Lets a connection to the bots' port in, which has come since `since`.
    pub(super) fn admit(&self, stream: TcpStream, peer: SocketAddr, since: Moment) {
        let cipher = || self.certificate.as_ref().map(|certificate| certificate.cipher()).transpose();
        let layer = || Ok(cipher().map_err(io::Error::other)?.map(Layer::Tls));
        self.serve(stream, peer, Incoming { since, said: 0, early: &[] }, layer);
    }

    /// Lets a connection in that speaks WebSocket from now on, and has begun to: `early` is what was read of that.
    pub fn admit_web_socket(&self, stream: TcpStream, peer: SocketAddr, early: &[u8]) {
        let said = kernel::written(kernel::descriptor(&stream)).unwrap_or_default();
        self.serve(stream, peer, Incoming { since: now(), said, early }, || Ok(Some(Layer::WebSocket(Frames::new()))));
    }

    /// Serves a connection through a layer, where it has one, or tells it that there are too many (`limits.connections`).
    fn serve(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        incoming: Incoming<'_>,
        layer: impl FnOnce() -> io::Result<Option<Layer>>,
    ) {
        if self.tasks.is_closed() {
            return;
        }
        let visitor = Visitor(1 + self.came.fetch_add(1, Ordering::Relaxed));
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
        let opened = layer().and_then(|layer| self.open(stream, layer, incoming.said, &current.limits));
        let (mut read, outlet) = match opened {
            Ok((read, outlet)) => (read, Arc::new(outlet)),
            Err(error) => return warn!(%caller, %error, "the connection was gone at once"),
        };
        let (hall, heartbeat) = (Arc::clone(&self.hall), self.heartbeat);
        match admitted {
            Admitted::Yes(pass) => {
                let connection = hall.metrics().connection();
                let client = Client::new(caller, Arc::clone(&outlet), Arc::clone(&hall));
                self.tasks.spawn(reader::serve(read, outlet, client, heartbeat, incoming, connection, pass))
            }
            Admitted::No(pass) => self.tasks.spawn(async move {
                let message = format!("too many connections: {places}; close some, or come back later");
                let error = Error { fatal: true, ..Error::new(ErrorCode::TooManyConnections, message) };
                outlet.tell(&ServerMessage::Error(Box::new(error)));
                Farewell { read: &mut read, outlet: &outlet }.say().await;
                drop(pass);
            }),
            Admitted::Unheard => return,
        };
    }

    fn open(
        &self,
        stream: TcpStream,
        layer: Option<Layer>,
        said: u64,
        limits: &Limits,
    ) -> io::Result<(OwnedReadHalf, Outlet)> {
        prepare(&SockRef::from(&stream), limits.vanished())?;
        let (read, write) = stream.into_split();
        let metrics = Arc::clone(self.hall.metrics());
        Ok((read, Outlet::new(write, layer.map(Box::new), said, limits.output(), metrics)))
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
