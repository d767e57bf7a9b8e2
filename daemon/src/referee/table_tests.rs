//! Tables among themselves: what a fault in one game does to it, and not to the other.

use super::game::Verdict;
use super::guard::Sabotage;
use super::{Flags, Host, Link, Referee, Seat, Table, Told};
use crate::clock::{Arrival, Micros, Moment};
use crate::config::Config;
use crate::lobby::{Bot, Half, Pairing, Sitter, Source, Visitor};
use crate::metrics::Metrics;
use crate::net::Outlet;
use crate::records::verify_record;
use crate::store::journal::Journal;
use crate::store::{Archive, DataDir, SqliteStore, start};
use crate::time::now;
use modiar_protocol::client::Move;
use modiar_protocol::{BotName, Record, Termination};
use modiar_rules::{BySide, Pit, Side};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Plies that lead round; after the last of them the first position stands for the third time.
const LOOP: &str = "240315042315042315042";

/// Who plays at the tables of these tests: nobody is paired again. While the door is locked no end is told.
#[derive(Debug, Default)]
struct Nobody {
    door: Mutex<()>,
}

impl Host for Nobody {
    fn finished(&self, table: &Arc<Table>) {
        let _open = self.door.lock().unwrap();
        table.conclude();
    }
}

/// A referee with a real store and journal.
struct Room {
    referee: Arc<Referee>,
    host: Arc<Nobody>,
    _data: TempDir,
}

impl Room {
    fn open() -> Self {
        let data = TempDir::new().unwrap();
        let directory = DataDir::new(data.path());
        let _claim = directory.claim().unwrap();
        let store = SqliteStore::open(&directory).unwrap();
        let archive = Archive::open(&directory.archive(), &store).unwrap();
        let metrics = Metrics::new(None);
        let (handle, _writer) = start(store, archive, Arc::clone(&metrics)).unwrap();
        let (journal, _) = Journal::open(&directory.journal(), "boot").unwrap();
        let (flags, failed) = (Arc::new(Flags::default()), CancellationToken::new());
        let referee = Referee::new(handle, Arc::new(journal), flags, "test".into(), failed, metrics);
        let host = Arc::new(Nobody::default());
        referee.report_to(&(Arc::clone(&host) as Arc<dyn Host>));
        Self { referee, host, _data: data }
    }

    /// A game in which both have read what they read at its start.
    async fn game(&self, south: &str, north: &str) -> Play {
        let mut play = self.open_game(south, north).await;
        play.table.start();
        assert_eq!(read(&mut play.south).await["type"], "started");
        assert_eq!(read(&mut play.south).await["type"], "turn");
        assert_eq!(read(&mut play.north).await["type"], "started");
        play
    }

    /// A game that is still to start.
    async fn open_game(&self, south: &str, north: &str) -> Play {
        let mut readers = Vec::new();
        let mut seats = Vec::new();
        for name in [south, north] {
            let (outlet, reader) = self.connection().await;
            readers.push(reader);
            let bot = Arc::new(Bot::new(BotName::new(name).unwrap(), None));
            seats.push(Seat { bot, version: None, link: Link { outlet, updates: false } });
        }
        let [south, north]: [Seat; 2] = seats.try_into().unwrap();
        let sitter = |seat: &Seat, number| Sitter { bot: seat.bot.name.clone(), visitor: Visitor(number), seek: None };
        let pairing = Pairing {
            pool: 1,
            seats: BySide::new(sitter(&south, 1), sitter(&north, 2)),
            rated: true,
            must_show: BySide::default(),
            source: Source::Seeks(Half::Single),
            opening: Arc::default(),
        };
        let pool = Config::default().pools[1].clone();
        let table = Table::open(pairing, pool, BySide::new(south, north), Arc::clone(&self.referee)).unwrap();
        let mut readers = readers.into_iter();
        Play { table, south: readers.next().unwrap(), north: readers.next().unwrap(), _room: self.referee.clone() }
    }

    async fn connection(&self) -> (Arc<Outlet>, BufReader<TcpStream>) {
        let door = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(door.local_addr().unwrap()).await.unwrap();
        let (_, write) = door.accept().await.unwrap().0.into_split();
        (Arc::new(Outlet::new(write, None, 0, 262_144, Arc::clone(&self.referee.metrics))), BufReader::new(client))
    }

    async fn record(&self, table: &Table) -> Record {
        let id = table.id();
        self.referee.store.with(move |store| store.record(id)).await.unwrap().unwrap()
    }

    /// How often an invariant did not hold.
    fn failures(&self, invariant: &str) -> u64 {
        let text = self.referee.metrics.render().unwrap();
        let name = format!("modiar_invariant_failures_total{{invariant=\"{invariant}\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&name)).unwrap().parse().unwrap()
    }
}

struct Play {
    table: Arc<Table>,
    south: BufReader<TcpStream>,
    north: BufReader<TcpStream>,
    _room: Arc<Referee>,
}

impl Play {
    fn r#move(&self, side: Side, pit: u8) -> Told {
        let wanted = Move { game: self.table.id(), pit: Pit::new(pit).unwrap(), ply: None };
        self.table.play(side, wanted, false, None, &Now)
    }

