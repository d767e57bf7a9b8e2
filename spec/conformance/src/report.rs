//! What is told of a check: a line for people, a JSON line, a `JUnit` file.

use crate::minutes;
use serde_json::{Value, json};
use std::fmt::{self, Write as _};
use std::io;
use std::time::Duration;

/// So many of a bot's last lines on stderr are told.
const STDERR_LINES: usize = 8;

/// What a check is about.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Words with hyphens.
    pub name: &'static str,
    /// What it is about, in a line.
    pub title: &'static str,
    /// The clauses of the specification that it rests on, the foremost first.
    pub clauses: &'static [&'static str],
    /// What to do where it fails.
    pub advice: &'static str,
}

impl About {
    /// The clause that the check is about.
    pub(crate) fn clause(&self) -> &'static str {
        self.clauses.first().copied().unwrap_or_default()
    }
}

/// A check of either end of the wire.
pub trait Checking: Sync {
    /// What it is about.
    fn about(&self) -> &About;
}

/// What is known by its name alone.
impl Checking for About {
    fn about(&self) -> &About {
        self
    }
}

/// Which end of the wire is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A bot.
    Bot,
    /// A server.
    Server,
}

impl End {
    const fn name(self) -> &'static str {
        match self {
            Self::Bot => "bot",
            Self::Server => "server",
        }
    }
}

/// One check, made.
#[derive(Clone, Debug)]
pub struct Report {
    /// Which.
    pub about: About,
    /// What came of it.
    pub verdict: Verdict,
    /// How long it took.
    pub took: Duration,
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is done right.
    Ok,
    /// It is not.
    Failed(Fault),
    /// The bot or the server cannot be asked; why.
    Skipped(String),
}

/// What a step of a script comes to.
pub(crate) type Step<T = ()> = Result<T, Stop>;

/// Why a script goes no further.
pub(crate) enum Stop {
    /// Who is checked is at fault.
    Fault { clause: String, awaited: String, came: String },
    /// It cannot be asked this; why.
    Skip(String),
    /// The machine failed.
    Broken(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

/// It cannot be asked this.
pub(crate) fn skip<T>(why: impl Into<String>) -> Step<T> {
    Err(Stop::Skip(why.into()))
}

impl Verdict {
    /// What a script came to; `evidence` are the last lines both ways, and a bot's stderr.
    pub(crate) fn of(step: Step, evidence: impl FnOnce() -> (Vec<String>, Option<String>)) -> io::Result<Self> {
        match step {
            Ok(()) => Ok(Self::Ok),
            Err(Stop::Skip(why)) => Ok(Self::Skipped(why)),
            Err(Stop::Broken(error)) => Err(error),
            Err(Stop::Fault { clause, awaited, came }) => {
                let (lines, stderr) = evidence();
                Ok(Self::Failed(Fault { clause, awaited, came, lines, stderr }))
            }
        }
    }
}

/// What was done instead of what should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The clause that it broke.
    pub clause: String,
    /// What was awaited.
    pub awaited: String,
    /// What came.
    pub came: String,
    /// The last lines both ways, the oldest first, each with its time in ms.
    pub lines: Vec<String>,
    /// The last that a bot wrote to stderr; nothing of a server.
    pub stderr: Option<String>,
}

impl Report {
    /// The report as a JSON object: `check`, `title`, `clauses`, `verdict` (`ok`, `failed`, `skipped`), `took_ms`; of a failure
    /// `clause`, `awaited`, `came`, `lines`, of a bot `stderr`, and `advice` too, of one left out `why`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let About { name, title, clauses, advice } = self.about;
        let took = u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX);
        let mut told = json!({"check": name, "title": title, "clauses": clauses, "verdict": "ok", "took_ms": took});
        match &self.verdict {
            Verdict::Ok => {}
            Verdict::Failed(Fault { clause, awaited, came, lines, stderr }) => {
                told["verdict"] = json!("failed");
                told["clause"] = json!(clause);
                told["awaited"] = json!(awaited);
                told["came"] = json!(came);
                told["lines"] = json!(lines);
                if let Some(stderr) = stderr {
                    told["stderr"] = json!(stderr);
                }
                told["advice"] = json!(advice);
            }
            Verdict::Skipped(why) => {
                told["verdict"] = json!("skipped");
                told["why"] = json!(why);
            }
        }
        told
    }
}

