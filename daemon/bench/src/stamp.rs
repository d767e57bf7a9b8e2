//! When the kernel got what is read: what a reader of its own takes to wake is no part of a server's latency.

use mio::net::TcpStream;
use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt::ReceiveTimestampns};
use nix::sys::time::TimeSpec;
use std::io::{self, IoSliceMut};
use std::os::fd::AsRawFd as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Has the kernel keep that time from now on.
pub fn ask(stream: &TcpStream) -> io::Result<()> {
    Ok(setsockopt(stream, ReceiveTimestampns, &true)?)
}

/// Reads, and tells when the newest of it came, as time since 1970.
pub fn read(stream: &TcpStream, buffer: &mut [u8]) -> io::Result<(usize, Option<Duration>)> {
    let mut control = cmsg_space!(TimeSpec);
    let mut parts = [IoSliceMut::new(buffer)];
    let message = recvmsg::<()>(stream.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty())?;
    let at = message.cmsgs()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(at) => Some(Duration::from(at)),
        _ => None,
    });
    Ok((message.bytes, at))
}

/// This moment as [`read`] tells it.
pub fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
