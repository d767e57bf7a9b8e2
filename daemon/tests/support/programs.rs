//! Bots as processes of their own, and other programs that a test runs.

use super::{Daemon, project};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

/// How long a program may run.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running program.
pub struct Program {
    what: String,
    pid: i32,
    outcome: Receiver<Output>,
}

/// How a program ended: its exit status (`None` after a signal) and what it wrote.
#[derive(Debug)]
pub struct Outcome {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Program {
    pub fn start(mut command: Command) -> Self {
        let what = format!("{command:?}");
        // Nothing is left behind in the sources.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.unwrap_or_else(|error| panic!("{what}: {error}"));
        let pid = child.id().cast_signed();
        let (sender, outcome) = sync_channel(1);
        std::thread::spawn(move || sender.send(child.wait_with_output().unwrap()));
        Self { what, pid, outcome }
    }

    /// Sends it a signal; it must not have been waited for.
    #[allow(unsafe_code)]
    pub fn signal(&self, signal: i32) {
        // SAFETY: kill touches no memory. The process was started here.
        let status = unsafe { libc::kill(self.pid, signal) };
        assert_eq!(status, 0, "signal {signal} to {}", self.what);
    }

    /// Whether it does something of its own at this signal.
    pub fn catches(&self, signal: i32) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        u64::from_str_radix(caught.trim(), 16).unwrap() >> (signal - 1) & 1 == 1
    }

    /// Whether it has not ended.
    pub fn runs(&self) -> bool {
        std::path::Path::new(&format!("/proc/{}", self.pid)).exists()
    }

    /// Waits for its end.
    pub fn finish(self) -> Outcome {
        let Ok(output) = self.outcome.recv_timeout(PATIENCE) else {
            self.signal(libc::SIGKILL);
            panic!("{} did not end within {PATIENCE:?}", self.what);
        };
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Outcome { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Outcome {
    /// Its output's lines, where all went well.
    #[track_caller]
    pub fn lines(&self) -> Vec<&str> {
        assert_eq!(self.status, Some(0), "{self:?}");
        self.stdout.lines().collect()
    }
}

impl Daemon {
    /// Starts a bot that plays here, as a guest unless the command says otherwise.
    pub fn bot(&self, command: Command) -> Program {
        self.bot_with_token(command, "")
    }

    /// The same, registered with this token where it is not empty.
    pub fn bot_with_token(&self, mut command: Command, token: &str) -> Program {
        command.env("MODIAR_TOKEN", token);
        if !command.get_envs().any(|(key, _)| key == "MODIAR_NAME") {
            command.env_remove("MODIAR_NAME");
        }
        command.env("MODIAR_HOST", self.bots.ip().to_string()).env("MODIAR_PORT", self.bots.port().to_string());
        Program::start(command)
    }
}

/// One of the Python bots, with its options.
pub fn python(bot: &str, options: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command.arg(project().join("clients/python/bots").join(bot)).args(options);
    command
}

/// Runs a command line of a page, split at blanks, in `folder`.
pub fn run_line(line: &str, more: &[&str], folder: &Path) -> Outcome {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().unwrap());
    command.args(words).args(more).current_dir(folder);
    Program::start(command).finish()
}
