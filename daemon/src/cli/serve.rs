//! `modiar serve`: the daemon, from its configuration to its goodbye.

use super::place::Place;
use super::reload::Reload;
use super::streams::{told, write_stdout};
use crate::config::{Config, ConfigError, Reloadable, TEMPLATE, parse_address};
use crate::lobby::{Hall, Setup};
use crate::logging::note;
use crate::metrics::Metrics;
use crate::net::{Certificate, Entrance, bind, listen};
use crate::referee::{Flags, Referee};
use crate::store::journal::{Journal, boot_id};
use crate::store::{self, Accounts, Archive, DataDir, SqliteStore, StoreError, StoreHandle, Untold};
use crate::tournament::Desk;
use crate::{admin, house, logging, oracle, time, web};
use anyhow::{Context as _, bail};
use clap::Args;
use modiar_oracle::Table;
use modiar_protocol::limits::PAIRS_REMEMBERED;
use modiar_protocol::server::Openings;
use std::fs::File;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{info, warn};

/// How long games that were ended by the stop may take to be stored, and connections to be seen off.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The options of `modiar serve`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples:\n  modiar serve\n  modiar serve --bots 127.0.0.1:0 --data /var/lib/modiar\n  modiar serve --print-config > modiar.toml"
)]
pub(super) struct Serve {
    /// Where bots connect; port 0 takes a free one [default: 127.0.0.1:6634]
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    bots: Option<SocketAddr>,
    /// Where monitors connect [default: 127.0.0.1:6635]
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    http: Option<SocketAddr>,
    /// Leave the server's own bots out
    #[arg(long)]
    no_house_bots: bool,
    /// Check the configuration and stop: exit 0, or 78 with what is wrong
    #[arg(long)]
    check_config: bool,
    /// Write the configuration file with every key and its default to stdout
    #[arg(long)]
    print_config: bool,
}

impl Serve {
    pub(super) fn run(self, place: Place) -> anyhow::Result<ExitCode> {
        if self.print_config {
            write_stdout(TEMPLATE.as_bytes())?;
            return Ok(ExitCode::SUCCESS);
        }
        let (config, certificate) = self.configure(&place)?;
        if self.check_config {
            note(&match place.file() {
                Some(path) => format!("the configuration is good, with {}", path.display()),
                None => "the configuration is good; there is no modiar.toml here, so it is the default".to_owned(),
            });
            return Ok(ExitCode::SUCCESS);
        }
        logging::start(config.log.format)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let outcome =
            catch_unwind(AssertUnwindSafe(|| runtime.block_on(serve(Reload::new(self, place, config, certificate)))));
        // Whatever still reads a file then reads it for nobody; after a fault nothing is waited for.
        runtime.shutdown_background();
        logging::flush();
        outcome.unwrap_or_else(|_| {
            bail!("a fault ended the server; what it was stands above, and games go on at the next start")
        })
    }

    /// The configuration with all flags laid over it, and the certificate that it names.
    pub(super) fn configure(&self, place: &Place) -> Result<(Config, Option<Certificate>), ConfigError> {
        let mut config = place.configuration()?;
        config.bots = self.bots.unwrap_or(config.bots);
        config.http = self.http.unwrap_or(config.http);
        config.house_bots &= !self.no_house_bots;
        config.check()?;
        let certificate = config.tls.as_ref().map(Certificate::load).transpose();
        let certificate = certificate.map_err(|error| ConfigError::Value(format!("[tls] {}", told(&error))))?;
        Ok((config, certificate))
    }
}

