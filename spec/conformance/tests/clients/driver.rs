//! A library's driver, asked a question a line.

use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running driver. It ends when its input does.
pub struct Driver {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Driver {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { questions: child.stdin.take(), answers, child }
    }

    /// What it answers.
    #[track_caller]
    pub fn ask(&mut self, question: &Value) -> Value {
        let line = format!("{question}\n");
        self.questions.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{question}\nis answered {answer:?}: {error}"))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.questions = None;
        // One that goes on without questions is ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
