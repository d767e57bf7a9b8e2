//! Games that end in several ways at once, and many games of one bot that end together: one end a game, one rating event a
//! side, and the ratings that a single thread would have come to.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

use modiar::clock::{Arrival, Micros, Moment};
use modiar::config::{Config, Pool};
use modiar::ladder::{Row, change};
use modiar::lobby::{Bot, Half, Pairing, Sitter, Source, Visitor};
use modiar::metrics::Metrics;
use modiar::net::Outlet;
use modiar::referee::{Flags, Link, Referee, Seat, Table};
use modiar::store::journal::Journal;
use modiar::store::{Archive, DataDir, SqliteStore, StoreHandle, find_misrated, read_records, start};
use modiar::time::now;
use modiar_ladder::{Outcome, Rating};
use modiar_protocol::client::Move;
use modiar_protocol::{BotName, GameResult, Record, RecordSeat};
use modiar_rules::{BySide, Pit, Side};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Barrier};
use std::thread;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Games that end in several ways at once, so many at a time.
const GAMES: usize = 10_000;
const ROUND: usize = 1_000;
/// Bots that play them.
const BOTS: usize = 24;
/// In these games a ply that captures nothing is the last one.
const QUIET: &str = "quiet";

/// A referee with a real store and journal, and nobody who pairs.
struct Room {
    referee: Arc<Referee>,
    store: StoreHandle,
    pool: Pool,
    data: DataDir,
    _folder: TempDir,
}

/// A game, and its two as they hear of it.
struct Play {
    table: Arc<Table>,
    bots: BySide<Arc<Bot>>,
}

/// Something that has just come.
struct Now;

impl Arrival for Now {
    fn received(&self) -> Moment {
        now()
    }

    fn own(&self, _turn: Moment) -> Micros {
        Micros(0)
    }
}

impl Room {
    fn open() -> Self {
        let folder = TempDir::new().unwrap();
        let data = DataDir::new(folder.path());
        let _claim = data.claim().unwrap();
        let store = SqliteStore::open(&data).unwrap();
        let archive = Archive::open(&data.archive(), &store).unwrap();
        let metrics = Metrics::new(None);
        let (store, _writer) = start(store, archive, Arc::clone(&metrics)).unwrap();
        let (journal, _) = Journal::open(&data.journal(), "boot").unwrap();
        let (flags, failed) = (Arc::new(Flags::default()), CancellationToken::new());
        let referee = Referee::new(store.clone(), Arc::new(journal), flags, "test".into(), failed, metrics);
        let mut pool = Config::default().pools[1].clone();
        pool.name = QUIET.to_owned();
        pool.rules.quiet_plies = 1;
        Self { referee, store, pool, data, _folder: folder }
    }

    /// A game that has begun. Where South `must_show` its flag is a defeat, else the game is aborted by it.
    fn game(&self, south: usize, north: usize, must_show: bool) -> Play {
        let bots = BySide::new(south, north).map(|number| Arc::new(Bot::new(name(number), None)));
        let sitter = |bot: &Arc<Bot>| Sitter { bot: bot.name.clone(), visitor: Visitor(0), seek: None };
        let pairing = Pairing {
            pool: 1,
            seats: BySide::new(sitter(&bots.south), sitter(&bots.north)),
            rated: true,
            must_show: BySide::new(must_show, must_show),
            source: Source::Seeks(Half::Single),
            opening: Arc::default(),
        };
        let seats = bots.clone().map(|bot| Seat { bot, version: None, link: Link::absent() });
        let table = Table::open(pairing, self.pool.clone(), seats, Arc::clone(&self.referee)).unwrap();
        table.start();
        Play { table, bots }
    }

    /// The stored games, once all that ended are stored.
    fn records(&self) -> Vec<Record> {
        Runtime::new().unwrap().block_on(self.store.emptied());
        let mut records = Vec::new();
        read_records(&self.data, &mut |line| {
            records.push(serde_json::from_str(&line.text).unwrap());
            Ok(())
        })
        .unwrap();
        records
    }

    fn standings(&self) -> Vec<Row> {
        Runtime::new().unwrap().block_on(self.store.with(|store| store.standings())).unwrap()
    }
}

fn name(number: usize) -> BotName {
    BotName::new(&format!("racer-{number}")).unwrap()
}

impl Play {
    /// One of the ways to end it.
    fn end(&self, way: usize) {
        match way {
            0 => {
                let last = Move { game: self.table.id(), pit: Pit::new(2).unwrap(), ply: None };
                self.table.play(Side::South, last, false, None, &Now);
            }
            1 => self.table.confirm_flag(Side::South, Moment(u64::MAX / 2)),
            2 => self.table.resign(Side::South, None, &Now),
            3 => self.table.resign(Side::North, None, &Now),
            _ => Side::ALL.iter().for_each(|side| self.bots[*side].left(&Outlet::closed())),
        }
    }
}

/// What one bot's games come to, by the arithmetic alone.
#[derive(Debug, Default, PartialEq)]
struct Sum {
    rating: Rating,
    won: u64,
    drawn: u64,
    lost: u64,
    none: u64,
}

