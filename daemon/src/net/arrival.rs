//! How the lines of one read arrived: R, and the server's own delay (`spec/clock.md`).

use super::kernel;
use crate::clock::{Arrival, Micros, Moment};
use crate::time::{Heartbeat, now};
use std::cell::Cell;
use std::os::fd::RawFd;

/// In less than this nobody who keeps to the rate sends more than may be sent at once.
const MATTERS: Micros = Micros(1_000_000);

/// One read of a socket.
#[derive(Clone)]
pub(super) struct SocketRead {
    socket: RawFd,
    heartbeat: &'static Heartbeat,
    /// When it returned.
    received: Moment,
    /// When the read before it returned: what came later cannot have waited since then.
    previous: Moment,
    /// The kernel's answer, asked at most once.
    delay: Cell<Option<Micros>>,
}

impl SocketRead {
    /// A read that returned this moment; `previous` is the one before it.
    pub(super) fn new(socket: RawFd, heartbeat: &'static Heartbeat, previous: Moment) -> Self {
        Self { socket, heartbeat, received: now(), previous, delay: Cell::new(None) }
    }

    pub(super) const fn received(&self) -> Moment {
        self.received
    }

    /// How one line of this read arrived; `last` if no other line of it follows.
    pub(super) const fn line(&self, last: bool) -> LineRead<'_> {
        LineRead { read: self, last }
    }

    /// How long the server stood still since `before`, where that was long enough for more than a burst to be sent.
    pub(super) fn stopped_since(&self, before: Moment) -> Micros {
        if self.received.since(before) < MATTERS {
            return Micros(0);
        }
        self.heartbeat.stopped_within(before, self.received)
    }

    /// How long before `received` the newest data of this read came. Asked a moment after the read, that moment is taken
    /// off again.
    fn delay(&self) -> Micros {
        self.delay.get().unwrap_or_else(|| {
            let age = kernel::since_last_data(self.socket).unwrap_or_default();
            let delay = age.less(now().since(self.received));
            self.delay.set(Some(delay));
            delay
        })
    }
}

/// One line of a read.
pub(super) struct LineRead<'a> {
    read: &'a SocketRead,
    last: bool,
}

impl Arrival for LineRead<'_> {
    fn received(&self) -> Moment {
        self.read.received
    }

    fn own(&self, turn: Moment) -> Micros {
        let from = turn.max(self.read.previous);
        let most = self.read.received.since(from);
        let own = self.read.delay();
        // The kernel tells the age of the newest data only; a line before it may have waited through a whole stop.
        let stopped = if self.last { Micros(0) } else { self.read.heartbeat.stopped_within(from, self.read.received) };
        own.max(stopped).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd as _;
    use std::time::Duration;

    /// A socket whose newest data has lain in the kernel for some time.
    fn waiting(time: Duration) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        client.write_all(b"x").unwrap();
        std::thread::sleep(time);
        (client, server)
    }

    /// `clock.own-clamp`: no more than the time since the turn, and since the read before.
    #[test]
    fn own_delay_is_never_more_than_the_turn_or_the_time_since_the_last_read() {
        let heartbeat = Heartbeat::start().unwrap();
        let (_client, server) = waiting(Duration::from_millis(200));
        let back = |ms: u64| Moment(now().0 - ms * 1000);
        let read = |previous| SocketRead::new(server.as_raw_fd(), heartbeat, previous);
        let long = read(back(5000));
        assert!(long.line(true).own(back(5000)) >= Micros::from_ms(150), "the kernel tells how long it lay");
        let turn = back(30);
        let since_turn = read(back(5000));
        assert_eq!(since_turn.line(true).own(turn), since_turn.received().since(turn));
        let previous = back(20);
        let since_read = read(previous);
        assert_eq!(since_read.line(true).own(back(5000)), since_read.received().since(previous));
        assert_eq!(since_read.line(true).own(now() + Micros(1_000_000)), Micros(0), "a turn to come");
    }
}
