//! What changes ratings between two games: a season that begins, and a bot that is removed.

use modiar_protocol::BotName;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use thiserror::Error;

/// Most characters of a season's name.
const MOST: usize = 40;
/// The season of all games before the first that was begun.
pub const FIRST_SEASON: &str = "first";

/// An event of the ladder, and its place among the games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The place of the last game before it; 0 before all.
    pub seq: u64,
    /// When it was, RFC 3339.
    pub at: String,
    /// What.
    pub happening: Happening,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A season began (`ladder.season`).
    Season(SeasonName, Carry),
    /// A bot was removed, or its name was given to somebody else (`ladder.removal`).
    Removal(BotName),
}

/// What a season takes over of the ratings before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carry {
    /// Nothing: everybody begins anew.
    None,
    /// Half: a rating moves half way to 1500, and is known less well.
    Half,
}

impl Carry {
    /// Its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Half => "half",
        }
    }

    /// The one of this word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [Self::None, Self::Half].into_iter().find(|carry| carry.as_str() == word)
    }
}

/// A season's name: 1 to 40 letters, digits, `-`, `_` and `.`; equal without regard to case.
#[derive(Clone, Debug, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SeasonName(String);

/// Why a text is no season's name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{}' is no name of a season: 1 to {MOST} of the characters A-Z a-z 0-9 - _ .", .0.escape_debug())]
pub struct BadSeason(String);

impl SeasonName {
    /// As it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PartialEq for SeasonName {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl TryFrom<String> for SeasonName {
    type Error = BadSeason;

    fn try_from(text: String) -> Result<Self, BadSeason> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let named = (1..=MOST).contains(&text.len()) && text.bytes().all(fits);
        if named { Ok(Self(text)) } else { Err(BadSeason(text.chars().take(2 * MOST).collect())) }
    }
}

impl From<SeasonName> for String {
    fn from(SeasonName(text): SeasonName) -> Self {
        text
    }
}

impl fmt::Display for SeasonName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A season, and the games that are its own: those at the places after `after`, to `to`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Season {
    /// Its name.
    pub name: SeasonName,
    /// When it began, RFC 3339; none for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begun: Option<String>,
    /// What it took over; none for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carry: Option<Carry>,
    /// The place of the last game before it; 0 before all.
    pub after: u64,
    /// The place of its last game; none while it lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// The bots that were removed while it lasted, and the place of the last game before that.
    #[serde(skip)]
    pub removed: HashMap<BotName, u64>,
}

/// The seasons that these events, in order, make: that of the games before the first, then each that was begun. The last one
/// lasts.
#[must_use]
pub fn seasons(events: &[Event]) -> Vec<Season> {
    let first = SeasonName(FIRST_SEASON.to_owned());
    let mut seasons =
        vec![Season { name: first, begun: None, carry: None, after: 0, to: None, removed: HashMap::new() }];
    for Event { seq, at, happening } in events {
        let Some(last) = seasons.last_mut() else { break };
        match happening {
            Happening::Removal(bot) => {
                last.removed.insert(bot.clone(), *seq);
            }
            Happening::Season(name, carry) => {
                last.to = Some(*seq);
                let (name, begun) = (name.clone(), Some(at.clone()));
                let (carry, removed) = (Some(*carry), HashMap::new());
                seasons.push(Season { name, begun, carry, after: *seq, to: None, removed });
            }
        }
    }
    seasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_season_s_name_has_its_pattern() {
        let name = |text: &str| SeasonName::try_from(text.to_owned());
        for good in ["2026", "spring-2026_v1.0", "A", &"x".repeat(40)] {
            assert_eq!(name(good).unwrap().as_str(), good);
        }
        for bad in ["", "a b", "a/b", "é", "a\n", &"x".repeat(41), "'; DROP TABLE games; --"] {
            assert!(name(bad).is_err(), "{bad}");
        }
        assert_eq!(name("Spring"), name("sPRING"));
    }

    /// `ladder.season`: every game is one season's.
    #[test]
    fn each_season_ends_where_the_next_begins() {
        let season = |seq, name: &str| Event {
            seq,
            at: "2026-11-30T12:00:00.000000Z".to_owned(),
            happening: Happening::Season(name.to_owned().try_into().unwrap(), Carry::Half),
        };
        let gone = Event { happening: Happening::Removal(BotName::new("anna").unwrap()), ..season(5, "x") };
        let told: Vec<_> = seasons(&[season(3, "one"), gone, season(3, "two"), season(9, "three")])
            .into_iter()
            .map(|Season { name, after, to, .. }| (name.as_str().to_owned(), after, to))
            .collect();
        let expected = [("first", 0, Some(3)), ("one", 3, Some(3)), ("two", 3, Some(9)), ("three", 9, None)];
        assert_eq!(told, expected.map(|(name, after, to)| (name.to_owned(), after, to)));
    }
}
