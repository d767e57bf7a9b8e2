//! One connection of the bot: bytes out at a chosen pace, lines in.

use modiar_protocol::Lines;
use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A bot that reads nothing for so long is stuck.
const WRITE: Duration = Duration::from_secs(10);
/// Between the bytes that go out alone: long enough that a reader which waits sees each of them.
const BYTE_PAUSE: Duration = Duration::from_micros(50);
/// The pauses of a slow network.
const DRIP_PAUSE: Duration = Duration::from_millis(150);
/// So many pieces a line comes in.
const DRIPS: usize = 3;

/// How bytes leave.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// All in one write.
    Whole,
    /// Each byte in a write of its own.
    EachByte,
    /// In three pieces with pauses between.
    Drips,
}

/// What came next.
pub(crate) enum Came {
    Line(Vec<u8>),
    /// More bytes than a line may have.
    TooLong,
    Silence,
    Closed,
}

/// A connection to the bot.
pub(crate) struct Link {
    stream: TcpStream,
    lines: Lines,
    unread: VecDeque<Came>,
}

impl Link {
    pub(crate) fn over(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WRITE))?;
        Ok(Self { stream, lines: Lines::default(), unread: VecDeque::new() })
    }

    /// Sends bytes. A bot that has gone is noticed where it should say something.
    pub(crate) fn send(&mut self, bytes: &[u8], pace: Pace) {
        let piece = match pace {
            Pace::Whole => bytes.len(),
            Pace::EachByte => 1,
            Pace::Drips => bytes.len().div_ceil(DRIPS),
        };
        for (at, piece) in bytes.chunks(piece.max(1)).enumerate() {
            match pace {
                Pace::EachByte => sleep(BYTE_PAUSE),
                Pace::Drips if at > 0 => sleep(DRIP_PAUSE),
                _ => {}
            }
            if self.stream.write_all(piece).is_err() {
                return;
            }
        }
    }

    /// What comes within this time.
    pub(crate) fn hear(&mut self, within: Duration) -> Came {
        let deadline = Instant::now() + within;
        loop {
            if let Some(came) = self.unread.pop_front() {
                return came;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let mut buffer = [0; 4096];
            // A time of nothing would mean without end.
            let ready = self.stream.set_read_timeout(Some(left.max(Duration::from_millis(1))));
            match ready.and_then(|()| self.stream.read(&mut buffer)) {
                Ok(0) => return Came::Closed,
                Ok(count) => self.cut(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    if left.is_zero() {
                        return Came::Silence;
                    }
                }
                Err(_) => return Came::Closed,
            }
        }
    }

    fn cut(&mut self, mut input: &[u8]) {
        while let Some(line) = self.lines.next(&mut input) {
            self.unread.push_back(line.map_or(Came::TooLong, |line| Came::Line(line.to_vec())));
        }
    }

    /// Ends the connection, as a broken cable or a server that stops would.
    pub(crate) fn close(self) {
        // The bot may have been faster.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}
