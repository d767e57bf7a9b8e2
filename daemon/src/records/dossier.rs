//! What a forfeit was: the evidence that its bot's author needs to see why, kept beside the record (`forfeit.dossier`).

use super::printable;
use modiar_protocol::{BotName, GameId, Sides, Termination};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// The evidence of one forfeit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dossier {
    /// The game.
    pub game: GameId,
    /// Who forfeited it; in a server error who was to move.
    pub bot: BotName,
    /// Its side.
    pub side: String,
    /// How the game ended.
    pub termination: Termination,
    /// The clause that this follows from.
    pub clause: String,
    /// The ply that it was to play.
    pub ply: u32,
    /// The arithmetic of that turn, where one was running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<DossierClock>,
    /// The last lines that came from either, oldest first.
    pub heard: Sides<Vec<HeardLine>>,
    /// The last turn that either was told, as it was first written.
    pub turns: Sides<Option<String>>,
}

/// How a turn was charged, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DossierClock {
    /// From the turn's writing to the arrival, the server's own delay taken off.
    pub elapsed_us: u64,
    /// That delay.
    pub own_us: u64,
    /// What is never charged.
    pub grace_us: u64,
    /// What was charged.
    pub charged_us: u64,
    /// Most that might have been.
    pub allowed_us: u64,
}

/// A line as it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeardLine {
    /// How long before the end of the game, in microseconds.
    pub before_end_us: u64,
    /// Its bytes without the line's end, where they are text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its bytes in hex, where they are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hex: Option<String>,
}

impl HeardLine {
    /// A line that came so long before the end. Tokens in it are made unreadable.
    #[must_use]
    pub fn new(before_end_us: u64, bytes: &[u8]) -> Self {
        match String::from_utf8(without_tokens(bytes)) {
            Ok(text) => Self { before_end_us, text: Some(text), hex: None },
            Err(bytes) => Self { before_end_us, text: None, hex: Some(hex(bytes.as_bytes())) },
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// A bot may say its token where it does not belong, spelled in any way and torn: of hex digits in a row, but those of an id,
/// nothing is kept.
fn without_tokens(line: &[u8]) -> Vec<u8> {
    /// Fewer are guessed as fast.
    const FEW: usize = 16;
    const OF_AN_ID: usize = 32;
    let (mut clean, mut at) = (line.to_vec(), 0);
    while at < line.len() {
        let (mut end, mut digits) = (at, 0);
        while let Some((bytes, counts)) = digit(&line[end..]) {
            end += bytes;
            digits += usize::from(counts);
        }
        let is_id = digits == OF_AN_ID && line[..at].ends_with(b"g");
        if digits >= FEW && !is_id {
            clean[at..end].fill(b'*');
        }
        at = end.max(at + 1);
    }
    clean
}

/// How many bytes the hex digit has that `line` begins with, and whether it counts: the zero bytes of UTF-16 do not.
fn digit(line: &[u8]) -> Option<(usize, bool)> {
    match *line {
        [0, ..] => Some((1, false)),
        [digit, ..] if digit.is_ascii_hexdigit() => Some((1, true)),
        [b'\\', b'u', b'0', b'0', b'3', b'0'..=b'9', ..] | [b'\\', b'u', b'0', b'0', b'4' | b'6', b'1'..=b'6', ..] => {
            Some((6, true))
        }
        _ => None,
    }
}

impl Dossier {
    /// As a page of text.
    #[must_use]
    pub fn told(&self) -> String {
        let mut page = format!(
            "{} ({}) forfeited game {} by {} at ply {}: {}\n",
            self.bot, self.side, self.game, self.termination, self.ply, self.clause
        );
        if let Some(clock) = self.clock {
            let DossierClock { elapsed_us, own_us, grace_us, charged_us, allowed_us } = clock;
            let _ = writeln!(
                page,
                "\nclock, in us\n{:>14} from the turn's writing to the arrival\n{own_us:>14} of it the server's own \
                 delay, not charged\n{grace_us:>14} grace, not charged\n{charged_us:>14} charged\n{allowed_us:>14} allowed",
                elapsed_us.saturating_add(own_us)
            );
        }
        for (side, heard, turn) in
            [("south", &self.heard.south, &self.turns.south), ("north", &self.heard.north, &self.turns.north)]
        {
            let _ = writeln!(page, "\n{side}, the last lines that came (ms before the end)");
            for line in heard {
                let ms = line.before_end_us / 1000;
                let bytes = match (&line.text, &line.hex) {
                    (Some(text), _) => printable(text),
                    (None, hex) => format!("bytes {}", hex.as_deref().unwrap_or_default()),
                };
                let _ = writeln!(page, "{ms:>14}  {bytes}");
            }
            if heard.is_empty() {
                let _ = writeln!(page, "{:>14}  none", "-");
            }
            let _ = writeln!(page, "{side}, the last turn that was told\n  {}", turn.as_deref().unwrap_or("none"));
        }
        let _ = writeln!(page, "\nreplay: modiar games show {}", self.game);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_kept_to_the_byte_and_a_token_in_it_is_not() {
        let line = HeardLine::new(5, b"{\"type\":\"move\" ,\"pit\":\"2\"}\r");
        assert_eq!(line.text.as_deref(), Some("{\"type\":\"move\" ,\"pit\":\"2\"}\r"));
        assert_eq!(HeardLine::new(5, b"\xff\x00").hex.as_deref(), Some("ff00"));
        let (game, digits) = (format!("g{}", "0123456789abcdef".repeat(2)), "0123456789abcDEF".repeat(4));
        let escaped: String = digits.chars().map(|digit| format!("\\u00{:02x}", u32::from(digit))).collect();
        let wide: String = digits.chars().flat_map(|digit| [digit, '\0']).collect();
        for (token, hidden) in [(&digits[..], 64), (&digits[..32], 32), (&escaped, 384), (&wide, 128)] {
            let said = HeardLine::new(5, format!("{game} modiar-{token}, modiar-bot {token}").as_bytes()).text.unwrap();
            assert_eq!(said, format!("{game} modiar-{0}, modiar-bot {0}", "*".repeat(hidden)));
        }
        let no_text = HeardLine::new(5, &[b"caf\xe9 ", digits.as_bytes()].concat()).hex.unwrap();
        assert_eq!(no_text, format!("636166e920{}", "2a".repeat(64)));
    }
}
