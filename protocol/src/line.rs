//! From bytes to lines, however the network cut them.

use crate::limits::CLIENT_LINE_BYTES;
use thiserror::Error;

/// A line went beyond the limit; no line follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a line has more than {CLIENT_LINE_BYTES} bytes with its newline; send shorter lines")]
pub struct LineTooLong;

/// Cuts a stream of reads into lines (`transport.line`). It holds the unfinished line only, never more than the limit,
/// and nothing at all between lines; whole lines are slices of the caller's read buffer.
#[derive(Debug, Default)]
pub struct Lines {
    /// The part of a line that came in earlier reads.
    partial: Vec<u8>,
    /// `partial` was handed out whole and goes at the next call.
    handed_out: bool,
    /// The limit was passed: the rest is not looked at.
    overflowed: bool,
}

impl Lines {
    /// Takes the next line from the front of `input`, without its `\n` or `\r\n`. `None`: `input` is used up, and the
    /// tail is kept for the next read. A tail that never gets its newline is never a line (`transport.tail`).
    ///
    /// # Errors
    /// [`LineTooLong`] once; after it everything is dropped.
    pub fn next<'a, 'read: 'a>(&'a mut self, input: &mut &'read [u8]) -> Option<Result<&'a [u8], LineTooLong>> {
        if std::mem::take(&mut self.handed_out) {
            self.partial = Vec::new();
        }
        if self.overflowed || input.is_empty() {
            *input = &[];
            return None;
        }
        let newline = memchr::memchr(b'\n', input);
        let length = newline.map_or(input.len(), |at| at + 1);
        // Without its newline a line of the full limit is already too long: the newline is one byte more.
        let spare = usize::from(newline.is_none());
        if self.partial.len() + length + spare > CLIENT_LINE_BYTES {
            self.overflowed = true;
            self.partial = Vec::new();
            *input = &[];
            return Some(Err(LineTooLong));
        }
        let (piece, rest) = input.split_at(length);
        *input = rest;
        if newline.is_some() && self.partial.is_empty() {
            return Some(Ok(without_ending(piece)));
        }
        self.partial.extend_from_slice(piece);
        newline?;
        self.handed_out = true;
        Some(Ok(without_ending(&self.partial)))
    }
}

fn without_ending(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What comes out when the stream arrives in these reads.
    fn lines(reads: &[&[u8]]) -> Vec<Result<Vec<u8>, LineTooLong>> {
        let mut splitter = Lines::default();
        let mut out = Vec::new();
        for read in reads {
            let mut input = *read;
            while let Some(line) = splitter.next(&mut input) {
                out.push(line.map(<[u8]>::to_vec));
            }
        }
        out
    }

    #[test]
    fn lines_come_whole_whatever_the_cuts() {
        assert_eq!(lines(&[b"one\r\ntw", b"o\n\nthree"]), [Ok(b"one".to_vec()), Ok(b"two".to_vec()), Ok(vec![])]);
        assert_eq!(lines(&[b"a\r", b"\n"]), [Ok(b"a".to_vec())]);
    }

    #[test]
    fn the_limit_counts_the_newline() {
        let mut full = vec![b'x'; CLIENT_LINE_BYTES - 1];
        full.push(b'\n');
        assert_eq!(lines(&[&full])[0].as_ref().unwrap().len(), CLIENT_LINE_BYTES - 1);
        let mut over = vec![b'x'; CLIENT_LINE_BYTES];
        assert_eq!(lines(&[&over]), [Err(LineTooLong)]);
        over.push(b'\n');
        assert_eq!(lines(&[&over, b"next\n"]), [Err(LineTooLong)]);
    }

    #[test]
    fn an_endless_line_is_never_kept() {
        let mut splitter = Lines::default();
        for _ in 0..10_000 {
            let mut input = &[b'x'; 1000][..];
            while splitter.next(&mut input).is_some() {}
            assert!(splitter.partial.capacity() <= 2 * CLIENT_LINE_BYTES);
        }
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(text in "[a-c\r\n]{0,200}", cuts in proptest::collection::vec(0usize..200, 0..8)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut reads = Vec::new();
            let mut from = 0;
            for cut in cuts {
                reads.push(&bytes[from..cut]);
                from = cut;
            }
            reads.push(&bytes[from..]);
            prop_assert_eq!(lines(&reads), lines(&[bytes]));
        }
    }
}
