//! The twin's connection: bytes in and out, with the faults that lie there.

use crate::bot::Faults;
use serde_json::Value;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// What a line may have, and what the buffer of a careless bot holds.
const LINE: usize = 16 * 1024;
const SMALL: usize = 8 * 1024;
/// As many lines as a careless bot takes from one read.
const FEW: usize = 8;
/// How long an impatient bot waits for the rest of a line.
const REST: Duration = Duration::from_millis(75);

/// One connection.
pub struct Lines {
    stream: TcpStream,
    faults: Faults,
    unread: Vec<u8>,
    /// Lines taken since the last read.
    taken: usize,
}

/// What a read comes to.
pub enum Came {
    Message(Value),
    Alarm,
    Closed,
}

impl Lines {
    pub fn connect(address: &str, faults: Faults, left_over: Vec<u8>) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, faults, unread: left_over, taken: 0 })
    }

    pub fn send(&mut self, message: &Value) {
        // That the link is broken is noticed at the next read.
        let _ = self.stream.write_all(format!("{message}\n").as_bytes());
    }

    /// What is left of a line when the link breaks.
    pub fn into_left_over(self) -> Vec<u8> {
        self.unread
    }

    /// The next message; or the alarm, once its time has come.
    pub fn next(&mut self, alarm: Option<Instant>) -> Came {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                self.taken += 1;
                if self.taken > FEW && self.faults.has("merged-packets") {
                    continue;
                }
                if let Some(message) = self.message(&line) {
                    return Came::Message(message);
                }
                continue;
            }
            let started = Instant::now();
            let left = alarm.map(|alarm| alarm.saturating_duration_since(started));
            if left.is_some_and(|left| left.is_zero()) {
                return Came::Alarm;
            }
            if !self.read(left) {
                return Came::Closed;
            }
        }
    }

    /// Reads once; whether the connection stands.
    fn read(&mut self, mut within: Option<Duration>) -> bool {
        let impatient = !self.unread.is_empty() && self.faults.has("slow-network");
        if impatient {
            within = Some(REST);
        }
        let mut buffer = [0; LINE];
        let ready = self.stream.set_read_timeout(within.map(|time| time.max(Duration::from_millis(1))));
        match ready.and_then(|()| self.stream.read(&mut buffer)) {
            Ok(0) => return false,
            Ok(1) if self.faults.has("split-packets") => {}
            Ok(count) => {
                self.taken = 0;
                self.unread.extend_from_slice(&buffer[..count]);
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                return !impatient;
            }
            Err(_) => return false,
        }
        !(self.faults.has("long-line") && self.unread.len() > SMALL)
    }

    /// The message of a line, if it is one.
    fn message(&self, line: &[u8]) -> Option<Value> {
        let text = std::str::from_utf8(line).ok()?;
        let line = text.trim();
        if line.is_empty() {
            self.faults.fails("empty-lines");
            return None;
        }
        if text.ends_with("\r\n") {
            self.faults.fails("crlf");
        }
        let begins = |start: &str| line.starts_with(start);
        if self.faults.has("spaced-json") && begins("{ ")
            || self.faults.has("shuffled-keys") && begins("{\"") && !begins("{\"type\"") && !begins("{\"\\u")
            || self.faults.has("escaped-texts") && line.contains("\\u0074")
        {
            return None;
        }
        if line.contains(":null") {
            self.faults.fails("null-fields");
        }
        if line.contains("9007199254740991") {
            self.faults.fails("big-numbers");
        }
        serde_json::from_str(line).ok()
    }
}
