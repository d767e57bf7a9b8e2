//! WebSocket on the web port: one connection's frames. They do no input or output of their own: bytes go through them on
//! their way between the socket and the lines, so that moments are taken below them (`transport.websocket`).

use super::layer::Opened;
use crate::metrics::Close;
use axum::http::{Request, Response};
use modiar_protocol::limits::CLIENT_LINE_BYTES;
use std::io::{self, Read, Write};
use tungstenite::error::CapacityError;
use tungstenite::handshake::server::create_response;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

/// A frame's text counts as a line with its newline.
const FRAME_BYTES: usize = CLIENT_LINE_BYTES - 1;
/// What is kept ready to read into, for each connection.
const READ_BYTES: usize = 1024;
/// As a line: no JSON.
const NO_TEXT: &[u8] = b"\0\n";

/// The answer to who asks for a WebSocket.
///
/// # Errors
/// It does not ask as the protocol wants it.
pub fn greeting<B>(request: &Request<B>) -> Result<Response<()>, Error> {
    let mut head = Request::new(());
    head.method_mut().clone_from(request.method());
    *head.version_mut() = request.version();
    head.headers_mut().clone_from(request.headers());
    create_response(&head)
}

/// One connection's frames.
#[derive(Debug)]
pub(crate) struct Frames {
    socket: WebSocket<Pipe>,
    /// Nothing that comes is looked at any more.
    over: Option<Opened>,
}

/// Bytes that came and were not read yet, and bytes that are to go.
#[derive(Debug, Default)]
struct Pipe {
    came: Vec<u8>,
    going: Vec<u8>,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.came.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let length = self.came.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.came[..length]);
        self.came.drain(..length);
        Ok(length)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.going.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Frames {
    /// Those of a connection that was [greeted](greeting).
    pub(super) fn new() -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BYTES)
            .write_buffer_size(0)
            .max_message_size(Some(FRAME_BYTES))
            .max_frame_size(Some(FRAME_BYTES));
        Self { socket: WebSocket::from_raw_socket(Pipe::default(), Role::Server, Some(config)), over: None }
    }

    /// Opens what came from the socket, and lays each frame behind `text` as a line. There may be something to
    /// [`Self::take`] then.
    pub(super) fn open(&mut self, framed: &[u8], text: &mut Vec<u8>) -> Opened {
        if self.over.is_none() {
            self.socket.get_mut().came.extend_from_slice(framed);
            while self.over.is_none() {
                match self.socket.read() {
                    Ok(message) => lay(&message, text),
                    Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => self.over = Some(self.end(&error, text)),
                }
            }
            // What it answers of its own, to a ping or a close: it is asked for by `take`.
            let _ = self.socket.flush();
        }
        self.over.unwrap_or(Opened::Open)
    }

    /// What an error makes of the connection.
    fn end(&mut self, error: &Error, text: &mut Vec<u8>) -> Opened {
        let code = match error {
            Error::ConnectionClosed | Error::AlreadyClosed => return Opened::Closed,
            // The line that it would have been is as long: the session says so, and goodbye.
            Error::Capacity(CapacityError::MessageTooLong { .. }) => {
                text.resize(text.len() + CLIENT_LINE_BYTES, b' ');
                text.push(b'\n');
                return Opened::Open;
            }
            Error::Utf8(_) => CloseCode::Invalid,
            _ => CloseCode::Protocol,
        };
        let _ = self.socket.close(Some(CloseFrame { code, reason: error.to_string().into() }));
        Opened::Broken(Close::WebSocket)
    }

    /// Puts each of these lines into a frame.
    pub(super) fn seal(&mut self, lines: &[u8]) -> io::Result<Vec<u8>> {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let text = str::from_utf8(line).map_err(io::Error::other)?;
            self.socket.write(Message::text(text)).map_err(io::Error::other)?;
        }
        self.take()
    }

    /// What the peer is to be sent.
    pub(super) fn take(&mut self) -> io::Result<Vec<u8>> {
        Ok(std::mem::take(&mut self.socket.get_mut().going))
    }

    /// The last that the peer is sent.
    pub(super) fn close(&mut self) -> io::Result<Vec<u8>> {
        // Where it is closing already there is nothing more to say.
        let _ = self.socket.close(Some(CloseFrame { code: CloseCode::Normal, reason: "".into() }));
        let _ = self.socket.flush();
        self.take()
    }
}