    fn outlet(&self, side: Side) -> Arc<Outlet> {
        Arc::clone(&self.table.lock().seats[side].link.outlet)
    }

    fn sabotage(&self, sabotage: Sabotage) {
        self.table.lock().sabotage = sabotage;
    }

    /// Both read the same `ended` next, but for the ratings of the two, and nothing after it.
    async fn ended(&mut self) -> Value {
        let mut south = read(&mut self.south).await;
        let mut north = read(&mut self.north).await;
        assert_eq!(south["type"], "ended");
        let [one, other] = [&mut south, &mut north].map(|ended| ended.as_object_mut().unwrap().remove("rating"));
        assert_eq!((one.is_some(), other.is_some()), (south["result"] != "none", south["result"] != "none"));
        assert_eq!(north, south);
        self.assert_quiet().await;
        south
    }

    async fn assert_quiet(&mut self) {
        for reader in [&mut self.south, &mut self.north] {
            let mut line = String::new();
            let more = timeout(Duration::from_millis(50), reader.read_line(&mut line)).await;
            assert!(more.is_err(), "{line}");
        }
    }
}

async fn read(reader: &mut BufReader<TcpStream>) -> Value {
    let mut line = String::new();
    timeout(Duration::from_secs(10), reader.read_line(&mut line)).await.unwrap().unwrap();
    serde_json::from_str(&line).unwrap()
}

/// A move that has just come.
struct Now;

impl Arrival for Now {
    fn received(&self) -> Moment {
        now()
    }

    fn own(&self, _turn: Moment) -> Micros {
        Micros(0)
    }
}

