//! The server's other hands: what `session::client`, `lobby::hall` and `net::reader` do around the machines.

use super::network::{Line, LineRead, TICK};
use super::seeks::Seek;
use super::table::{Outcome, Table};
use super::world::{Heard, Task, World};
use modiar::clock::{Arrival as _, Micros, Moment};
use modiar::lobby::{Effect, Entrant, Fate, Half, Kind, Pairing, Source, Stay, Visitor};
use modiar::referee::{Game, Phase, Terms};
use modiar::session::{Said, Step};
use modiar_ladder::Rating;
use modiar_protocol::client::{Hello, Move, decode};
use modiar_protocol::server::Error;
use modiar_protocol::{ChallengeId, ErrorCode, GameId, GameResult, ServerMessage, Termination};
use modiar_rules::{BySide, Side};
use uuid::Uuid;

/// How long who met last may wait for others, and a little longer, in microseconds.
const PATIENCE: u64 = 2_100_000;
/// The end of a connection that nothing is held against.
const GONE: Stay = Stay { lasted: Micros(0), fruitful: true };

/// A connection's number as the lobby knows it.
fn visitor(connection: usize) -> Visitor {
    Visitor(connection as u64)
}

fn connection(visitor: Visitor) -> usize {
    usize::try_from(visitor.0).unwrap()
}

impl World {
    pub fn work(&mut self, task: Task) {
        match task {
            Task::Read(number) => {
                self.connections[number].read_due = false;
                self.read(number);
            }
            Task::Look(number, at) => self.look(number, at),
            Task::CheckFlags(number) => self.read_kernel(number),
            Task::Commit(number) => self.commit(number),
            Task::Conclude(number) => self.finished(number),
            Task::Handshake(number) => self.tell_session(number, Said::HandshakeExpired(5000), None),
            Task::Lapse => {
                let effects = self.lobby.lapse(self.now);
                self.carry_out(effects);
            }
            Task::Pair => {
                let effects = self.lobby.pair_waiting(self.moment());
                self.carry_out(effects);
                self.check_waiting();
            }
            Task::StartClocks => {
                for number in self.tables.keys().copied().collect::<Vec<_>>() {
                    self.start_clock(number);
                }
            }
            Task::Space => {
                self.disk.full = false;
                for number in self.tables.keys().copied().collect::<Vec<_>>() {
                    self.go_on(number);
                }
                self.hold(false);
            }
        }
    }

    pub fn hold(&mut self, held: bool) {
        self.held = held;
        let effects = self.lobby.hold(held, self.moment());
        self.carry_out(effects);
    }

    /// One read, and all the lines that it completed; whether the connection goes on.
    fn read(&mut self, number: usize) -> bool {
        let now = self.now;
        let connection = &mut self.connections[number];
        if connection.session.is_none() {
            return false;
        }
        let lines = std::mem::take(&mut connection.kernel);
        let previous = std::mem::replace(&mut connection.previous_read, now);
        let newest = lines.back().map_or(now, |(at, _)| *at);
        let ticks = now.since(newest).0 + self.dice.below(2 * TICK + 1);
        let delay = Micros(ticks.saturating_sub(TICK));
        let count = lines.len();
        for (at, (arrived, line)) in lines.into_iter().enumerate() {
            let stopped = Micros(0);
            let read = LineRead { received: now, previous, arrived, delay, last: at + 1 == count, stopped };
            let said = match line {
                Line::End => {
                    self.leave(number);
                    return false;
                }
                Line::Message(incoming) => Said::Message(*incoming),
                Line::Empty => Said::Empty,
                Line::Bad => decode(b"{").map_or_else(Said::Bad, Said::Message),
            };
            self.tell_session(number, said, Some(read));
            if self.connections[number].closing || self.connections[number].session.is_none() {
                self.leave(number);
                return false;
            }
        }
        true
    }

