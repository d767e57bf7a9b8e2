//! One bot of the load: its connection, and the game it is in.

use crate::stamp;
use mio::net::TcpStream;
use std::io::{self, Read as _, Write as _};
use std::time::Duration;

/// An id of a game, as it stands on the wire.
pub type Id = [u8; 33];

/// A move, but for its id and pit.
const MOVE: &[u8] = b"{\"type\":\"move\",\"game\":\"g00000000000000000000000000000000\",\"pit\":0}\n";
/// Where in it the id stands.
const ID: std::ops::Range<usize> = 23..56;
/// Where in it the pit stands.
const PIT: usize = MOVE.len() - 3;

/// A connection and its seat.
#[derive(Debug)]
pub struct Bot {
    pub stream: TcpStream,
    /// The unfinished line of earlier reads.
    pub partial: Vec<u8>,
    /// Where the fleet keeps the time of its game's last move.
    pub game: usize,
    /// The ply that it plays next.
    pub ply: usize,
    line: [u8; MOVE.len()],
}

/// What a line of the server is about.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard<'a> {
    Welcome,
    Started {
        game: Id,
        south: bool,
    },
    Turn,
    Ended,
    /// It needs no answer.
    Other,
    /// Nothing that a bot that keeps to the protocol is ever told.
    Bad(&'a [u8]),
}

impl Bot {
    pub const fn new(stream: TcpStream) -> Self {
        let mut line = [0; MOVE.len()];
        line.copy_from_slice(MOVE);
        Self { stream, partial: Vec::new(), game: 0, ply: 1, line }
    }

    /// Takes a seat.
    pub fn sit(&mut self, game: usize, id: &Id, south: bool) {
        self.game = game;
        self.ply = if south { 1 } else { 2 };
        self.line[ID].copy_from_slice(id);
    }

    /// Plays the next pit of its own.
    pub fn play(&mut self) -> io::Result<()> {
        self.line[PIT] = b'0' + crate::canned::pit(self.ply);
        self.ply += 2;
        write_whole(&mut self.stream, &self.line)
    }

    /// Says something.
    pub fn say(&mut self, line: &[u8]) -> io::Result<()> {
        write_whole(&mut self.stream, line)
    }

    /// One read, and when the kernel got it where it was asked to keep that; 0 bytes where nothing has come after all.
    pub fn read(&mut self, buffer: &mut [u8], stamped: bool) -> io::Result<(usize, Option<Duration>)> {
        let read = if stamped {
            stamp::read(&self.stream, buffer)
        } else {
            self.stream.read(buffer).map(|length| (length, None))
        };
        match read {
            Ok((0, _)) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed a connection")),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok((0, None)),
            read => read,
        }
    }
}

/// Lines this short fit the socket of a bot that answers turn by turn.
fn write_whole(stream: &mut TcpStream, line: &[u8]) -> io::Result<()> {
    if stream.write(line)? == line.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// Understands a line by how it begins: the generator is to cost little, and the server writes `type` first.
pub fn hear(line: &[u8]) -> Heard<'_> {
    let Some(rest) = line.strip_prefix(b"{\"type\":\"") else { return Heard::Bad(line) };
    let kind = &rest[..memchr::memchr(b'"', rest).unwrap_or(0)];
    match kind {
        b"turn" => Heard::Turn,
        b"ended" => Heard::Ended,
        b"welcome" => Heard::Welcome,
        b"started" => started(rest).unwrap_or(Heard::Bad(line)),
        b"seeking" | b"seek_ended" => Heard::Other,
        _ => Heard::Bad(line),
    }
}

fn started(line: &[u8]) -> Option<Heard<'static>> {
    let after = |key: &[u8]| memchr::memmem::find(line, key).map(|at| &line[at + key.len()..]);
    let game = *after(b"\"game\":\"")?.first_chunk()?;
    Some(Heard::Started { game, south: after(b"\"side\":\"")?.starts_with(b"south") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_has_its_id_and_pit_where_they_are_put() {
        assert_eq!(MOVE[ID].len(), 33);
        assert_eq!((MOVE[ID.start - 1], MOVE[ID.start], MOVE[ID.end]), (b'"', b'g', b'"'));
        assert_eq!(MOVE[PIT], b'0');
        serde_json::from_slice::<serde_json::Value>(MOVE).unwrap();
    }

    #[test]
    fn lines_are_told_apart() {
        let id = b"g0192f0c1a2b37c4d8e5f60718293a4b5";
        let started = br#"{"type":"started","game":"g0192f0c1a2b37c4d8e5f60718293a4b5","rated":false,"side":"north"}"#;
        assert_eq!(hear(started), Heard::Started { game: *id, south: false });
        assert_eq!(hear(br#"{"type":"turn","game":"#), Heard::Turn);
        assert_eq!(hear(br#"{"type":"seek_ended","pool":"#), Heard::Other);
        assert_eq!(hear(b"{\"type\":\"goodbye\"}"), Heard::Bad(b"{\"type\":\"goodbye\"}"));
    }
}