async fn serve(reload: Reload) -> anyhow::Result<ExitCode> {
    let Reload { config, certificate, .. } = &reload;
    // Before anything else: what is not caught yet ends the process.
    let (hangup, mut signals) = (signal(SignalKind::hangup())?, Signals::catch()?);
    let data = DataDir::new(&config.data);
    let claim = claim(&data).await?;
    let house = House::open(config, &data).await?;
    let (connections, tasks) = (TaskTracker::new(), TaskTracker::new());
    let entrance = Entrance::new(Arc::clone(&house.hall), certificate.clone(), connections.clone());
    let doors = entrance.map_err(Into::into).and_then(|entrance| Ok((entrance, Doors::open(config, &data)?)));
    let (entrance, Doors { bots, http, control, listening }) = match doors {
        Ok((entrance, doors)) => (Arc::new(entrance), doors),
        // The games have been looked at, and go on at the next start as if they had not.
        Err(error) => return house.close(false).await.and(Err(error)),
    };
    let (no_more, stop) = (CancellationToken::new(), CancellationToken::new());
    tasks.spawn(web::serve(http, Arc::clone(&house.hall), Arc::clone(&entrance), stop.clone()));
    tasks.spawn(admin::serve(control, Arc::clone(&house.accounts), Arc::clone(&house.desk), stop.clone()));
    tasks.spawn(listen(bots, entrance, no_more.clone()));
    house.keep(&tasks, &no_more, &stop, config.restart_wait());
    tasks.spawn(consult_oracle(data.clone(), Arc::clone(&house.hall), config.house_bots, connections.clone()));
    tasks.spawn(reload.run(Arc::clone(&house.hall), data, hangup, stop.clone()));

    let refused = announce(listening);
    let ended = tokio::select! {
        () = signals.next() => Ok(()),
        () = house.failed.cancelled() => Ok(()),
        error = refused => Err(error),
    };
    if ended.is_ok() && !house.failed.is_cancelled() {
        drain(&house.hall, &mut signals).await;
    }
    // Before the goodbyes: a bot that may move no longer loses no time.
    no_more.cancel();
    house.hall.dismiss();
    connections.close();
    if timeout(LAST_WORDS, connections.wait()).await.is_err() {
        warn!(connections = connections.len(), "connections left behind");
    }
    stop.cancel();
    tasks.close();
    if timeout(LAST_WORDS, tasks.wait()).await.is_err() {
        warn!(tasks = tasks.len(), "tasks left behind");
    }
    let failure = house.failed.is_cancelled();
    house.close(failure).await?;
    drop(claim);
    info!("stopped");
    ended?;
    if failure { bail!("the disk failed; see the log") } else { Ok(ExitCode::SUCCESS) }
}

/// What needs the oracle's table follows once that stands, beside all else: balanced openings, and the house bots.
async fn consult_oracle(data: DataDir, hall: Arc<Hall>, house_bots: bool, connections: TaskTracker) {
    if !plays_openings(&hall) && !house_bots {
        return;
    }
    let Ok(table) = spawn_blocking(move || oracle::establish(&data)).await else { return };
    use_openings(&hall, &table).await;
    if house_bots {
        house::sit_down(&hall, &Arc::new(table), &connections);
    }
}

/// Reads or makes the openings of a pool that is new, where it has balanced ones.
pub(super) async fn prepare_openings(hall: Arc<Hall>, data: DataDir) {
    if plays_openings(&hall)
        && let Ok(table) = spawn_blocking(move || oracle::establish(&data)).await
    {
        use_openings(&hall, &table).await;
    }
}

fn plays_openings(hall: &Hall) -> bool {
    hall.current().pools.iter().any(|pool| pool.openings == Openings::Balanced)
}

/// Each two bots go on through them where they were.
async fn use_openings(hall: &Hall, table: &Table) {
    if !plays_openings(hall) {
        return;
    }
    let met = hall.store().with(|store| store.meetings(PAIRS_REMEMBERED)).await.unwrap_or_else(|error| {
        warn!(%error, "openings that two bots have had may come again");
        Vec::new()
    });
    hall.use_openings(&oracle::openings(table), &met);
}

/// Claims the directory; commands that are at work on it without a daemon have soon done, one after the other.
async fn claim(data: &DataDir) -> Result<File, StoreError> {
    /// How long they may take.
    const TURN: Duration = Duration::from_secs(1);
    let waiting = tokio::task::spawn_blocking({
        let data = data.clone();
        move || data.claim_in_turn()
    });
    // Where it is over without one the process ends, and with it the thread that waits.
    match timeout(TURN, waiting).await {
        Ok(Ok(claimed)) => claimed,
        _ => data.claim(),
    }
}

/// Where people come in.
struct Doors {
    bots: TcpListener,
    http: TcpListener,
    control: UnixListener,
    /// What says that they are open.
    listening: String,
}

impl Doors {
    fn open(config: &Config, data: &DataDir) -> anyhow::Result<Self> {
        let bots = bind(config.bots)
            .with_context(|| format!("the bots' address {} cannot be used; choose another with --bots", config.bots))?;
        let http = bind(config.http)
            .with_context(|| format!("the web address {} cannot be used; choose another with --http", config.http))?;
        let control = admin::listen(data).with_context(|| {
            format!("{} cannot be made; see that nothing else stands there", data.control().display())
        })?;
        let [at, web] = [bots.local_addr()?, http.local_addr()?];
        // By hand, so that the keys stand in the order people read them; addresses need no escapes.
        let listening = format!("{{\"type\":\"listening\",\"bots\":\"{at}\",\"http\":\"{web}\"}}\n");
        info!(bots = %at, http = %web, %data, "listening");
        Ok(Self { bots, http, control, listening })
    }
}