/// `forfeit.server-error`
#[tokio::test]
async fn a_panic_ends_its_game_and_touches_no_other() {
    let room = Room::open();
    let (mut broken, mut other) = (room.game("anna", "bert").await, room.game("carl", "dora").await);
    assert!(matches!(broken.r#move(Side::South, 2), Told::Accepted));
    assert_eq!(read(&mut broken.north).await["ply"], 2);
    broken.sabotage(Sabotage::Panic);
    assert!(matches!(broken.r#move(Side::North, 4), Told::Nothing));
    let ended = broken.ended().await;
    assert_eq!((ended["termination"].as_str(), ended["result"].as_str()), (Some("server_error"), Some("none")));

    assert!(matches!(other.r#move(Side::South, 2), Told::Accepted));
    assert_eq!(read(&mut other.north).await["ply"], 2);
    other.table.resign(Side::North, None, &Now);
    assert_eq!(other.ended().await["termination"], "resignation");

    let record = room.record(&broken.table).await;
    assert_eq!((record.termination, record.rated), (Termination::ServerError, false));
    verify_record(&record).unwrap();
    assert_eq!((room.failures("no_panic"), room.failures("one_end"), room.failures("silence")), (1, 0, 0));
}

#[tokio::test]
async fn a_lost_seed_ends_its_game() {
    let room = Room::open();
    let mut play = room.game("anna", "bert").await;
    play.sabotage(Sabotage::LoseSeed);
    play.r#move(Side::South, 2);
    assert_eq!(play.ended().await["termination"], "server_error");
    assert_eq!(room.failures("seeds"), 1);
    verify_record(&room.record(&play.table).await).unwrap();
}

/// A game is told its end once, and nothing after it, whatever the server does wrong.
#[tokio::test]
async fn a_second_end_and_a_late_turn_are_alarms_and_not_told() {
    let room = Room::open();
    let mut play = room.game("anna", "bert").await;
    play.table.resign(Side::South, None, &Now);
    play.ended().await;
    play.table.conclude();
    play.table.finish(&mut play.table.lock());
    play.table.write_turn(&mut play.table.lock(), false);
    play.assert_quiet().await;
    assert_eq!((room.failures("one_end"), room.failures("silence"), room.failures("no_panic")), (2, 1, 0));
}

/// What was in the middle of a change is stored whole: the other side of `a_panic_ends_its_game`.
#[tokio::test]
async fn a_panic_while_the_result_is_on_its_way_changes_nothing() {
    let room = Room::open();
    let mut play = room.game("anna", "bert").await;
    play.table.resign(Side::South, None, &Now);
    play.sabotage(Sabotage::Panic);
    play.r#move(Side::South, 2);
    assert_eq!(play.ended().await["termination"], "resignation");
    assert_eq!((room.failures("no_panic"), room.failures("one_end")), (1, 0));
}

/// What becomes of a bot between the opening of its game and the start of it comes after `started`.
#[tokio::test]
async fn what_is_said_before_a_game_starts_follows_its_started() {
    let room = Room::open();
    let mut play = room.open_game("anna", "bert").await;
    for side in Side::ALL {
        play.outlet(side).send(b"{\"type\":\"seek_ended\"}\n");
    }
    play.table.start();
    for (reader, rest) in [(&mut play.south, &["turn"][..]), (&mut play.north, &[])] {
        for wanted in ["started", "seek_ended"].iter().chain(rest) {
            assert_eq!(read(reader).await["type"], *wanted);
        }
    }
    play.assert_quiet().await;
}

/// A bot that comes back before its game starts reads where it stands, and its turn at the start, once.
#[tokio::test]
async fn a_bot_that_returns_before_its_game_starts_has_its_turn_once() {
    let room = Room::open();
    let mut play = room.open_game("anna", "bert").await;
    let (outlet, mut back) = room.connection().await;
    play.table.come_back(Side::South, Link { outlet, updates: false }, &Now);
    play.table.start_clock();
    let started = read(&mut back).await;
    assert_eq!((started["type"].as_str(), started["resumed"].as_bool()), (Some("started"), Some(true)));
    assert!(play.table.lock().game.clock().stands(), "its turn is not written");
    play.table.start();
    assert_eq!(read(&mut back).await["type"], "turn");
    assert_eq!(read(&mut play.north).await["type"], "started");
    play.south = back;
    play.assert_quiet().await;
}

/// Whoever knows of a game before its start may play or give up: nothing is told twice, nor after `ended`.
#[tokio::test]
async fn a_game_that_is_played_or_over_before_its_start_has_no_first_turn() {
    let room = Room::open();
    let mut played = room.open_game("anna", "bert").await;
    assert!(matches!(played.r#move(Side::South, 2), Told::Accepted));
    played.table.start();
    assert_eq!(read(&mut played.south).await["type"], "started");
    assert_eq!(read(&mut played.north).await["type"], "started");
    assert_eq!(read(&mut played.north).await["ply"], 2);
    played.assert_quiet().await;

    let mut over = room.open_game("carl", "dora").await;
    over.table.resign(Side::South, None, &Now);
    over.table.start();
    assert_eq!(read(&mut over.south).await["type"], "started");
    assert_eq!(read(&mut over.north).await["type"], "started");
    assert_eq!(over.ended().await["termination"], "resignation");
    assert_eq!((room.failures("one_end"), room.failures("silence")), (0, 0));
}

/// A bot that comes back while the end of its game is on its way to the store reads the game, whose last ply may be news
/// to it, and the end, once that is stored (`session.resume-ending`).
#[tokio::test]
async fn a_bot_that_returns_between_the_end_and_its_telling_reads_the_game_and_then_the_end() {
    let room = Room::open();
    let mut play = room.game("anna", "bert").await;
    let (outlet, mut back) = room.connection().await;
    {
        let _locked = room.host.door.lock().unwrap();
        for (ply, pit) in (1..).zip(LOOP.bytes()) {
            let side = if ply % 2 == 1 { Side::South } else { Side::North };
            play.r#move(side, pit - b'0');
        }
        play.table.come_back(Side::North, Link { outlet, updates: true }, &Now);
    }
    let started = read(&mut back).await;
    assert_eq!((started["resumed"].as_bool(), started["moves"].as_str()), (Some(true), Some(LOOP)), "{started}");
    for (reader, turns) in [(&mut play.south, 10), (&mut play.north, 10)] {
        for _ in 0..turns {
            assert_eq!(read(reader).await["type"], "turn");
        }
    }
    play.north = back;
    assert_eq!(play.ended().await["termination"], "repetition");
}

/// `session.missed`: an end is told to who is there; the connection that a bot has left may still be open.
#[tokio::test]
async fn an_end_that_comes_after_its_bot_has_left_is_not_taken_for_told() {
    let room = Room::open();
    let mut play = room.game("anna", "bert").await;
    let [anna, bert] = Side::ALL.map(|side| Arc::clone(&play.table.lock().seats[side].bot));
    anna.enter();
    bert.enter();
    anna.left(&play.outlet(Side::South));
    play.table.resign(Side::South, None, &Now);
    let ended = play.ended().await;
    assert_eq!((anna.unread().len(), bert.unread().len()), (1, 0), "{ended}");
}

/// Who comes back while a ply waits for space on the disk reads the whole state once there is some, and no news of what
/// stands in it.
#[tokio::test]
async fn who_comes_back_while_a_ply_waits_reads_no_news_of_it() {
    let room = Room::open();
    let mut play = room.game("anna", "bert").await;
    let wanted = Move { game: play.table.id(), pit: Pit::new(2).unwrap(), ply: None };
    {
        let mut state = play.table.lock();
        let Verdict::Accepted(played) = state.game.play(Side::South, wanted, &Now, false) else { panic!() };
        state.stalled = Some(played);
        state.game.stand();
    }
    for (side, reader) in [(Side::South, &mut play.south), (Side::North, &mut play.north)] {
        let (outlet, back) = room.connection().await;
        play.table.come_back(side, Link { outlet, updates: true }, &Now);
        *reader = back;
    }
    play.table.go_on();
    for (reader, rest) in [(&mut play.south, &[][..]), (&mut play.north, &["turn"])] {
        let started = read(reader).await;
        assert_eq!((started["type"].as_str(), started["moves"].as_str()), (Some("started"), Some("2")));
        for wanted in rest {
            assert_eq!(read(reader).await["type"], *wanted);
        }
    }
    play.assert_quiet().await;
}
