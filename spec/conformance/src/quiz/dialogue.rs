//! A program that is asked a question at a time, by lines on its stdin and stdout. Whatever it does, it is waited for only so
//! long, and only so much of it is kept.

use super::question::clipped;
use crate::bot::Process;
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

/// The longest line that is read of an answer, its end included, in bytes.
const LINE_BYTES: u64 = 16 * 1024;
/// How long a program may take to end whose stdout has ended.
const LAST_STEPS: Duration = Duration::from_millis(500);

/// What was read of the program's stdout.
enum Heard {
    Line(Vec<u8>),
    TooLong,
}

/// A program that runs. It and all that it started end with this value.
pub(super) struct Dialogue {
    process: Process,
    /// To the thread that writes; none once stdin is closed.
    questions: Option<SyncSender<String>>,
    /// Of the thread that reads, at most one line ahead.
    heard: Receiver<Heard>,
}

impl Dialogue {
    pub(super) fn start(command: &[OsString]) -> io::Result<Self> {
        let (process, stdin, stdout) = Process::asked(command)?;
        let (questions, to_write) = sync_channel(1);
        let (to_hear, heard) = sync_channel(1);
        if let Some((stdin, stdout)) = stdin.zip(stdout) {
            // Each ends with its pipe or with this value, whichever is first.
            thread::spawn(move || write(stdin, &to_write));
            thread::spawn(move || read(BufReader::new(stdout), &to_hear));
        }
        Ok(Self { process, questions: Some(questions), heard })
    }

    /// The answer, or what came in its place.
    pub(super) fn ask(&self, question: &str, patience: Duration) -> Result<Map<String, Value>, String> {
        match self.heard.try_recv() {
            Ok(heard) => return Err(format!("before the question {}", told(&heard))),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
        }
        let line = format!("{question}\n");
        if let Some(Err(TrySendError::Full(_))) = self.questions.as_ref().map(|to| to.try_send(line)) {
            return Err("a line before the question could be written to its stdin".to_owned());
        }
        match self.heard.recv_timeout(patience) {
            Ok(Heard::Line(line)) => serde_json::from_slice(&line).map_err(|_| told(&Heard::Line(line))),
            Ok(Heard::TooLong) => Err(told(&Heard::TooLong)),
            Err(RecvTimeoutError::Timeout) => Err(format!("nothing within {} s", patience.as_secs())),
            Err(RecvTimeoutError::Disconnected) => Err(self.last_words()),
        }
    }

    /// Closes stdin, and waits for the program's end; what came in its place.
    pub(super) fn end(&mut self, patience: Duration) -> Result<(), String> {
        self.questions = None;
        let status = self.process.ends_within(patience);
        if let Ok(heard) = self.heard.try_recv() {
            return Err(format!("without a question {}", told(&heard)));
        }
        match status {
            Some(0) => Ok(()),
            Some(status) => Err(format!("its end with status {status}")),
            None => Err(format!("nothing within {} s, it still runs", patience.as_secs())),
        }
    }

    /// What it wrote last to stderr.
    pub(super) fn stderr(&self) -> String {
        self.process.stderr()
    }

    /// Why there is no more to hear.
    fn last_words(&self) -> String {
        let status = self.process.ends_within(LAST_STEPS);
        self.process.read_out();
        status.map_or_else(|| "the end of its stdout".to_owned(), |status| format!("its end with status {status}"))
    }
}

fn told(heard: &Heard) -> String {
    match heard {
        Heard::Line(line) => {
            let is_object = serde_json::from_slice::<Map<String, Value>>(line).is_ok();
            let line = clipped(String::from_utf8_lossy(line).trim_end());
            format!("a line{}: {line}", if is_object { "" } else { " that is no JSON object" })
        }
        Heard::TooLong => format!("a line of more than {LINE_BYTES} bytes"),
    }
}

fn write(mut stdin: impl Write, questions: &Receiver<String>) {
    for question in questions {
        // Who reads no more has ended, or will be found not to answer.
        if stdin.write_all(question.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            break;
        }
    }
}

fn read(mut stdout: BufReader<impl Read>, to_hear: &SyncSender<Heard>) {
    loop {
        let mut line = Vec::new();
        let heard = match stdout.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) if line.ends_with(b"\n") || (line.len() as u64) < LINE_BYTES => Heard::Line(line),
            Ok(_) => Heard::TooLong,
        };
        let ends = matches!(heard, Heard::TooLong);
        if to_hear.send(heard).is_err() || ends {
            break;
        }
    }
}
