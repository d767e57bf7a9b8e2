//! `relay` and `whole`: what a ply costs the daemon, against the bare relay in the same run.

use crate::fleet::{Fleet, Play};
use crate::options::Rounds;
use crate::process::{Kind, Server};
use crate::report::{Report, Row, median, ratios};
use anyhow::Context as _;
use clap::Args;
use std::time::{Duration, Instant};

/// How long a round plays before it is measured.
const WARM_UP: Duration = Duration::from_millis(300);

/// The options of `relay` and `whole`.
#[derive(Debug, Args)]
pub struct Plies {
    /// Games at once, two bots each
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    games: u32,
    /// How long each is measured, in seconds
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// One second each
    #[arg(long)]
    quick: bool,
    /// Plies a second of all games together, instead of as many as there can be
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rate: Option<u32>,
    #[command(flatten)]
    rounds: Rounds,
}

/// One server, measured once.
#[derive(Clone, Copy, Debug)]
struct Round {
    us_per_ply: f64,
    plies_per_s: f64,
    games_per_s: f64,
    p50_us: f64,
    p99_us: f64,
    p999_us: f64,
    idle_bytes: f64,
    game_bytes: f64,
}

impl Plies {
    /// Measures the daemon at `play`.
    pub fn run(self, play: Play) -> anyhow::Result<()> {
        let daemon = self.rounds.find_daemon()?;
        let (mut daemons, mut relays) = (Vec::new(), Vec::new());
        for round in 1..=self.rounds.rounds {
            daemons.push(self.measure(&daemon, play)?);
            relays.push(self.measure(&Kind::Relay, Play::Relay)?);
            if !self.rounds.output.json {
                let [one, other] = [&daemons, &relays].map(|rounds| rounds.last().map_or(0.0, |last| last.us_per_ply));
                eprintln!("round {round}: daemon {one:.2} µs a ply, relay {other:.2} µs, ratio {:.3}", one / other);
            }
        }
        self.report(&daemons, &relays, play).write(self.rounds.output.json)
    }

    fn measure(&self, kind: &Kind, play: Play) -> anyhow::Result<Round> {
        let server = Server::start(kind)?;
        self.measure_server(&server, play).with_context(|| format!("the server's log ends: {}", tail(&server.log())))
    }

    fn measure_server(&self, server: &Server, play: Play) -> anyhow::Result<Round> {
        let mut fleet = Fleet::new(play)?;
        let bots = 2 * self.games;
        let empty = server.resident_bytes()?;
        fleet.connect(server.address, bots as usize)?;
        let idle = server.resident_bytes()?;
        fleet.start_games()?;
        let playing = server.resident_bytes()?;
        self.play(&mut fleet, WARM_UP)?;

        fleet.tally = Default::default();
        let (cpu, began) = (server.cpu_us()?, Instant::now());
        let seconds = if self.quick { 1.0 } else { self.seconds };
        self.play(&mut fleet, Duration::try_from_secs_f64(seconds)?)?;
        let (used, took) = (server.cpu_us()? - cpu, began.elapsed().as_secs_f64());
        let plies = fleet.tally.plies as f64;
        let [p50_us, p99_us, p999_us] = [0.5, 0.99, 0.999].map(|share| fleet.tally.turns.percentile(share));
        let each = |bytes: u64| bytes.saturating_sub(empty) as f64 / f64::from(bots);
        Ok(Round {
            us_per_ply: used as f64 / plies,
            plies_per_s: plies / took,
            games_per_s: fleet.tally.ends as f64 / 2.0 / took,
            p50_us,
            p99_us,
            p999_us,
            idle_bytes: each(idle),
            game_bytes: each(playing),
        })
    }

    fn play(&self, fleet: &mut Fleet, time: Duration) -> anyhow::Result<()> {
        match self.rate {
            Some(rate) => fleet.play_paced(time, rate),
            None => fleet.play_for(time),
        }
    }

    fn report(&self, daemons: &[Round], relays: &[Round], play: Play) -> Report {
        type Column = fn(&Round) -> f64;
        let of = |rounds: &[Round], column: Column| rounds.iter().map(column).collect::<Vec<f64>>();
        let [cost, other] = [daemons, relays].map(|rounds| of(rounds, |round| round.us_per_ply));
        let ratios = ratios(&cost, &other);
        let mut report = Report::default();
        report.key("games", self.games);
        report.key("rounds", self.rounds.rounds);
        report.number("lowest_ratio", ratios.iter().copied().fold(f64::INFINITY, f64::min));
        report.number("highest_ratio", ratios.iter().copied().fold(0.0, f64::max));
        report.head(["medians", "daemon", "relay", "ratio"]);
        let columns: [(&str, &str, Column); 7] = [
            ("CPU a ply, µs", "us_per_ply", |round| round.us_per_ply),
            ("plies a second", "plies_per_s", |round| round.plies_per_s),
            ("move to turn, p50, µs", "p50_us", |round| round.p50_us),
            ("move to turn, p99, µs", "p99_us", |round| round.p99_us),
            ("move to turn, p99.9, µs", "p999_us", |round| round.p999_us),
            ("memory a connection, idle, bytes", "idle_bytes_per_connection", |round| round.idle_bytes),
            ("memory a connection, playing, bytes", "bytes_per_connection", |round| round.game_bytes),
        ];
        for (words, key, column) in columns {
            let Row { one: daemon, other: relay, ratio } = report.row(words, &of(daemons, column), &of(relays, column));
            if key == "us_per_ply" {
                report.number("ratio", ratio);
            }
            if matches!(key, "us_per_ply" | "plies_per_s") {
                report.number(&format!("daemon_{key}"), daemon);
            } else {
                report.number(key, daemon);
            }
            report.number(&format!("relay_{key}"), relay);
        }
        if play == Play::Whole {
            report.number("games_per_s", median(of(daemons, |round| round.games_per_s)));
        }
        report
    }
}

/// The last lines of a log.
pub fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}
