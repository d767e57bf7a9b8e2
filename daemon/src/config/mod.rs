//! The configuration: defaults < modiar.toml < environment < flags. Unknown keys are errors.

mod limits;
mod pool;
mod reload;
#[cfg(test)]
mod tests;
mod tls;

pub use limits::Limits;
pub use pool::Pool;
pub use reload::{Difference, Reloadable, Reloaded};
pub use tls::TlsFiles;

use crate::clock::Micros;
use crate::store::DataDir;
use modiar_protocol::limits::SERVER_LINE_BYTES;
use modiar_protocol::server::{Openings, PoolInfo};
use modiar_protocol::{GameRules, TimeControl};
use modiar_rules::EndRules;
use pool::default_grace;
use serde::{Deserialize, Deserializer};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// The text that `modiar serve --print-config` writes: every key with its default.
pub const TEMPLATE: &str = include_str!("../modiar.toml");

/// A delay that is never overload, where no key says otherwise, in milliseconds: a pool may have no grace at all.
const LEAST_OVERLOAD_MS: u64 = 10;
/// The longest time that may be configured, in milliseconds: a day.
const LONGEST_MS: u64 = 86_400_000;

/// How the daemon runs.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where everything lasting is kept.
    pub data: PathBuf,
    /// Where bots connect.
    #[serde(deserialize_with = "read_address")]
    pub bots: SocketAddr,
    /// Where browsers and monitors connect.
    #[serde(deserialize_with = "read_address")]
    pub http: SocketAddr,
    /// Whether house bots sit in the pools.
    pub house_bots: bool,
    /// Whether bots without a token may play; where absent: if only this machine can connect.
    pub guests: Option<bool>,
    /// Whether bots may register themselves (`session.register`).
    pub registration: bool,
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
    /// What a connection, an address and a bot may take.
    pub limits: Limits,
    /// The certificate of the bots' port; where absent it speaks plain TCP.
    pub tls: Option<TlsFiles>,
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

/// The first words of the variables that are not the daemon's, `MODIAR_` left out: those of bots, and of the tests.
const OTHERS: [&str; 13] =
    ["CA", "HOST", "NAME", "PORT", "TOKEN", "CRASH", "CUTS", "FUZZ", "POWER", "RENEW", "REQUIRE", "SIM", "SOAK"];
/// Most bytes that the pools may take of a welcome, which holds more (`transport.server-line-limit`).
const POOLS_BYTES: usize = SERVER_LINE_BYTES / 2;
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
            registration: false,
            drain_ms: 30_000,
            restart_wait_ms: 120_000,
            overload_ms: None,
            node: "modiar".to_owned(),
            log: LogConfig::default(),
            limits: Limits::default(),
            tls: None,
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
    #[error("{path}: {}mend that line; `modiar serve --print-config` shows every key", in_plain_words(error))]
    Parse { path: PathBuf, error: Box<toml::de::Error> },
    #[error("{variable} = '{value}': {message}")]
    Environment { variable: String, value: String, message: String },
    // Without its value, which may be a secret.
    #[error(
        "{0} is no variable of the configuration; they are MODIAR_ and a key in capitals, of a table its name before it, as \
         MODIAR_LIMITS_CONNECTIONS: `modiar serve --print-config` shows every key"
    )]
    UnknownVariable(String),
    #[error("{0}")]
    Value(String),
}

/// What is wrong with a file, without the names that numbers have in Rust.
fn in_plain_words(error: &toml::de::Error) -> String {
    let told = error.to_string();
    let words = [
        ("expected u64\n", "expected a whole number from 0\n"),
        ("expected u16\n", "expected a whole number from 0 to 65535\n"),
        (
            "invalid type: map, expected a sequence\n",
            "write a table for each, its name in two brackets as in [[pool]]\n",
        ),
    ];
    words.into_iter().fold(told, |told, (theirs, ours)| told.replace(theirs, ours))
}

impl Config {
    /// Reads `file`, or the defaults where there is none, and lays the environment over it; [`Self::check`] is still due.
    ///
    /// # Errors
    /// A file that cannot be read or understood, a variable that is unknown or of the wrong form.
    pub fn load(file: Option<&Path>, environment: impl Iterator<Item = (String, String)>) -> Result<Self, ConfigError> {
        let mut config = match file {
            Some(path) => Self::read(path)?,
            None => Self::default(),
        };
        for (variable, value) in environment {
            config.lay_over(&variable, &value)?;
        }
        Ok(config)
    }

    /// Whether bots without a token may play.
    #[must_use]
    pub fn takes_guests(&self) -> bool {
        self.guests.unwrap_or(self.bots.ip().is_loopback())
    }

