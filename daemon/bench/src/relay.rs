//! The bare relay: what the network alone costs. It pairs connections as they come, and for every line of one writes a
//! ready-made turn to the other: one read and one write a ply, and nothing else.

use anyhow::Result;
use std::io::Write as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpSocket, TcpStream};

/// A turn as long as most.
const TURN: &[u8] = br#"{"type":"turn","game":"g0192f0c1a2b37c4d8e5f60718293a4b5","ply":52715,"side":"south","pits":[0,12,6,2,5,13],"captured":{"south":0,"north":4},"legal":[1,2],"remaining_ms":{"south":86400000,"north":86400000},"last":{"ply":52714,"side":"north","pit":3,"taken":0,"elapsed_ms":0}}
"#;
/// What a connection reads once it has its partner.
const WELCOME: &[u8] = b"{\"type\":\"welcome\"}\n";
/// Connections that may wait to be accepted; the daemon has as many.
const BACKLOG: u32 = 4096;
/// A move is a line of less than a hundred bytes.
const READ_BYTES: usize = 1024;

/// Serves until it is killed.
pub fn serve() -> Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(accept())
}

async fn accept() -> Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    let listener = socket.listen(BACKLOG)?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, r#"{{"type":"listening","bots":"{}"}}"#, listener.local_addr()?)?;
    stdout.flush()?;
    loop {
        let (south, north) = (listener.accept().await?.0, listener.accept().await?.0);
        pair(south, north).await?;
    }
}

async fn pair(south: TcpStream, north: TcpStream) -> Result<()> {
    south.set_nodelay(true)?;
    north.set_nodelay(true)?;
    let ((south, mut to_south), (north, mut to_north)) = (south.into_split(), north.into_split());
    to_south.write_all(WELCOME).await?;
    to_north.write_all(WELCOME).await?;
    tokio::spawn(relay(south, to_north));
    tokio::spawn(relay(north, to_south));
    Ok(())
}

async fn relay(mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
    let mut buffer = [0; READ_BYTES];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        for _ in memchr::memchr_iter(b'\n', &buffer[..length]) {
            if to.write_all(TURN).await.is_err() {
                return;
            }
        }
    }
}
