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
    /// Words with hyphens.
    pub name: &'static str,
    /// What it is about, in a line.
    pub title: &'static str,
    /// The clauses of the specification that it rests on, the foremost first.
    pub clauses: &'static [&'static str],
    /// What to do where it fails.
    pub advice: &'static str,
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
        Self { name, title, clauses, advice, seat: Seat::Guest, script }
    }

    const fn seated(self, seat: Seat) -> Self {
        Self { seat, ..self }
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
