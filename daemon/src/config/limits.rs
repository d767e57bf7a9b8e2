//! What a connection, an address and a bot may take. Bounds of the protocol itself, the length and nesting of a line for
//! one, are no configuration: bots rely on them, and they stand in `modiar_protocol::limits` alone.

use modiar_protocol::limits::{
    FAILED_LOGINS_PER_MINUTE, FLOOD_MESSAGES, GAMES_AT_ONCE, HANDSHAKE, HOUSE_GAMES, HOUSE_MESSAGES,
    HOUSE_OUTPUT_BYTES, LEAST_OUTPUT_BYTES, MESSAGE_BURST, MESSAGES_PER_SECOND, OUTPUT_BYTES, REGISTRATIONS_PER_HOUR,
    WRITE_DEADLINE,
};
use serde::Deserialize;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Connections in all.
const CONNECTIONS: u64 = 10_000;
/// Connections from one address, where other machines can connect.
pub(super) const PER_ADDRESS: u64 = 256;
/// How long a peer that is gone without a word keeps its connection, in milliseconds, and the least: the kernel counts in
/// seconds, and probes three times.
const VANISHED_MS: u64 = 60_000;
const LEAST_VANISHED_MS: u64 = 3_000;
/// Longest configured wait, in milliseconds: an hour.
const LONGEST_WAIT_MS: u64 = 3_600_000;
/// Most that may be configured of what is counted for each address: each is a moment that is remembered.
const MOST_ATTEMPTS: u64 = 1000;

/// The `[limits]` of the configuration (`spec/limits.md`).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Sustained messages a second on one connection; accepted moves are free (`session.rate`).
    pub messages_per_second: u64,
    /// Messages that may come at once before the rate counts.
    pub message_burst: u64,
    /// Limited messages within 10 s that end a connection (`session.flood`).
    pub flood_messages: u64,
    /// Output that may wait for one connection, in bytes (`session.slow-reader`).
    pub output_bytes: u64,
    /// Longest time that output may wait without one byte leaving, in milliseconds.
    pub write_deadline_ms: u64,
    /// Time from connect to an accepted hello, in milliseconds (`session.hello-deadline`).
    pub handshake_ms: u64,
    /// Time after which a peer from which nothing comes, not even that it received something, is taken for gone, in
    /// milliseconds (`limits.vanished`).
    pub vanished_ms: u64,
    /// Connections in all (`limits.connections`).
    pub connections: u64,
    /// Connections from one IPv4 address or IPv6 /64; where absent [`PER_ADDRESS`], or no such limit where only this
    /// machine can connect.
    pub connections_per_address: Option<u64>,
    /// Most games one bot may play at once, whatever its hello asks for (`limits.games`).
    pub games_per_bot: u64,
    /// Rated games that two bots may be paired for by their seeks within 24 hours; 0: any number.
    pub games_per_pair_and_day: u64,
    /// Names that may be registered over the wire from one IPv4 address or IPv6 /64 within an hour (`limits.registrations`).
    pub registrations_per_hour: u64,
    /// Wrong tokens that may come from one such address within a minute (`limits.failed-logins`).
    pub failed_logins_per_minute: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            messages_per_second: MESSAGES_PER_SECOND.into(),
            message_burst: MESSAGE_BURST.into(),
            flood_messages: FLOOD_MESSAGES.into(),
            output_bytes: OUTPUT_BYTES as u64,
            write_deadline_ms: milliseconds(WRITE_DEADLINE),
            handshake_ms: milliseconds(HANDSHAKE),
            vanished_ms: VANISHED_MS,
            connections: CONNECTIONS,
            connections_per_address: None,
            games_per_bot: GAMES_AT_ONCE,
            games_per_pair_and_day: 0,
            registrations_per_hour: REGISTRATIONS_PER_HOUR,
            failed_logins_per_minute: FAILED_LOGINS_PER_MINUTE,
        }
    }
}

