//! `connects`: how long it takes until all of a crowd that comes at once are welcome.

use crate::fleet::{Fleet, Play};
use crate::options::Rounds;
use crate::process::{Kind, Server};
use crate::report::Report;
use clap::Args;
use std::time::Instant;

/// The options of `connects`.
#[derive(Debug, Args)]
pub struct Connects {
    /// How many connect at once
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    count: u32,
    #[command(flatten)]
    rounds: Rounds,
}

impl Connects {
    /// Measures it.
    pub fn run(self) -> anyhow::Result<()> {
        let daemon = self.rounds.find_daemon()?;
        let (mut daemons, mut relays) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds.rounds {
            daemons.push(welcome_all(&daemon, Play::Endless, self.count)?);
            relays.push(welcome_all(&Kind::Relay, Play::Relay, self.count + self.count % 2)?);
        }
        let slowest = daemons.iter().copied().fold(0.0, f64::max);
        let mut report = Report::default();
        report.head(["medians", "daemon", "relay", "ratio"]);
        let row = report.row("until all are welcome, ms", &daemons, &relays);
        report.key("count", self.count);
        report.number("welcomed_ms", row.one);
        report.number("slowest_welcomed_ms", slowest);
        report.number("relay_welcomed_ms", row.other);
        report.number("ratio", row.ratio);
        report.write(self.rounds.output.json)
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