/// Lays a message behind `text` as a line. A newline within it is a blank there, and none where JSON has a text: a return is
/// both here. Whatever else a peer sends counts as an empty line does.
fn lay(message: &Message, text: &mut Vec<u8>) {
    match message {
        Message::Text(line) => {
            text.extend(line.bytes().map(|byte| if byte == b'\n' { b'\r' } else { byte }));
            text.push(b'\n');
        }
        Message::Binary(_) => text.extend_from_slice(NO_TEXT),
        Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => text.push(b'\n'),
        Message::Close(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a client puts on the wire.
    fn said(messages: &[Message]) -> Vec<u8> {
        let mut client = WebSocket::from_raw_socket(Pipe::default(), Role::Client, None);
        for message in messages {
            client.send(message.clone()).unwrap();
        }
        std::mem::take(&mut client.get_mut().going)
    }

    /// What a client reads of it.
    fn read(framed: Vec<u8>) -> Vec<Message> {
        let pipe = Pipe { came: framed, ..Pipe::default() };
        let mut client = WebSocket::from_raw_socket(pipe, Role::Client, None);
        std::iter::from_fn(|| client.read().ok()).collect()
    }

    fn opened(framed: &[u8]) -> (String, Opened, Vec<Message>) {
        let (mut frames, mut text) = (Frames::new(), Vec::new());
        let opened = frames.open(framed, &mut text);
        (String::from_utf8(text).unwrap(), opened, read(frames.take().unwrap()))
    }

    /// `transport.websocket`: whichever way the bytes come.
    #[test]
    fn each_text_frame_is_a_line() {
        let framed = said(&[Message::text("{\"type\":\n\"ping\"}"), Message::text(""), Message::text("caf\u{e9}")]);
        let lines = "{\"type\":\r\"ping\"}\n\ncaf\u{e9}\n";
        assert_eq!(opened(&framed), (lines.to_owned(), Opened::Open, Vec::new()));
        let (mut frames, mut text) = (Frames::new(), Vec::new());
        for byte in &framed {
            assert_eq!(frames.open(&[*byte], &mut text), Opened::Open);
        }
        assert_eq!(text, lines.as_bytes());
    }

    #[test]
    fn each_line_is_a_text_frame() {
        let mut frames = Frames::new();
        assert_eq!(read(frames.seal(b"one\ntwo\n").unwrap()), [Message::text("one"), Message::text("two")]);
        let close = CloseFrame { code: CloseCode::Normal, reason: "".into() };
        assert_eq!(read(frames.close().unwrap()), [Message::Close(Some(close))]);
        assert_eq!(frames.close().unwrap(), b"");
    }

    #[test]
    fn a_ping_counts_as_an_empty_line_and_is_answered() {
        let ping = || Message::Ping(b"here".to_vec().into());
        let (text, opened, answers) = opened(&said(&[ping()]));
        assert_eq!((&*text, opened, answers), ("\n", Opened::Open, vec![Message::Pong(b"here".to_vec().into())]));
    }

    /// One byte within the limit, and at it.
    #[test]
    fn a_frame_is_as_long_as_a_line() {
        for (bytes, line) in [(FRAME_BYTES, FRAME_BYTES), (FRAME_BYTES + 1, CLIENT_LINE_BYTES)] {
            let (text, ..) = opened(&said(&[Message::text("x".repeat(bytes))]));
            assert_eq!(text.len(), line + 1, "{bytes}");
        }
    }

    #[test]
    fn a_binary_frame_is_no_json_and_bytes_that_are_no_frame_end_it() {
        assert_eq!(opened(&said(&[Message::binary(b"{}".to_vec())])).0.as_bytes(), NO_TEXT);
        let broken = |framed: &[u8]| {
            let (text, opened, answers) = opened(framed);
            assert_eq!((&*text, opened), ("", Opened::Broken(Close::WebSocket)));
            match answers.as_slice() {
                [Message::Close(Some(frame))] => frame.code,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(broken(b"{\"type\":\"hello\"}\n"), CloseCode::Protocol);
        // Masked by zeroes, and no UTF-8.
        assert_eq!(broken(b"\x81\x81\0\0\0\0\xff"), CloseCode::Invalid);
        // Not masked.
        assert_eq!(broken(b"\x81\x02{}"), CloseCode::Protocol);
    }

    #[test]
    fn a_peer_s_close_is_answered_once() {
        let close = said(&[Message::Close(None)]);
        let (text, opened, answers) = opened(&[&close[..], &close, &said(&[Message::text("late")])].concat());
        assert_eq!((&*text, opened, answers), ("", Opened::Closed, vec![Message::Close(None)]));
    }
}
