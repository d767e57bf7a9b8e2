//! A running daemon's system calls: watched, and made to fail.

use super::Daemon;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};

/// A tracer that has taken hold of a daemon, until the daemon's end.
pub struct Strace {
    child: Child,
    /// Kept open: a tracer that cannot say what it wants to ends.
    _says: BufReader<ChildStderr>,
}

impl Strace {
    /// With these options; on return it has taken hold.
    pub fn attach(daemon: &Daemon, options: &[&str]) -> Self {
        let mut command = Command::new("strace");
        command.arg("-f").args(options).arg("-p").arg(daemon.pid().to_string());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut says = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("attached") {
            assert!(says.read_line(&mut said).unwrap() > 0, "{said}");
        }
        Self { child, _says: says }
    }

    /// Lets go of the daemon, which goes on by itself.
    pub fn release(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until all is written.
    pub fn finish(mut self) {
        self.child.wait().unwrap();
    }
}
