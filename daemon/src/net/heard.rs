//! The last lines that came from a bot: kept while it plays, as evidence of what it said should it forfeit a game.

use crate::clock::Moment;

/// Bytes of lines that are kept, their frames included; the last line is kept whole.
const KEPT: usize = 192;
/// Before each line: when it came, and its length.
const FRAME: usize = 10;

/// Lines as they came, the oldest first. Nothing is kept, and no memory taken, before the first.
#[derive(Debug, Default)]
pub(super) struct Heard(Vec<u8>);

impl Heard {
    /// None.
    pub(super) const fn nothing() -> Self {
        Self(Vec::new())
    }

    /// One more came; those that no longer fit are forgotten.
    pub(super) fn note(&mut self, at: Moment, line: &[u8]) {
        // No line is longer than the protocol's bound, which two bytes tell.
        let Ok(length) = u16::try_from(line.len()) else { return };
        let mut kept = self.0.len();
        while kept > 0 && kept + FRAME + line.len() > KEPT {
            kept -= self.frame(self.0.len() - kept).map_or(kept, |(_, line)| FRAME + line.len());
        }
        self.0.drain(..self.0.len() - kept);
        // A long line was there: its room is given back.
        if self.0.capacity() > KEPT {
            self.0.shrink_to(KEPT);
        }
        self.0.reserve_exact(KEPT.max(FRAME + line.len()) - kept);
        self.0.extend_from_slice(&at.0.to_le_bytes());
        self.0.extend_from_slice(&length.to_le_bytes());
        self.0.extend_from_slice(line);
    }

    /// The lines, and when each came.
    pub(super) fn lines(&self) -> Vec<(Moment, Vec<u8>)> {
        let (mut lines, mut at) = (Vec::new(), 0);
        while let Some((came, line)) = self.frame(at) {
            at += FRAME + line.len();
            lines.push((came, line.to_vec()));
        }
        lines
    }

    fn frame(&self, at: usize) -> Option<(Moment, &[u8])> {
        let (came, rest) = self.0.get(at..)?.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        Some((Moment(u64::from_le_bytes(*came)), rest.get(..usize::from(u16::from_le_bytes(*length)))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(heard: &Heard) -> Vec<(u64, String)> {
        heard.lines().into_iter().map(|(at, line)| (at.0, String::from_utf8(line).unwrap())).collect()
    }

    #[test]
    fn the_last_lines_are_kept_as_many_as_fit_and_the_last_one_whole() {
        let mut heard = Heard::default();
        assert_eq!(told(&heard), []);
        let line = |number: usize| format!("line {number}");
        for number in 0..100 {
            heard.note(Moment(number as u64), line(number).as_bytes());
            let kept = told(&heard);
            assert_eq!(kept.last().unwrap(), &(number as u64, line(number)));
            assert_eq!(kept.len(), (number + 1).min(KEPT / (FRAME + line(number).len())), "{kept:?}");
            assert!(heard.0.capacity() <= KEPT);
        }
        let long = "x".repeat(4096);
        heard.note(Moment(7), long.as_bytes());
        assert_eq!(told(&heard), [(7, long)]);
        heard.note(Moment(8), b"");
        assert_eq!((told(&heard), heard.0.capacity()), (vec![(8, String::new())], KEPT));
    }
}
