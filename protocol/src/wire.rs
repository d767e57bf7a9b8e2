//! The small values that messages and records are made of, as they stand on the wire.

use crate::code::words;
use modiar_rules::{BySide, EndRules, Ending, Pit, PitSet, Side};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One value a side: `{"south":…,"north":…}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sides<T> {
    /// South's.
    pub south: T,
    /// North's.
    pub north: T,
}

impl<T> From<BySide<T>> for Sides<T> {
    fn from(BySide { south, north }: BySide<T>) -> Self {
        Self { south, north }
    }
}

impl<T> From<Sides<T>> for BySide<T> {
    fn from(Sides { south, north }: Sides<T>) -> Self {
        Self { south, north }
    }
}

/// The wire's word for a side.
#[must_use]
pub(crate) const fn side_word(side: Side) -> &'static str {
    match side {
        Side::South => "south",
        Side::North => "north",
    }
}

/// A side as `"south"` or `"north"`: `#[serde(with = "SideWord")]`.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Side", rename_all = "snake_case")]
pub(crate) enum SideWord {
    /// South.
    South,
    /// North.
    North,
}

/// A side that may be absent.
pub(crate) mod side_option {
    use super::{Side, SideWord};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Word(#[serde(with = "SideWord")] Side);

    #[allow(clippy::ref_option)] // serde hands it over so
    pub(crate) fn serialize<S: Serializer>(side: &Option<Side>, serializer: S) -> Result<S::Ok, S::Error> {
        side.map(Word).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Side>, D::Error> {
        Ok(Option::<Word>::deserialize(deserializer)?.map(|word| word.0))
    }
}

/// Pits as a list of numbers, ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PitList(pub PitSet);

impl Serialize for PitList {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Pit::index))
    }
}

impl<'de> Deserialize<'de> for PitList {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = Vec::<u8>::deserialize(deserializer)?;
        let pits = numbers.into_iter().map(|number| {
            Pit::new(number).ok_or_else(|| serde::de::Error::custom(format_args!("{number} is no pit: 0 to 5")))
        });
        pits.collect::<Result<PitSet, _>>().map(PitList)
    }
}

/// A pit as its number: `#[serde(with = "pit")]`.
pub(crate) mod pit {
    use modiar_rules::Pit;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(pit: &Pit, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(pit.index())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Pit, D::Error> {
        let number = u8::deserialize(deserializer)?;
        Pit::new(number).ok_or_else(|| serde::de::Error::custom(format_args!("{number} is no pit: 0 to 5")))
    }
}

/// A pool's time control, in milliseconds (`clock.charged`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeControl {
    /// What each side starts with.
    pub base_ms: u64,
    /// What a legal move brings.
    pub increment_ms: u64,
    /// What is never charged, of each move.
    pub grace_ms: u64,
    /// Most that one move may be charged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub move_ms: Option<u64>,
}

/// A pool's rules as `started` tells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameRules {
    /// Always `modiar`.
    pub name: RulesName,
    /// Standings of one position that end a game; 0: never.
    pub repetition: u16,
    /// Plies without a capture that end a game; 0: never.
    pub quiet_plies: u16,
    /// Whether 22 captured seeds end a game.
    pub majority: bool,
    /// Illegal moves forgiven to each side.
    pub illegal_moves: u16,
}

words! {
    /// The game played.
    RulesName {
        /// The one game there is.
        Modiar = "modiar",
    }
}

impl GameRules {
    /// Modiar with these ends.
    #[must_use]
    pub const fn new(ends: EndRules, illegal_moves: u16) -> Self {
        Self {
            name: RulesName::Modiar,
            repetition: ends.repetition,
            quiet_plies: ends.quiet_plies,
            majority: ends.majority,
            illegal_moves,
        }
    }

    /// What ends a game, for the rules.
    #[must_use]
    pub const fn ends(&self) -> EndRules {
        EndRules { repetition: self.repetition, quiet_plies: self.quiet_plies, majority: self.majority }
    }
}

words! {
    /// Who won (`ended.result`).
    GameResult {
        /// South.
        South = "south",
        /// North.
        North = "north",
        /// Level.
        Draw = "draw",
        /// Nobody: the game was aborted.
        None = "none",
    }
}

impl GameResult {
    /// The result where `side` has won.
    #[must_use]
    pub const fn win(side: Side) -> Self {
        match side {
            Side::South => Self::South,
            Side::North => Self::North,
        }
    }

    /// The result of a game played to its end: more seeds win (`rules.end.winner`).
    #[must_use]
    pub const fn by_score(score: BySide<u8>) -> Self {
        if score.south > score.north {
            Self::South
        } else if score.south < score.north {
            Self::North
        } else {
            Self::Draw
        }
    }
}

words! {
    /// Why a game ended (`ended.termination`).
    Termination {
        /// The side to move had no legal move.
        Immobile = "immobile",
        /// The position stood once too often.
        Repetition = "repetition",
        /// Too many plies without a capture.
        QuietPlies = "quiet_plies",
        /// A side had 22 seeds, where the pool ends a game at that.
        Majority = "majority",
        /// A side gave up.
        Resignation = "resignation",
        /// A side's time ran out.
        TimeForfeit = "time_forfeit",
        /// A side played a pit it may not play.
        IllegalMove = "illegal_move",
        /// The game never got going, or could not be kept.
        Aborted = "aborted",
        /// The server failed.
        ServerError = "server_error",
    }
}

impl From<Ending> for Termination {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Majority => Self::Majority,
            Ending::Immobile => Self::Immobile,
            Ending::Repetition => Self::Repetition,
            Ending::QuietPlies => Self::QuietPlies,
        }
    }
}

/// What an illegal move was (`ended.detail`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// The pit sent.
    #[serde(with = "pit")]
    pub pit: Pit,
    /// The clause of spec/rules.md it breaks.
    pub clause: std::borrow::Cow<'static, str>,
    /// What could have been played.
    pub legal: PitList,
}
