//! Where the server is, who plays, and who is told what.

use crate::log::{Level, Log};
use crate::{Ended, Error};
use modiar_protocol::limits::{SERIES_GAMES, TEXT_CHARS};
use modiar_protocol::{BotName, Secret};
use std::fmt;

const HOST: &str = "127.0.0.1";
const PORT: u16 = 6634;

/// What can be set. Whatever is not, is taken from the environment (`MODIAR_HOST`, `MODIAR_PORT`, `MODIAR_NAME`,
/// `MODIAR_TOKEN`, `MODIAR_TLS`, `MODIAR_CA`), and what that does not set either has a default.
///
/// ```
/// use modiar_client::Settings;
///
/// let settings = Settings::new().host("bots.example.org").port(7634).version("0.3.1").games(4);
/// # drop(settings);
/// ```
#[derive(Default)]
pub struct Settings {
    host: Option<String>,
    port: Option<u16>,
    name: Option<String>,
    token: Option<Secret>,
    tls: bool,
    ca: Option<String>,
    version: Option<String>,
    games: Option<u64>,
    strict: bool,
    log: Option<Log>,
    ended: Option<Heard>,
}

/// Who hears of games that ended.
pub(crate) type Heard = Box<dyn FnMut(&Ended) + Send>;

impl Settings {
    /// Nothing is set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The server's name or address (`MODIAR_HOST`; 127.0.0.1).
    #[must_use]
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// The server's port for bots (`MODIAR_PORT`; 6634).
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// The bot's name (`MODIAR_NAME`); without one the server gives a guest's name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// What proves that the name is the bot's (`MODIAR_TOKEN`); without one the bot is a guest. It is never shown.
    #[must_use]
    pub fn token(mut self, token: &str) -> Self {
        self.token = Some(Secret::new(token));
        self
    }

    /// Speaks TLS (`MODIAR_TLS=1`), as the port of a host with a certificate does. Needs the feature `tls`.
    #[must_use]
    pub fn tls(mut self) -> Self {
        self.tls = true;
        self
    }

    /// Speaks TLS, and trusts the certificates of this PEM file in place of the system's (`MODIAR_CA`).
    #[must_use]
    pub fn ca(mut self, file: impl Into<String>) -> Self {
        self.ca = Some(file.into());
        self
    }

    /// The bot's build, at most 64 characters; another one starts a line of its own in the bot's history.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// How many games the bot plays at once; 1 where nothing is said.
    #[must_use]
    pub fn games(mut self, at_once: u64) -> Self {
        self.games = Some(at_once);
        self
    }

    /// A bot that panics or chooses an illegal pit ends the program, in place of the one game.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Who is told what goes on. Without it a client is silent, and [`run`](crate::run) writes to stderr.
    #[must_use]
    pub fn log(mut self, told: impl Fn(Level, &str) + Send + Sync + 'static) -> Self {
        self.log = Some(Log::new(told));
        self
    }

    /// Called for each game that ends, while the client waits for a turn.
    #[must_use]
    pub fn ended(mut self, heard: impl FnMut(&Ended) + Send + 'static) -> Self {
        self.ended = Some(Box::new(heard));
        self
    }

    pub(crate) fn log_to_stderr(mut self) -> Self {
        self.log.get_or_insert_with(Log::stderr);
        self
    }

    /// Calls `first` for each game that ends, and then who else wants to know.
    pub(crate) fn ended_first(mut self, mut first: impl FnMut(&Ended) + Send + 'static) -> Self {
        let mut also = self.ended.take();
        self.ended(move |ended| {
            first(ended);
            if let Some(also) = &mut also {
                also(ended);
            }
        })
    }

    /// Takes what is not set from the environment.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub(crate) fn settle(self) -> Result<Settled, Error> {
        self.settle_by(&|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    fn settle_by(self, environment: &dyn Fn(&str) -> Option<String>) -> Result<Settled, Error> {
        let environment = |name: &str| environment(name).filter(|value| !value.is_empty());
        let port = match self.port {
            Some(port) => port.to_string(),
            None => environment("MODIAR_PORT").unwrap_or_else(|| PORT.to_string()),
        };
        let name = self.name.or_else(|| environment("MODIAR_NAME"));
        let tls = match environment("MODIAR_TLS").as_deref() {
            None => self.tls,
            Some("1") => true,
            Some(other) => {
                return wrong("MODIAR_TLS", other, "set it to 1, or unset it where the port speaks no TLS");
            }
        };
        let ca = self.ca.or_else(|| environment("MODIAR_CA"));
        let host = self.host.or_else(|| environment("MODIAR_HOST")).unwrap_or_else(|| HOST.to_owned());
        Ok(Settled {
            encryption: Encryption::new(tls, ca, &host)?,
            host,
            port: read_port(&port)?,
            name: name.as_deref().map(read_name).transpose()?,
            token: self.token.or_else(|| environment("MODIAR_TOKEN").map(|token| Secret::new(&token))),
            version: self.version.map(read_version).transpose()?,
            games: read_games(self.games)?,
            strict: self.strict,
            log: self.log.unwrap_or_default(),
            ended: self.ended,
        })
    }
}

/// What it is told is not shown, nor a token.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("host", &self.host).field("port", &self.port).finish_non_exhaustive()
    }
}

