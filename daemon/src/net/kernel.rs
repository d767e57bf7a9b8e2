//! What only the kernel knows of a connection. `TCP_INFO` has no safe door in std or tokio.

use crate::clock::Micros;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd, RawFd};
use tokio::net::TcpStream;

/// How long the newest data of the connection has lain in the kernel or been read (`tcpi_last_data_recv`); its steps
/// are a tick of the kernel. `None` where the system does not tell.
#[cfg(target_os = "linux")]
pub(super) fn since_last_data(socket: RawFd) -> Option<Micros> {
    Some(Micros::from_ms(u64::from(tcp_info(socket)?.tcpi_last_data_recv)))
}

/// How many bytes of what was sent the peer's kernel has taken (`tcpi_bytes_acked`). `None` where the system does not tell.
#[cfg(target_os = "linux")]
pub(super) fn taken_by_peer(socket: RawFd) -> Option<u64> {
    Some(tcp_info(socket)?.tcpi_bytes_acked)
}

/// How many bytes have been written so far, whether they were sent or not. `None` where the system does not tell.
#[cfg(target_os = "linux")]
pub(super) fn written(socket: RawFd) -> Option<u64> {
    let info = tcp_info(socket)?;
    Some(info.tcpi_bytes_sent.saturating_sub(info.tcpi_bytes_retrans) + u64::from(info.tcpi_notsent_bytes))
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn tcp_info(socket: RawFd) -> Option<libc::tcp_info> {
    let mut info = std::mem::MaybeUninit::<libc::tcp_info>::zeroed();
    let mut length = libc::socklen_t::try_from(size_of::<libc::tcp_info>()).ok()?;
    // SAFETY: `info` is writable memory of `length` bytes, which the kernel fills at most; all zeroes is a valid
    // `tcp_info`, so it is initialised whatever the kernel wrote. A descriptor that is no TCP socket gives an error.
    unsafe {
        let status =
            libc::getsockopt(socket, libc::IPPROTO_TCP, libc::TCP_INFO, info.as_mut_ptr().cast(), &raw mut length);
        (status == 0).then(|| info.assume_init())
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn since_last_data(_socket: RawFd) -> Option<Micros> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(super) fn written(_socket: RawFd) -> Option<u64> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(super) fn taken_by_peer(_socket: RawFd) -> Option<u64> {
    None
}

/// Whether own delay can be measured here; where not, `serve` says so (`clock.own-unavailable`).
pub(super) const MEASURES_OWN_DELAY: bool = cfg!(target_os = "linux");

/// How many bytes lie in the kernel now.
pub(super) fn unread(stream: &TcpStream) -> usize {
    rustix::io::ioctl_fionread(stream).map_or(0, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// Reads what lies in the kernel now, without asking tokio, whose readiness may be older than the bytes
/// (`clock.flag-confirmed`). The descriptor is non-blocking: an empty socket is `WouldBlock`.
pub(super) fn read_now(stream: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    let socket = socket2::SockRef::from(stream);
    (&*socket).read(buffer)
}

/// The descriptor, for [`since_last_data`].
pub(super) fn descriptor(stream: &TcpStream) -> RawFd {
    stream.as_raw_fd()
}
