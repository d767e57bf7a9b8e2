//! Accepting connections.

use super::kernel;
use super::outlet::Outlet;
use super::reader;
use crate::lobby::Hall;
use crate::session::Client;
use crate::time::Heartbeat;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{Instrument as _, info, info_span, warn};

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

/// The bots' door.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    hall: Arc<Hall>,
    heartbeat: &'static Heartbeat,
}

impl Listener {
    /// A door to `hall`.
    ///
    /// # Errors
    /// The heartbeat could not start.
    pub fn new(socket: TcpListener, hall: Arc<Hall>) -> io::Result<Self> {
        if !kernel::MEASURES_OWN_DELAY {
            warn!("this system does not tell when data arrived: own delay counts as 0, bots are charged for it");
        }
        Ok(Self { socket, hall, heartbeat: Heartbeat::start()? })
    }

    /// Accepts until `stop`; the connections run under `tasks`.
    pub async fn run(self, tasks: TaskTracker, stop: CancellationToken) {
        let mut number = 0u64;
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => return,
                accepted = self.socket.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => {
                    number += 1;
                    let span = info_span!("connection", number, %peer);
                    tasks.spawn(self.connection(stream, number).instrument(span));
                }
                Err(error) => {
                    warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(REST).await;
                }
            }
        }
    }

    fn connection(&self, stream: TcpStream, number: u64) -> impl Future<Output = ()> + use<> {
        let (hall, heartbeat) = (Arc::clone(&self.hall), self.heartbeat);
        async move {
            // A turn is one small line that must leave at once.
            if let Err(error) = SockRef::from(&stream).set_tcp_nodelay(true) {
                warn!(%error, "the connection was gone at once");
                return;
            }
            let (read, write) = stream.into_split();
            let outlet = Arc::new(Outlet::new(write, Arc::clone(hall.metrics())));
            let connection = hall.metrics().connection();
            let client = Client::new(number, Arc::clone(&outlet), hall);
            reader::serve(read, outlet, client, heartbeat, connection).await;
            info!("connection ended");
        }
    }
}
