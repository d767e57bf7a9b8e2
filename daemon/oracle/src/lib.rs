//! Modiar solved: the exact value of every layout, and what follows from it.
//!
//! Six pits with an even total of at most 42 seeds make 6,540,556 layouts; [`solve`] gives each its [`Bounds`] by
//! retrograde analysis. Of the other crates this one knows the rules alone, and legality is asked only of them.

#![forbid(unsafe_code)]

mod bounds;
mod file;
mod index;
mod layer;
mod layout;
mod openings;
mod perfect;
mod soft;
mod solve;
mod table;
mod value;

pub use bounds::Bounds;
pub use file::{FileError, NAME};
pub use index::{LAYERS, LAYOUTS, Layer};
pub use layout::{Layout, Step};
pub use openings::{Opening, balanced_openings};
pub use solve::solve;
pub use table::Table;
pub use value::{Judgement, ValuedMove};
