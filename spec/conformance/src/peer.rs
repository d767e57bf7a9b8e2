//! One end of a connection, scripted.

use serde_json::Value;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};
use thiserror::Error;

/// How long a line that must come may take, unless a caller says otherwise.
const PATIENCE: Duration = Duration::from_secs(10);
/// A line is read to so many bytes: more than any server may write.
const LONGEST: usize = 64 * 1024;

/// A client that sends and reads lines as they are.
#[derive(Debug)]
pub struct Peer {
    stream: TcpStream,
    lines: BufReader<TcpStream>,
    /// A line that came in part when its time was over.
    partial: Vec<u8>,
}

/// What came instead of what was awaited.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum PeerError {
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    #[error("no line came within {0:?}")]
    Silence(Duration),
    #[error("the server closed the connection")]
    Closed,
    #[error("the server closed the connection within a line: {0}")]
    Cut(String),
    #[error("a line of more than {LONGEST} bytes came")]
    TooLong,
    #[error("the line is no JSON: {0}")]
    NotJson(String),
    #[error("a '{wanted}' was awaited, this came: {line}")]
    Other { wanted: String, line: Value },
}

impl Peer {
    /// Connects.
    ///
    /// # Errors
    /// Nobody listens there.
    pub fn connect(address: impl ToSocketAddrs) -> io::Result<Self> {
        Self::over(TcpStream::connect(address)?)
    }

    /// Takes a connection that is made.
    ///
    /// # Errors
    /// It is broken.
    pub fn over(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let lines = BufReader::with_capacity(64 * 1024, stream.try_clone()?);
        Ok(Self { stream, lines, partial: Vec::new() })
    }

    /// The socket, for whoever must do with it what no client should.
    #[must_use]
    pub const fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends one message as one compact line.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn send(&mut self, message: &Value) -> io::Result<()> {
        self.send_bytes(format!("{message}\n").as_bytes())
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Ends the sending half.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn finish(&mut self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)
    }

    /// The next line, without its newline; waits for it no longer than `patience`.
    ///
    /// # Errors
    /// None came, or the connection ended.
    pub fn line_within(&mut self, patience: Duration) -> Result<String, PeerError> {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            self.stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
            let came = match self.lines.fill_buf() {
                Ok(came) => came,
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    return Err(PeerError::Silence(patience));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Err(PeerError::Closed),
                Err(error) => return Err(error.into()),
            };
            if came.is_empty() {
                return Err(self.cut());
            }
            let end = came.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(came.len(), |end| end + 1);
            self.partial.extend_from_slice(&came[..end.unwrap_or(taken)]);
            self.lines.consume(taken);
            if self.partial.len() > LONGEST {
                return Err(PeerError::TooLong);
            }
            if end.is_some() {
                let line = std::mem::take(&mut self.partial);
                return String::from_utf8(line).map_err(|error| PeerError::NotJson(error.to_string()));
            }
            if left.is_zero() {
                // What comes a byte at a time is no line in time.
                return Err(PeerError::Silence(patience));
            }
        }
    }

    /// What the end of the connection comes to.
    fn cut(&self) -> PeerError {
        match self.partial.as_slice() {
            [] => PeerError::Closed,
            partial => PeerError::Cut(String::from_utf8_lossy(partial).into_owned()),
        }
    }

    /// The next message.
    ///
    /// # Errors
    /// None came in time, or it is no JSON.
    pub fn read(&mut self) -> Result<Value, PeerError> {
        let line = self.line_within(PATIENCE)?;
        serde_json::from_str(&line).map_err(|_| PeerError::NotJson(line))
    }

    /// The next message, which must be of that type.
    ///
    /// # Errors
    /// None came in time, or another one.
    pub fn expect(&mut self, wanted: &str) -> Result<Value, PeerError> {
        let line = self.read()?;
        if line["type"] == wanted { Ok(line) } else { Err(PeerError::Other { wanted: wanted.to_owned(), line }) }
    }

    /// Reads past other messages to the next of that type.
    ///
    /// # Errors
    /// None came in time.
    pub fn skip_to(&mut self, wanted: &str) -> Result<Value, PeerError> {
        loop {
            let line = self.read()?;
            if line["type"] == wanted {
                return Ok(line);
            }
        }
    }

    /// Waits for the server to close, reading past whatever comes before.
    ///
    /// # Errors
    /// It did not.
    pub fn expect_close(&mut self) -> Result<(), PeerError> {
        loop {
            match self.line_within(PATIENCE) {
                Ok(_) => {}
                Err(PeerError::Closed) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}
