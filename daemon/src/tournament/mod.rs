//! Tournaments as the daemon runs them: the pure [`Course`] of each, and the [`Desk`] that does what they decide.
//!
//! Who meets whom is the ladder's ([`modiar_ladder::tournament`]); here players have names, games have ids, and results come
//! from the table of games. A course is a fold over what is stored, so that a start finds each where it stood.

mod course;
mod desk;
mod plan;
mod report;
mod text;
mod verdict;

pub use course::{Course, Told};
pub use desk::{Desk, DeskError, Planned, add, cancel};
pub use plan::{Entry, Kind, Plan, PlanError, Wish};
pub use report::{Line, Listed, Met, Outcome, Played, Report, Round, list, show};
pub use text::{csv_of, list_text, text_of};
pub use verdict::Verdict;

#[cfg(test)]
mod course_tests;
