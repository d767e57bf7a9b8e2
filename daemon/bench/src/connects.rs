//! `connects`: how long it takes until all of a crowd that comes at once are welcome.

use crate::fleet::{Fleet, Play};
use crate::process::{Kind, Server, find_daemon};
use crate::report::{Report, median};
use clap::Args;
use std::path::PathBuf;
use std::time::Instant;

/// The options of `connects`.
#[derive(Debug, Args)]
pub struct Connects {
    /// How many connect at once
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    count: u32,
    /// How often, each time to a new daemon
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Only the JSON line
    #[arg(long)]
    json: bool,
    /// The daemon's binary [default: modiar, beside this program]
    #[arg(long, value_name = "PATH")]
    daemon: Option<PathBuf>,
}

impl Connects {
    /// Measures it.
    pub fn run(self) -> anyhow::Result<()> {
        let daemon = Kind::Daemon(find_daemon(self.daemon)?);
        let (mut daemons, mut relays) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds {
            daemons.push(welcome_all(&daemon, Play::Endless, self.count)?);
            relays.push(welcome_all(&Kind::Relay, Play::Relay, self.count + self.count % 2)?);
        }
        let (slowest, daemon, relay) = (daemons.iter().copied().fold(0.0, f64::max), median(daemons), median(relays));
        let mut report = Report::default();
        report.head(["", "daemon", "relay", "ratio"]);
        report.row("until all are welcome, ms", daemon, relay);
        report.key("count", self.count);
        report.number("welcomed_ms", daemon);
        report.number("slowest_welcomed_ms", slowest);
        report.number("relay_welcomed_ms", relay);
        report.write(self.json)
    }
}

/// From the first connect to the last welcome, in milliseconds.
fn welcome_all(kind: &Kind, play: Play, count: u32) -> anyhow::Result<f64> {
    let server = Server::start(kind)?;
    let mut fleet = Fleet::new(play)?;
    let began = Instant::now();
    fleet.connect_at_once(server.address, count as usize)?;
    Ok(began.elapsed().as_secs_f64() * 1000.0)
}
