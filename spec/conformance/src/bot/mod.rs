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
//! | `style.rs`, `link.rs`, `port.rs`, `process.rs` | how lines are written, how bytes travel, where the bot connects, its process |

mod checks;
mod game;
mod link;
mod play;
mod port;
mod process;
mod referee;
mod style;

pub(crate) use checks::Seat;
pub use checks::{Check, checks};
pub(crate) use process::Process;
pub use process::exit;

use crate::{Report, Verdict, runner};
use referee::Referee;
use std::ffi::OsString;
use std::io;
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
    pub fn run(&self, checks: &[&'static Check], tell: impl FnMut(&Report)) -> io::Result<()> {
        let each: Vec<Vec<usize>> = (0..checks.len()).map(|number| vec![number]).collect();
        runner::run(&each, self.at_once, |number| self.check(checks[number]), tell)
    }

    fn check(&self, check: &'static Check) -> io::Result<Report> {
        let start = Instant::now();
        let mut referee = Referee::open(self, check)?;
        let made = (check.script)(&mut referee);
        let verdict = Verdict::of(made, || (referee.lines(), Some(referee.stderr())))?;
        Ok(Report { about: check.about, verdict, took: start.elapsed() })
    }
}
