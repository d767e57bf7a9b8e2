//! Names of bots, as typed and folded, and secrets that never show.

use serde::{Deserialize, Serialize};
use std::{fmt, hash};
use thiserror::Error;

/// A bot's name: `[A-Za-z0-9][A-Za-z0-9_-]{1,23}` (`session.name-pattern`). Compared and hashed without regard to case,
/// shown as typed.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BotName(Box<str>);

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
        let fits = (2..=24).contains(&text.len())
            && text.as_bytes()[0].is_ascii_alphanumeric()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        if fits { Ok(Self(text.into())) } else { Err(BadName(text.chars().take(64).collect())) }
    }

    /// Names beginning `house-` belong to the server (`session.name-house`).
    #[must_use]
    pub fn is_house(&self) -> bool {
        self.0.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("house-"))
    }

    /// The name as typed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PartialEq for BotName {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for BotName {}

impl hash::Hash for BotName {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        for byte in self.0.bytes() {
            state.write_u8(byte.to_ascii_lowercase());
        }
    }
}

impl fmt::Display for BotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for BotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
        name.0.into()
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