/// For people: a line, and below a failure all that helps.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let About { name, title, advice, .. } = self.about;
        match &self.verdict {
            Verdict::Ok => write!(f, "ok       {name}: {title}"),
            Verdict::Skipped(why) => write!(f, "skipped  {name}: {why}"),
            Verdict::Failed(fault) => {
                writeln!(f, "FAILED   {name}: {title}")?;
                write!(f, "{fault}\n  to do:   {advice}")
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { clause, awaited, came, lines, stderr } = self;
        write!(f, "  clause:  {clause}\n  awaited: {awaited}\n  came:    {came}")?;
        lines.iter().try_for_each(|line| write!(f, "\n    {line}"))?;
        let all: Vec<&str> = stderr.iter().flat_map(|stderr| stderr.lines()).collect();
        if !all.is_empty() {
            f.write_str("\n  stderr:")?;
        }
        // Another program's bytes move no cursor here.
        let last = all.iter().skip(all.len().saturating_sub(STDERR_LINES));
        last.into_iter().try_for_each(|line| write!(f, "\n    {}", minutes::without_controls(line)))
    }
}

/// The reports as a `JUnit` file.
#[must_use]
pub fn junit(end: End, reports: &[Report]) -> String {
    let count = |wanted: fn(&Verdict) -> bool| reports.iter().filter(|report| wanted(&report.verdict)).count();
    let (failed, skipped) = (
        count(|verdict| matches!(verdict, Verdict::Failed(_))),
        count(|verdict| matches!(verdict, Verdict::Skipped(_))),
    );
    let took: Duration = reports.iter().map(|report| report.took).sum();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"modiar check {}\" tests=\"{}\" failures=\"{failed}\" skipped=\"{skipped}\" time=\"{:.3}\">\n",
        end.name(),
        reports.len(),
        took.as_secs_f64(),
    );
    for report in reports {
        // Writing to memory cannot fail.
        let _ = test_case(&mut text, end, report);
    }
    text + "</testsuite>\n</testsuites>\n"
}

fn test_case(text: &mut String, end: End, Report { about, verdict, took }: &Report) -> fmt::Result {
    let (end, time) = (end.name(), took.as_secs_f64());
    write!(text, "<testcase classname=\"{end}\" name=\"{}\" time=\"{time:.3}\"", escaped(about.name))?;
    match verdict {
        Verdict::Ok => writeln!(text, "/>"),
        Verdict::Skipped(why) => writeln!(text, "><skipped message=\"{}\"/></testcase>", escaped(why)),
        Verdict::Failed(fault) => {
            let message = format!("{}: {} was awaited, {} came", fault.clause, fault.awaited, fault.came);
            let body = format!("{}\n{fault}\n  to do:   {}", about.title, about.advice);
            writeln!(text, "><failure message=\"{}\">{}</failure></testcase>", escaped(&message), escaped(&body))
        }
    }
}

/// The text as XML 1.0 may hold it.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => out.push(c),
            _ => out.push('\u{fffd}'),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn junit_is_escaped_and_counts() {
        let about = About { name: "a-check", title: "t", clauses: &["transport.line"], advice: "Do it." };
        let fault = Fault {
            clause: "transport.line".to_owned(),
            awaited: "a <move> & more".to_owned(),
            came: "nothing".to_owned(),
            lines: vec!["   1 ms  bot      {\"type\":\"hello\"}".to_owned()],
            stderr: Some("bell \u{7}\n".to_owned()),
        };
        let verdicts = [Verdict::Ok, Verdict::Failed(fault), Verdict::Skipped("\"one\" game".to_owned())];
        let took = Duration::from_millis(1250);
        let reports = verdicts.map(|verdict| Report { about, verdict, took });
        let text = junit(End::Bot, &reports);
        assert!(text.contains("modiar check bot\" tests=\"3\" failures=\"1\" skipped=\"1\" time=\"3.750\""), "{text}");
        assert!(text.contains("a &lt;move&gt; &amp; more"), "{text}");
        assert!(text.contains("message=\"&quot;one&quot; game\""), "{text}");
        assert!(!text.contains('\u{7}'), "{text}");
    }
}