/// Settings that are complete and right.
pub(crate) struct Settled {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) name: Option<BotName>,
    pub(crate) token: Option<Secret>,
    pub(crate) encryption: Encryption,
    pub(crate) version: Option<String>,
    pub(crate) games: u64,
    pub(crate) strict: bool,
    pub(crate) log: Log,
    pub(crate) ended: Option<Heard>,
}

impl Settled {
    /// Host and port, for people.
    pub(crate) fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

/// What a connection is wrapped in.
#[derive(Clone)]
pub(crate) enum Encryption {
    None,
    #[cfg(feature = "tls")]
    Tls(crate::tls::Trust),
}

impl Encryption {
    #[cfg(feature = "tls")]
    fn new(tls: bool, ca: Option<String>, host: &str) -> Result<Self, Error> {
        if tls || ca.is_some() { crate::tls::Trust::new(ca.as_deref(), host).map(Self::Tls) } else { Ok(Self::None) }
    }

    #[cfg(not(feature = "tls"))]
    fn new(tls: bool, ca: Option<String>, _host: &str) -> Result<Self, Error> {
        match (tls, ca) {
            (false, None) => Ok(Self::None),
            (_, Some(ca)) => wrong("MODIAR_CA", &ca, "build with modiar-client's feature tls, or unset it"),
            (true, None) => wrong("MODIAR_TLS", "1", "build with modiar-client's feature tls, or unset it"),
        }
    }
}

pub(crate) fn wrong<T>(setting: &str, value: &str, advice: &str) -> Result<T, Error> {
    Err(Error::Setting(format!("{setting} is {value:?}: {advice}")))
}

fn read_port(text: &str) -> Result<u16, Error> {
    // A number may have a sign elsewhere.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(port) if digits && port > 0 => Ok(port),
        _ => wrong("MODIAR_PORT", text, "set it to a number from 1 to 65535"),
    }
}

fn read_name(text: &str) -> Result<BotName, Error> {
    let advice = "take 2 to 24 of the characters A-Z a-z 0-9 _ -, the first a letter or digit";
    BotName::new(text).or_else(|_| wrong("MODIAR_NAME", text, advice))
}

fn read_version(text: String) -> Result<String, Error> {
    if text.chars().count() > TEXT_CHARS || text.contains(char::is_control) {
        return wrong("version", &text, "take at most 64 characters, none of them a control character");
    }
    Ok(text)
}

fn read_games(games: Option<u64>) -> Result<u64, Error> {
    let games = games.unwrap_or(1);
    if games == 0 || games > SERIES_GAMES {
        return wrong("games", &games.to_string(), "set it to a number from 1 to 1000000");
    }
    Ok(games)
}

/// What a seek may ask for.
pub(crate) fn check_quest(pool: &str, games: u64) -> Result<(), Error> {
    if pool.is_empty() {
        return wrong("pool", pool, "name a pool of the server, such as practice");
    }
    if games > SERIES_GAMES {
        return wrong("games", &games.to_string(), "write a whole number from 0 to 1000000");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settle(settings: Settings, environment: &[(&str, &str)]) -> Result<Settled, String> {
        let look = |name: &str| environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        settings.settle_by(&look).map_err(|error| error.to_string())
    }

    #[test]
    fn an_argument_comes_before_the_environment_and_that_before_the_default() {
        let settled = settle(Settings::new(), &[("MODIAR_HOST", ""), ("MODIAR_TLS", "")]).unwrap();
        assert_eq!(settled.address(), "127.0.0.1:6634");
        let environment = [("MODIAR_HOST", "there"), ("MODIAR_PORT", "7"), ("MODIAR_NAME", "dice")];
        let settled = settle(Settings::new(), &environment).unwrap();
        assert_eq!((settled.address().as_str(), settled.name), ("there:7", BotName::new("dice").ok()));
        let settled = settle(Settings::new().host("here").port(8), &[("MODIAR_PORT", "no"), environment[0]]).unwrap();
        assert_eq!(settled.address(), "here:8");
    }

    #[test]
    fn a_wrong_setting_is_named_with_its_value_and_what_to_do() {
        for (name, value, told) in [
            ("MODIAR_PORT", "0", "MODIAR_PORT is \"0\": set it to a number from 1 to 65535"),
            ("MODIAR_PORT", "+7", "MODIAR_PORT is \"+7\": set it to a number from 1 to 65535"),
            ("MODIAR_TLS", "yes", "MODIAR_TLS is \"yes\": set it to 1, or unset it where the port speaks no TLS"),
            (
                "MODIAR_NAME",
                "a b",
                "MODIAR_NAME is \"a b\": take 2 to 24 of the characters A-Z a-z 0-9 _ -, the first a letter or digit",
            ),
        ] {
            assert_eq!(settle(Settings::new(), &[(name, value)]).err().as_deref(), Some(told));
        }
        assert!(settle(Settings::new().games(0), &[]).is_err());
        assert!(settle(Settings::new().version("a\nb"), &[]).is_err());
        assert!(check_quest("", 1).is_err() && check_quest("practice", 1_000_001).is_err());
    }

    #[test]
    fn a_token_does_not_show() {
        let settings = Settings::new().token("swordfish");
        assert!(!format!("{settings:?}").contains("swordfish"));
    }
}
