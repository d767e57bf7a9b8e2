//! The options that every bot has.

use std::collections::HashMap;
use std::process::ExitCode;
use std::str::FromStr;

/// `--games N --pool P`, and what a bot adds.
pub struct Options {
    pub games: u64,
    pub pool: String,
    values: HashMap<String, String>,
}

impl Options {
    /// Reads the command line; `more` are the names of further options, each of a number.
    ///
    /// # Errors
    /// The status of a program that was not called as it should be; people are told.
    pub fn read(more: &[&str]) -> Result<Self, ExitCode> {
        Self::from(std::env::args().skip(1), more).map_err(|fault| {
            let more: String = more.iter().map(|name| format!(" [{name} N]")).collect();
            eprintln!("{fault}\noptions: [--games N] [--pool P]{more}; --games 0 plays until it is stopped");
            ExitCode::from(2)
        })
    }

    fn from(mut arguments: impl Iterator<Item = String>, more: &[&str]) -> Result<Self, String> {
        let mut options = Self { games: 1, pool: "practice".to_owned(), values: HashMap::new() };
        while let Some(name) = arguments.next() {
            if !["--games", "--pool"].contains(&name.as_str()) && !more.contains(&name.as_str()) {
                return Err(format!("{name} is no option"));
            }
            let value = arguments.next().ok_or_else(|| format!("{name} has no value"))?;
            options.values.insert(name, value);
        }
        options.games = options.number("--games")?.unwrap_or(options.games);
        options.pool = options.values.remove("--pool").unwrap_or(options.pool);
        for name in more {
            options.number::<u64>(name)?;
        }
        Ok(options)
    }

    fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>, String> {
        let read = |text: &String| text.parse().map_err(|_| format!("{name} is {text:?}: write a whole number"));
        self.values.get(name).map(read).transpose()
    }

    /// The value of one of `more`.
    #[allow(dead_code)] // not every bot has more
    pub fn value<T: FromStr>(&self, name: &str) -> Option<T> {
        self.number(name).ok().flatten()
    }
}
