//! Bots of every library in `clients/` at one daemon, as real processes over real sockets.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

#[path = "../../spec/conformance/tests/clients/driver.rs"]
mod driver;
#[path = "../../spec/conformance/tests/clients/messages.rs"]
#[allow(dead_code)] // what the library's own tests need
mod messages;
#[path = "../../spec/conformance/tests/clients/sdk.rs"]
#[allow(dead_code)] // what the library's own tests need
mod sdk;
mod support;

use driver::Driver;
use messages::{hex, holds, told};
use modiar_conformance::{Codec, Transcript};
use sdk::Sdk;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use support::process::wait_until;
use support::{Daemon, HOUSE_BOTS};

static ALL: [Sdk; 6] = [sdk::C, sdk::GO, sdk::JAVA, sdk::JAVASCRIPT, sdk::PYTHON, sdk::RUST];

fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

/// The programs that each page shows play with each other, or with a bot of the house: a game by `run`, and two by the loop.
#[test]
fn the_programs_of_each_page_play() {
    let daemon = Daemon::start_with("", &[HOUSE_BOTS]);
    let built: Vec<_> = ALL.iter().filter(|sdk| sdk.is_built()).map(|sdk| (sdk, sdk.shown())).collect();
    let start = |(sdk, programs): &(&'static Sdk, [Vec<String>; 2])| {
        (sdk.folder, programs.each_ref().map(|program| daemon.bot(command(program))))
    };
    let running: Vec<_> = built.iter().map(start).collect();
    for (folder, [first, own_loop]) in running {
        let (first, own_loop) = (first.finish(), own_loop.finish());
        let lines = first.lines();
        assert!(lines.len() == 1 && lines[0].split(' ').count() == 5, "{folder}: {first:?}");
        // Python's has two loops.
        let games = if folder == "python" { 4 } else { 2 };
        assert!(own_loop.status == Some(0) && own_loop.lines().len() == games, "{folder}: {own_loop:?}");
    }
}

/// A library's codec, as its driver has it.
struct Written {
    driver: Driver,
    words: BTreeSet<String>,
    /// Messages that the library wrote.
    messages: usize,
}

impl Codec for Written {
    fn encode(&mut self, message: &Value) -> Result<String, String> {
        let plain = format!("{message}\n");
        // What is no message, what has fields of nobody, and what no id can be: all that is for a server to answer.
        let knows = |fields: &Map<String, Value>| fields.keys().all(|field| self.words.contains(field));
        let is_id = |id: &str| message[id].as_str().is_none_or(|text| text.starts_with(&id[..1]));
        let sayable = message.as_object().is_some_and(knows) && is_id("game") && is_id("challenge");
        if !sayable || modiar_protocol::client::decode(plain.trim_end().as_bytes()).is_err() {
            return Ok(plain);
        }
        self.messages += 1;
        messages::encoded(&mut self.driver, message, &self.words)
    }

    fn decode(&mut self, line: &str) -> Result<(), String> {
        let answer = self.driver.ask(&json!({"op": "decode", "chunks": [hex(line.as_bytes()), hex(b"\n")]}));
        let message: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let came = answer["messages"].as_array().filter(|came| came.len() == 1 && holds(&came[0], &told(&message)));
        came.map(drop).ok_or_else(|| format!("it is decoded {answer}"))
    }
}

/// Every transcript again, with each library at the client's end; what waits for clocks shows nothing of a library.
#[test]
fn every_library_plays_the_transcripts() {
    const SLOW: [&str; 3] = ["flag", "handshake-silence", "no-show"];
    let all = Transcript::all().unwrap();
    let quick: Vec<&Transcript> = all.iter().filter(|transcript| !SLOW.contains(&&*transcript.name)).collect();
    assert_eq!(quick.len() + SLOW.len(), all.len(), "a transcript was renamed");
    let failed = thread::scope(|scope| {
        let played = |sdk: &'static Sdk| {
            let daemon = Daemon::start();
            let mut codec = Written { driver: Driver::start(sdk.driver()), words: messages::words(), messages: 0 };
            let plays = quick.iter().filter_map(|transcript| transcript.play_by(daemon.bots, &mut codec).err());
            let failed: String = plays.map(|failure| format!("clients/{}: {failure}\n\n", sdk.folder)).collect();
            assert!(!failed.is_empty() || codec.messages > 400, "clients/{}: {} messages", sdk.folder, codec.messages);
            failed
        };
        let runs: Vec<_> =
            ALL.iter().filter(|sdk| sdk.is_built()).map(|sdk| scope.spawn(move || played(sdk))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect::<String>()
    });
    assert!(failed.is_empty(), "{failed}");
}

