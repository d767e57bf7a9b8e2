//! What of a configuration a running daemon takes anew, and what needs a restart.

use super::{Config, ConfigError, Limits, Pool};
use crate::clock::Micros;
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::Arc;
use std::time::Duration;

/// What is looked at whenever it matters, so that it may change while the daemon runs.
#[derive(Clone, Debug)]
pub struct Reloadable {
    /// Whether bots without a token may play.
    pub guests: bool,
    /// Whether bots may register themselves.
    pub registration: bool,
    /// How long games may go on after SIGTERM.
    pub drain: Duration,
    /// What a connection, an address and a bot may take. A connection keeps those it began with.
    pub limits: Limits,
    /// Most connections from one address.
    pub connections_per_address: u64,
    /// The pools, at least one. A game keeps the one it began with.
    pub pools: Arc<[Pool]>,
}

impl From<&Config> for Reloadable {
    fn from(config: &Config) -> Self {
        Self {
            guests: config.takes_guests(),
            registration: config.registration,
            drain: config.drain(),
            limits: config.limits,
            connections_per_address: config.connections_per_address(),
            pools: config.pools.clone().into(),
        }
    }
}

/// A key whose value is another than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    key: String,
    old: String,
    new: String,
}

impl Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.key, self.old, self.new)
    }
}

/// What becomes of a running configuration when another one was read.
#[derive(Clone, Debug)]
pub struct Reloaded {
    /// What holds from now on.
    pub config: Config,
    /// What changes.
    pub changed: Vec<Difference>,
    /// What does not, and would at a restart.
    pub needs_restart: Vec<Difference>,
}

/// What stands for a key that is not there.
const ABSENT: &str = "(none)";

impl Config {
    /// Takes from `new` what may change while the daemon runs.
    ///
    /// # Errors
    /// What would hold then cannot be used, as where pools that stay until a restart and new ones are too many together.
    pub fn reload(&self, new: &Self) -> Result<Reloaded, ConfigError> {
        let mut config = self.clone();
        // What counts as overload was told at the start to whoever measures.
        config.overload_ms = Some(self.overload().map_or(0, Micros::ms));
        config.guests = new.guests;
        config.registration = new.registration;
        config.drain_ms = new.drain_ms;
        config.limits = new.limits;
        if let (Some(tls), Some(new)) = (&mut config.tls, &new.tls) {
            tls.clone_from(new);
        }
        for pool in &new.pools {
            match config.pools.iter_mut().find(|known| known.name == pool.name) {
                Some(known) => known.reload(pool),
                None => config.pools.push(pool.clone()),
            }
        }
        config.check()?;
        let (before, after, wanted) = (self.values(), config.values(), new.values());
        Ok(Reloaded { changed: differences(&before, &after), needs_restart: differences(&after, &wanted), config })
    }

    /// Every key with its value as a text; of what is left out with what holds then.
    pub(super) fn values(&self) -> BTreeMap<String, String> {
        let overload_ms = self.overload().map_or(0, Micros::ms);
        let mut values = BTreeMap::from([
            ("data".to_owned(), self.data.display().to_string()),
            ("bots".to_owned(), self.bots.to_string()),
            ("http".to_owned(), self.http.to_string()),
            ("house_bots".to_owned(), self.house_bots.to_string()),
            ("guests".to_owned(), self.takes_guests().to_string()),
            ("registration".to_owned(), self.registration.to_string()),
            ("drain_ms".to_owned(), self.drain_ms.to_string()),
            ("restart_wait_ms".to_owned(), self.restart_wait_ms.to_string()),
            ("overload_ms".to_owned(), overload_ms.to_string()),
            ("node".to_owned(), self.node.clone()),
            ("[log] format".to_owned(), format!("{:?}", self.log.format).to_lowercase()),
        ]);
        for (key, value, _) in self.limits.values() {
            let value = if key == "connections_per_address" { self.connections_per_address() } else { value };
            values.insert(format!("[limits] {key}"), value.to_string());
        }
        for (key, path) in self.tls.iter().flat_map(|tls| [("certificate", &tls.certificate), ("key", &tls.key)]) {
            values.insert(format!("[tls] {key}"), path.display().to_string());
        }
        for pool in &self.pools {
            values.insert(format!("[[pool]] {}", pool.name), "there".to_owned());
            let named = |(key, value)| (format!("[[pool]] {} {key}", pool.name), value);
            values.extend(pool.values().into_iter().map(named));
        }
        values
    }
}

impl Pool {
    /// Takes what may change between two games. Where a game begins and what ends it by itself stay: a pair's second game
    /// begins as its first did.
    fn reload(&mut self, new: &Self) {
        (self.time, self.rated) = (new.time, new.rated);
        self.rules.illegal_moves = new.rules.illegal_moves;
    }

    fn values(&self) -> [(&'static str, String); 10] {
        let Self { time, rated, openings, rules, .. } = self;
        [
            ("base_ms", time.base_ms.to_string()),
            ("increment_ms", time.increment_ms.to_string()),
            ("grace_ms", time.grace_ms.to_string()),
            ("move_ms", time.move_ms.map_or_else(|| ABSENT.to_owned(), |ms| ms.to_string())),
            ("rated", rated.to_string()),
            ("openings", format!("{openings:?}").to_lowercase()),
            ("repetition", rules.repetition.to_string()),
            ("quiet_plies", rules.quiet_plies.to_string()),
            ("majority", rules.majority.to_string()),
            ("illegal_moves", rules.illegal_moves.to_string()),
        ]
    }
}

/// The keys that have another value in `new` than in `old`, or stand in one alone.
fn differences(old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> Vec<Difference> {
    let mut keys: Vec<&String> = old.keys().chain(new.keys()).filter(|key| old.get(*key) != new.get(*key)).collect();
    keys.sort();
    keys.dedup();
    // Of a pool that comes or goes not each key.
    let whole: Vec<String> = keys.iter().map(|key| format!("{key} ")).collect();
    keys.retain(|key| !whole.iter().any(|whole| key.starts_with(whole)));
    let value = |values: &BTreeMap<String, String>, key| values.get(key).map_or(ABSENT, String::as_str).to_owned();
    keys.into_iter().map(|key| Difference { key: key.clone(), old: value(old, key), new: value(new, key) }).collect()
}
