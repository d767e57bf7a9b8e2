//! Many checks at the same time, told in their order.

use crate::Report;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

/// Makes so many checks, `at_once` of them at a time, and tells of each in the order of their numbers. `groups` holds the
/// numbers from 0, each once: those of a group are made one after the other.
///
/// # Errors
/// A check could not be made.
pub(crate) fn run(
    groups: &[Vec<usize>],
    at_once: usize,
    check: impl Fn(usize) -> io::Result<Report> + Sync,
    mut tell: impl FnMut(&Report),
) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let (sender, reports) = sync_channel(groups.iter().map(Vec::len).sum());
    thread::scope(|scope| {
        for _ in 0..at_once.clamp(1, groups.len().max(1)) {
            let (next, check, sender) = (&next, &check, sender.clone());
            scope.spawn(move || {
                while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for number in group {
                        // Who does not listen any more wants no further check.
                        if sender.send((*number, check(*number))).is_err() {
                            return;
                        }
                    }
                }
            });
        }
        drop(sender);
        let (mut waiting, mut wanted) = (BTreeMap::new(), 0);
        for (number, report) in reports {
            waiting.insert(number, report?);
            while let Some(report) = waiting.remove(&wanted) {
                tell(&report);
                wanted += 1;
            }
        }
        Ok(())
    })
}