/// Played again by one thread, in the order of the store.
fn recomputed(records: &[Record]) -> BTreeMap<String, Sum> {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for record in records {
        let [south, north] = [&record.south, &record.north].map(|seat| seat.name.to_string());
        let before = [&south, &north].map(|name| sums.entry(name.clone()).or_default().rating);
        let outcome = match record.result {
            GameResult::South => Some(Outcome::Win),
            GameResult::North => Some(Outcome::Loss),
            GameResult::Draw => Some(Outcome::Draw),
            GameResult::None => None,
        };
        for (at, name) in [south, north].iter().enumerate() {
            let sum = sums.get_mut(name).unwrap();
            let outcome = outcome.map(|outcome| if at == 0 { outcome } else { outcome.other() });
            match outcome {
                Some(Outcome::Win) => sum.won += 1,
                Some(Outcome::Draw) => sum.drawn += 1,
                Some(Outcome::Loss) => sum.lost += 1,
                None => sum.none += 1,
            }
            if let Some(outcome) = outcome {
                sum.rating = before[at].after(before[1 - at], outcome);
            }
        }
    }
    sums
}

fn told(seat: &RecordSeat) -> Rating {
    Rating { rating: seat.rating.unwrap(), rd: seat.rd.unwrap(), volatility: seat.volatility.unwrap() }
}

/// Each game stands once, told once to each side as it is stored, and the stored ratings are those of a single thread.
fn assert_all_is_rated_once(room: &Room, plays: &[Play]) -> Vec<Record> {
    let records = room.records();
    let by_game: HashMap<_, &Record> = records.iter().map(|record| (record.game, record)).collect();
    assert_eq!((records.len(), by_game.len()), (plays.len(), plays.len()));
    for Play { table, bots } in plays {
        let record = by_game[&table.id()];
        for side in Side::ALL {
            let unread = bots[side].unread();
            let [ended] = &unread[..] else { panic!("{} heard {} ends of {}", side, unread.len(), record.game) };
            assert_eq!((ended.game, ended.result, ended.rating), (record.game, record.result, change(record, side)));
            assert_eq!(ended.rating.is_some(), record.result != GameResult::None);
        }
    }
    let expected = recomputed(&records);
    let stored = room.standings();
    assert_eq!(stored.len(), expected.len());
    for Row { bot, standing, .. } in &stored {
        let (sum, tally) = (&expected[bot.as_str()], standing.tally);
        let counted = Sum {
            rating: standing.rating,
            won: tally.south.won + tally.north.won,
            drawn: tally.south.drawn + tally.north.drawn,
            lost: tally.south.lost + tally.north.lost,
            none: tally.none,
        };
        assert_eq!(counted, *sum, "{bot}");
        let played =
            records.iter().filter(|record| [&record.south, &record.north].iter().any(|seat| seat.name == *bot));
        assert_eq!(tally.games(), played.count() as u64, "{bot}");
        assert_eq!(room.store.ratings().standing(QUIET, bot), Some(*standing), "{bot}: in memory");
    }
    let mut misrated = Vec::new();
    find_misrated(&room.data, &mut |game, what| misrated.push((game, what))).unwrap();
    assert_eq!(misrated, []);
    records
}

/// `ladder.transaction`, `ladder.totals`, `forfeit.once`: last move, flag, both resignations and both disconnects at once, ten
/// thousand times.
#[test]
fn a_game_that_ends_in_five_ways_at_once_is_rated_once() {
    let room = Room::open();
    let mut plays = Vec::new();
    for round in 0..GAMES / ROUND {
        let games: Vec<Play> = (0..ROUND)
            .map(|at| {
                let number = round * ROUND + at;
                let (south, step) = (number % BOTS, 1 + number / BOTS % (BOTS - 1));
                room.game(south, (south + step) % BOTS, number.is_multiple_of(3))
            })
            .collect();
        let (together, games) = (Barrier::new(5), &games);
        thread::scope(|scope| {
            for way in 0..5 {
                let together = &together;
                scope.spawn(move || {
                    for (at, play) in games.iter().enumerate() {
                        together.wait();
                        // Each way is the first in its turn, or none would ever be but one.
                        (0..(way + at) % 5).for_each(|_| thread::yield_now());
                        play.end(way);
                    }
                });
            }
        });
        plays.extend(games.iter().map(|play| Play { table: Arc::clone(&play.table), bots: play.bots.clone() }));
    }
    let records = assert_all_is_rated_once(&room, &plays);
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    records.iter().for_each(|record| *ends.entry(record.termination.as_str()).or_default() += 1);
    assert_eq!(
        ends.keys().copied().collect::<Vec<_>>(),
        ["aborted", "quiet_plies", "resignation", "time_forfeit"],
        "{ends:?}"
    );
    for record in &records {
        assert_eq!(record.rated, record.result != GameResult::None);
    }
}

/// `ladder.transaction`: each of the games knows what the one before it, in the order of the store, made of the bot.
#[test]
fn one_bot_that_ends_64_games_at_once_is_rated_by_each_in_its_turn() {
    let room = Room::open();
    let plays: Vec<Play> = (1..=64)
        .map(|other| if other % 2 == 0 { room.game(0, other, true) } else { room.game(other, 0, true) })
        .collect();
    let together = Barrier::new(plays.len());
    thread::scope(|scope| {
        for (at, play) in plays.iter().enumerate() {
            let together = &together;
            scope.spawn(move || {
                together.wait();
                play.end(at % 4);
            });
        }
    });
    let records = assert_all_is_rated_once(&room, &plays);
    let mut rating = Rating::default();
    for record in &records {
        let side = if record.south.name == name(0) { Side::South } else { Side::North };
        let seat = if side == Side::South { &record.south } else { &record.north };
        assert_eq!(told(seat), rating, "seq {}", record.seq);
        let after = BySide::from(record.rating_after.unwrap())[side];
        rating = Rating { rating: after.rating, rd: after.rd, volatility: after.volatility };
    }
    let standing = room.store.ratings().standing(QUIET, &name(0)).unwrap();
    assert_eq!((standing.rating, standing.tally.games()), (rating, 64));
}
