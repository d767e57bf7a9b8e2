//! `modiar check bot`: a bot against a scripted referee.

use crate::cli::streams::{print, write_stdout};
use crate::cli::{FINDINGS, misused};
use crate::logging::note;
use crate::records::counted;
use anyhow::Context as _;
use clap::Args;
use modiar_conformance::bot::{self, Check, Kit, Report, Verdict, checks};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, exit};
use std::time::Duration;

/// Checks that run at the same time: each of them mostly waits for its bot.
const AT_ONCE: usize = 8;
/// The status of a command that Ctrl-C ends.
const INTERRUPTED: i32 = 130;
/// The longest time that one thing may take, in s.
const LONGEST: u64 = 3600;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  modiar check bot -- python3 my_bot.py --games 2\n  modiar check bot --only split-packets,crlf -- ./my-bot --games 2\n  modiar check bot --junit bot.xml -- ./my-bot --games 2\n\nThe bot finds MODIAR_HOST, MODIAR_PORT and MODIAR_NAME in its environment, where it needs one\nMODIAR_TOKEN too. It should want two games and end by itself: what a bot of one game cannot show\nis skipped. spec/conformance/README.md tells every check."
)]
pub(in crate::cli) struct BotCheck {
    /// Make these checks alone
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = known)]
    only: Vec<&'static str>,
    /// Leave these checks out
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = known)]
    skip: Vec<&'static str>,
    /// Answer in JSON, a line a check
    #[arg(long)]
    json: bool,
    #[arg(long, value_name = "FILE", help = "Write a JUnit report to this file too")]
    junit: Option<PathBuf>,
    /// How long one thing that the bot must do may take, in seconds
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=LONGEST))]
    timeout: u64,
    /// The bot's program and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

fn known(name: &str) -> Result<&'static str, String> {
    let found = checks().find(|check| check.name == name).map(|check| check.name);
    found.ok_or_else(|| format!("there is no check '{name}'; spec/conformance/README.md lists them all"))
}

impl BotCheck {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let wanted = |check: &&Check| {
            (self.only.is_empty() || self.only.contains(&check.name)) && !self.skip.contains(&check.name)
        };
        let chosen: Vec<&'static Check> = checks().filter(wanted).collect();
        if chosen.is_empty() {
            misused("--skip leaves out all that --only names");
        }
        leave_no_bot_behind();
        let kit = Kit { command: self.command, patience: Duration::from_secs(self.timeout), at_once: AT_ONCE };
        let (mut reports, mut written) = (Vec::with_capacity(chosen.len()), Ok(()));
        let started = kit.run(&chosen, |report| {
            if written.is_ok() {
                written = if self.json {
                    write_stdout(format!("{}\n", report.to_json()).as_bytes())
                } else {
                    print(&format!("{report}\n"))
                };
            }
            reports.push(report.clone());
        });
        let program = kit.command.first().map(|program| program.to_string_lossy()).unwrap_or_default();
        started.with_context(|| format!("'{program}' cannot be checked; name a program that can be started"))?;
        written?;
        if let Some(path) = &self.junit {
            write_junit(path, &reports)?;
        }
        Ok(summary(&reports))
    }
}

fn write_junit(path: &Path, reports: &[Report]) -> anyhow::Result<()> {
    let advice = || format!("{}: name a file that can be written", path.display());
    std::fs::write(path, bot::junit(reports)).with_context(advice)
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
    if failed == 0 { ExitCode::SUCCESS } else { FINDINGS.into() }
}

/// Ctrl-C ends this program and the bots that it has started, each of which has a process group of its own.
fn leave_no_bot_behind() {
    std::thread::spawn(|| {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
        if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            bot::end_all();
            exit(INTERRUPTED);
        }
    });
}
