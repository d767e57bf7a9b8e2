//! Finished games as people and programs read them: shown, filtered, refereed again.

mod chain;
mod comparison;
mod dossier;
mod filter;
mod form;
mod plies;
mod rated;
mod shape;
mod show;
mod verify;

pub use comparison::Comparison;
pub use dossier::{Dossier, DossierClock, HeardLine};
pub use filter::{Filter, parse_time};
pub use plies::{PliesError, Ply, PlyTimes, Uneven, plies, served};
pub use show::show;
pub use verify::{Fault, Findings, verify_record};

use crate::text::is_hidden;

/// So many of something, by its word for one and for several.
pub(crate) fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// What is wrong with a line that should be JSON: the one line of it needs no number, nor anybody the names of all fields.
pub(crate) fn fault_of_line(error: &serde_json::Error) -> String {
    let told = error.to_string();
    let what = told.split(" at line 1 column").next().and_then(|told| told.split(", expected one of").next());
    format!("{} at byte {}", what.unwrap_or_default(), error.column())
}

/// A text that moves no cursor, turns no line round and rings no bell, whatever stands in a foreign record: hidden characters but
/// the newline as the replacement character.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if is_hidden(c) && c != '\n' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// As much of a text as a message can quote.
#[must_use]
pub fn quoted(text: &str) -> String {
    /// Characters of it.
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("'{}…'", &text[..end]),
        None => format!("'{text}'"),
    }
}
