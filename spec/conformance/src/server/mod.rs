//! `modiar check server`: holds a server, of any make, to the contract from outside.
//!
//! Each [`Check`] makes connections of its own: a transcript that is played, or a script that plays guests of its own against
//! each other, by challenge and so unrated. What a server may set otherwise is read in its `welcome`.
//!
//! | file | holds |
//! |---|---|
//! | `checks/` | the scripts, their clauses, and what to do where one fails |
//! | `transcripts.rs` | the transcripts as checks, and when one cannot be played |
//! | `desk.rs` | connections, and what is said and heard on them |
//! | `game.rs` | games between guests of one's own |

mod checks;
mod desk;
mod game;
mod transcripts;

use crate::report::{About, Checking, Step};
use crate::{Report, Verdict, runner};
use desk::Desk;
use std::io;
use std::net::TcpStream;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use thiserror::Error;
use transcripts::{House, Played};

/// Why nothing can be known of a server.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum Unfit {
    #[error("nobody listens at {address}; start the server first, as with `modiar serve`: {error}")]
    Absent { address: String, error: io::Error },
    #[error("{0} speaks TLS, which the checks do not; name a port without it")]
    Tls(String),
    #[error("the server at {0} is about to stop; check it once it is back")]
    Draining(String),
    #[error(
        "the server takes {0} messages a second of a bot, and the checks need {MESSAGES}; set messages_per_second higher"
    )]
    Slow(u64),
    #[error("a check could not be made: {0}")]
    Io(#[from] io::Error),
}

/// As many messages a second as a check may send (`session.rate`).
const MESSAGES: u64 = 20;

/// One thing that every server must get right.
#[derive(Debug)]
pub struct Check {
    /// What it is about.
    pub about: About,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A dialogue of `spec/transcripts`.
    Transcript(Played),
    /// A script. A slow one waits for the server's clocks.
    Script { slow: bool, script: fn(&mut Desk<'_>) -> Step },
}

impl Checking for Check {
    fn about(&self) -> &About {
        &self.about
    }
}

impl Check {
    /// Whether it is a dialogue of `spec/transcripts`.
    #[must_use]
    pub const fn is_transcript(&self) -> bool {
        matches!(self.kind, Kind::Transcript(_))
    }

    /// Whether it waits for the server's clocks, for seconds.
    #[must_use]
    pub const fn is_slow(&self) -> bool {
        match &self.kind {
            Kind::Transcript(played) => played.is_slow(),
            Kind::Script { slow, .. } => *slow,
        }
    }

    /// Whether no other check that seeks may run beside it.
    const fn seeks(&self) -> bool {
        matches!(&self.kind, Kind::Transcript(played) if played.seeks)
    }
}

/// Every check, in the order in which they are told: the transcripts by name, then the scripts.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    static CHECKS: LazyLock<Vec<Check>> = LazyLock::new(|| transcripts::checks().chain(checks::scripts()).collect());
    CHECKS.iter()
}

/// How a server is checked.
#[derive(Clone, Debug)]
pub struct Kit {
    /// Its host and port.
    pub address: String,
    /// How long one thing that the server must do may take; a transcript has no less than its own time.
    pub patience: Duration,
    /// Checks that run at the same time, from 1.
    pub at_once: usize,
}

impl Kit {
    /// Makes these checks, and tells of each in their order.
    ///
    /// # Errors
    /// Nobody listens there, or whoever does cannot be checked as it is.
    pub fn run(&self, checks: &[&'static Check], tell: impl FnMut(&Report)) -> Result<(), Unfit> {
        let address = || self.address.clone();
        TcpStream::connect(&self.address).map_err(|error| Unfit::Absent { address: address(), error })?;
        let house = House::ask(&self.address, self.patience);
        match house {
            House { tls: true, .. } => return Err(Unfit::Tls(address())),
            House { draining: true, .. } => return Err(Unfit::Draining(address())),
            House { messages: Some(messages), .. } if messages < MESSAGES => return Err(Unfit::Slow(messages)),
            _ => {}
        }
        Ok(runner::run(&groups(checks), self.at_once, |number| self.check(checks[number], &house), tell)?)
    }

    fn check(&self, check: &'static Check, house: &House) -> io::Result<Report> {
        let start = Instant::now();
        let mut desk = Desk::new(&self.address, self.patience, &check.about);
        let made = match &check.kind {
            Kind::Transcript(played) => played.play(&mut desk, house),
            Kind::Script { script, .. } => script(&mut desk),
        };
        let verdict = Verdict::of(made, || (desk.minutes.lines(), None))?;
        Ok(Report { about: check.about, verdict, took: start.elapsed() })
    }
}

/// Which checks run one after the other: those that seek, for two of them would meet. What takes long begins first.
fn groups(checks: &[&'static Check]) -> Vec<Vec<usize>> {
    let (seeking, others): (Vec<usize>, Vec<usize>) = (0..checks.len()).partition(|number| checks[*number].seeks());
    let (slow, quick): (Vec<usize>, Vec<usize>) = others.into_iter().partition(|number| checks[*number].is_slow());
    let alone = slow.into_iter().chain(quick).map(|number| vec![number]);
    std::iter::once(seeking).chain(alone).filter(|group| !group.is_empty()).collect()
}
