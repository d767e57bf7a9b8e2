//! The messages of every ply, read and written by hand: through serde a ply would spend more on them than on its referee.
//! The tests hold each to the text that serde reads and writes.

use crate::GameId;
use crate::client::Move;
use crate::server::{Last, Moved, Turn};
use crate::wire::{Sides, side_word};
use modiar_rules::Pit;

/// Bytes of a line that is seldom exceeded.
const LINE_BYTES: usize = 384;
/// Digits of the largest ply.
const PLY_DIGITS: usize = 10;

/// A move as nearly every program writes it: `{"type":"move","game":"g…","pit":3}`, with a `ply` behind it or none, and
/// after every colon and comma a space or none. Whatever else a line is, it is left to the strict reading.
pub(crate) fn read_move(line: &[u8]) -> Option<Move> {
    let rest = value(line.strip_prefix(b"{")?, b"\"type\":")?.strip_prefix(b"\"move\"")?;
    let rest = value(next(rest)?, b"\"game\":")?.strip_prefix(b"\"")?;
    let (id, rest) = rest.split_at_checked(rest.iter().position(|byte| *byte == b'"')?)?;
    let game = Some(GameId::read(str::from_utf8(id).ok()?)).filter(|game| *game != GameId::NOWHERE)?;
    let (pit, rest) = value(next(rest.strip_prefix(b"\"")?)?, b"\"pit\":")?.split_first()?;
    let pit = Pit::new(pit.wrapping_sub(b'0'))?;
    if rest == b"}" {
        return Some(Move { game, pit, ply: None });
    }
    let ply = value(next(rest)?, b"\"ply\":")?.strip_suffix(b"}")?;
    Some(Move { game, pit, ply: Some(read_ply(ply)?) })
}

/// What stands behind a comma.
fn next(rest: &[u8]) -> Option<&[u8]> {
    rest.strip_prefix(b",").map(after_space)
}

/// What stands behind a key and its colon.
fn value<'a>(rest: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    rest.strip_prefix(key).map(after_space)
}

fn after_space(rest: &[u8]) -> &[u8] {
    rest.strip_prefix(b" ").unwrap_or(rest)
}

fn read_ply(digits: &[u8]) -> Option<u32> {
    let plain =
        matches!(digits, [b'1'..=b'9', ..]) && digits.len() <= PLY_DIGITS && digits.iter().all(u8::is_ascii_digit);
    if plain { str::from_utf8(digits).ok()?.parse().ok() } else { None }
}

/// Appends to a line.
struct Pen<'a>(&'a mut Vec<u8>);

impl Pen<'_> {
    fn text(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    fn number(&mut self, number: u64) -> &mut Self {
        self.text(itoa::Buffer::new().format(number))
    }

    fn list(&mut self, numbers: impl Iterator<Item = u8>) -> &mut Self {
        let mut before = "[";
        for number in numbers {
            self.text(before).number(number.into());
            before = ",";
        }
        self.text(if before == "[" { "[]" } else { "]" })
    }

    fn sides<T: Into<u64>>(&mut self, Sides { south, north }: Sides<T>) -> &mut Self {
        self.text("{\"south\":").number(south.into()).text(",\"north\":").number(north.into()).text("}")
    }

    fn last(&mut self, last: &Last) -> &mut Self {
        self.text("\"ply\":").number(last.ply.into()).text(",\"side\":\"").text(side_word(last.side));
        self.text("\",\"pit\":").number(last.pit.index().into()).text(",\"taken\":").number(last.taken.into());
        self.text(",\"elapsed_ms\":").number(last.elapsed_ms)
    }
}

impl Turn {
    /// Appends the message as one line to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.reserve(LINE_BYTES);
        let mut pen = Pen(out);
        pen.text("{\"type\":\"turn\",\"game\":\"").text(self.game.as_str());
        pen.text("\",\"ply\":").number(self.ply.into()).text(",\"side\":\"").text(side_word(self.side));
        pen.text("\",\"pits\":").list(self.pits.into_iter()).text(",\"captured\":").sides(self.captured);
        pen.text(",\"legal\":").list(self.legal.0.iter().map(Pit::index));
        pen.text(",\"remaining_ms\":").sides(self.remaining_ms);
        if let Some(last) = &self.last {
            pen.text(",\"last\":{").last(last).text("}");
        }
        pen.text("}\n");
    }
}