    /// See `net::reader`: what lies in the kernel is judged first, then the flags are checked.
    fn read_kernel(&mut self, number: usize) {
        let asked = self.now;
        if self.read(number) {
            let bot = self.connections[number].bot;
            for game in self.tables_of(bot) {
                if let Some(side) = self.table(game).side_of(bot) {
                    self.confirm_flag(game, side, asked);
                }
            }
        }
    }

    fn tables_of(&self, bot: usize) -> Vec<usize> {
        let games = self.tables.iter().filter(|(_, table)| table.side_of(bot).is_some());
        games.map(|(number, _)| *number).collect()
    }

    /// The connection's task ends.
    pub fn leave(&mut self, number: usize) {
        if self.connections[number].session.take().is_none() {
            return;
        }
        self.connections[number].kernel.clear();
        self.tell(number, Heard::Closed);
        if std::mem::take(&mut self.connections[number].entered) {
            self.seeks.leave(number as u64);
            let effects = self.lobby.leave(visitor(number), GONE, self.now);
            self.carry_out(effects);
        }
    }

    fn tell_session(&mut self, number: usize, said: Said, read: Option<LineRead>) {
        let now = read.map_or(self.now, |read| read.received());
        let Some(session) = self.connections[number].session.as_mut() else { return };
        let step = session.hear(said, now);
        self.act(number, step, read);
    }

    fn act(&mut self, number: usize, step: Step, read: Option<LineRead>) {
        let who = visitor(number);
        let now = self.moment();
        match step {
            Step::Nothing | Step::Reply(_) | Step::Pong(_) | Step::Watch(..) | Step::Unwatch(..) => {}
            Step::Goodbye(..) => self.goodbye(number),
            Step::Enter(hello, _) => self.enter(number, &hello, read),
            Step::Seek(pool, games, _) => {
                let at = self.pools.iter().position(|known| known.name == pool).unwrap();
                let asked = self.lobby.seek(who, &pool, games, None, now);
                let begins = |effect: &Effect| matches!(effect, Effect::Tell(_, ServerMessage::Seeking { .. }));
                if asked.as_ref().is_ok_and(|effects| effects.iter().any(begins)) {
                    self.seeks.begin(at, who.0, self.connections[number].bot, games);
                    self.task(PATIENCE, Task::Pair);
                }
                self.ask(asked);
            }
            Step::Unseek(pool, _) => {
                let asked = self.lobby.unseek(who, pool.as_deref(), None);
                self.ask(asked);
            }
            Step::Challenge(terms, _) => {
                self.challenges += 1;
                let id = ChallengeId::new(Uuid::from_u128(self.challenges));
                let asked = self.lobby.challenge(who, id, *terms, None, now);
                self.task(60_000_000, Task::Lapse);
                self.ask(asked);
            }
            Step::Accept(challenge, _) => {
                let asked = self.lobby.accept(who, challenge, self.moment());
                self.ask(asked);
            }
            Step::Decline(challenge, _) => {
                let asked = self.lobby.decline(who, challenge, None, self.moment());
                self.ask(asked);
            }
            Step::Move { wanted, limited, reference } => {
                let Some(read) = read else { return };
                let said = match self.move_at(number, wanted, limited, read) {
                    Outcome::Accepted => return,
                    Outcome::Refused => Said::MoveRefused(None),
                    Outcome::Limited => Said::MoveLimited(reference),
                };
                self.tell_session(number, said, Some(read));
            }
            Step::Resign(game, _) => {
                if let (Some((table, side)), Some(read)) = (self.seat(number, game), read) {
                    let read = self.seen(table, read);
                    self.resign(table, side, &read);
                }
            }
        }
    }

    fn goodbye(&mut self, number: usize) {
        self.connections[number].closing = true;
        self.leave(number);
    }

