//! `store`: how many finished games a second the store makes durable, and `start`: how long a daemon takes to listen on
//! a store of many games, killed while games ran.

use crate::fleet::{Fleet, Play};
use crate::options::{Output, Rounds};
use crate::process::Server;
use crate::report::{Report, median};
use anyhow::Context as _;
use clap::Args;
use modiar::metrics::Metrics;
use modiar::store::{Archive, DataDir, SqliteStore, start};
use modiar_protocol::{GameId, Record};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use uuid::Uuid;

/// A whole game.
const RECORD: &str = include_str!("../../../spec/schema/examples/record/valid/repetition.json");
/// Games that run when the daemon is killed.
const RUNNING: usize = 64;
/// How long they run before.
const RUN: Duration = Duration::from_millis(500);

/// The options of `store`.
#[derive(Debug, Args)]
pub struct Stores {
    /// Finished games, in all
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    games: u32,
    /// How many wait for the disk at any moment
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    waiting: u32,
    #[command(flatten)]
    output: Output,
}

impl Stores {
    /// Measures it.
    pub fn run(self) -> anyhow::Result<()> {
        let folder = TempDir::new()?;
        let took = fill(folder.path(), self.games, self.waiting)?.as_secs_f64();
        let mut report = Report::default();
        report.single("games durable a second", f64::from(self.games) / took);
        report.key("games", self.games);
        report.key("waiting", self.waiting);
        report.number("games_per_s", f64::from(self.games) / took);
        report.write(self.output.json)
    }
}

/// The options of `start`.
#[derive(Debug, Args)]
pub struct Starts {
    /// Games in the store
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    games: u32,
    #[command(flatten)]
    rounds: Rounds,
}

impl Starts {
    /// Measures it.
    pub fn run(self) -> anyhow::Result<()> {
        let daemon = self.rounds.find_daemon()?;
        let folder = TempDir::new()?;
        fill(&folder.path().join("data"), self.games, 1000)?;
        let mut starts = Vec::new();
        for _ in 0..self.rounds.rounds {
            let server = Server::start_in(&daemon, folder.path())?;
            let mut fleet = Fleet::new(Play::Whole)?;
            fleet.connect(server.address, 2 * RUNNING)?;
            fleet.start_games()?;
            fleet.play_for(RUN)?;
            // Killed, while they play.
            drop(server);
            let began = Instant::now();
            let server = Server::start_in(&daemon, folder.path())?;
            starts.push(began.elapsed().as_secs_f64() * 1000.0);
            drop(server);
        }
        let (slowest, middle) = (starts.iter().copied().fold(0.0, f64::max), median(starts));
        let mut report = Report::default();
        report.single("from start to listening, ms", middle);
        report.single("the slowest of them, ms", slowest);
        report.key("games", self.games);
        report.number("start_ms", middle);
        report.number("slowest_start_ms", slowest);
        report.write(self.rounds.output.json)
    }
}

/// Stores so many games in `folder`, with so many that wait at any moment; how long that took.
fn fill(folder: &Path, games: u32, waiting: u32) -> anyhow::Result<Duration> {
    let data = DataDir::new(folder);
    let _claim = data.claim()?;
    let store = SqliteStore::open(&data)?;
    let archive = Archive::open(&data.archive(), &store)?;
    let (store, writer) = start(store, archive, Metrics::new(None))?;
    let record: Record = serde_json::from_str(RECORD)?;
    let (done, stored) = mpsc::channel();
    let finish = || {
        let (record, done) = (Record { game: GameId::new(Uuid::now_v7()), ..record.clone() }, done.clone());
        // Whoever counts waits for all of them.
        store.finish(record, move |stored| drop(done.send(stored)));
    };
    let began = Instant::now();
    (0..waiting.min(games)).for_each(|_| finish());
    for at in 0..games {
        stored.recv()?.context("a game was not stored")?;
        if at + waiting < games {
            finish();
        }
    }
    let took = began.elapsed();
    store.stop();
    writer.join().map_err(|_| anyhow::anyhow!("the store's writer failed"))?;
    Ok(took)
}
