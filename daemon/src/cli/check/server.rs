//! `modiar check server`: a server, of any make, against the contract.

use super::options::Options;
use clap::Args;
use modiar_conformance::End;
use modiar_conformance::server::{Kit, checks};
use std::process::ExitCode;

/// Checks that run at the same time: those that wait for clocks beside one another.
const AT_ONCE: usize = 12;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  modiar check server 127.0.0.1:6634\n  modiar check server --only full-game,slow-reader localhost:6634\n  modiar check server --junit server.xml localhost:6634\n\nThe server should let guests in and have the default pools and limits, no house bots and nobody else on it:\nwhat it cannot be asked is skipped. spec/conformance/README.md tells every check."
)]
pub(in crate::cli) struct ServerCheck {
    #[command(flatten)]
    options: Options,
    /// Where the server waits for bots
    #[arg(value_name = "HOST:PORT", value_parser = address)]
    address: String,
}

/// The form alone: whether anybody is there is seen later.
fn address(text: &str) -> Result<String, String> {
    let is_whole = |(host, port): (&str, &str)| !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0);
    if text.rsplit_once(':').is_some_and(is_whole) {
        Ok(text.to_owned())
    } else {
        Err("this is not HOST:PORT, as in 127.0.0.1:6634".to_owned())
    }
}

impl ServerCheck {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let Self { options, address } = self;
        let kit = Kit { address, patience: options.patience(), at_once: AT_ONCE };
        let all: Vec<_> = checks().collect();
        options.tell(End::Server, &all, |chosen, tell| Ok(kit.run(chosen, tell)?))
    }
}
