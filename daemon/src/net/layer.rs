//! What lies between a connection's lines and its socket, where they are not bare.

use super::frames::Frames;
use super::tls::Cipher;
use crate::metrics::Close;
use std::io;

/// A layer does no input or output of its own: bytes go through it.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // it is boxed whole
pub(crate) enum Layer {
    Tls(Cipher),
    WebSocket(Frames),
}

/// Whether more can come after what was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// More may come.
    Open,
    /// The peer has said its last.
    Closed,
    /// What came is not of the layer's protocol or was altered, or the peer has refused what it was told.
    Broken(Close),
}

impl Layer {
    /// Whether nothing can be sent yet.
    pub(super) fn is_handshaking(&self) -> bool {
        match self {
            Self::Tls(cipher) => cipher.is_handshaking(),
            Self::WebSocket(_) => false,
        }
    }

    /// Opens what came from the socket, and lays its text behind `text`. There may be something to [`Self::take`] then.
    pub(super) fn open(&mut self, sealed: &[u8], text: &mut Vec<u8>) -> Opened {
        match self {
            Self::Tls(cipher) => cipher.open(sealed, text),
            Self::WebSocket(frames) => frames.open(sealed, text),
        }
    }

    /// Seals these lines, as the socket takes them.
    pub(super) fn seal(&mut self, lines: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Tls(cipher) => cipher.seal(lines),
            Self::WebSocket(frames) => frames.seal(lines),
        }
    }

    /// What the peer is to be sent.
    pub(super) fn take(&mut self) -> io::Result<Vec<u8>> {
        match self {
            Self::Tls(cipher) => cipher.take(),
            Self::WebSocket(frames) => frames.take(),
        }
    }

    /// The last that the peer is sent.
    pub(super) fn close(&mut self) -> io::Result<Vec<u8>> {
        match self {
            Self::Tls(cipher) => cipher.close(),
            Self::WebSocket(frames) => frames.close(),
        }
    }
}
