//! The world: virtual time, what is to happen in it, and who is in it.

use super::bots::{self, Bot, Sent, Temper, Turn};
use super::dice::Dice;
use super::disk::Disk;
use super::network::{Connection, Line, Stops, WAKE};
use super::seeks::Seeks;
use super::table::Table;
use modiar::clock::{Micros, Moment};
use modiar::config::{Limits, Pool};
use modiar::lobby::{Lobby, Now, Pairing};
use modiar::session::Session;
use modiar_protocol::server::Openings;
use modiar_protocol::{BotName, ChallengeId, GameId, GameRules, TimeControl};
use modiar_rules::{EndRules, Line as Plies, Pit};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

/// Events after which a world ends.
const EVENTS: usize = 300;
pub const POOLS: [&str; 2] = ["blitz", "rapid"];

/// What happens.
#[derive(Debug)]
pub enum Event {
    /// A line comes to the server's kernel.
    Arrive(usize, Line),
    /// A bot reads something.
    Hear(usize, Heard),
    Connect(usize),
    Whim(usize),
    /// Of the server that ran when it was planned.
    Server(u32, Task),
    Fate,
    Start,
}

/// What a bot reads, as far as it matters to it.
#[derive(Clone, Copy, Debug)]
pub enum Heard {
    Started(GameId),
    Turn(Turn),
    Challenged(ChallengeId),
    Closed,
}

/// What the server does at its own time.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    Read(usize),
    Look(usize, Moment),
    CheckFlags(usize),
    Commit(usize),
    Conclude(usize),
    Handshake(usize),
    Lapse,
    StartClocks,
    /// Time alone may bring together who waits.
    Pair,
    /// The disk has space again.
    Space,
}

pub struct World {
    pub now: Moment,
    pub dice: Dice,
    pub bots: Vec<Bot>,
    pub connections: Vec<Connection>,
    pub stops: Stops,
    pub disk: Disk,
    /// Whether the server runs, and its how-manieth life this is.
    pub up: bool,
    pub life: u32,
    pub lobby: Lobby,
    pub held: bool,
    pub seeks: Seeks,
    pub tables: BTreeMap<usize, Table>,
    /// The tables that were touched since they were checked.
    pub touched: BTreeSet<usize>,
    pub pools: Arc<[Pool]>,
    /// The ids of all games there ever were, by number.
    pub ids: Vec<GameId>,
    pub challenges: u128,
    /// What went wrong first.
    pub fault: Option<String>,
    /// The first games of pairs that were started.
    pub first_halves: Vec<Pairing>,
    events: BinaryHeap<Reverse<(Moment, u64)>>,
    planned: BTreeMap<u64, Event>,
    count: u64,
    tracing: bool,
}

fn pool(name: &str, dice: &mut Dice) -> Pool {
    let time = TimeControl {
        base_ms: dice.pick(&[0, 100, 400, 2_000, 10_000, 60_000]),
        increment_ms: dice.pick(&[0, 0, 20, 100]),
        grace_ms: dice.pick(&[0, 20, 50]),
        move_ms: dice.once_in(4).then_some(200),
    };
    let ends = EndRules { majority: dice.once_in(4), quiet_plies: dice.pick(&[200, 12]), ..EndRules::default() };
    let rules = GameRules::new(ends, dice.pick(&[0, 0, 1, 3]));
    let openings = dice.pick(&[Openings::Start, Openings::Balanced]);
    Pool { name: name.to_owned(), time, rated: true, openings, rules }
}

/// A lobby, the table of openings standing or not.
pub fn lobby(pools: &Arc<[Pool]>, dice: &mut Dice) -> Lobby {
    let mut lobby = Lobby::new(Arc::clone(pools), Limits::default().games_per_bot, dice.next());
    let lines: Vec<Arc<[Pit]>> = (0..dice.below(4)).map(|_| opening(dice)).collect();
    lobby.use_openings(&lines);
    lobby
}

/// A few plies for the bots, or none.
fn opening(dice: &mut Dice) -> Arc<[Pit]> {
    let mut line = Plies::new(EndRules::default());
    for _ in 0..dice.below(5) {
        let legal: Vec<_> = line.legal().iter().collect();
        if line.play(dice.pick(&legal)).is_err() {
            break;
        }
    }
    line.moves().into()
}