impl Moved {
    /// Appends the message as one line to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.reserve(LINE_BYTES);
        let Self { game, ply, side, pit, taken, elapsed_ms, pits, captured, remaining_ms } = *self;
        let mut pen = Pen(out);
        pen.text("{\"type\":\"moved\",\"game\":\"").text(game.as_str()).text("\",");
        pen.last(&Last { ply, side, pit, taken, elapsed_ms });
        pen.text(",\"pits\":").list(pits.into_iter()).text(",\"captured\":").sides(captured);
        pen.text(",\"remaining_ms\":").sides(remaining_ms).text("}\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{ClientMessage, Incoming, read_strictly};
    use crate::{PitList, ServerMessage};
    use modiar_rules::{PitSet, Side};
    use proptest::prelude::*;
    use uuid::Uuid;

    fn side() -> impl Strategy<Value = Side> {
        prop_oneof![Just(Side::South), Just(Side::North)]
    }

    fn pit() -> impl Strategy<Value = Pit> {
        (0u8..6).prop_map(|index| Pit::new(index).unwrap())
    }

    fn sides<T: Copy + std::fmt::Debug>(one: impl Strategy<Value = T> + Clone) -> impl Strategy<Value = Sides<T>> {
        (one.clone(), one).prop_map(|(south, north)| Sides { south, north })
    }

    fn last() -> impl Strategy<Value = Last> {
        (any::<u32>(), side(), pit(), any::<u8>(), any::<u64>()).prop_map(|(ply, side, pit, taken, elapsed_ms)| Last {
            ply,
            side,
            pit,
            taken,
            elapsed_ms,
        })
    }

    prop_compose! {
        fn turn()(
            id in any::<u128>(), ply in any::<u32>(), side in side(), pits in any::<[u8; 6]>(),
            captured in sides(any::<u8>()), legal in proptest::collection::vec(pit(), 0..6),
            remaining_ms in sides(any::<u64>()), last in proptest::option::of(last()),
        ) -> Turn {
            let legal = PitList(legal.into_iter().collect::<PitSet>());
            Turn { game: GameId::new(Uuid::from_u128(id)), ply, side, pits, captured, legal, remaining_ms, last }
        }
    }

    /// What serde makes of a message, and what stands in its line.
    fn both(message: &ServerMessage) -> (String, String) {
        (serde_json::to_string(message).unwrap() + "\n", String::from_utf8(message.to_line()).unwrap())
    }

    proptest! {
        #[test]
        fn a_line_is_what_serde_writes(turn in turn(), Last { ply, side, pit, taken, elapsed_ms } in last()) {
            let Turn { game, pits, captured, remaining_ms, .. } = turn;
            let moved = Moved { game, ply, side, pit, taken, elapsed_ms, pits, captured, remaining_ms };
            for message in [ServerMessage::Turn(turn), ServerMessage::Moved(moved)] {
                let (serde, ours) = both(&message);
                prop_assert_eq!(ours, serde);
            }
        }

        /// A move in some of the many ways to write it, a byte of it changed at times: what is read here is what the
        /// strict reading has it to be.
        #[test]
        fn a_move_is_what_the_strict_reading_reads(
            id in any::<u128>(), pit in 0u8..8, ply in proptest::option::of(0u64..10_000_000_000), colon in " ?", comma in " ?",
            change in proptest::option::of((any::<prop::sample::Index>(), any::<u8>())),
        ) {
            let game = GameId::new(Uuid::from_u128(id));
            let ply = ply.map_or_else(String::new, |ply| format!(",{comma}\"ply\":{colon}{ply}"));
            let text = format!(
                "{{\"type\":{colon}\"move\",{comma}\"game\":{colon}\"{game}\",{comma}\"pit\":{colon}{pit}{ply}}}"
            );
            let mut line = text.into_bytes();
            let plain = change.is_none();
            if let Some((at, byte)) = change {
                let at = at.index(line.len());
                line[at] = byte;
            }
            let strict = read_strictly(&line);
            let ours = read_move(&line).map(|wanted| Incoming { message: ClientMessage::Move(wanted), reference: None });
            match ours {
                Some(ours) => prop_assert_eq!(Ok(ours), strict),
                None => prop_assert!(!plain || strict.is_err(), "a plain move went the long way"),
            }
        }
    }
}
