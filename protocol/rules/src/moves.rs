//! A game as text: the digits of its pits in the order of play (rules.text.game).

use alloc::vec::Vec;
use core::error::Error;
use core::fmt;

use crate::Pit;

/// Reads the pits of a game such as `240315`. Whether they may be played is
/// [`Line::replay`](crate::Line::replay)'s to say; the empty text is a game without a ply.
///
/// # Errors
///
/// The first character that is not a digit from 0 to 5. Nothing is skipped, spaces included.
pub fn parse_moves(text: &str) -> Result<Vec<Pit>, MovesError> {
    text.char_indices().map(|(offset, found)| pit(found).ok_or(MovesError { offset, found })).collect()
}

fn pit(digit: char) -> Option<Pit> {
    let index = digit.to_digit(10)?;
    u8::try_from(index).ok().and_then(Pit::new)
}

/// Writes the pits of a game, `240315`: the inverse of [`parse_moves`].
pub fn moves_text(moves: &[Pit]) -> impl fmt::Display {
    MovesText(moves)
}

struct MovesText<'a>(&'a [Pit]);

impl fmt::Display for MovesText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|pit| write!(f, "{pit}"))
    }
}

/// A character in the text of a game that is no pit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MovesError {
    /// Where it stands, in bytes from 0; also in plies, since all before it are digits.
    pub offset: usize,
    /// The character.
    pub found: char,
}

impl MovesError {
    /// The id of the clause in `spec/rules.md`.
    #[must_use]
    pub const fn clause(self) -> &'static str {
        "rules.text.game"
    }
}

impl fmt::Display for MovesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, found } = self;
        write!(f, "{found:?} at offset {offset} is no pit: write each move as a digit from 0 to 5")
    }
}

impl Error for MovesError {}
