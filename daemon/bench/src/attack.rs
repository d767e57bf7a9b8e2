//! `attack`: whether games keep their pace while others misbehave.

use crate::fleet::{Fleet, Play};
use crate::foes::{self, Deeds};
use crate::options::Rounds;
use crate::plies::tail;
use crate::process::{Kind, Server};
use crate::report::{Report, Row};
use anyhow::Context as _;
use clap::Args;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long games are played before they are measured; the attack has begun by then.
const WARM_UP: Duration = Duration::from_millis(500);

/// The options of `attack`.
#[derive(Debug, Args)]
pub struct Attack {
    /// Games at once, two bots each
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=5000))]
    games: u32,
    /// Plies a second of all games together
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rate: u32,
    /// How long each is measured, in seconds; of a short time the p99 is chance
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Floods of connections and of messages too, which take their share of the machine
    #[arg(long)]
    floods: bool,
    /// One second each
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    rounds: Rounds,
}

/// The paced games, measured once.
#[derive(Clone, Copy, Debug)]
struct Pace {
    p50_us: f64,
    p99_us: f64,
    plies_per_s: f64,
}

impl Attack {
    /// Measures it.
    pub fn run(self) -> anyhow::Result<()> {
        let daemon = self.rounds.find_daemon()?;
        let (mut calm, mut attacked, deeds) = (Vec::new(), Vec::new(), Deeds::default());
        for round in 1..=self.rounds.rounds {
            calm.push(self.measure(&daemon, None)?);
            attacked.push(self.measure(&daemon, Some(&deeds))?);
            if !self.rounds.output.json {
                let [without, with] = [&calm, &attacked].map(|paces| paces[paces.len() - 1]);
                eprintln!(
                    "round {round}: p50 {:.0} µs without, {:.0} µs with; p99 {:.0} µs without, {:.0} µs with",
                    without.p50_us, with.p50_us, without.p99_us, with.p99_us
                );
            }
        }
        self.report(&calm, &attacked, &deeds).write(self.rounds.output.json)
    }

    fn measure(&self, daemon: &Kind, deeds: Option<&Deeds>) -> anyhow::Result<Pace> {
        let server = Server::start(daemon)?;
        let mut fleet = Fleet::new(Play::Endless)?;
        fleet.connect(server.address, 2 * self.games as usize)?;
        fleet.start_games()?;
        let games: Vec<String> = fleet.ids.iter().map(|id| String::from_utf8_lossy(id).into_owned()).collect();
        let stop = AtomicBool::new(false);
        let pace = std::thread::scope(|scope| {
            if let Some(deeds) = deeds {
                scope.spawn(|| foes::attack(server.address, &games, self.floods, &stop, deeds));
            }
            let pace = self.pace(&mut fleet);
            stop.store(true, Ordering::Relaxed);
            pace
        });
        pace.with_context(|| format!("the server's log ends: {}", tail(&server.log())))
    }

    fn pace(&self, fleet: &mut Fleet) -> anyhow::Result<Pace> {
        fleet.play_paced(WARM_UP, self.rate)?;
        fleet.tally = Default::default();
        let began = Instant::now();
        let seconds = if self.quick { 1.0 } else { self.seconds };
        fleet.play_paced(Duration::try_from_secs_f64(seconds)?, self.rate)?;
        let turns = &fleet.tally.turns;
        Ok(Pace {
            p50_us: turns.percentile(0.5),
            p99_us: turns.percentile(0.99),
            plies_per_s: fleet.tally.plies as f64 / began.elapsed().as_secs_f64(),
        })
    }

    fn report(&self, calm: &[Pace], attacked: &[Pace], deeds: &Deeds) -> Report {
        type Column = fn(&Pace) -> f64;
        let mut report = Report::default();
        report.key("games", self.games);
        report.key("rounds", self.rounds.rounds);
        report.key("wanted_plies_per_s", self.rate);
        report.head(["medians", "attacked", "calm", "ratio"]);
        let columns: [(&str, &str, Column); 3] = [
            ("move to turn, p50, µs", "p50_us", |pace| pace.p50_us),
            ("move to turn, p99, µs", "p99_us", |pace| pace.p99_us),
            ("plies a second", "plies_per_s", |pace| pace.plies_per_s),
        ];
        for (words, key, column) in columns {
            let of = |paces: &[Pace]| paces.iter().map(column).collect::<Vec<f64>>();
            let Row { one: with, other: without, ratio } = report.row(words, &of(attacked), &of(calm));
            report.number(key, without);
            report.number(&format!("attacked_{key}"), with);
            report.number(&format!("{}_ratio", key.trim_end_matches("_us")), ratio);
        }
        for (key, count) in
            [("foes_connects", &deeds.connects), ("foes_writes", &deeds.writes), ("foes_closed", &deeds.closed)]
        {
            report.key(key, count.load(Ordering::Relaxed));
        }
        report
    }
}