impl World {
    pub fn new(seed: u64, tracing: bool) -> Self {
        let mut dice = Dice::new(seed);
        let pools: Arc<[Pool]> = POOLS.map(|name| pool(name, &mut dice)).into();
        let bots = (0..2 + dice.below(3)).map(|number| Bot {
            name: BotName::new(&format!("bot-{number}")).unwrap(),
            guest: dice.once_in(2),
            limit: dice.pick(&[1, 1, 2, 3]),
            connection: None,
            temper: Temper::roll(&mut dice),
            games: Vec::new(),
        });
        let bots: Vec<Bot> = bots.collect();
        let mut world = Self {
            now: Moment(1_000_000),
            lobby: lobby(&pools, &mut dice),
            dice,
            connections: Vec::new(),
            stops: Stops::default(),
            disk: Disk::default(),
            up: true,
            life: 0,
            held: false,
            seeks: Seeks::default(),
            first_halves: Vec::new(),
            tables: BTreeMap::new(),
            touched: BTreeSet::new(),
            pools,
            ids: Vec::new(),
            challenges: 0,
            fault: None,
            events: BinaryHeap::new(),
            planned: BTreeMap::new(),
            count: 0,
            tracing,
            bots,
        };
        for bot in 0..world.bots.len() {
            let after = world.dice.below(50_000);
            world.plan(after, Event::Connect(bot));
        }
        if world.dice.once_in(2) {
            let after = world.dice.below(3_000_000);
            world.plan(after, Event::Fate);
        }
        world
    }

    /// Lives it through; what went wrong.
    pub fn run(mut self) -> Result<(), String> {
        for _ in 0..EVENTS {
            if !self.step(|_| true) || self.fault.is_some() {
                break;
            }
        }
        // The bots say no more: what was sent is read, every flag falls, what is decided is stored and told.
        let servers = |event: &Event| matches!(event, Event::Server(..) | Event::Start | Event::Arrive(..));
        while self.fault.is_none() && self.step(servers) {}
        self.check_all_ended();
        self.check_replays();
        self.fault.map_or(Ok(()), Err)
    }

