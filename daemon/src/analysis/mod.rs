//! What finished games were worth: every ply judged by the solved game, and what many games add up to.
//!
//! Records flow one way: a line → [`GameAnalysis`] → [`Fold`] → [`Report`] → text, JSON or a page. All up to the report is
//! integers, so that neither the order of the games nor the number of threads changes a figure. What a fold holds is
//! bounded, however many games it takes.
//!
//! The words, which are the same on every page: the **value** of a position is the margin of the side to move over the
//! seeds still in play, under best play; the **loss** of a ply is the value before it less the value after it, for its
//! mover (where endless play makes a value two, its lower end); **accuracy** is the mean loss a ply. `daemon/REPORT.md`
//! tells the rest.

mod analyzer;
mod bot;
mod cell;
mod estimate;
mod fold;
mod game;
mod html;
mod openings;
mod picture;
mod report;
mod tables;
mod text;
mod thoughts;
mod worst;

pub use analyzer::{Analyzer, BadRecord, Fault, Folding};
pub(crate) use bot::{Forfeits, Points, outcome, seat};
pub use cell::{Phase, TIME_BOUNDS_US};
pub use fold::{BOTS, Fold, PLIES};
pub use game::{GameAnalysis, JudgeError, JudgedPly, Outcome, TurningPoint, judge};
pub use html::page;
pub use openings::DEPTH;
pub use report::{
    BotReport, Judged, JudgedIn, OpeningReport, PlyReport, Report, Score, SideReport, Thought, Totals, WorstMove,
};
pub(crate) use tables::ratio;
pub use text::text;
