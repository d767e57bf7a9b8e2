//! The log's lines on their way to stderr, by a thread of their own: a terminal that is stopped or a pipe that nobody empties
//! holds up no game.

use std::io::{self, Write};
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;
use tracing::warn;

/// Lines that may wait; what comes while so many do is lost.
const WAITING: usize = 8192;
/// How long a line waits for others: of many each is not a system call, and who logs wakes nobody.
const PACE: Duration = Duration::from_millis(2);
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
    pub(super) fn start(to: impl Write + Send + 'static) -> io::Result<Self> {
        let (queue, items) = sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let ours = Arc::clone(&lost);
        thread::Builder::new().name("log".into()).spawn(move || write_on(&items, to, &ours))?;
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

/// Writes what comes, as long as something may come.
fn write_on(items: &Receiver<Item>, mut to: impl Write, lost: &AtomicU64) {
    let mut text = Vec::new();
    while let Ok(first) = items.recv() {
        thread::sleep(PACE);
        let mut flushed = Vec::new();
        for item in iter::once(first).chain(items.try_iter()) {
            match item {
                Item::Line(line) => text.extend(line),
                Item::Flush(done) => flushed.push(done),
            }
        }
        // A log that goes to a full disk, or to nobody, is no reason to stop.
        let _ = write_whole(&mut to, &text);
        text.clear();
        for done in flushed {
            // Who waited too long waits no more.
            let _ = done.try_send(());
        }
        let lost = lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            warn!(lost, "lines of this log were lost: who reads it did not keep up");
        }
    }
}

/// As [`Write::write_all`], also where somebody has set the descriptor to say that it is full, and not to wait.
fn write_whole(to: &mut impl Write, mut text: &[u8]) -> io::Result<()> {
    while !text.is_empty() {
        match to.write(text) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => text = &text[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(PACE),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
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
    use std::sync::mpsc::{Sender, channel};
    use std::time::Instant;

    /// Says when it is written to, and takes that when it is let.
    struct Gate {
        asked: Sender<()>,
        let_in: Receiver<()>,
        taken: Sender<Vec<u8>>,
    }

    impl Write for Gate {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.asked.send(()).map_err(io::Error::other)?;
            self.let_in.recv().map_err(io::Error::other)?;
            self.taken.send(text.to_vec()).map_err(io::Error::other)?;
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn who_writes_never_waits_and_what_was_taken_comes_in_order() {
        const EXTRA: usize = 10;
        let ((asked, asks), (open, let_in), (taken, takes)) = (channel(), channel(), channel());
        let mut log = Lines::start(Gate { asked, let_in, taken }).unwrap();
        let line = |number: usize| format!("{number}\n").into_bytes();
        log.write_all(&line(0)).unwrap();
        asks.recv().unwrap();
        // The thread waits for its reader, and the queue is empty.
        for number in 1..=WAITING + EXTRA {
            log.write_all(&line(number)).unwrap();
        }
        assert_eq!(log.lost.load(Ordering::Relaxed), EXTRA as u64);
        let before = Instant::now();
        Lines::flush(&log);
        assert!(before.elapsed() < 10 * LAST, "it waited for what does not come");
        (0..2).for_each(|_| open.send(()).unwrap());
        let text: Vec<u8> = takes.iter().take(2).flatten().collect();
        assert_eq!(text, (0..=WAITING).flat_map(line).collect::<Vec<u8>>());
    }

    /// What takes a little at a time and says in between that it is full, as a pipe does that is set so.
    #[derive(Default)]
    struct Narrow {
        taken: Vec<u8>,
        full: bool,
    }

    impl Write for Narrow {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.full = !self.full;
            if self.full {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.taken.extend(&text[..1]);
            Ok(1)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_place_that_says_it_is_full_is_waited_for() {
        let mut narrow = Narrow::default();
        write_whole(&mut narrow, b"a line\n").unwrap();
        assert_eq!(narrow.taken, b"a line\n");
    }
}
