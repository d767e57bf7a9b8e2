//! What is told of a check: a line for people, a JSON line, a `JUnit` file.

use super::Check;
use super::referee::{RESUME, TOKEN};
use serde_json::{Value, json};
use std::fmt::{self, Write as _};
use std::time::Duration;

/// So many of a bot's last lines on stderr are told.
const STDERR_LINES: usize = 8;

/// One check, made.
#[derive(Clone, Debug)]
pub struct Report {
    /// Which.
    pub check: &'static Check,
    /// What came of it.
    pub verdict: Verdict,
    /// How long it took.
    pub took: Duration,
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The bot does it.
    Ok,
    /// The bot does not.
    Failed(Fault),
    /// The bot cannot be asked; why.
    Skipped(String),
}

/// What a bot did instead of what it should.
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
    /// The last that the bot wrote to stderr.
    pub stderr: String,
}

impl Report {
    /// The report as a JSON object: `check`, `title`, `clauses`, `verdict` (`ok`, `failed`, `skipped`), `took_ms`; of a failure
    /// `clause`, `awaited`, `came`, `lines`, `stderr` and `advice` too, of one left out `why`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let Check { name, title, clauses, advice, .. } = self.check;
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
                told["stderr"] = json!(hidden(stderr));
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
        let Check { name, title, advice, .. } = self.check;
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
        let stderr = hidden(stderr);
        let all: Vec<&str> = stderr.lines().collect();
        if !all.is_empty() {
            f.write_str("\n  stderr:")?;
        }
        // Another program's bytes move no cursor here.
        let last = all.iter().skip(all.len().saturating_sub(STDERR_LINES));
        last.into_iter().try_for_each(|line| write!(f, "\n    {}", without_controls(line)))
    }
}

/// Another program's text, quotes left as they are.
pub(super) fn without_controls(text: &str) -> String {
    text.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'")
}

/// A token that a bot wrote is told to nobody else.
fn hidden(text: &str) -> String {
    text.replace(TOKEN, "(token)").replace(RESUME, "(resume)")
}

/// The reports as a `JUnit` file.
#[must_use]
pub fn junit(reports: &[Report]) -> String {
    let count = |wanted: fn(&Verdict) -> bool| reports.iter().filter(|report| wanted(&report.verdict)).count();
    let (failed, skipped) = (
        count(|verdict| matches!(verdict, Verdict::Failed(_))),
        count(|verdict| matches!(verdict, Verdict::Skipped(_))),
    );
    let took: Duration = reports.iter().map(|report| report.took).sum();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"modiar check bot\" tests=\"{}\" failures=\"{failed}\" skipped=\"{skipped}\" time=\"{:.3}\">\n",
        reports.len(),
        took.as_secs_f64(),
    );
    for report in reports {
        // Writing to memory cannot fail.
        let _ = test_case(&mut text, report);
    }
    text + "</testsuite>\n</testsuites>\n"
}

fn test_case(text: &mut String, Report { check, verdict, took }: &Report) -> fmt::Result {
    let time = took.as_secs_f64();
    write!(text, "<testcase classname=\"bot\" name=\"{}\" time=\"{time:.3}\"", escaped(check.name))?;
    match verdict {
        Verdict::Ok => writeln!(text, "/>"),
        Verdict::Skipped(why) => writeln!(text, "><skipped message=\"{}\"/></testcase>", escaped(why)),
        Verdict::Failed(fault) => {
            let message = format!("{}: {} was awaited, {} came", fault.clause, fault.awaited, fault.came);
            let body = format!("{}\n{fault}\n  to do:   {}", check.title, check.advice);
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
    use crate::bot::checks;

    fn reports() -> Vec<Report> {
        let fault = Fault {
            clause: "transport.line".to_owned(),
            awaited: "a <move> & more".to_owned(),
            came: "nothing".to_owned(),
            lines: vec!["   1 ms  bot      {\"type\":\"hello\"}".to_owned()],
            stderr: format!("bell \u{7} and {TOKEN}\n"),
        };
        let verdicts = [Verdict::Ok, Verdict::Failed(fault), Verdict::Skipped("\"one\" game".to_owned())];
        let took = Duration::from_millis(1250);
        checks().zip(verdicts).map(|(check, verdict)| Report { check, verdict, took }).collect()
    }

    #[test]
    fn junit_is_escaped_and_counts() {
        let text = junit(&reports());
        assert!(text.contains("tests=\"3\" failures=\"1\" skipped=\"1\" time=\"3.750\""), "{text}");
        assert!(text.contains("a &lt;move&gt; &amp; more"), "{text}");
        assert!(text.contains("message=\"&quot;one&quot; game\""), "{text}");
        assert!(!text.contains('\u{7}'), "{text}");
    }

    #[test]
    fn no_token_is_told() {
        for report in reports() {
            assert!(!report.to_json().to_string().contains(TOKEN));
            assert!(!report.to_string().contains(TOKEN));
        }
        assert!(!junit(&reports()).contains(TOKEN));
    }
}