    fn move_at(&mut self, number: usize, wanted: Move, limited: bool, read: LineRead) -> Outcome {
        match self.seat(number, wanted.game) {
            Some((table, side)) => {
                let read = self.seen(table, read);
                self.play(table, side, wanted, limited, &read)
            }
            None if limited => Outcome::Limited,
            None => Outcome::Refused,
        }
    }

    /// The read with what the heartbeat shows since the table's turn.
    fn seen(&mut self, table: usize, read: LineRead) -> LineRead {
        let from = self.table(table).turn_since().max(read.previous);
        LineRead { stopped: self.stops.within(from, read.received), ..read }
    }

    fn seat(&self, number: usize, game: GameId) -> Option<(usize, Side)> {
        let table = self.ids.iter().position(|id| *id == game)?;
        let side = self.tables.get(&table)?.side_of(self.connections[number].bot)?;
        Some((table, side))
    }

    fn enter(&mut self, number: usize, hello: &Hello, read: Option<LineRead>) {
        let bot = self.connections[number].bot;
        let (name, guest) = (self.bots[bot].name.clone(), self.bots[bot].guest);
        if let Some(old) = self.lobby.visitor(&name) {
            let old = connection(old);
            self.connections[old].closing = true;
            self.connections[old].entered = false;
            self.seeks.leave(old as u64);
            let effects = self.lobby.leave(visitor(old), GONE, self.now);
            self.carry_out(effects);
            self.leave(old);
        }
        let (kind, limit) = (kind(guest), hello.games);
        let ratings = vec![Rating::default(); self.pools.len()];
        self.lobby.enter(visitor(number), Entrant { name, kind, limit, ratings });
        self.connections[number].entered = true;
        for game in self.tables_of(bot) {
            if let Some(side) = self.table(game).side_of(bot) {
                self.come_back(game, side, number);
            }
        }
        self.tell_session(number, Said::Welcomed, read);
    }