/// The rooms of a running daemon.
struct House {
    hall: Arc<Hall>,
    accounts: Arc<Accounts>,
    desk: Arc<Desk>,
    referee: Arc<Referee>,
    journal: Arc<Journal>,
    flags: Arc<Flags>,
    store: StoreHandle,
    writer: JoinHandle<()>,
    failed: CancellationToken,
}

impl House {
    /// Opens the data directory and sets up again the games that ran.
    async fn open(config: &Config, data: &DataDir) -> anyhow::Result<Self> {
        // All is looked at before anything is changed: data that are refused stay as they were found.
        let boot = boot_id()?;
        let recovered = Journal::look(&data.journal(), &boot)?;
        let mut store = SqliteStore::look(data)?;
        Archive::check(&data.archive(), &store)?;
        store.settle(data)?;
        let untold = Untold::find(&store, &recovered)?;
        let archive = Archive::open(&data.archive(), &store)?;
        let metrics = Metrics::new(config.overload());
        let (handle, writer) = store::start(store, archive, Arc::clone(&metrics))?;
        handle.load_ratings().await?;
        let sides = handle.with(|store| store.sides()).await?;
        let accounts = Arc::new(Accounts::load(handle.clone()).await?);
        // Last: nothing fails any more between this and the games' going on.
        let journal = Journal::go_on(&data.journal(), &boot, &recovered)?;

        let (journal, flags, failed) = (Arc::new(journal), Arc::new(Flags::default()), handle.failed());
        let referee = Referee::new(
            handle.clone(),
            Arc::clone(&journal),
            Arc::clone(&flags),
            config.node.clone(),
            failed.clone(),
            metrics,
        );
        let (current, house) = (Reloadable::from(config), config.house_bots);
        let setup = Setup { accounts: Arc::clone(&accounts), current, house, sides, seed: time::unix_ms() };
        let hall = Hall::open(setup, Arc::clone(&referee));
        hall.restore(&recovered, untold);
        let desk = Desk::open(Arc::clone(&hall), Arc::clone(&accounts), handle.clone()).await?;
        Ok(Self { hall, accounts, desk, referee, journal, flags, store: handle, writer, failed })
    }

    /// Starts what goes on beside the connections: until `stop`, and what ends games only until `no_more`.
    fn keep(&self, tasks: &TaskTracker, no_more: &CancellationToken, stop: &CancellationToken, restart_wait: Duration) {
        tasks.spawn(Arc::clone(&self.flags).run(no_more.clone()));
        tasks.spawn(Arc::clone(self.hall.metrics()).watch_loop(stop.clone()));
        tasks.spawn(Arc::clone(&self.hall).lapse_challenges(stop.clone()));
        tasks.spawn(Arc::clone(&self.hall).keep_house(restart_wait, stop.clone()));
        tasks.spawn(Arc::clone(&self.desk).run(stop.clone()));
        let (referee, stop) = (Arc::clone(&self.referee), stop.clone());
        tasks.spawn_blocking(move || referee.keep_journal(&stop));
    }

    /// Stores the results that are decided, and leaves the journal so that the games that still run go on; as far as that
    /// can be done after a failure of the disk.
    async fn close(self, failure: bool) -> anyhow::Result<()> {
        let Self { journal, store, writer, .. } = self;
        if timeout(LAST_WORDS, store.emptied()).await.is_err() {
            warn!("some results could not be stored");
        }
        if !failure {
            journal.stopped()?;
        } else if let Err(error) = journal.rescue() {
            warn!(%error, "the running games could not be written anew");
        }
        store.stop();
        writer.join().map_err(|_| anyhow::anyhow!("the store's writer failed"))
    }
}

/// Lets games end for the drain time or until the next signal; what still runs then goes on after the next start.
async fn drain(hall: &Hall, signals: &mut Signals) {
    let time = hall.current().drain;
    hall.drain(time);
    info!("what runs may end; a second signal stops at once");
    tokio::select! {
        () = hall.emptied() => {}
        () = tokio::time::sleep(time) => {}
        () = signals.next() => {}
    }
}

/// Writes the one line on stdout by which a starter knows that bots may connect; ready where that fails. Who takes nothing
/// from a full pipe keeps nobody from playing.
fn announce(line: String) -> impl Future<Output = anyhow::Error> {
    let written = tokio::task::spawn_blocking(move || write_stdout(line.as_bytes()));
    async {
        match written.await {
            Ok(Err(error)) if !is_full(&error) => error,
            _ => pending().await,
        }
    }
}

/// Whether what was to be written to has no room, and somebody has set it to say so and not to wait.
fn is_full(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

/// SIGTERM and SIGINT, taken alike.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn catch() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
