//! The tables: what `referee::table`, `finish` and `visit` do around a [`Game`], without sockets and locks.

use super::bots::Turn;
use super::disk::{Saved, Stored};
use super::network::{Line, LineRead};
use super::world::{Heard, Task, World};
use modiar::clock::{Arrival as _, Charge, Micros, Moment};
use modiar::lobby::Pairing;
use modiar::referee::{Game, Phase, Played, Terms, Verdict};
use modiar_protocol::client::Move;
use modiar_protocol::{ClientMessage, Termination};
use modiar_rules::{BySide, Pit, Side};

const LOOK_AGAIN: Micros = Micros(100_000);

pub struct Table {
    pub pairing: Pairing,
    pub bots: BySide<usize>,
    /// The seeks that wanted it.
    pub seeks: BySide<Option<u64>>,
    pub links: BySide<Option<usize>>,
    pub game: Game,
    pub come_back: BySide<bool>,
    stalled: Option<Played>,
    armed: Moment,
    grace: Option<(u32, Moment)>,
    /// What this file knows by itself: since when the turn runs, how often the game was finished, whether it was told.
    written: Option<Moment>,
    finishes: u32,
    pub ended: bool,
}

/// What the session is to hear of a move.
pub enum Outcome {
    Accepted,
    Refused,
    Limited,
}

impl Table {
    pub fn new(game: Game, pairing: Pairing, bots: BySide<usize>, here: bool) -> Self {
        Self {
            pairing,
            bots,
            seeks: BySide::default(),
            links: BySide::default(),
            game,
            come_back: BySide::new(here, here),
            stalled: None,
            armed: Moment(u64::MAX),
            grace: None,
            written: None,
            finishes: 0,
            ended: false,
        }
    }

    pub fn side_of(&self, bot: usize) -> Option<Side> {
        Side::ALL.into_iter().find(|side| self.bots[*side] == bot)
    }

    pub fn since(&self) -> Option<Moment> {
        self.written
    }

    fn link_to_move(&self) -> Option<usize> {
        self.links[self.game.side_to_move()]
    }

    /// Until when, by this file's own reckoning, the side to move may answer.
    fn deadline(&self) -> Option<Moment> {
        let (control, side) = (self.game.terms().control, self.game.side_to_move());
        let mut left = self.game.clock().remaining()[side].min(control.per_move.unwrap_or(Micros(u64::MAX)));
        if self.game.charges().len() < 2 {
            left = left.min(Micros(30_000_000));
        }
        Some(self.written? + control.grace + left)
    }
}

impl World {
    pub fn table(&mut self, number: usize) -> &mut Table {
        self.touched.insert(number);
        self.tables.get_mut(&number).expect("a table is kept until its game is concluded")
    }

    fn is_live(&self, link: Option<usize>) -> bool {
        link.is_some_and(|link| self.connections[link].is_live())
    }

    pub fn open(&mut self, number: usize, terms: Terms, pairing: Pairing, bots: BySide<usize>, links: BySide<usize>) {
        let game = Game::new(terms.clone()).expect("the opening is legal");
        let plies = Vec::new();
        let saved = Saved { terms, pairing: pairing.clone(), bots, plies, forgiven: BySide::default() };
        self.disk.journal.insert(number, saved);
        let mut table = Table::new(game, pairing, bots, true);
        table.links = links.map(Some);
        self.tables.insert(number, table);
        for side in Side::ALL {
            self.tell_of(number, side, Heard::Started(self.ids[number]));
        }
        if self.table(number).game.decision().is_some() {
            return self.finish(number);
        }
        self.write_turn(number);
    }

    /// Says something of a game to one who plays it: never after its end.
    fn tell_of(&mut self, number: usize, side: Side, heard: Heard) {
        let (ended, link) = (self.table(number).ended, self.table(number).links[side]);
        self.demand(!ended, || format!("game {number}: {heard:?} was told after its end"));
        if let Some(link) = link.filter(|link| self.connections[*link].is_live()) {
            self.tell(link, heard);
        }
    }

