//! A pool as the configuration writes it.

use super::LONGEST_MS;
use modiar_protocol::server::{Openings, PoolInfo};
use modiar_protocol::{GameRules, TimeControl};
use modiar_rules::EndRules;
use serde::Deserialize;

/// A pool: bots that seek in it play each other by its time and rules.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "PoolKeys")]
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
    name: String,
    base_ms: u64,
    #[serde(default)]
    increment_ms: u64,
    #[serde(default = "default_grace")]
    grace_ms: u64,
    move_ms: Option<u64>,
    #[serde(default = "yes")]
    rated: bool,
    #[serde(default = "default_openings")]
    openings: Openings,
    #[serde(default = "default_repetition")]
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

impl TryFrom<PoolKeys> for Pool {
    type Error = String;

    fn try_from(keys: PoolKeys) -> Result<Self, String> {
        let name_fits = (1..=24).contains(&keys.name.len())
            && keys
                .name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_');
        if !name_fits {
            return Err(format!(
                "pool name '{}' has not 1 to 24 of the characters a-z 0-9 _ -; choose another",
                keys.name.escape_debug()
            ));
        }
        // Without time for a move nobody can play.
        let times = [
            ("base_ms", Some(keys.base_ms), 1),
            ("increment_ms", Some(keys.increment_ms), 0),
            ("grace_ms", Some(keys.grace_ms), 0),
            ("move_ms", keys.move_ms, 1),
        ];
        for (key, value, least) in times {
            if let Some(value) = value.filter(|value| !(least..=LONGEST_MS).contains(value)) {
                return Err(format!("pool '{}': {key} = {value}; write {least} to {LONGEST_MS}", keys.name));
            }
        }
        if keys.repetition == 1 {
            return Err(format!(
                "pool '{}': repetition = 1 would end every game at once; use 0 (never) or 2 and more",
                keys.name
            ));
        }
        let ends = EndRules { repetition: keys.repetition, quiet_plies: keys.quiet_plies, majority: keys.majority };
        let time = TimeControl {
            base_ms: keys.base_ms,
            increment_ms: keys.increment_ms,
            grace_ms: keys.grace_ms,
            move_ms: keys.move_ms,
        };
        Ok(Self {
            name: keys.name,
            time,
            rated: keys.rated,
            openings: keys.openings,
            rules: GameRules::new(ends, keys.illegal_moves),
        })
    }
}

impl From<&Pool> for PoolInfo {
    fn from(pool: &Pool) -> Self {
        let Pool { name, time, rated, openings, rules } = pool.clone();
        Self { name, time, rated, openings, rules }
    }
}
