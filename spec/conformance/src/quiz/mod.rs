//! `modiar check bot --rules`: asks a bot's own board five hundred positions, and tells what it gets wrong.
//!
//! The command is started once, without a server: it reads a question a line on its stdin and answers each with a line on
//! its stdout. The questions are those of `spec/vectors/quiz.jsonl`; each turns on one thing, and counts for one check.
//!
//! | file | holds |
//! |---|---|
//! | `checks.rs` | the checks, and what to do where one fails |
//! | `question.rs` | the questions, and how an answer is compared |
//! | `dialogue.rs` | the program, asked a question at a time |

mod checks;
mod dialogue;
mod question;

pub use checks::checks;

use crate::{About, Fault, Report, Verdict};
use checks::ENDS;
use dialogue::Dialogue;
use question::{Case, cases, clipped};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::io;
use std::time::{Duration, Instant};

/// How a board is asked.
#[derive(Clone, Debug)]
pub struct Quiz {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// How long an answer, and the program's end, may take.
    pub patience: Duration,
}

impl Quiz {
    /// Asks the questions of these checks, and tells of each in their order. Where the program breaks off, the check at which
    /// it did fails and the rest is skipped.
    ///
    /// # Errors
    /// The command cannot be started: nothing is known of the board.
    pub fn run(&self, checks: &[&'static About], mut tell: impl FnMut(&Report)) -> io::Result<()> {
        let cases = cases();
        let mut asked = Asked { dialogue: Dialogue::start(&self.command)?, patience: self.patience, broken: None };
        for check in checks {
            let start = Instant::now();
            let verdict = asked.verdict(check, cases.iter().filter(|case| case.check == check.name));
            tell(&Report { about: **check, verdict, took: start.elapsed() });
        }
        Ok(())
    }
}

/// A program that is asked.
struct Asked {
    dialogue: Dialogue,
    patience: Duration,
    /// Why nothing more can be asked.
    broken: Option<String>,
}

impl Asked {
    fn verdict<'a>(&mut self, check: &About, cases: impl Iterator<Item = &'a Case>) -> Verdict {
        if let Some(why) = &self.broken {
            return Verdict::Skipped(why.clone());
        }
        let outcome = if check.name == ENDS { self.end(check) } else { self.ask(cases) };
        outcome.map_or(Verdict::Ok, Verdict::Failed)
    }

    /// Asks all questions of a check; what is wrong with the answers.
    fn ask<'a>(&mut self, cases: impl Iterator<Item = &'a Case>) -> Option<Fault> {
        let (mut wrong, mut all) = (Vec::new(), 0_usize);
        for case in cases {
            all += 1;
            match self.dialogue.ask(&case.question(), self.patience) {
                Ok(answer) => wrong.extend(case.differs(&answer).map(|what| (case, answer, what))),
                Err(came) => return Some(self.breaks_off(case, came)),
            }
        }
        wrong.first().map(|(case, answer, what)| {
            let numbers = wrong.iter().map(|(case, ..)| case.number());
            self.wrong(case, answer, what, &told(numbers, all))
        })
    }

    fn wrong(&self, case: &Case, answer: &Map<String, Value>, what: &str, told: &str) -> Fault {
        let lines = vec![
            format!("question  {}", case.question()),
            format!("differs   {what}"),
            format!("about     {}", case.reason),
            format!("wrong     {told}"),
        ];
        let came = clipped(&Value::Object(answer.clone()).to_string());
        Fault {
            clause: case.clause.clone(),
            awaited: case.answer.to_string(),
            came,
            lines,
            stderr: Some(self.dialogue.stderr()),
        }
    }

    fn breaks_off(&mut self, case: &Case, came: String) -> Fault {
        self.broken = Some(format!("question {} was not answered", case.number()));
        Fault {
            clause: "transport.object".to_owned(),
            awaited: "one JSON object in a line for each question, flushed at once, and nothing else on stdout"
                .to_owned(),
            came,
            lines: vec![format!("question  {}", case.question())],
            stderr: Some(self.dialogue.stderr()),
        }
    }

    fn end(&mut self, check: &About) -> Option<Fault> {
        let came = self.dialogue.end(self.patience).err()?;
        Some(Fault {
            clause: check.clause().to_owned(),
            awaited: "its end, with status 0, once stdin is at its end".to_owned(),
            came,
            lines: Vec::new(),
            stderr: Some(self.dialogue.stderr()),
        })
    }
}

/// How many answers are wrong, and of which questions.
fn told(numbers: impl ExactSizeIterator<Item = u64>, all: usize) -> String {
    let wrong = numbers.len();
    let list: Vec<String> = numbers.map(|number| number.to_string()).collect();
    format!("{wrong} of {all} answers of this check: {}", list.join(" "))
}
