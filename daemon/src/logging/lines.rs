//! The log's lines on their way to stderr, by a thread of their own: a terminal that is stopped or a pipe that nobody empties
//! holds up no game.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;
use tracing::warn;

/// Lines that may wait; what comes while so many do is lost.
const WAITING: usize = 8192;
/// How long the last lines are waited for.
const LAST: Duration = Duration::from_secs(1);

/// The writing end of a log. What is written in one call is one line.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    queue: SyncSender<Item>,
    lost: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Item {
    Line(Vec<u8>),
    /// All before this is written.
    Flush(SyncSender<()>),
}

impl Lines {
    /// Lines that are written to `to`, one after the other.
    ///
    /// # Errors
    /// No thread could be started.
    pub(super) fn start(mut to: impl Write + Send + 'static) -> io::Result<Self> {
        let (queue, items) = sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let ours = Arc::clone(&lost);
        thread::Builder::new().name("log".into()).spawn(move || {
            for item in items {
                match item {
                    // A log that goes to a full disk, or to nobody, is no reason to stop.
                    Item::Line(line) => drop(to.write_all(&line)),
                    Item::Flush(done) => drop(done.try_send(())),
                }
                let lost = ours.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    warn!(lost, "lines of this log were lost: who reads it did not keep up");
                }
            }
        })?;
        Ok(Self { queue, lost })
    }

    /// Waits until what was written before is at its place, but no longer than [`LAST`].
    pub(super) fn flush(&self) {
        let (done, written) = sync_channel(1);
        // Where the queue is full it will not be empty in time either.
        if self.queue.try_send(Item::Flush(done)).is_ok() {
            let _ = written.recv_timeout(LAST);
        }
    }
}

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.queue.try_send(Item::Line(line.to_vec())).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Instant;

    /// Takes a line only when it is let.
    struct Gate(Receiver<()>, std::sync::mpsc::Sender<Vec<u8>>);

    impl Write for Gate {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.0.recv().map_err(io::Error::other)?;
            self.1.send(line.to_vec()).map_err(io::Error::other)?;
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn who_writes_never_waits_and_what_was_taken_comes_in_order() {
        let ((open, gate), (sink, lines)) = (channel(), channel());
        let mut log = Lines::start(Gate(gate, sink)).unwrap();
        // One is with the thread, or still in the queue.
        let (most, extra) = (WAITING + 1, 10);
        for number in 0..most + extra {
            log.write_all(format!("{number}\n").as_bytes()).unwrap();
        }
        let lost = log.lost.load(Ordering::Relaxed);
        assert!((extra as u64..=extra as u64 + 1).contains(&lost), "{lost}");
        let before = Instant::now();
        Lines::flush(&log);
        assert!(before.elapsed() < 10 * LAST, "it waited for what does not come");
        (0..most).for_each(|_| open.send(()).unwrap());
        let taken: Vec<_> = lines.iter().take(most + extra - usize::try_from(lost).unwrap()).collect();
        let expected = (0..taken.len()).map(|number| format!("{number}\n").into_bytes());
        assert!(taken.iter().cloned().eq(expected));
    }
}
