//! Ids of games and challenges: a letter and 32 hex digits, made from a version 7 UUID, so that they are unique across
//! restarts and hosts, sort by time, and are never taken for numbers by a reader of the logs.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, str};
use uuid::Uuid;

const LENGTH: usize = 33;

macro_rules! id {
    ($(#[$meta:meta])* $name:ident, $letter:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; LENGTH]);

        impl $name {
            /// Names nothing: what a text that is no id is read as.
            pub const NOWHERE: Self = Self([b'0'; LENGTH]);

            /// The id made from `uuid`.
            #[must_use]
            pub fn new(uuid: Uuid) -> Self {
                let mut text = [$letter; LENGTH];
                uuid.simple().encode_lower(&mut text[1..]);
                Self(text)
            }

            /// Reads an id as it stands in a message. A text of another form names nothing, and what is asked about it
            /// is answered in the same words as for an id nobody has.
            #[must_use]
            pub fn read(text: &str) -> Self {
                match <[u8; LENGTH]>::try_from(text.as_bytes()) {
                    Ok(bytes) if bytes[0] == $letter && bytes[1..].iter().all(is_lower_hex) => Self(bytes),
                    _ => Self::NOWHERE,
                }
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                str::from_utf8(&self.0).unwrap_or_default()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                match Self::read(&text) {
                    Self::NOWHERE => Err(serde::de::Error::custom(format_args!(
                        "'{}' is no id: it takes '{}' and 32 lowercase hex digits", text, char::from($letter),
                    ))),
                    id => Ok(id),
                }
            }
        }
    };
}

fn is_lower_hex(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

id!(
    /// A game's id, `g…` (`record.schema`).
    GameId, b'g'
);
id!(
    /// A challenge's id, `c…` (`session.challenge`).
    ChallengeId, b'c'
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_and_nothing_else_does() {
        let id = GameId::new(Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef));
        assert_eq!(id.as_str(), "g0123456789abcdef0123456789abcdef");
        assert_eq!(GameId::read(id.as_str()), id);
        for other in [
            "",
            "g",
            "c0123456789abcdef0123456789abcdef",
            "g0123456789ABCDEF0123456789abcdef",
            "g0123456789abcdef0123456789abcdef0",
        ] {
            assert_eq!(GameId::read(other), GameId::NOWHERE, "{other}");
        }
    }
}
