//! The bot as a process of its own, with all that it starts.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// As many of its last bytes are kept of each stream.
const KEPT_BYTES: usize = 16 * 1024;
/// How long the streams of a bot that has ended may stay open: something that it started may hold them.
const STREAMS_END: Duration = Duration::from_millis(200);
/// Between two looks at a process.
const LOOK: Duration = Duration::from_millis(2);
/// What a server's address is called in a bot's environment, and what a bot must not find there by chance.
const SETTINGS: [&str; 6] = ["MODIAR_HOST", "MODIAR_PORT", "MODIAR_NAME", "MODIAR_TOKEN", "MODIAR_TLS", "MODIAR_CA"];

/// The bots that run, by the number of their process group.
static RUNNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Ends every bot that a kit has started, and this program: no other bot is started in between.
pub fn exit(status: i32) -> ! {
    let running = lock(&RUNNING);
    running.iter().copied().for_each(kill);
    std::process::exit(status)
}

/// Who the bot is told to be.
pub(crate) struct Identity<'a> {
    pub(crate) port: u16,
    pub(crate) name: &'a str,
    pub(crate) token: Option<&'a str>,
}

/// A bot that runs. Its process group ends with this value.
pub(crate) struct Process {
    child: Child,
    pid: Pid,
    /// Kept open, so that only a check that says so ends it.
    _stdin: Option<ChildStdin>,
    stdout: Stream,
    stderr: Stream,
}

impl Process {
    /// Starts the command as this bot; `secrets` are looked for in all that it writes.
    pub(crate) fn start(
        command: &[OsString],
        who: &Identity<'_>,
        stdin: Stdio,
        secrets: &[&'static str],
    ) -> io::Result<Self> {
        let mut command = silent(command)?;
        command.stdin(stdin);
        command.env("MODIAR_HOST", "127.0.0.1").env("MODIAR_PORT", who.port.to_string()).env("MODIAR_NAME", who.name);
        if let Some(token) = who.token {
            command.env("MODIAR_TOKEN", token);
        }
        let mut process = Self::spawn(command, secrets)?;
        process.stdout = Stream::follow(process.child.stdout.take(), secrets);
        process._stdin = process.child.stdin.take();
        Ok(process)
    }

    /// Starts the command as a program that is asked and answers, and knows no server.
    pub(crate) fn asked(command: &[OsString]) -> io::Result<(Self, Option<ChildStdin>, Option<ChildStdout>)> {
        let mut command = silent(command)?;
        command.stdin(Stdio::piped());
        let mut process = Self::spawn(command, &[])?;
        let (stdin, stdout) = (process.child.stdin.take(), process.child.stdout.take());
        Ok((process, stdin, stdout))
    }

    fn spawn(mut command: Command, secrets: &[&'static str]) -> io::Result<Self> {
        let mut running = lock(&RUNNING);
        let mut child = command.spawn()?;
        let pid = Pid::from_child(&child);
        running.insert(pid.as_raw_nonzero().get());
        drop(running);
        let stderr = Stream::follow(child.stderr.take(), secrets);
        Ok(Self { pid, _stdin: None, stdout: Stream(Arc::default()), stderr, child })
    }

    /// The exit status, if the bot has ended; 128 and the signal where one ended it. It is not waited for, so that the
    /// number of its group stays its own.
    pub(crate) fn status(&self) -> Option<i32> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let ended = waitid(WaitId::Pid(self.pid), options).ok().flatten()?;
        ended.exit_status().or_else(|| ended.terminating_signal().map(|signal| 128 + signal))
    }

    /// The exit status, once it ends within this time.
    pub(crate) fn ends_within(&self, time: Duration) -> Option<i32> {
        let deadline = Instant::now() + time;
        loop {
            match self.status() {
                None if Instant::now() < deadline => thread::sleep(LOOK),
                status => return status,
            }
        }
    }

    /// Waits until the streams of a bot that has ended are read to their ends.
    pub(crate) fn read_out(&self) {
        let deadline = Instant::now() + STREAMS_END;
        while Instant::now() < deadline && !(lock(&self.stdout.0).ended && lock(&self.stderr.0).ended) {
            thread::sleep(LOOK);
        }
    }

    /// The last that it wrote to stderr.
    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&lock(&self.stderr.0).kept).into_owned()
    }

    /// Whether it wrote a secret, and where.
    pub(crate) fn leak(&self) -> Option<&'static str> {
        let streams = [("stdout", &self.stdout), ("stderr", &self.stderr)];
        streams.into_iter().find(|(_, stream)| lock(&stream.0).leaked).map(|(name, _)| name)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let group = self.pid.as_raw_nonzero().get();
        kill(group);
        lock(&RUNNING).remove(&group);
        // It was killed: there is nothing to learn, and nothing to wait for.
        let _ = self.child.wait();
    }
}

/// The command in a process group of its own, without the settings of a bot.
fn silent(command: &[OsString]) -> io::Result<Command> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    for setting in SETTINGS {
        command.env_remove(setting);
    }
    Ok(command)
}

fn kill(group: i32) {
    if let Some(group) = Pid::from_raw(group) {
        // It may have ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// What is read of one stream.
#[derive(Clone)]
struct Stream(Arc<Mutex<Written>>);

#[derive(Default)]
struct Written {
    /// The last bytes.
    kept: Vec<u8>,
    leaked: bool,
    ended: bool,
}

impl Stream {
    fn follow(stream: Option<impl Read + Send + 'static>, secrets: &[&'static str]) -> Self {
        let written = Self(Arc::default());
        if let Some(stream) = stream {
            let (into, secrets) = (written.clone(), secrets.to_vec());
            thread::spawn(move || into.read(stream, &secrets));
        }
        written
    }

    fn read(&self, mut stream: impl Read, secrets: &[&str]) {
        let mut buffer = [0; 4096];
        loop {
            let count = match stream.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => break,
                Ok(count) => count,
            };
            lock(&self.0).take(&buffer[..count], secrets);
        }
        lock(&self.0).ended = true;
    }
}

impl Written {
    fn take(&mut self, bytes: &[u8], secrets: &[&str]) {
        self.kept.extend_from_slice(bytes);
        let holds = |secret: &&str| self.kept.windows(secret.len()).any(|part| part == secret.as_bytes());
        self.leaked = self.leaked || secrets.iter().any(holds);
        let surplus = self.kept.len().saturating_sub(KEPT_BYTES);
        self.kept.drain(..surplus);
    }
}

/// A thread that panicked left nothing half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_seen_across_two_reads_and_the_rest_is_bounded() {
        let mut written = Written::default();
        written.take(&[b'x'; 2 * KEPT_BYTES], &["secret"]);
        assert_eq!(written.kept.len(), KEPT_BYTES);
        written.take(b"sec", &["secret"]);
        assert!(!written.leaked);
        written.take(b"ret", &["secret"]);
        assert!(written.leaked);
    }
}