    pub fn play(&mut self, number: usize, side: Side, wanted: Move, limited: bool, read: &LineRead) -> Outcome {
        if self.table(number).stalled.is_some() {
            return Outcome::Refused;
        }
        let written = self.table(number).written;
        match self.table(number).game.play(side, wanted, read, limited) {
            Verdict::Accepted(played) => {
                self.check_charge(number, written, played.charge, read);
                self.played(number, played);
                Outcome::Accepted
            }
            Verdict::Decided => {
                self.check_decision(number, written, read);
                self.finish(number);
                Outcome::Refused
            }
            Verdict::Limited => Outcome::Limited,
            Verdict::Refused(refused) => {
                if refused.illegal.is_some()
                    && !self.disk.full
                    && let Some(saved) = self.disk.journal.get_mut(&number)
                {
                    saved.forgiven[side] += 1;
                }
                Outcome::Refused
            }
            Verdict::TooLate | Verdict::Nothing => Outcome::Refused,
        }
    }

    pub fn resign(&mut self, number: usize, side: Side, read: &LineRead) {
        let written = self.table(number).written;
        if self.table(number).game.resign(side, read) == Verdict::Decided {
            self.check_decision(number, written, read);
            self.finish(number);
        }
    }

    pub fn confirm_flag(&mut self, number: usize, side: Side, asked: Moment) {
        if self.table(number).game.side_to_move() == side {
            self.flag(number, asked);
        }
    }

    fn flag(&mut self, number: usize, asked: Moment) {
        let table = self.table(number);
        let nobody = !table.come_back.south && !table.come_back.north;
        let verdict = match table.game.deadline() {
            Some(deadline) if nobody && asked > deadline => table.game.abort(Termination::Aborted),
            _ => table.game.flag(asked),
        };
        if verdict == Verdict::Decided {
            self.check_unread(number);
            self.check_prompt(number);
            self.finish(number);
        }
    }

    pub fn look(&mut self, number: usize, at: Moment) {
        let now = self.now;
        let Some(table) = self.tables.get_mut(&number) else { return };
        if at != table.armed {
            return;
        }
        let Some(deadline) = table.game.deadline() else {
            table.armed = Moment(u64::MAX);
            return;
        };
        let link = table.link_to_move();
        let again = if now <= deadline {
            deadline + Micros(1)
        } else if let Some(link) = link.filter(|link| self.connections[*link].is_live()) {
            let wake = self.dice.below(200);
            self.task(wake, Task::CheckFlags(link));
            now + LOOK_AGAIN
        } else {
            match self.look_for_absent(number, deadline) {
                Some(again) => again,
                None => return,
            }
        };
        let again = again.max(now + Micros(1));
        self.table(number).armed = again;
        self.arm_at(number, again);
    }

    fn look_for_absent(&mut self, number: usize, deadline: Moment) -> Option<Moment> {
        let now = self.now;
        let table = self.table(number);
        let ply = table.game.line().position().ply();
        match table.grace {
            Some((of, until)) if of == ply && now >= until => {
                self.flag(number, now);
                None
            }
            Some((of, until)) if of == ply => Some(until),
            _ => {
                let until = now + now.since(deadline);
                table.grace = Some((ply, until));
                Some(until)
            }
        }
    }

    fn played(&mut self, number: usize, played: Played) {
        if self.disk.full {
            let table = self.table(number);
            table.stalled = Some(played);
            table.game.stand();
            table.written = None;
            return;
        }
        if let Some(saved) = self.disk.journal.get_mut(&number) {
            saved.plies.push((played.pit, played.charge));
        }
        if self.table(number).game.decision().is_some() {
            return self.finish(number);
        }
        self.write_turn(number);
    }

    /// There is space again.
    pub fn go_on(&mut self, number: usize) {
        let table = self.table(number);
        let ended_otherwise = table.game.decision().is_some() && table.game.line().ending().is_none();
        if !ended_otherwise && let Some(played) = table.stalled.take() {
            self.played(number, played);
        }
    }

