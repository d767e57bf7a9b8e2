//! `modiar check bot`: a bot against a scripted referee.

use super::options::Options;
use anyhow::Context as _;
use clap::Args;
use modiar_conformance::End;
use modiar_conformance::bot::{self, Kit};
use modiar_conformance::quiz::{self, Quiz};
use std::ffi::OsString;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

/// Checks that run at the same time: each of them mostly waits for its bot.
const AT_ONCE: usize = 8;
/// The statuses of a command that Ctrl-C ends, or SIGTERM.
const INTERRUPTED: i32 = 130;
const TERMINATED: i32 = 143;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  modiar check bot -- python3 my_bot.py --games 2\n  modiar check bot --only split-packets,crlf -- ./my-bot --games 2\n  modiar check bot --junit bot.xml -- ./my-bot --games 2\n  modiar check bot --rules -- ./my-board\n\nThe bot finds MODIAR_HOST, MODIAR_PORT and MODIAR_NAME in its environment, where it needs one\nMODIAR_TOKEN too. It should want two games and end by itself: what a bot of one game cannot show\nis skipped. With --rules the program is asked on stdin, a line each, and answers on stdout.\nspec/conformance/README.md tells every check."
)]
pub(in crate::cli) struct BotCheck {
    /// Check a bot's own board: ask it 500 positions, mostly of the rare rules
    #[arg(long)]
    rules: bool,
    #[command(flatten)]
    options: Options,
    /// The bot's program and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

impl BotCheck {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let program = self.command.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default();
        let advice = || format!("'{program}' cannot be checked; name a program that can be started");
        let (command, patience) = (self.command, self.options.patience());
        leave_no_bot_behind();
        if self.rules {
            let quiz = Quiz { command, patience };
            let all: Vec<_> = quiz::checks().collect();
            return self.options.tell(End::Bot, &all, |chosen, tell| quiz.run(chosen, tell).with_context(advice));
        }
        let kit = Kit { command, patience, at_once: AT_ONCE };
        let all: Vec<_> = bot::checks().collect();
        self.options.tell(End::Bot, &all, |chosen, tell| kit.run(chosen, tell).with_context(advice))
    }
}

/// Ctrl-C and SIGTERM end this program and the bots that it has started, each of which has a process group of its own.
fn leave_no_bot_behind() {
    std::thread::spawn(|| {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
        if let Ok(status) = runtime.block_on(signalled()) {
            bot::exit(status);
        }
    });
}

/// Waits for a signal that ends the command; the status then.
async fn signalled() -> std::io::Result<i32> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(tokio::select! {
        _ = interrupt.recv() => INTERRUPTED,
        _ = terminate.recv() => TERMINATED,
    })
}
