//! What commands read, line by line, and write: files, stdin and stdout.

use crate::records::printable;
use crate::store::LINE;
use anyhow::{Context as _, bail};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Write as _, stdin};
use std::path::Path;

/// How files begin that gzip and zstd have packed.
const PACKED: [&[u8]; 2] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];

/// A file, or stdin, whose lines are numbered from 1.
pub(super) struct Input {
    /// What people call it.
    name: String,
    /// Its bytes, where somebody knows.
    length: Option<u64>,
    reader: Box<dyn BufRead>,
    number: u64,
    line: Vec<u8>,
}

impl Input {
    /// The file at `path`, or stdin where that is `-`.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        if path == "-" {
            return Ok(Self::stdin());
        }
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| advice(&name))?;
        let length = file.metadata().map(|data| data.len()).ok().filter(|length| *length > 0);
        Ok(Self::new(name, length, Box::new(BufReader::with_capacity(1 << 16, file))))
    }

    pub(super) fn stdin() -> Self {
        Self::new("stdin".to_owned(), None, Box::new(stdin().lock()))
    }

    fn new(name: String, length: Option<u64>, reader: Box<dyn BufRead>) -> Self {
        Self { name, length, reader, number: 0, line: Vec::new() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) const fn length(&self) -> Option<u64> {
        self.length
    }

    /// The next line without its end, `\n` or `\r\n`, with its number.
    pub(super) fn line(&mut self) -> anyhow::Result<Option<(u64, &[u8])>> {
        self.line.clear();
        let read = self.reader.by_ref().take(LINE + 1).read_until(b'\n', &mut self.line);
        if read.with_context(|| advice(&self.name))? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.number == 1 && PACKED.iter().any(|magic| self.line.starts_with(magic)) {
            bail!("{} is packed; unpack it first, as by zcat or zstdcat, to stdin and name -", self.name);
        }
        if self.line.len() as u64 > LINE {
            bail!("{} line {}: it is longer than {LINE} bytes: is this the right file?", self.name, self.number);
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        Ok(Some((self.number, line.strip_suffix(b"\r").unwrap_or(line))))
    }
}

fn advice(name: &str) -> String {
    format!("{name}: name a file that can be read, or - for stdin")
}

/// Writes data to stdout. A reader that has gone, as `head` does, is no fault of ours.
pub(super) fn write_stdout(data: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout();
    let written = stdout.write_all(data).and_then(|()| stdout.flush());
    written
        .or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
        .context(UNWRITABLE)
}

/// Writes a text for people to stdout.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    write_stdout(printable(text).as_bytes())
}

/// What stdout is told to be where it takes nothing more.
pub(super) const UNWRITABLE: &str = "stdout cannot be written";

/// stdout of a command that writes as long as there is something: once its reader has gone the command is done.
pub(super) struct Stdout(pub(super) io::Stdout);

impl Stdout {
    fn unless_gone<T>(done: io::Result<T>) -> io::Result<T> {
        match done {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
            done => done,
        }
    }
}

impl io::Write for Stdout {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        Self::unless_gone(self.0.write(data))
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::unless_gone(self.0.flush())
    }
}

/// An error and what caused it; a cause that the text before it tells already is not told twice.
pub(super) fn told(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |text, cause| {
        if text.is_empty() {
            cause
        } else if text.contains(&cause) {
            text
        } else {
            format!("{text}: {cause}")
        }
    })
}