    fn ask(&mut self, asked: Result<Vec<Effect>, Box<Error>>) {
        let effects = asked.unwrap_or_else(|error| {
            let known = matches!(
                error.code,
                ErrorCode::AlreadySeeking
                    | ErrorCode::UnknownBot
                    | ErrorCode::UnknownChallenge
                    | ErrorCode::BadField
                    | ErrorCode::RateLimited
            );
            self.demand(known, || format!("the lobby refused: {error:?}"));
            Vec::new()
        });
        self.carry_out(effects);
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Tell(who, message) => self.tell_of_lobby(who, &message),
                Effect::Start(pairing) => self.start(pairing),
            }
        }
    }

    fn tell_of_lobby(&mut self, who: Visitor, message: &ServerMessage) {
        match message {
            ServerMessage::SeekEnded { pool, reason, .. } => {
                let at = self.pools.iter().position(|known| known.name == *pool).unwrap();
                let ended = self.seeks.end(at, who.0, *reason, self.now);
                self.demand(ended.is_ok(), || ended.unwrap_err());
            }
            ServerMessage::Challenged(challenged) if self.connections[connection(who)].is_live() => {
                self.tell(connection(who), Heard::Challenged(challenged.challenge));
            }
            _ => {}
        }
    }

    fn start(&mut self, pairing: Pairing) {
        let links = pairing.seats.clone().map(|sitter| connection(sitter.visitor));
        let here = Side::ALL.into_iter().all(|side| self.connections[links[side]].entered);
        self.demand(here, || format!("a bot that is not here was paired: {pairing:?}"));
        let bots = links.map(|link| self.connections[link].bot);
        self.demand(bots.south != bots.north, || format!("a bot plays itself: {pairing:?}"));
        let mut seeks = BySide::default();
        if let Source::Seeks(half) = pairing.source {
            for side in Side::ALL {
                match self.seeks.made(pairing.pool, pairing.seats[side].visitor.0, half) {
                    Ok(number) => seeks[side] = Some(number),
                    Err(fault) => self.demand(false, || fault),
                }
            }
        }
        match &pairing.source {
            Source::Seeks(Half::First) => self.first_halves.push(pairing.clone()),
            Source::Seeks(Half::Second) => {
                let swapped = BySide::new(pairing.seats.north.clone(), pairing.seats.south.clone());
                let first = Pairing { seats: swapped, source: Source::Seeks(Half::First), ..pairing.clone() };
                let same = |other: &Pairing| (&other.seats, &other.opening) == (&first.seats, &first.opening);
                let paired = self.first_halves.iter().any(same);
                self.demand(paired, || format!("the second game of no pair: {pairing:?}"));
            }
            _ => {}
        }
        let number = self.ids.len();
        self.ids.push(GameId::new(Uuid::from_u128(number as u128 + 1)));
        if self.disk.full {
            self.game_of_seeks_over(&pairing, &seeks, true);
            if pairing.source == Source::Seeks(Half::First) {
                self.game_of_seeks_over(&pairing, &seeks, true);
            }
            self.held = true;
            let effects = self.lobby.fell_through(pairing, self.moment());
            return self.carry_out(effects);
        }
        let pool = &self.pools[pairing.pool];
        let (control, rules, must_show) = (pool.time.into(), pool.rules, pairing.must_show);
        let opening = pairing.opening.to_vec();
        self.open(number, Terms { control, rules, opening, must_show }, pairing, bots, links);
        self.table(number).seeks = seeks;
        for side in Side::ALL {
            let (bot, playing) = (&self.bots[bots[side]], self.playing(bots[side]));
            let limit = bot.limit;
            self.demand(playing <= limit, || format!("bot {} plays {playing} games of {limit}", bots[side]));
        }
    }

    fn game_of_seeks_over(&mut self, pairing: &Pairing, seeks: &BySide<Option<u64>>, aborted: bool) {
        for side in Side::ALL {
            if let Some(seek) = seeks[side] {
                self.seeks.over(pairing.pool, pairing.seats[side].visitor.0, seek, aborted);
            }
        }
    }

    fn playing(&self, bot: usize) -> u64 {
        self.tables.values().filter(|table| table.side_of(bot).is_some()).count() as u64
    }

    /// See `Hall::finished`.
    fn finished(&mut self, number: usize) {
        let Some(mut table) = self.tables.remove(&number) else {
            return self.demand(false, || format!("game {number} was finished twice"));
        };
        let fate = fate(&table);
        self.game_of_seeks_over(&table.pairing, &table.seeks, fate.aborted);
        let effects = self.lobby.finished(&table.pairing, fate, self.moment());
        if table.pairing.source == Source::Seeks(Half::First) && !effects.iter().any(|effect| is_second(effect, &table))
        {
            // There will be no second game.
            self.game_of_seeks_over(&table.pairing, &table.seeks, true);
        }
        self.conclude(&mut table, number);
        self.carry_out(effects);
        self.task(PATIENCE, Task::Pair);
    }

    /// See `Hall::restore` and `Table::restore`.
    pub fn restore(&mut self) {
        let stored: Vec<usize> =
            self.disk.journal.keys().copied().filter(|game| self.disk.stored.contains_key(game)).collect();
        for number in stored {
            self.disk.journal.remove(&number);
        }
        let lost = self.dice.once_in(8);
        for (number, saved) in self.disk.journal.clone() {
            let control = saved.terms.control;
            let plies: Vec<_> =
                saved.plies.iter().map(|(pit, charge)| (*pit, control.charge(charge.elapsed, charge.own))).collect();
            let game = match Game::resume(saved.terms.clone(), &plies, saved.forgiven) {
                Ok(game) => game,
                Err(error) => return self.demand(false, || format!("game {number} could not go on: {error}")),
            };
            let same = plies == saved.plies && game.forgiven() == saved.forgiven && game.deadline().is_none();
            self.demand(same, || format!("game {number} came back otherwise"));
            let mut pairing = saved.pairing.clone();
            pairing.source = Source::Restored;
            let name = |side: Side| {
                let bot = &self.bots[saved.bots[side]];
                (bot.name.clone(), kind(bot.guest))
            };
            self.lobby.restore(&BySide::from_fn(name), None);
            self.tables.insert(number, Table::new(game, pairing, saved.bots, false));
            if lost {
                self.table(number).game.abort(Termination::Aborted);
            }
            if self.table(number).game.decision().is_some() {
                self.finish(number);
            }
        }
    }

    /// What holds at every moment.
    pub fn check(&mut self) {
        if !self.up {
            return;
        }
        for number in std::mem::take(&mut self.touched) {
            if self.tables.contains_key(&number) {
                self.check_table(number);
                self.check_journal(number);
            }
        }
        for pool in 0..self.pools.len() {
            // Two who met last wait a while for who plays still; of three there are always two who did not.
            let (waiting, ..) = self.waiting(pool);
            let held = self.held;
            self.demand(held || waiting <= 2, || format!("{waiting} bots wait in pool {pool} and are not paired"));
            let over = |seek: &&Seek| !seek.is_open() && seek.running == 0;
            let done = self.seeks.of(pool).find(over).map(|seek| seek.bot);
            self.demand(done.is_none(), || format!("the seek of bot {done:?} is done and was not told so"));
        }
    }

    /// What holds when those who wait have just been looked at: where nobody plays, or has just done so, nobody is waited for.
    fn check_waiting(&mut self) {
        for pool in 0..self.pools.len() {
            let (waiting, playing) = self.waiting(pool);
            let done = self.seeks.done.get(&pool).is_some_and(|done| self.now.since(*done) < Micros(2_000_000));
            let held = self.held;
            self.demand(held || done || playing > 0 || waiting <= 1, || {
                format!("{waiting} bots wait alone in pool {pool}")
            });
        }
    }

    /// How many seek in a pool and could play, and how many play.
    fn waiting(&self, pool: usize) -> (usize, usize) {
        let could_play = |seek: &&Seek| seek.is_open() && self.playing(seek.bot) < self.bots[seek.bot].limit;
        let waiting = self.seeks.of(pool).filter(could_play).count();
        (waiting, self.seeks.of(pool).count() - waiting)
    }

    /// Every stored game replays by the rules to its result.
    pub fn check_replays(&mut self) {
        let faults = self.disk.stored.iter().filter_map(|(number, stored)| Some((*number, stored.replay().err()?)));
        let fault = faults.map(|(number, fault)| format!("game {number} does not replay: {fault}")).next();
        self.demand(fault.is_none(), || fault.unwrap_or_default());
    }
}

/// Whether it starts the second game of the pair whose first was played here.
fn is_second(effect: &Effect, table: &Table) -> bool {
    let BySide { south, north } = &table.pairing.seats;
    matches!(effect, Effect::Start(pairing) if pairing.source == Source::Seeks(Half::Second)
        && (&pairing.seats.south, &pairing.seats.north) == (north, south))
}

/// What a bot is to the lobby.
fn kind(guest: bool) -> Kind {
    if guest { Kind::Guest } else { Kind::Registered(None) }
}

/// See `Table::fate`.
fn fate(table: &Table) -> Fate {
    let Some(decision) = table.game.decision() else { return Fate::default() };
    let aborted = decision.result == GameResult::None;
    let no_show = table.game.charges().len() < 2 && decision.unfinished.is_some();
    let late = matches!(decision.termination, Termination::Aborted | Termination::TimeForfeit);
    debug_assert!(*table.game.phase() != Phase::Running);
    let mover = table.game.side_to_move();
    let flagged = decision.termination == Termination::TimeForfeit && !no_show;
    Fate { absent: (no_show && late).then_some(mover), flagged: flagged.then_some(mover), aborted }
}

impl Table {
    fn turn_since(&self) -> Moment {
        self.since().unwrap_or_default()
    }
}