impl Limits {
    /// Every key with its value and the range it must lie in.
    pub(super) fn values(&self) -> [(&'static str, u64, RangeInclusive<u64>); 13] {
        let per_address = self.connections_per_address.unwrap_or(PER_ADDRESS);
        [
            ("messages_per_second", self.messages_per_second, 1..=100_000),
            ("message_burst", self.message_burst, 1..=1_000_000),
            ("flood_messages", self.flood_messages, 1..=10_000),
            ("output_bytes", self.output_bytes, LEAST_OUTPUT_BYTES..=64 << 20),
            ("write_deadline_ms", self.write_deadline_ms, 10..=LONGEST_WAIT_MS),
            ("handshake_ms", self.handshake_ms, 10..=LONGEST_WAIT_MS),
            ("vanished_ms", self.vanished_ms, LEAST_VANISHED_MS..=LONGEST_WAIT_MS),
            ("connections", self.connections, 1..=1_000_000),
            ("connections_per_address", per_address, 1..=1_000_000),
            ("games_per_bot", self.games_per_bot, 1..=GAMES_AT_ONCE),
            ("games_per_pair_and_day", self.games_per_pair_and_day, 0..=1_000_000),
            ("registrations_per_hour", self.registrations_per_hour, 1..=MOST_ATTEMPTS),
            ("failed_logins_per_minute", self.failed_logins_per_minute, 1..=MOST_ATTEMPTS),
        ]
    }

    /// Gives one key a value; what is wrong where there is no such key.
    pub(super) fn set(&mut self, key: &str, value: u64) -> Result<(), String> {
        let place = match key {
            "messages_per_second" => &mut self.messages_per_second,
            "message_burst" => &mut self.message_burst,
            "flood_messages" => &mut self.flood_messages,
            "output_bytes" => &mut self.output_bytes,
            "write_deadline_ms" => &mut self.write_deadline_ms,
            "handshake_ms" => &mut self.handshake_ms,
            "vanished_ms" => &mut self.vanished_ms,
            "connections" => &mut self.connections,
            "connections_per_address" => self.connections_per_address.get_or_insert_default(),
            "games_per_bot" => &mut self.games_per_bot,
            "games_per_pair_and_day" => &mut self.games_per_pair_and_day,
            "registrations_per_hour" => &mut self.registrations_per_hour,
            "failed_logins_per_minute" => &mut self.failed_logins_per_minute,
            _ => return Err(format!("there is no limit '{key}'; --print-config shows all")),
        };
        *place = value;
        Ok(())
    }

    pub(super) fn check(&self) -> Result<(), String> {
        for (key, value, range) in self.values() {
            if !range.contains(&value) {
                let (least, most) = (range.start(), range.end());
                return Err(format!("[limits] {key} = {value} is not within {least} to {most}; write one that is"));
            }
        }
        Ok(())
    }

    /// What one of the server's own bots may take instead (`limits.house`): nobody waits for it because of others' games.
    #[must_use]
    pub const fn of_house(self) -> Self {
        Self {
            messages_per_second: HOUSE_MESSAGES,
            message_burst: HOUSE_MESSAGES,
            output_bytes: HOUSE_OUTPUT_BYTES,
            games_per_bot: HOUSE_GAMES,
            ..self
        }
    }

    /// [`Self::output_bytes`] as a length.
    #[must_use]
    pub fn output(&self) -> usize {
        usize::try_from(self.output_bytes).unwrap_or(usize::MAX)
    }

    /// [`Self::write_deadline_ms`] as a time.
    #[must_use]
    pub const fn write_deadline(&self) -> Duration {
        Duration::from_millis(self.write_deadline_ms)
    }

    /// [`Self::vanished_ms`] as a time.
    #[must_use]
    pub const fn vanished(&self) -> Duration {
        Duration::from_millis(self.vanished_ms)
    }

    /// [`Self::handshake_ms`] as a time.
    #[must_use]
    pub const fn handshake(&self) -> Duration {
        Duration::from_millis(self.handshake_ms)
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