    /// Most connections from one address: where only this machine can connect, all of them.
    #[must_use]
    pub fn connections_per_address(&self) -> u64 {
        let default = if self.bots.ip().is_loopback() { self.limits.connections } else { limits::PER_ADDRESS };
        self.limits.connections_per_address.unwrap_or(default)
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

    /// Its relative paths count from its folder.
    fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|error| ConfigError::Read { path: path.to_owned(), error })?;
        let mut config: Self = toml::from_str(&text)
            .map_err(|error| ConfigError::Parse { path: path.to_owned(), error: Box::new(error) })?;
        config.limits.check().map_err(|error| ConfigError::Value(format!("{}: {error}", path.display())))?;
        let tls = config.tls.iter_mut().flat_map(|tls| [&mut tls.certificate, &mut tls.key]);
        // One that is empty stays so, and is refused.
        for named in tls.chain([&mut config.data]).filter(|named| !named.as_os_str().is_empty()) {
            *named = path.with_file_name("").join(&*named);
        }
        Ok(config)
    }

    /// `MODIAR_LOG_FORMAT` is `[log] format`, `MODIAR_LIMITS_CONNECTIONS` is `[limits] connections`.
    fn lay_over(&mut self, variable: &str, value: &str) -> Result<(), ConfigError> {
        let fault = |message: String| ConfigError::Environment {
            variable: variable.to_owned(),
            value: value.to_owned(),
            message,
        };
        let ours = variable.strip_prefix("MODIAR_").and_then(|key| key.split('_').next());
        if ours.is_none_or(|word| OTHERS.contains(&word)) {
            return Ok(());
        }
        if value.contains(char::REPLACEMENT_CHARACTER) {
            return Err(fault("write it in UTF-8".into()));
        }
        let address = || parse_address(value).map_err(fault);
        let milliseconds = || value.parse().map_err(|_| fault("write whole milliseconds".into()));
        let boolean = || value.parse().map_err(|_| fault("write true or false".into()));
        match variable {
            "MODIAR_DATA" => self.data = value.into(),
            "MODIAR_BOTS" => self.bots = address()?,
            "MODIAR_HTTP" => self.http = address()?,
            "MODIAR_HOUSE_BOTS" => self.house_bots = boolean()?,
            "MODIAR_GUESTS" => self.guests = Some(boolean()?),
            "MODIAR_REGISTRATION" => self.registration = boolean()?,
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
            // The bots': whether they speak TLS.
            "MODIAR_TLS" => {}
            "MODIAR_TLS_CERTIFICATE" => self.tls.get_or_insert_default().certificate = value.into(),
            "MODIAR_TLS_KEY" => self.tls.get_or_insert_default().key = value.into(),
            _ => {
                let Some(key) = variable.strip_prefix("MODIAR_LIMITS_").map(str::to_ascii_lowercase) else {
                    return Err(ConfigError::UnknownVariable(variable.to_owned()));
                };
                let number = value.parse().map_err(|_| fault("write a whole number".into()))?;
                self.limits.set(&key, number).map_err(fault)?;
            }
        }
        Ok(())
    }

    /// Whether the values can be used, each and together.
    ///
    /// # Errors
    /// One cannot.
    pub fn check(&self) -> Result<(), ConfigError> {
        let refuse = |message: String| Err(ConfigError::Value(message));
        if self.data.as_os_str().is_empty() {
            return refuse("data is empty; name a directory".into());
        }
        let control = DataDir::new(&self.data).control();
        if std::os::unix::net::SocketAddr::from_pathname(&control).is_err() {
            return refuse(format!(
                "data is too long a path: {} cannot be a socket's; choose a shorter one",
                control.display()
            ));
        }
        if self.bots == self.http && self.bots.port() != 0 {
            return refuse(format!("bots and http are both {}; give each a port of its own", self.bots));
        }
        if self.pools.is_empty() {
            return refuse("there is no [[pool]]; name at least one".into());
        }
        for (at, pool) in self.pools.iter().enumerate() {
            if self.pools[..at].iter().any(|other| other.name == pool.name) {
                return refuse(format!("pool '{}' stands twice; give each pool a name of its own", pool.name));
            }
        }
        let infos: Vec<PoolInfo> = self.pools.iter().map(PoolInfo::from).collect();
        let bytes = serde_json::to_vec(&infos).map_or(usize::MAX, |json| json.len());
        if bytes > POOLS_BYTES {
            return refuse(format!("the pools take {bytes} bytes of a welcome, {POOLS_BYTES} at most; name fewer"));
        }
        let overload_ms = self.overload_ms.unwrap_or_default();
        for (key, value) in
            [("drain_ms", self.drain_ms), ("restart_wait_ms", self.restart_wait_ms), ("overload_ms", overload_ms)]
        {
            if value > LONGEST_MS {
                return refuse(format!("{key} = {value} is above {LONGEST_MS}, a day; write less"));
            }
        }
        self.limits.check().map_err(ConfigError::Value)?;
        let (of_one, all) = (self.connections_per_address(), self.limits.connections);
        if self.limits.connections_per_address.is_some() && of_one > all {
            return refuse(format!(
                "[limits] connections_per_address = {of_one} is above connections = {all}; lower it, or leave it out"
            ));
        }
        if let Some(tls) = &self.tls {
            tls.check().map_err(ConfigError::Value)?;
        }
        if self.node.is_empty() || self.node.chars().count() > 64 || self.node.chars().any(char::is_control) {
            return refuse(format!(
                "node '{}' has not 1 to 64 characters without control characters; choose another name",
                self.node.escape_debug()
            ));
        }
        Ok(())
    }
}

/// An address as people write it.
///
/// # Errors
/// It is not one, or has no port.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("'{text}' is no IP address with a port; write one like 127.0.0.1:6634"))
}

fn read_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    parse_address(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}
