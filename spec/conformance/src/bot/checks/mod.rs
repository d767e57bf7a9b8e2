//! The checks: each a small script, the clauses that it rests on, and what to do where it fails.

mod ends;
mod errors;
mod games;
mod lines;
mod manners;
mod resume;
mod server;
mod words;

use super::referee::{Referee, Step};
use crate::report::{About, Checking};

/// Who the bot is in a check, and how it is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seat {
    /// A name without a token.
    Guest,
    /// A name with its token.
    Registered,
    /// A guest whose stdin is at its end.
    StdinClosed,
}

/// One thing that every bot must get right.
#[derive(Debug)]
pub struct Check {
    /// What it is about.
    pub about: About,
    pub(crate) seat: Seat,
    pub(crate) script: fn(&mut Referee<'_>) -> Step,
}

impl Check {
    /// A check of a guest.
    const fn new(
        name: &'static str,
        title: &'static str,
        clauses: &'static [&'static str],
        advice: &'static str,
        script: fn(&mut Referee<'_>) -> Step,
    ) -> Self {
        Self { about: About { name, title, clauses, advice }, seat: Seat::Guest, script }
    }

    const fn seated(self, seat: Seat) -> Self {
        Self { seat, ..self }
    }
}

impl Checking for Check {
    fn about(&self) -> &About {
        &self.about
    }
}

/// Every check, in the order in which they are told.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    [
        manners::CHECKS,
        lines::CHECKS,
        words::CHECKS,
        games::CHECKS,
        ends::CHECKS,
        errors::CHECKS,
        resume::CHECKS,
        server::CHECKS,
    ]
    .into_iter()
    .flatten()
}