    fn turn(&mut self, number: usize) -> Heard {
        let game = self.ids[number];
        let now = self.now;
        let table = self.table(number);
        let left = table.deadline().map_or(0, |deadline| deadline.since(now).0);
        let line = table.game.line();
        Heard::Turn(Turn { game, ply: line.position().ply(), legal: line.legal(), left })
    }

    fn write_turn(&mut self, number: usize) {
        let now = self.now;
        let table = self.table(number);
        let side = table.game.side_to_move();
        table.written = Some(now);
        let turn = self.turn(number);
        self.tell_of(number, side, turn);
        self.table(number).game.turn_written(now);
        self.arm(number);
    }

    fn arm(&mut self, number: usize) {
        let table = self.table(number);
        let due = table.game.deadline().map(|deadline| deadline + Micros(1));
        if let Some(due) = due.filter(|due| *due < table.armed) {
            table.armed = due;
            self.arm_at(number, due);
        }
    }

    fn arm_at(&mut self, number: usize, at: Moment) {
        let late = at.since(self.now).0 + self.dice.below(1_000);
        self.task(late, Task::Look(number, at));
    }

    pub fn come_back(&mut self, number: usize, side: Side, link: usize) {
        let id = self.ids[number];
        let table = self.table(number);
        table.links[side] = Some(link);
        table.come_back[side] = true;
        if *table.game.phase() != Phase::Running {
            return;
        }
        self.tell_of(number, side, Heard::Started(id));
        let table = self.table(number);
        if table.game.side_to_move() != side || table.stalled.is_some() {
            return;
        }
        if table.game.clock().stands() {
            self.write_turn(number);
        } else {
            let turn = self.turn(number);
            self.tell_of(number, side, turn);
        }
    }

    pub fn start_clock(&mut self, number: usize) {
        let now = self.now;
        let table = self.table(number);
        if *table.game.phase() == Phase::Running && table.game.clock().stands() && table.stalled.is_none() {
            table.game.turn_written(now);
            table.written = Some(now);
            self.arm(number);
        }
    }

    pub fn finish(&mut self, number: usize) {
        let table = self.table(number);
        table.finishes += 1;
        let finishes = table.finishes;
        self.demand(finishes == 1, || format!("game {number} was finished {finishes} times"));
        let slow = self.dice.pick(&[2_000, 20_000, 800_000]);
        let long = self.dice.below(slow);
        self.task(long, Task::Commit(number));
    }

    /// The result goes to the disk; where that is full, as soon as it no longer is.
    pub fn commit(&mut self, number: usize) {
        if self.disk.full {
            return self.task(200_000, Task::Commit(number));
        }
        let stored = Stored::new(&self.table(number).game);
        self.demand(stored.is_some(), || format!("game {number} was stored undecided"));
        let again = self.disk.stored.contains_key(&number);
        self.demand(!again, || format!("game {number} was stored twice"));
        if let Some(stored) = stored {
            self.disk.stored.insert(number, stored);
        }
        let wake = self.dice.below(1_000);
        self.task(wake, Task::Conclude(number));
    }

    /// See `Table::conclude`; the hall counts it no longer before that.
    pub fn conclude(&mut self, table: &mut Table, number: usize) {
        table.game.committed();
        let same = self.disk.stored.get(&number).map(|stored| &stored.decision) == table.game.decision();
        self.demand(same, || format!("game {number}: another result was told than stored"));
        self.demand(!table.ended, || format!("game {number} ended twice"));
        table.ended = true;
        self.disk.journal.remove(&number);
    }

    fn check_decision(&mut self, number: usize, written: Option<Moment>, read: &LineRead) {
        let decision = self.table(number).game.decision().and_then(|decision| decision.unfinished);
        if let Some(charge) = decision {
            self.check_charge(number, written, charge, read);
        }
    }

