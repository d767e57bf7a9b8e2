//! The configuration: defaults < modiar.toml < environment < flags. Unknown keys are errors.

use crate::clock::Micros;
use modiar_protocol::server::{Openings, PoolInfo};
use modiar_protocol::{GameRules, TimeControl};
use modiar_rules::EndRules;
use serde::Deserialize;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// The text that `modiar serve --print-config` writes: every key with its default.
pub const TEMPLATE: &str = include_str!("modiar.toml");

/// How the daemon runs.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where everything lasting is kept.
    pub data: PathBuf,
    /// Where bots connect.
    pub bots: SocketAddr,
    /// Where browsers and monitors connect.
    pub http: SocketAddr,
    /// Whether house bots sit in the pools.
    pub house_bots: bool,
    /// Whether bots without a token may play; where absent: if only this machine can connect.
    pub guests: Option<bool>,
    /// How long games may go on after SIGTERM, in milliseconds.
    pub drain_ms: u64,
    /// How long bots are waited for after a restart before the clocks of their turns run, in milliseconds.
    pub restart_wait_ms: u64,
    /// Above which own delay or lag, as the 99th percentile of 10 s in milliseconds, no new games start; 0: none is too
    /// much; where absent: the pools' smallest grace.
    pub overload_ms: Option<u64>,
    /// The name of this daemon in its records.
    pub node: String,
    /// Logs.
    pub log: LogConfig,
    /// The pools.
    #[serde(rename = "pool")]
    pub pools: Vec<Pool>,
}

/// How logs are written.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    /// As text or as JSON.
    pub format: LogFormat,
}

/// The form of a log line.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

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

