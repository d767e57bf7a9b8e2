//! The scripts: what no transcript can show, each with its clauses and what to do where it fails.

mod connections;
mod ends;
mod lines;
mod pits;
mod replay;
mod strangers;
mod tails;
mod throng;

use super::desk::Desk;
use super::{Check, Kind};
use crate::report::{About, Step};

/// A check as its table has it.
struct Row {
    about: About,
    slow: bool,
    script: fn(&mut Desk<'_>) -> Step,
}

impl Row {
    const fn new(
        name: &'static str,
        title: &'static str,
        clauses: &'static [&'static str],
        advice: &'static str,
        script: fn(&mut Desk<'_>) -> Step,
    ) -> Self {
        Self { about: About { name, title, clauses, advice }, slow: false, script }
    }

    /// It waits for the server's clocks.
    const fn slow(self) -> Self {
        Self { slow: true, ..self }
    }
}

/// The scripts as checks.
pub(super) fn scripts() -> impl Iterator<Item = Check> {
    let tables = [
        connections::ROWS,
        tails::ROWS,
        throng::ROWS,
        strangers::ROWS,
        lines::ROWS,
        pits::ROWS,
        replay::ROWS,
        ends::ROWS,
    ];
    tables
        .into_iter()
        .flatten()
        .map(|Row { about, slow, script }| Check { about: *about, kind: Kind::Script { slow: *slow, script: *script } })
}
