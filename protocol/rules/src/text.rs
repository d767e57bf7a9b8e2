//! A position as text, `7.7.7-7.7.7 0-0 s 1` (rules.text.position): South's row and North's row in
//! sowing order, captured South-North, the side to move, the ply to be played.
//!
//! There is one text for a position: single spaces, no sign, no leading zero, nothing around it.

use core::error::Error;
use core::fmt;
use core::str::FromStr;

use crate::{BySide, Setup, Side};

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pits: [a, b, c, d, e, g], captured: BySide { south, north }, side, ply } = self;
        let side = match side {
            Side::South => 's',
            Side::North => 'n',
        };
        write!(f, "{a}.{b}.{c}-{d}.{e}.{g} {south}-{north} {side} {ply}")
    }
}

/// Reads any numbers; whether they make a lawful position is [`Position`](crate::Position)'s to say.
impl FromStr for Setup {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let mut cursor = Cursor { text: text.as_bytes(), offset: 0 };
        let mut pits = [0; 6];
        for (pit, after) in pits.iter_mut().zip(*b"..-.. ") {
            *pit = cursor.seeds()?;
            cursor.separator(after)?;
        }
        let south = cursor.seeds()?;
        cursor.separator(b'-')?;
        let north = cursor.seeds()?;
        cursor.separator(b' ')?;
        let side = cursor.side()?;
        cursor.separator(b' ')?;
        let ply = cursor.number().ok_or(cursor.expected(Expected::Ply))?;
        cursor.end()?;
        Ok(Self { pits, captured: BySide { south, north }, side, ply })
    }
}

/// What is left of the text. A step that fails stays where it began, so that the offset of its error
/// is where the part that is wrong begins.
struct Cursor<'a> {
    text: &'a [u8],
    offset: usize,
}

impl Cursor<'_> {
    fn seeds(&mut self) -> Result<u8, TextError> {
        let error = self.expected(Expected::Seeds);
        let number = self.number().ok_or(error)?;
        u8::try_from(number).map_err(|_| error)
    }

    /// A decimal number in its only form: `0`, or digits that begin with another.
    fn number(&mut self) -> Option<u32> {
        let rest = self.text.get(self.offset..)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = rest.get(..digits)?;
        if digits.len() > 1 && digits.first() == Some(&b'0') {
            return None;
        }
        let number = str::from_utf8(digits).ok()?.parse().ok()?;
        self.offset += digits.len();
        Some(number)
    }

    fn side(&mut self) -> Result<Side, TextError> {
        let side = match self.text.get(self.offset) {
            Some(b's') => Side::South,
            Some(b'n') => Side::North,
            _ => return Err(self.expected(Expected::Side)),
        };
        self.offset += 1;
        Ok(side)
    }

    fn separator(&mut self, separator: u8) -> Result<(), TextError> {
        if self.text.get(self.offset) != Some(&separator) {
            return Err(self.expected(Expected::Separator(separator.into())));
        }
        self.offset += 1;
        Ok(())
    }

    fn end(&self) -> Result<(), TextError> {
        if self.offset < self.text.len() { Err(self.expected(Expected::End)) } else { Ok(()) }
    }

    fn expected(&self, expected: Expected) -> TextError {
        TextError { offset: self.offset, expected }
    }
}

/// Where the text of a position goes wrong, and what should stand there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextError {
    /// Where the part that is wrong begins, in bytes from 0.
    pub offset: usize,
    /// What should stand there.
    pub expected: Expected,
}

/// A part of the text of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// A number of seeds, 0 to 255.
    Seeds,
    /// `s` or `n`.
    Side,
    /// The number of the ply, a `u32`.
    Ply,
    /// A point, a hyphen or a space.
    Separator(char),
    /// Nothing more.
    End,
}

impl TextError {
    /// The id of the clause in `spec/rules.md`.
    #[must_use]
    pub const fn clause(self) -> &'static str {
        "rules.text.position"
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seeds => write!(f, "a number of seeds from 0 to {}", u8::MAX),
            Self::Side => f.write_str("s or n for the side to move"),
            Self::Ply => write!(f, "a ply from 1 to {}", u32::MAX),
            Self::Separator(separator) => write!(f, "{separator:?}"),
            Self::End => f.write_str("the end"),
        }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, expected } = self;
        write!(f, "expected {expected} at byte {}: write a position as 7.7.7-7.7.7 0-0 s 1", offset + 1)
    }
}

impl Error for TextError {}
