//! Whose a bot is.

use crate::text::is_hidden;
use modiar_protocol::limits::OWNER_CHARS;
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The owner of bots, as the host names it: 1 to [`OWNER_CHARS`] characters that can be seen, no space around them. Compared
/// without regard to case, shown as typed. Many bots have one, and each that is here holds it: a copy costs nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Owner(Arc<Texts>);

#[derive(Debug)]
struct Texts {
    shown: Box<str>,
    folded: Box<str>,
}

impl Owner {
    /// The owner as it was stored.
    #[must_use]
    pub fn stored(text: &str) -> Self {
        Self(Arc::new(Texts { shown: text.into(), folded: text.to_lowercase().into() }))
    }

    /// As it was typed, and is stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0.shown
    }
}

impl TryFrom<String> for Owner {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let text = text.trim();
        let chars = text.chars().count();
        if !(1..=OWNER_CHARS).contains(&chars) {
            return Err(format!("it has {chars} characters; write 1 to {OWNER_CHARS}"));
        }
        if text.chars().any(|c| is_hidden(c) || c.is_whitespace() && c != ' ') {
            return Err("leave control characters and those that cannot be seen out".to_owned());
        }
        Ok(Self::stored(text))
    }
}

impl From<Owner> for String {
    fn from(owner: Owner) -> Self {
        owner.as_str().to_owned()
    }
}

impl PartialEq for Owner {
    fn eq(&self, other: &Self) -> bool {
        self.0.folded == other.0.folded
    }
}

impl Eq for Owner {}

impl Hash for Owner {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.folded.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(text: &str) -> Result<Owner, String> {
        text.to_owned().try_into()
    }

    #[test]
    fn one_owner_however_it_is_typed() {
        let shown = owner(" Grete Özdemir\t").unwrap();
        assert_eq!((&shown, shown.as_str()), (&owner("grete ÖZDEMIR").unwrap(), "Grete Özdemir"));
        assert_ne!(shown, owner("grete").unwrap());
        for seen in [r"a\u{202e}b", "<b>'; --", "伊藤", &"é".repeat(64)] {
            assert_eq!(owner(seen).unwrap().as_str(), seen);
        }
    }

    #[test]
    fn what_cannot_be_seen_is_in_no_owner() {
        for (hidden, why) in [
            ("a\nb", "control"),
            ("a\u{1b}[2J", "control"),
            ("a\u{202e}b", "cannot be seen"),
            ("a\u{200b}b", "cannot be seen"),
            ("a\u{feff}b", "cannot be seen"),
            ("a\u{a0}b", "cannot be seen"),
            ("  ", "0 characters"),
            (&"a".repeat(65), "65 characters"),
        ] {
            let error = owner(hidden).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
