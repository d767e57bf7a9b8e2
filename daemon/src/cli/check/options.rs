//! What the checks of both ends of the wire have in common: which are made, and how they are told.

use crate::cli::streams::{print, write_stdout};
use crate::cli::{FINDINGS, misused};
use crate::logging::note;
use crate::records::counted;
use anyhow::Context as _;
use clap::Args;
use modiar_conformance::{Checking, End, Report, Verdict, junit};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The longest time that one thing may take, in s.
const LONGEST: u64 = 3600;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Make these checks alone
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<String>,
    /// Leave these checks out
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    skip: Vec<String>,
    /// Answer in JSON, a line a check
    #[arg(long)]
    json: bool,
    #[arg(long, value_name = "FILE", help = "Write a JUnit report to this file too")]
    junit: Option<PathBuf>,
    /// How long one thing that must be done may take, in seconds
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=LONGEST))]
    timeout: u64,
}

impl Options {
    pub(super) const fn patience(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }

    /// Makes those checks that are wanted of `all`, and tells of each as it comes.
    ///
    /// # Errors
    /// They cannot be made, or told.
    pub(super) fn tell<C: Checking + 'static>(
        &self,
        end: End,
        all: &[&'static C],
        run: impl FnOnce(&[&'static C], &mut dyn FnMut(&Report)) -> anyhow::Result<()>,
    ) -> anyhow::Result<ExitCode> {
        let chosen = self.choose(all);
        if let Some(path) = &self.junit {
            // Not to find only then, after minutes, that it cannot be.
            write_junit(path, "")?;
        }
        let (mut reports, mut written) = (Vec::with_capacity(chosen.len()), Ok(()));
        run(&chosen, &mut |report| {
            if written.is_ok() {
                written = if self.json {
                    write_stdout(format!("{}\n", report.to_json()).as_bytes())
                } else {
                    print(&format!("{report}\n"))
                };
            }
            reports.push(report.clone());
        })?;
        written?;
        if let Some(path) = &self.junit {
            write_junit(path, &junit(end, &reports))?;
        }
        Ok(summary(&reports))
    }

    fn choose<C: Checking>(&self, all: &[&'static C]) -> Vec<&'static C> {
        for name in self.only.iter().chain(&self.skip) {
            if !all.iter().any(|check| check.about().name == name) {
                let names: Vec<&str> = all.iter().map(|check| check.about().name).collect();
                misused(&format!("there is no check '{name}', but these: {}", names.join(", ")));
            }
        }
        let names = |list: &[String], check: &C| list.iter().any(|name| name == check.about().name);
        let wanted = |check: &&&C| (self.only.is_empty() || names(&self.only, check)) && !names(&self.skip, check);
        let chosen: Vec<&'static C> = all.iter().filter(wanted).copied().collect();
        if chosen.is_empty() {
            misused("--skip leaves out all that --only names");
        }
        chosen
    }
}

fn write_junit(path: &Path, text: &str) -> anyhow::Result<()> {
    let advice = || format!("{}: name a file that can be written", path.display());
    std::fs::write(path, text).with_context(advice)
}

/// Tells people what it comes to.
fn summary(reports: &[Report]) -> ExitCode {
    let count = |wanted: fn(&Verdict) -> bool| reports.iter().filter(|report| wanted(&report.verdict)).count() as u64;
    let (failed, skipped) = (
        count(|verdict| matches!(verdict, Verdict::Failed(_))),
        count(|verdict| matches!(verdict, Verdict::Skipped(_))),
    );
    let all = counted(reports.len() as u64, "check", "checks");
    note(&format!("{all}: {} ok, {failed} failed, {skipped} skipped", count(|verdict| *verdict == Verdict::Ok)));
    if failed > 1 {
        let names = reports.iter().filter(|report| matches!(report.verdict, Verdict::Failed(_)));
        let names: Vec<&str> = names.map(|report| report.about.name).collect();
        note(&format!("mend the first one first, others may follow from it: {}", names.join(", ")));
    }
    if failed == 0 { ExitCode::SUCCESS } else { FINDINGS.into() }
}
