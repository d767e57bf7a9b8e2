//! A pool as the configuration writes it.

use super::LONGEST_MS;
use modiar_protocol::server::{Openings, PoolInfo};
use modiar_protocol::{GameRules, TimeControl};
use modiar_rules::EndRules;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// A pool: bots that seek in it play each other by its time and rules.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "PoolKeys")]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// The time control.
    pub time: TimeControl,
    /// Whether its games count.
    pub rated: bool,
    /// Where its games start.
    pub openings: Openings,
    /// The rules.
    pub rules: GameRules,
}

/// A pool as it is written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PoolKeys {
    #[serde(deserialize_with = "read_name")]
    name: String,
    #[serde(deserialize_with = "read_ms::<_, 1>")]
    base_ms: u64,
    #[serde(default, deserialize_with = "read_ms::<_, 0>")]
    increment_ms: u64,
    #[serde(default = "default_grace", deserialize_with = "read_ms::<_, 0>")]
    grace_ms: u64,
    #[serde(default, deserialize_with = "read_move_ms")]
    move_ms: Option<u64>,
    #[serde(default = "yes")]
    rated: bool,
    #[serde(default = "default_openings")]
    openings: Openings,
    #[serde(default = "default_repetition", deserialize_with = "read_repetition")]
    repetition: u16,
    #[serde(default = "default_quiet_plies")]
    quiet_plies: u16,
    #[serde(default)]
    majority: bool,
    #[serde(default)]
    illegal_moves: u16,
}

pub(super) const fn default_grace() -> u64 {
    50
}

const fn yes() -> bool {
    true
}

const fn default_openings() -> Openings {
    Openings::Balanced
}

fn default_repetition() -> u16 {
    EndRules::default().repetition
}

fn default_quiet_plies() -> u16 {
    EndRules::default().quiet_plies
}

impl From<PoolKeys> for Pool {
    fn from(keys: PoolKeys) -> Self {
        let ends = EndRules { repetition: keys.repetition, quiet_plies: keys.quiet_plies, majority: keys.majority };
        let time = TimeControl {
            base_ms: keys.base_ms,
            increment_ms: keys.increment_ms,
            grace_ms: keys.grace_ms,
            move_ms: keys.move_ms,
        };
        Self {
            name: keys.name,
            time,
            rated: keys.rated,
            openings: keys.openings,
            rules: GameRules::new(ends, keys.illegal_moves),
        }
    }
}

// Each value is checked where it is read, so that the message shows its line.

fn read_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    if (1..=24).contains(&name.len()) && name.bytes().all(fits) {
        Ok(name)
    } else {
        let name = name.escape_debug();
        Err(D::Error::custom(format!("'{name}' has not 1 to 24 of the characters a-z 0-9 _ -; choose another name")))
    }
}

/// Milliseconds; without time for a move nobody can play.
fn read_ms<'de, D: Deserializer<'de>, const LEAST: u64>(deserializer: D) -> Result<u64, D::Error> {
    let ms = u64::deserialize(deserializer)?;
    if (LEAST..=LONGEST_MS).contains(&ms) {
        Ok(ms)
    } else {
        Err(D::Error::custom(format!("{ms} is not from {LEAST} to {LONGEST_MS}; write a number that is")))
    }
}

fn read_move_ms<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    read_ms::<D, 1>(deserializer).map(Some)
}

fn read_repetition<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    match u16::deserialize(deserializer)? {
        1 => Err(D::Error::custom("repetition = 1 would end every game at once; use 0 (never) or 2 and more")),
        repetition => Ok(repetition),
    }
}

impl From<&Pool> for PoolInfo {
    fn from(pool: &Pool) -> Self {
        let Pool { name, time, rated, openings, rules } = pool.clone();
        Self { name, time, rated, openings, rules }
    }
}
