//! Names of bots, as typed and folded, and secrets that never show.

use serde::{Deserialize, Serialize};
use std::{fmt, hash};
use thiserror::Error;

/// Most characters of a name.
const MOST: usize = 24;

/// A bot's name: `[A-Za-z0-9][A-Za-z0-9_-]{1,23}` (`session.name-pattern`). Compared and hashed without regard to case,
/// shown as typed. It stands in itself, for every list of bots holds names.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BotName {
    bytes: [u8; MOST],
    length: u8,
}

/// Why a text is no name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{0}' is no name: 2 to 24 of the characters A-Z a-z 0-9 _ -, the first a letter or digit")]
pub struct BadName(pub String);

impl BotName {
    /// Reads a name.
    ///
    /// # Errors
    /// The text does not follow the pattern.
    pub fn new(text: &str) -> Result<Self, BadName> {
        Self::fitting(text).ok_or_else(|| BadName(text.chars().take(64).collect()))
    }

    fn fitting(text: &str) -> Option<Self> {
        let fits = text.len() > 1
            && text.as_bytes()[0].is_ascii_alphanumeric()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        let mut bytes = [0; MOST];
        bytes.get_mut(..text.len()).filter(|_| fits)?.copy_from_slice(text.as_bytes());
        Some(Self { bytes, length: u8::try_from(text.len()).ok()? })
    }

    /// Names beginning `house-` belong to the server (`session.name-house`).
    #[must_use]
    pub fn is_house(&self) -> bool {
        self.as_str().get(..6).is_some_and(|start| start.eq_ignore_ascii_case("house-"))
    }

    /// The name as typed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl PartialEq for BotName {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes().eq_ignore_ascii_case(other.as_bytes())
    }
}

impl Eq for BotName {}

impl hash::Hash for BotName {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        for byte in self.as_bytes() {
            state.write_u8(byte.to_ascii_lowercase());
        }
    }
}

impl fmt::Display for BotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for BotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl TryFrom<String> for BotName {
    type Error = BadName;

    fn try_from(text: String) -> Result<Self, BadName> {
        Self::new(&text)
    }
}

impl From<BotName> for String {
    fn from(name: BotName) -> Self {
        name.as_str().to_owned()
    }
}

/// A token. It goes onto the wire and nowhere else: its `Debug` says nothing, and it has no `Display`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(Box<str>);

impl Secret {
    /// Wraps a token.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The token itself, for whoever compares or hashes it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fold_and_keep_their_shape() {
        assert_eq!(BotName::new("Dice-1"), BotName::new("dICE-1"));
        assert_eq!(BotName::new("Dice-1").unwrap().as_str(), "Dice-1");
        assert!(BotName::new("House-Perfect").unwrap().is_house());
        assert!(!BotName::new("household").unwrap().is_house());
        for bad in ["", "a", "-ab", "_ab", "a b", "dicé", "abcdefghijklmnopqrstuvwxy", "a/b", "ａb"] {
            assert!(BotName::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_secret_does_not_show() {
        assert_eq!(format!("{:?}", Secret::new("swordfish")), "…");
    }
}
