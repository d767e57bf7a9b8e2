//! Which games to take.

use jiff::Timestamp;
use modiar_protocol::{BotName, Record};

/// Takes the games that fit everything it names.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// One of the two bots.
    pub bot: Option<BotName>,
    /// The pool.
    pub pool: Option<String>,
    /// The earliest end.
    pub since: Option<Timestamp>,
}

impl Filter {
    /// Whether `record` fits.
    #[must_use]
    pub fn takes(&self, record: &Record) -> bool {
        let plays = |bot: &BotName| [&record.south, &record.north].iter().any(|seat| seat.name == *bot);
        let recent = |since: &Timestamp| record.ended.parse::<Timestamp>().is_ok_and(|ended| ended >= *since);
        self.bot.as_ref().is_none_or(plays)
            && self.pool.as_ref().is_none_or(|pool| *pool == record.pool)
            && self.since.as_ref().is_none_or(recent)
    }
}

/// A time as people write it: a day, or RFC 3339.
///
/// # Errors
/// It is neither.
pub fn parse_time(text: &str) -> Result<Timestamp, String> {
    let whole = if text.len() == "2026-11-30".len() { format!("{text}T00:00:00Z") } else { text.to_owned() };
    whole.parse().map_err(|_| "write a day like 2026-11-30 or a time like 2026-11-30T12:00:00Z".to_owned())
}
