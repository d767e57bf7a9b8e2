//! Why a bot may not play.

use modiar_protocol::limits::BAN_REASON_CHARS;
use serde::{Deserialize, Serialize};

/// Why a bot is kept out. Its author reads it: it has 1 to [`BAN_REASON_CHARS`] characters and no control characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BanReason(String);

impl BanReason {
    /// The reason as it was stored.
    #[must_use]
    pub const fn stored(text: String) -> Self {
        Self(text)
    }

    /// As it is stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the bot reads (`session.banned`).
    #[must_use]
    pub fn told(&self) -> String {
        format!("the host keeps this bot out: {}; ask the host", self.0)
    }
}

impl TryFrom<String> for BanReason {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let chars = text.chars().count();
        if !(1..=BAN_REASON_CHARS).contains(&chars) {
            return Err(format!("it has {chars} characters; write 1 to {BAN_REASON_CHARS}"));
        }
        if text.chars().any(char::is_control) {
            return Err("leave control characters out, newlines too".to_owned());
        }
        Ok(Self(text))
    }
}

impl From<BanReason> for String {
    fn from(BanReason(text): BanReason) -> Self {
        text
    }
}