    /// The next event, if it is `wanted`; whether there was one.
    fn step(&mut self, wanted: impl Fn(&Event) -> bool) -> bool {
        let Some(Reverse((at, number))) = self.events.pop() else { return false };
        let event = self.planned.remove(&number).unwrap();
        if !wanted(&event) {
            return true;
        }
        self.now = self.now.max(at);
        if let Event::Server(life, task) = event
            && (life != self.life || !self.up || self.now < self.stops.until)
        {
            if life == self.life && self.up {
                let late = self.stops.until.since(self.now).0 + self.dice.below(300);
                self.plan(late, Event::Server(life, task));
            }
            return true;
        }
        self.trace(|| format!("{event:?}"));
        self.happen(event);
        self.check();
        true
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive(connection, line) => self.arrive(connection, line),
            Event::Hear(connection, heard) => self.hear(connection, heard),
            Event::Connect(bot) => self.connect(bot),
            Event::Whim(bot) => self.whim(bot),
            Event::Server(_, task) => self.work(task),
            Event::Fate => self.fate(),
            Event::Start => self.start_server(),
        }
    }

    pub fn plan(&mut self, after: u64, event: Event) {
        self.plan_at(self.now + Micros(after), event);
    }

    pub fn plan_at(&mut self, at: Moment, event: Event) {
        self.count += 1;
        self.planned.insert(self.count, event);
        self.events.push(Reverse((at, self.count)));
    }

    pub fn task(&mut self, after: u64, task: Task) {
        self.plan(after, Event::Server(self.life, task));
    }

    /// The moment for the lobby.
    pub fn moment(&self) -> Now {
        Now { moment: self.now, unix_ms: self.now.0 / 1000 }
    }

    /// Notes what is wrong; the first is kept.
    pub fn demand(&mut self, holds: bool, fault: impl FnOnce() -> String) {
        if !holds && self.fault.is_none() {
            self.fault = Some(format!("at {} µs: {}", self.now.0, fault()));
        }
    }

    pub fn trace(&self, text: impl FnOnce() -> String) {
        if self.tracing {
            eprintln!("{:>12} {}", self.now.0, text());
        }
    }

    /// A line on its way: no line of a connection overtakes another.
    fn send(&mut self, connection: usize, after: u64, line: Line) {
        let slow = if self.dice.once_in(20) { 60_000 } else { 1_500 };
        let delay = after + self.dice.below(slow);
        let at = (self.now + Micros(delay)).max(self.connections[connection].last_sent);
        self.connections[connection].last_sent = at;
        self.plan_at(at, Event::Arrive(connection, line));
    }

    fn send_all(&mut self, connection: usize, lines: Vec<Sent>) {
        let mut after = 0;
        for (wait, line) in lines {
            after += wait;
            self.send(connection, after, line);
        }
    }

    /// What the server wrote, on its way to the bot.
    pub fn tell(&mut self, connection: usize, heard: Heard) {
        let delay = self.dice.below(1_500);
        let at = (self.now + Micros(delay)).max(self.connections[connection].last_told);
        self.connections[connection].last_told = at;
        self.plan_at(at, Event::Hear(connection, heard));
    }

    fn connect(&mut self, bot: usize) {
        if self.bots[bot].connection.is_some() {
            return;
        }
        if !self.up {
            return self.plan(200_000, Event::Connect(bot));
        }
        let number = self.connections.len();
        self.connections.push(Connection {
            bot,
            session: Some(Session::new(self.now, &Limits::default())),
            entered: false,
            closing: false,
            held: true,
            kernel: std::collections::VecDeque::new(),
            read_due: false,
            previous_read: self.now,
            last_sent: self.now,
            last_told: self.now,
        });
        self.bots[bot].connection = Some(number);
        self.task(5_000_000, Task::Handshake(number));
        if !self.dice.once_in(30) {
            self.send(number, 0, bots::hello(&self.bots[bot]));
        }
        let games = self.dice.pick(&[0, 1, 2, 5]);
        let pool = self.dice.pick(&[POOLS[0], POOLS[0], POOLS[0], POOLS[1]]);
        self.send(number, 500, bots::seek(pool, games));
        let after = self.dice.below(2_000_000);
        self.plan(after, Event::Whim(bot));
    }

    fn whim(&mut self, bot: usize) {
        let after = 100_000 + self.dice.below(2_000_000);
        self.plan(after, Event::Whim(bot));
        let Some(connection) = self.bots[bot].connection else { return };
        if self.dice.below(100) < self.bots[bot].temper.leaves {
            return self.drop_link(connection);
        }
        let line = bots::whim(&self.bots, bot, &POOLS, &mut self.dice);
        self.send(connection, 0, line);
    }

    /// The bot loses its link; the server learns of it at once, late, or only when the bot is back.
    fn drop_link(&mut self, connection: usize) {
        let bot = self.connections[connection].bot;
        self.connections[connection].held = false;
        self.bots[bot].connection = None;
        let late = self.dice.pick(&[0, 100_000, 3_000_000]);
        self.send(connection, late, Line::End);
        let back = self.dice.pick(&[1_000, 100_000, 600_000, 8_000_000]);
        self.plan(back, Event::Connect(bot));
    }

    fn hear(&mut self, connection: usize, heard: Heard) {
        let bot = self.connections[connection].bot;
        if !self.connections[connection].held {
            return;
        }
        let lines = match heard {
            Heard::Started(game) => {
                self.bots[bot].games.push(game);
                Vec::new()
            }
            Heard::Turn(turn) if self.dice.below(1000) < self.bots[bot].temper.leaves => {
                let lines = bots::answer(self.bots[bot].temper, turn, &mut self.dice);
                self.send_all(connection, lines);
                return self.drop_link(connection);
            }
            Heard::Turn(turn) => bots::answer(self.bots[bot].temper, turn, &mut self.dice),
            Heard::Challenged(challenge) => bots::challenged(challenge, &mut self.dice),
            Heard::Closed => {
                self.connections[connection].held = false;
                self.bots[bot].connection = None;
                let back = self.dice.below(300_000);
                return self.plan(back, Event::Connect(bot));
            }
        };
        self.send_all(connection, lines);
    }

    fn arrive(&mut self, number: usize, line: Line) {
        let now = self.now;
        let connection = &mut self.connections[number];
        if connection.session.is_none() {
            return;
        }
        connection.kernel.push_back((now, line));
        if !connection.read_due {
            connection.read_due = true;
            let wake = self.dice.below(WAKE);
            self.task(wake, Task::Read(number));
        }
    }

    /// The server stops for a while, is killed, or its disk is full.
    fn fate(&mut self) {
        match self.dice.below(6) {
            0..=2 if self.up => {
                let length = self.dice.pick(&[8_000, 40_000, 300_000, 4_000_000]) + self.dice.below(10_000);
                self.stops.stop(self.now, Micros(length));
            }
            3 if self.up && !self.disk.full => {
                self.disk.full = true;
                self.hold(true);
                let long = self.dice.below(700_000);
                self.task(long, Task::Space);
            }
            4 if self.up => self.crash(),
            _ => {}
        }
        let after = self.dice.below(4_000_000);
        self.plan(after, Event::Fate);
    }

    fn crash(&mut self) {
        self.up = false;
        self.life += 1;
        self.disk.full = false;
        self.stops.until = self.now;
        self.tables.clear();
        self.seeks = Seeks::default();
        self.held = false;
        for number in 0..self.connections.len() {
            if self.connections[number].session.take().is_some() {
                self.connections[number].kernel.clear();
                self.tell(number, Heard::Closed);
            }
        }
        let down = self.dice.pick(&[20_000, 500_000, 20_000_000]);
        self.plan(down, Event::Start);
    }

    fn start_server(&mut self) {
        self.up = true;
        self.lobby = lobby(&self.pools, &mut self.dice);
        self.restore();
        self.task(120_000_000, Task::StartClocks);
    }
}
