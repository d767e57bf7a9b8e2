//! `modiar check bot`: plays a bot through some sixty small scripts, and tells what it does not do.
//!
//! Each [`Check`] starts the bot's command as a process of its own, with a scripted referee as its server on a free port
//! of this machine. The referee keeps a real board by the rules; what it says is what a server may say.
//!
//! | file | holds |
//! |---|---|
//! | `checks/` | the scripts, their clauses, and what to do where one fails |
//! | `play.rs` | the steps of a script that are about seeks and games |
//! | `referee.rs` | what is said and heard on the wire |
//! | `game.rs` | a board, and the messages about it |
//! | `style.rs`, `link.rs`, `process.rs` | how lines are written, how bytes travel, the bot's process |
//! | `report.rs` | what is told of it, to people and programs |

mod checks;
mod game;
mod link;
mod play;
mod process;
mod referee;
mod report;
mod style;

pub(crate) use checks::Seat;
pub use checks::{Check, checks};
pub use process::end_all;
pub use report::{Fault, Report, Verdict, junit};

use referee::{Referee, Stop};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

/// How a bot is checked.
#[derive(Clone, Debug)]
pub struct Kit {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// How long one thing that the bot must do may take.
    pub patience: Duration,
    /// Checks that run at the same time, from 1.
    pub at_once: usize,
}

impl Kit {
    /// Makes these checks, and tells of each in their order.
    ///
    /// # Errors
    /// The command cannot be started, or no port be opened: nothing is known of the bot.
    pub fn run(&self, checks: &[&'static Check], mut tell: impl FnMut(&Report)) -> io::Result<()> {
        let next = AtomicUsize::new(0);
        let (sender, reports) = sync_channel(checks.len());
        thread::scope(|scope| {
            for _ in 0..self.at_once.clamp(1, checks.len().max(1)) {
                let (next, sender) = (&next, sender.clone());
                scope.spawn(move || {
                    while let Some(check) = checks.get(next.fetch_add(1, Ordering::Relaxed)) {
                        // Who does not listen any more wants no further check.
                        if sender.send(self.check(check)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            let mut waiting = BTreeMap::new();
            let mut order = checks.iter().map(|check| check.name);
            let mut wanted = order.next();
            for report in reports {
                let report = report?;
                waiting.insert(report.check.name, report);
                while let Some(report) = wanted.and_then(|name| waiting.remove(name)) {
                    tell(&report);
                    wanted = order.next();
                }
            }
            Ok(())
        })
    }

    fn check(&self, check: &'static Check) -> io::Result<Report> {
        let start = Instant::now();
        let mut referee = Referee::open(self, check)?;
        let verdict = match (check.script)(&mut referee) {
            Ok(()) => Verdict::Ok,
            Err(Stop::Skip(why)) => Verdict::Skipped(why),
            Err(Stop::Broken(error)) => return Err(error),
            Err(Stop::Fault { clause, awaited, came }) => {
                let stderr = referee.process.stderr();
                Verdict::Failed(Fault { clause, awaited, came, lines: referee.lines(), stderr })
            }
        };
        Ok(Report { check, verdict, took: start.elapsed() })
    }
}