/// A cable that is cut again and again, at whatever moment: while a hello is on its way, a turn, a move or an end.
struct Cable {
    address: SocketAddr,
    links: Arc<Mutex<Vec<TcpStream>>>,
    holds: Arc<AtomicBool>,
    cuts: Arc<AtomicU64>,
}

impl Cable {
    fn to(daemon: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (links, holds, cuts) = <(Arc<Mutex<Vec<TcpStream>>>, Arc<AtomicBool>, Arc<AtomicU64>)>::default();
        let known = Arc::clone(&links);
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect(daemon) else { continue };
                known.lock().unwrap().extend([near.try_clone().unwrap(), far.try_clone().unwrap()]);
                carry(near.try_clone().unwrap(), far.try_clone().unwrap());
                carry(far, near);
            }
        });
        Self { address, links, holds, cuts }
    }

    /// Cuts it after pauses of some length, which differ, until it [holds](Self::hold).
    fn fray(&self, mut chance: u64) {
        let (links, holds, cuts) = (Arc::clone(&self.links), Arc::clone(&self.holds), Arc::clone(&self.cuts));
        thread::spawn(move || {
            while !holds.load(Ordering::Relaxed) {
                chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                thread::sleep(Duration::from_millis(300 + (chance >> 33) % 900));
                for link in links.lock().unwrap().drain(..) {
                    // Who hung up already needs no cut.
                    cuts.fetch_add(u64::from(link.shutdown(Shutdown::Both).is_ok()), Ordering::Relaxed);
                }
            }
        });
    }

    fn hold(&self) {
        self.holds.store(true, Ordering::Relaxed);
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            // In two pieces: a cut may leave half a line.
            let (first, rest) = bytes[..length].split_at(length / 2);
            if to.write_all(first).and_then(|()| to.write_all(rest)).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}

/// `session.resume`, `session.missed`: every second each bot's link breaks, some seconds or `MODIAR_CUTS` of them, and no bot
/// loses a game by that.
#[test]
fn no_library_loses_a_game_to_a_cut_cable() {
    let seconds = std::env::var("MODIAR_CUTS").map_or(15, |seconds| seconds.parse().unwrap());
    let sdks: Vec<&Sdk> = ALL.iter().filter(|sdk| sdk.is_built()).collect();
    if sdks.len() < 2 {
        return;
    }
    let daemon = Daemon::start();
    let mut bots = Vec::new();
    for sdk in &sdks {
        let cable = Cable::to(daemon.bots);
        let mut command = command(&sdk.greedy());
        command.args(["--games", "0", "--pool", "practice"]).env("MODIAR_NAME", format!("bot-{}", sdk.folder));
        command.env("MODIAR_HOST", "127.0.0.1").env("MODIAR_PORT", cable.address.port().to_string());
        bots.push((sdk.folder, cable, support::programs::Program::start(command)));
    }
    // A first connection that breaks ends a bot: whoever starts it looks at its settings.
    wait_until("all play", || daemon.export().lines().count() >= sdks.len());
    for (number, (_, cable, _)) in (1..).zip(&bots) {
        cable.fray(number);
    }
    thread::sleep(Duration::from_secs(seconds));
    bots.iter().for_each(|(_, cable, _)| cable.hold());
    let (cut, calm) = (Instant::now(), daemon.export().lines().count());
    wait_until("all play again", || daemon.export().lines().count() >= calm + sdks.len());
    let mut told = BTreeMap::new();
    for (name, cable, bot) in bots {
        assert!(bot.runs(), "{name} has ended: {:?}", bot.finish());
        bot.signal(libc::SIGINT);
        let cuts = cable.cuts.load(Ordering::Relaxed);
        assert!(cuts >= seconds, "{name}: {cuts} cuts");
        let outcome = bot.finish();
        told.insert(name, outcome.stdout.lines().map(str::to_owned).collect::<Vec<_>>());
    }
    assert!(cut.elapsed() < Duration::from_secs(60), "it took long to calm down");
    let records = daemon.export();
    let games: Vec<Value> = records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let bad = ["time_forfeit", "illegal_move", "server_error", "aborted"];
    let lost: Vec<_> = games.iter().filter(|game| bad.contains(&game["termination"].as_str().unwrap())).collect();
    assert!(lost.is_empty(), "{} of {} games: {lost:?}", lost.len(), games.len());
    // Each bot tells each of its games once.
    for (name, lines) in told {
        let mut ids: Vec<&str> = lines.iter().map(|line| line.split(' ').next().unwrap()).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "{name} told a game twice");
        let bot = format!("bot-{name}");
        let is_its = |game: &&Value| ["south", "north"].iter().any(|side| game[side]["name"] == *bot);
        assert_eq!(games.iter().filter(is_its).count(), count, "{name}: as many games as it told");
    }
}