    /// What a line was charged is what it took, the server's own delay within its measuring error taken off.
    fn check_charge(&mut self, number: usize, written: Option<Moment>, charge: Charge, read: &LineRead) {
        let grace = self.table(number).game.terms().control.grace;
        let truly = written.map_or(Micros(0), |written| read.arrived.since(written)).less(grace).0;
        let stopped = written.map_or(Micros(0), |written| self.stops.within(written, read.received));
        let refunded = if read.last { 0 } else { stopped.0 };
        let (charged, slack) = (charge.charged.0, read.slack());
        self.demand(charged <= truly + slack, || {
            format!("game {number}: {truly} µs cost {charge:?}, read at {:?}", read.received())
        });
        self.demand(charged + slack + refunded >= truly, || format!("game {number}: {truly} µs cost only {charge:?}"));
    }

    /// A flag falls only when nothing that came in time lies in the kernel.
    fn check_unread(&mut self, number: usize) {
        let (id, table) = (self.ids[number], &self.tables[&number]);
        let Some((deadline, link)) = table.deadline().zip(table.link_to_move()) else { return };
        let of_game = |line: &Line| {
            let Line::Message(incoming) = line else { return false };
            matches!(&incoming.message, ClientMessage::Move(wanted) if wanted.game == id)
        };
        let unread = self.connections[link].kernel.iter().find(|(at, line)| *at <= deadline && of_game(line));
        let unread = unread.map(|(at, _)| *at).filter(|_| self.is_live(Some(link)));
        self.demand(unread.is_none(), || {
            format!("game {number}: a flag fell at {deadline:?} with a move of {unread:?} unread")
        });
    }

    /// A flag falls soon after its time: what a stop delayed may be waited for once more.
    fn check_prompt(&mut self, number: usize) {
        let Some(deadline) = self.tables[&number].deadline() else { return };
        let stopped = self.stops.within(deadline, self.now);
        let latest = deadline + stopped + stopped + Micros(500_000);
        let now = self.now;
        self.demand(now <= latest, || format!("game {number}: a flag of {deadline:?} fell after {latest:?}"));
    }

    /// What holds of every game at every moment.
    pub fn check_table(&mut self, number: usize) {
        let table = &self.tables[&number];
        let (game, control) = (&table.game, table.game.terms().control);
        let position = game.line().position();
        let seeds = position.pits().iter().map(|pit| u32::from(*pit)).sum::<u32>();
        let captured = position.captured();
        let seeds = seeds + u32::from(captured.south) + u32::from(captured.north);
        let first = Side::on_ply(u32::try_from(game.terms().opening.len()).unwrap() + 1);
        let left = super::disk::remaining(control, first, game.charges());
        let adds_up = left == Ok(game.clock().remaining().map(|time| time.0));
        let running = *game.phase() == Phase::Running;
        let clock = game.deadline();
        let expected = table.deadline().filter(|_| running);
        let decided_once = table.finishes <= 1 && (running || table.finishes == 1 || table.stalled.is_some());
        self.demand(seeds == 42, || format!("game {number}: {seeds} seeds"));
        self.demand(adds_up, || format!("game {number}: {left:?} ought to remain"));
        self.demand(clock == expected, || format!("game {number}: deadline {clock:?}, expected {expected:?}"));
        self.demand(decided_once, || format!("game {number} is decided and not on its way to the disk"));
    }

    /// The plies that the journal has are the game's, all but one that waits for the disk.
    pub fn check_journal(&mut self, number: usize) {
        let table = &self.tables[&number];
        let Some(saved) = self.disk.journal.get(&number) else { return };
        let opening = table.game.terms().opening.len();
        let played: Vec<Pit> = table.game.line().moves()[opening..].to_vec();
        let kept = played.len() - usize::from(table.stalled.is_some());
        let same = saved.plies.iter().map(|(pit, _)| *pit).eq(played[..kept].iter().copied());
        self.demand(same, || format!("game {number}: the journal has other plies"));
    }

    /// Where nobody plays on, every game comes to its end.
    pub fn check_all_ended(&mut self) {
        let number = self.tables.keys().next().copied();
        self.demand(number.is_none(), || format!("game {number:?}: nobody looks at its flag"));
        let number = self.disk.journal.keys().next().copied();
        self.demand(number.is_none(), || format!("game {number:?} is over and still in the journal"));
    }
}
