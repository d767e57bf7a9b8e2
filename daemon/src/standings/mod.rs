//! Who stands where in a pool: a fold over its rated games, and one joint fit over what it holds (`ladder.standings`).
//!
//! Records flow one way: a line → [`Rated`] → [`Field`] → [`Standings`], [`Crosstable`], [`Versus`] or [`History`] → text,
//! JSON or CSV. The fold is integers and the last rating that a record tells, so that neither the number of threads nor a
//! run beside a daemon changes a figure.

mod columns;
mod crosstable;
mod csv;
mod field;
mod fold;
mod history;
mod table;
mod text;
mod versus;

pub use crosstable::{Crosstable, Met};
pub use csv::to_csv;
pub use field::Field;
pub use fold::{PoolFold, Rated, VERSIONS};
pub use history::{Build, History};
pub use table::{Figure, Row, Score, Separated, Standings};
pub use versus::{Played, Versus};