const fn default_grace() -> u64 {
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

/// A delay that is never overload, where no key says otherwise, in milliseconds: a pool may have no grace at all.
const LEAST_OVERLOAD_MS: u64 = 10;
/// The longest time a pool may give, in milliseconds: a day.
const LONGEST_MS: u64 = 86_400_000;

impl TryFrom<PoolKeys> for Pool {
    type Error = String;

    fn try_from(keys: PoolKeys) -> Result<Self, String> {
        let name_fits = (1..=24).contains(&keys.name.len())
            && keys
                .name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_');
        if !name_fits {
            return Err(format!("pool name '{}' has not 1 to 24 of the characters a-z 0-9 _ -", keys.name));
        }
        let times = [
            ("base_ms", Some(keys.base_ms)),
            ("increment_ms", Some(keys.increment_ms)),
            ("grace_ms", Some(keys.grace_ms)),
            ("move_ms", keys.move_ms),
        ];
        for (key, value) in times {
            if let Some(value) = value.filter(|value| *value > LONGEST_MS) {
                return Err(format!("pool '{}': {key} = {value} is above {LONGEST_MS}", keys.name));
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

impl Default for Config {
    fn default() -> Self {
        let pool = |name: &str, base_ms, increment_ms, rated, openings, illegal_moves| Pool {
            name: name.to_owned(),
            time: TimeControl { base_ms, increment_ms, grace_ms: default_grace(), move_ms: None },
            rated,
            openings,
            rules: GameRules::new(EndRules::default(), illegal_moves),
        };
        let local = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        Self {
            data: "modiar-data".into(),
            bots: local(6634),
            http: local(6635),
            house_bots: true,
            guests: None,
            drain_ms: 30_000,
            restart_wait_ms: 120_000,
            overload_ms: None,
            node: "modiar".to_owned(),
            log: LogConfig::default(),
            pools: vec![
                pool("bullet", 5_000, 50, true, Openings::Balanced, 0),
                pool("blitz", 30_000, 200, true, Openings::Balanced, 0),
                pool("practice", 60_000, 1_000, false, Openings::Start, 3),
            ],
        }
    }
}

/// Why a configuration cannot be used; `modiar serve` then exits with 78.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum ConfigError {
    #[error("{path}: {error}; name a file that can be read")]
    Read { path: PathBuf, error: std::io::Error },
    #[error("{path}: {error}")]
    Parse { path: PathBuf, error: Box<toml::de::Error> },
    #[error("{variable} = '{value}': {message}")]
    Environment { variable: String, value: String, message: String },
    #[error("{0}")]
    Value(String),
}

impl Config {
    /// Reads `file`, or the defaults where there is none, and lays the environment over it.
    ///
    /// # Errors
    /// A file that cannot be read or understood, a variable of the wrong form, a value out of range.
    pub fn load(file: Option<&Path>, environment: impl Iterator<Item = (String, String)>) -> Result<Self, ConfigError> {
        let mut config = match file {
            Some(path) => Self::read(path)?,
            None => Self::default(),
        };
        for (variable, value) in environment {
            config.lay_over(&variable, &value)?;
        }
        config.check()?;
        Ok(config)
    }

    /// Whether bots without a token may play.
    #[must_use]
    pub fn takes_guests(&self) -> bool {
        self.guests.unwrap_or(self.bots.ip().is_loopback())
    }

    /// How long bots are waited for after a restart.
    #[must_use]
    pub const fn restart_wait(&self) -> Duration {
        Duration::from_millis(self.restart_wait_ms)
    }

    /// Above which delay the daemon is overloaded, if there is such.
    #[must_use]
    pub fn overload(&self) -> Option<Micros> {
        let grace = self.pools.iter().map(|pool| pool.time.grace_ms).min().unwrap_or_default();
        let limit = self.overload_ms.unwrap_or_else(|| grace.max(LEAST_OVERLOAD_MS));
        (limit > 0).then(|| Micros::from_ms(limit))
    }

    /// How long games may go on after SIGTERM.
    #[must_use]
    pub const fn drain(&self) -> Duration {
        Duration::from_millis(self.drain_ms)
    }

    fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|error| ConfigError::Read { path: path.to_owned(), error })?;
        toml::from_str(&text).map_err(|error| ConfigError::Parse { path: path.to_owned(), error: Box::new(error) })
    }

    /// `MODIAR_LOG_FORMAT` is `[log] format`; other variables that begin with `MODIAR_` are the bots' own.
    fn lay_over(&mut self, variable: &str, value: &str) -> Result<(), ConfigError> {
        let fault = |message: String| ConfigError::Environment {
            variable: variable.to_owned(),
            value: value.to_owned(),
            message,
        };
        let address = || value.parse().map_err(|_| fault("write an address like 127.0.0.1:6634".into()));
        let milliseconds = || value.parse().map_err(|_| fault("write whole milliseconds".into()));
        let boolean = || value.parse().map_err(|_| fault("write true or false".into()));
        match variable {
            "MODIAR_DATA" => self.data = value.into(),
            "MODIAR_BOTS" => self.bots = address()?,
            "MODIAR_HTTP" => self.http = address()?,
            "MODIAR_HOUSE_BOTS" => self.house_bots = boolean()?,
            "MODIAR_GUESTS" => self.guests = Some(boolean()?),
            "MODIAR_DRAIN_MS" => self.drain_ms = milliseconds()?,
            "MODIAR_RESTART_WAIT_MS" => self.restart_wait_ms = milliseconds()?,
            "MODIAR_OVERLOAD_MS" => self.overload_ms = Some(milliseconds()?),
            "MODIAR_NODE" => value.clone_into(&mut self.node),
            "MODIAR_LOG_FORMAT" => {
                self.log.format = match value {
                    "text" => LogFormat::Text,
                    "json" => LogFormat::Json,
                    _ => return Err(fault("write text or json".into())),
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn check(&self) -> Result<(), ConfigError> {
        let refuse = |message: String| Err(ConfigError::Value(message));
        if self.pools.is_empty() {
            return refuse("there is no [[pool]]; name at least one".into());
        }
        for (at, pool) in self.pools.iter().enumerate() {
            if self.pools[..at].iter().any(|other| other.name == pool.name) {
                return refuse(format!("pool '{}' stands twice", pool.name));
            }
        }
        for (key, value) in [("drain_ms", self.drain_ms), ("restart_wait_ms", self.restart_wait_ms)] {
            if value > LONGEST_MS {
                return refuse(format!("{key} = {value} is above {LONGEST_MS}"));
            }
        }
        if self.node.is_empty() || self.node.chars().count() > 64 || self.node.chars().any(char::is_control) {
            return refuse(format!(
                "node '{}' has not 1 to 64 characters without control characters",
                self.node.escape_debug()
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        toml::from_str::<Config>(text).map_err(|error| error.to_string())
    }

    /// The port for bots included (`transport.tcp`).
    #[test]
    fn the_template_is_the_default() {
        assert_eq!(parse(TEMPLATE).unwrap(), Config::default());
    }

    /// `session.guest-default`
    #[test]
    fn guests_come_in_where_only_this_machine_can_connect() {
        assert!(parse("bots = \"127.0.0.1:1\"").unwrap().takes_guests());
        assert!(parse("bots = \"[::1]:1\"").unwrap().takes_guests());
        assert!(!parse("bots = \"0.0.0.0:1\"").unwrap().takes_guests());
        assert!(parse("bots = \"0.0.0.0:1\"\nguests = true").unwrap().takes_guests());
        assert!(!parse("guests = false").unwrap().takes_guests());
    }

    #[test]
    fn overload_is_above_the_smallest_grace() {
        let limit = |text: &str| parse(text).unwrap().overload();
        let pool = |grace| format!("[[pool]]\nname = \"a{grace}\"\nbase_ms = 1\ngrace_ms = {grace}\n");
        assert_eq!(limit(""), Some(Micros::from_ms(50)));
        assert_eq!(limit(&(pool(70) + &pool(60))), Some(Micros::from_ms(60)));
        assert_eq!(limit(&pool(0)), Some(Micros::from_ms(10)), "a pool may have none");
        assert_eq!(limit("overload_ms = 7"), Some(Micros::from_ms(7)));
        assert_eq!(limit("overload_ms = 0"), None);
    }

    #[test]
    fn every_key_is_in_the_template() {
        let shown = format!("{:?}", Config::default());
        for key in [
            "data",
            "bots",
            "http",
            "house_bots",
            "drain_ms",
            "restart_wait_ms",
            "overload_ms",
            "node",
            "guests",
            "format",
        ] {
            assert!(shown.contains(key), "{key}");
            assert!(TEMPLATE.contains(&format!("{key} = ")), "{key}");
        }
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let error = parse("drain_ms = 1\nbasse_ms = 2").unwrap_err();
        assert!(error.contains("line 2") && error.contains("basse_ms"), "{error}");
        let pool = |keys: &str| parse(&format!("[[pool]]\nname = \"a\"\nbase_ms = 1\n{keys}")).unwrap_err();
        assert!(pool("repetition = 1").contains("repetition = 1"));
        assert!(pool("move_ms = 86400001").contains("86400001"));
        assert!(pool("base = 3").contains("base"));
    }

    #[test]
    fn the_environment_lies_over_the_file() {
        let environment = [("MODIAR_DRAIN_MS", "7"), ("MODIAR_NAME", "dice"), ("MODIAR_LOG_FORMAT", "json")];
        let config =
            Config::load(None, environment.map(|(key, value)| (key.into(), value.into())).into_iter()).unwrap();
        assert_eq!((config.drain_ms, config.log.format), (7, LogFormat::Json));
        let bad = [("MODIAR_BOTS".to_owned(), "localhost".to_owned())];
        assert!(Config::load(None, bad.into_iter()).unwrap_err().to_string().contains("MODIAR_BOTS = 'localhost'"));
    }
}
