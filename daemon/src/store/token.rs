//! Tokens: how they are made, and what is kept of them.

use super::{AccountError, line_hash};
use modiar_protocol::Secret;
use subtle::ConstantTimeEq as _;

/// What is kept of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenHash(String);

impl TokenHash {
    /// The hash of a token.
    #[must_use]
    pub fn of(token: &Secret) -> Self {
        Self(line_hash(token.expose()))
    }

    /// The hash as it was stored.
    #[must_use]
    pub const fn stored(hex: String) -> Self {
        Self(hex)
    }

    /// As it is stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the hash of `token`, in a time that tells nothing.
    #[must_use]
    pub fn is_of(&self, token: &Secret) -> bool {
        self.0.as_bytes().ct_eq(Self::of(token).0.as_bytes()).into()
    }
}

/// A new token: 256 bits of the system's chance.
///
/// # Errors
/// The system has none to give.
pub fn new_token() -> Result<Secret, AccountError> {
    let mut bits = [0u8; 32];
    getrandom::fill(&mut bits).map_err(|error| AccountError::Chance(error.to_string()))?;
    let hex: String = bits.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Secret::new(&format!("modiar-{hex}")))
}
