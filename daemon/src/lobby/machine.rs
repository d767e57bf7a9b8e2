//! The lobby: pure, (state, event, now) → effects. A bot is known here by its name, a connection by its number.

use super::balance::Balance;
use super::challenges::Challenges;
use super::conduct::{Conduct, Stay, Why};
use super::meetings::Meetings;
use super::pairing::{Half, Pairing};
use super::presence::{Entrant, Kind, Presence};
use super::queue::{Queue, Seek};
use crate::clock::{Micros, Moment};
use crate::config::Pool;
use crate::dice::Dice;
use crate::ladder::Meeting;
use crate::store::Owner;
use modiar_ladder::Rating;
use modiar_protocol::server::{ChallengeEnd, Error, SeekEnd};
use modiar_protocol::{BotName, ChallengeId, ErrorCode, Ref, ServerMessage};
use modiar_rules::{BySide, Pit, Side};
use std::collections::HashMap;
use std::sync::Arc;

/// A connection's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Visitor(pub u64);

/// The moment of an event; the wall clock only for what people read.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// For decisions.
    pub moment: Moment,
    /// For texts: Unix milliseconds.
    pub unix_ms: u64,
}

/// What is to be done, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Say this on that connection.
    Tell(Visitor, ServerMessage),
    /// Start a game.
    Start(Pairing),
}

impl Effect {
    fn starts_game_of(&self, visitor: Visitor) -> bool {
        matches!(self, Self::Start(pairing) if Side::ALL.iter().any(|side| pairing.seats[*side].visitor == visitor))
    }
}

/// The state of the lobby.
#[derive(Clone, Debug)]
pub struct Lobby {
    pub(super) pools: Arc<[Pool]>,
    /// Most games of one bot at once.
    games_per_bot: u64,
    pub(super) queues: Vec<Queue>,
    pub(super) meetings: Vec<Meetings>,
    /// Boxed: a map has room for more than there are.
    pub(super) bots: HashMap<BotName, Box<Presence>>,
    pub(super) visitors: HashMap<Visitor, BotName>,
    pub(super) challenges: Challenges,
    /// Who is wanted for games of tournaments.
    pub(super) called: Vec<BotName>,
    pub(super) dice: Dice,
    /// Seeks there have been.
    sought: u64,
    pub(super) draining: bool,
    /// The server has no room for new games at present.
    pub(super) held: bool,
    /// Most games that two bots are paired for in a pool within a day; 0: as many as there are.
    pub(super) cap: u64,
    /// How long those waited who were paired, until somebody counts that.
    pub(super) waits: Vec<Micros>,
    /// Of games that run since before a start and began from an opening, the pool and the two, until that is counted.
    opened: Vec<(String, [BotName; 2])>,
    /// On which sides those played who have not come in since the start.
    before: HashMap<String, i64>,
    /// The pauses that bots have got, until somebody tells the host.
    pauses: Vec<(BotName, Micros, Why)>,
}

pub(super) type Refused = Result<Vec<Effect>, Box<Error>>;

pub(super) fn refuse<T>(code: ErrorCode, message: impl Into<std::borrow::Cow<'static, str>>) -> Result<T, Box<Error>> {
    Err(Box::new(Error::new(code, message)))
}

impl Lobby {
    /// An empty lobby.
    #[must_use]
    pub fn new(pools: Arc<[Pool]>, games_per_bot: u64, seed: u64) -> Self {
        Self {
            games_per_bot,
            queues: vec![Queue::default(); pools.len()],
            meetings: vec![Meetings::default(); pools.len()],
            pools,
            bots: HashMap::new(),
            visitors: HashMap::new(),
            challenges: Challenges::default(),
            called: Vec::new(),
            dice: Dice::new(seed),
            sought: 0,
            opened: Vec::new(),
            before: HashMap::new(),
            pauses: Vec::new(),
            draining: false,
            held: false,
            cap: 0,
            waits: Vec::new(),
        }
    }

    /// Two bots are paired for so many games of a pool a day at most from now on; 0: for as many as there are.
    pub const fn cap(&mut self, games: u64) {
        self.cap = games;
    }

    /// Other pools and another bound of a bot's games from now on: the pools that were come first, in their order, and seeks and
    /// challenges go on in them.
    pub fn reload(&mut self, pools: Arc<[Pool]>, games_per_bot: u64) {
        self.queues.resize_with(pools.len(), Queue::default);
        self.meetings.resize_with(pools.len(), Meetings::default);
        (self.pools, self.games_per_bot) = (pools, games_per_bot);
    }

    /// Games of pools with balanced openings start from these lines from now on; before the daemon started bots have `met`.
    pub fn use_openings(&mut self, lines: &[Arc<[Pit]>], met: &[Meeting]) {
        for (pool, meetings) in self.pools.iter().zip(&mut self.meetings) {
            met.iter().filter(|met| met.pool == pool.name).for_each(|met| meetings.recall(met));
            self.opened.iter().filter(|(opened, _)| *opened == pool.name).for_each(|(_, two)| meetings.opened(two));
            meetings.use_lines(lines, pool);
        }
        self.opened.clear();
    }

    /// The connection of a bot.
    #[must_use]
    pub fn visitor(&self, name: &BotName) -> Option<Visitor> {
        self.bots.get(name)?.visitor
    }

    /// Whether a guest of that name would be somebody else (`session.guest-name-held`).
    #[must_use]
    pub fn is_taken(&self, name: &BotName) -> bool {
        self.bots.contains_key(name)
    }

    /// When [`Self::lapse`] has something to do next.
    #[must_use]
    pub fn next_lapse(&self) -> Option<Moment> {
        self.challenges.next_lapse()
    }

    /// A bot comes in: for the first time, or back to its games.
    pub fn enter(&mut self, visitor: Visitor, entrant: Entrant) {
        let most = if entrant.kind == Kind::House { u64::MAX } else { self.games_per_bot };
        let entrant = Entrant { limit: entrant.limit.min(most), ..entrant };
        self.visitors.insert(visitor, entrant.name.clone());
        self.known(&entrant.name, &entrant.kind).enter(visitor, entrant);
    }

    /// The rating of a bot in a pool is another one now.
    pub fn rate(&mut self, name: &BotName, pool: usize, rating: Rating) {
        if let Some(presence) = self.bots.get_mut(name) {
            presence.rate(pool, rating);
        }
    }

    /// The host says whose a bot is; one that is not here brings it when it comes in.
    pub fn give(&mut self, name: &BotName, owner: Option<Owner>) {
        if let Some(presence) = self.bots.get_mut(name) {
            presence.kind = Kind::Registered(owner);
        }
    }

    /// A bot was removed by the host: what was held against it is forgotten, and its name is free as soon as it has left and
    /// no game of it runs (`forfeit.forgotten`).
    pub fn disown(&mut self, name: &BotName) {
        if let Some(presence) = self.bots.get_mut(name) {
            presence.kind = Kind::Guest;
            presence.conduct = Conduct::default();
        }
        self.before.remove(&name.as_str().to_ascii_lowercase());
        self.forget_if_gone(name);
    }

    /// A game of two bots that are away runs again after a restart; `opened` is the pool where the server chose its opening.
    pub fn restore(&mut self, seats: &BySide<(BotName, Kind)>, opened: Option<&str>) {
        self.opened.extend(opened.map(|pool| (pool.to_owned(), [seats.south.0.clone(), seats.north.0.clone()])));
        for side in Side::ALL {
            let (name, kind) = &seats[side];
            let presence = self.known(name, kind);
            presence.playing += 1;
            if !presence.is_house() {
                presence.balance.start(side, Half::Single);
            }
        }
    }

    /// A bot that is here, or from now on.
    fn known(&mut self, name: &BotName, kind: &Kind) -> &mut Presence {
        self.bots.entry(name.clone()).or_insert_with(|| {
            let mut presence = Presence::new(kind.clone());
            if matches!(kind, Kind::Registered(_)) {
                let before = self.before.remove(&name.as_str().to_ascii_lowercase());
                presence.balance = before.map_or_else(Balance::default, Balance::recalled);
            }
            Box::new(presence)
        })
    }

    /// On which sides registered bots played before the daemon started: by their names in lower case, games as South less those
    /// as North.
    pub fn recall_sides(&mut self, before: HashMap<String, i64>) {
        self.before = before;
    }

    /// A connection ends, and its seeks and challenges with it (`session.connection-scope`).
    pub fn leave(&mut self, visitor: Visitor, stay: Stay, now: Moment) -> Vec<Effect> {
        for queue in &mut self.queues {
            queue.leave(visitor);
        }
        let mut effects = Vec::new();
        for (id, standing) in self.challenges.take_of(visitor) {
            let other = if standing.from == visitor { standing.to } else { standing.from };
            effects.push(challenge_ended(other, id, ChallengeEnd::Cancelled, None));
        }
        if let Some(name) = self.visitors.remove(&visitor)
            && let Some(presence) = self.bots.get_mut(&name)
        {
            // It may be back already, on another connection.
            presence.visitor = presence.visitor.filter(|present| *present != visitor);
            // A game that goes on is what it comes back for.
            let fruitful = stay.fruitful || presence.playing > 0;
            if presence.conduct.left(Stay { fruitful, ..stay }, now) {
                self.note_pause(&name, now);
            }
            self.forget_if_gone(&name);
        }
        effects
    }

    /// A bot looks for `games` games; 0 until it says stop.
    ///
    /// # Errors
    /// `unknown_pool`, `already_seeking`, `draining`.
    pub fn seek(&mut self, visitor: Visitor, pool: &str, games: u64, reference: Option<Ref>, now: Now) -> Refused {
        let at = self.pool(pool)?;
        self.check_draining()?;
        let Some(bot) = self.visitors.get(&visitor).cloned() else { return Ok(Vec::new()) };
        if self.queues[at].of(visitor).is_some() {
            return refuse(ErrorCode::AlreadySeeking, format!("you seek in pool '{pool}' already; unseek first"));
        }
        if let Some(pause) = self.bots.get(&bot).and_then(|presence| presence.conduct.paused(now.moment)) {
            return Ok(vec![self.penalised(visitor, at, pause, reference, now)]);
        }
        let wanted = (games > 0).then_some(games);
        self.sought += 1;
        let (has_room, house) = (self.has_room(&bot), self.is_house(&bot));
        let seek = Seek::new(self.sought, visitor, bot, wanted).with_room(has_room).of_house(house);
        self.queues[at].join(seek, now.moment);
        let mut paired = Vec::new();
        let mut seeking = self.seeking(visitor, at, reference, now.moment);
        self.pair(at, now.moment, &mut paired);
        if paired.iter().any(|effect| effect.starts_game_of(visitor))
            && let Effect::Tell(_, ServerMessage::Seeking { reason, .. }) = &mut seeking
        {
            *reason = None;
        }
        Ok(std::iter::once(seeking).chain(paired).collect())
    }

    /// A bot stops looking; also where it did not look (`session.unseek`).
    ///
    /// # Errors
    /// `unknown_pool`.
    pub fn unseek(&mut self, visitor: Visitor, pool: Option<&str>, reference: Option<Ref>) -> Refused {
        let pools = match pool {
            Some(pool) => vec![self.pool(pool)?],
            None => (0..self.pools.len()).filter(|at| self.queues[*at].of(visitor).is_some()).collect(),
        };
        // Where nothing was sought in any pool there is still one answer to be read.
        let answered = if pools.is_empty() { vec![0] } else { pools };
        let mut effects = Vec::new();
        for at in answered {
            self.queues[at].leave(visitor);
            effects.push(self.seek_ended(visitor, at, SeekEnd::Cancelled, reference.clone()));
        }
        Ok(effects)
    }

    /// Whether no games start any more.
    #[must_use]
    pub const fn is_draining(&self) -> bool {
        self.draining
    }

    /// Starts no games while it is held; catches up when it no longer is.
    pub fn hold(&mut self, held: bool, now: Now) -> Vec<Effect> {
        self.held = held;
        self.pair_waiting(now)
    }

    /// No new games from now on (`session.drain`).
    pub fn drain(&mut self) -> Vec<Effect> {
        self.draining = true;
        let mut effects = Vec::new();
        for (at, queue) in self.queues.iter_mut().enumerate() {
            let pool = &self.pools[at].name;
            for seek in queue.clear() {
                let ended = ServerMessage::SeekEnded {
                    pool: pool.clone(),
                    reason: SeekEnd::Draining,
                    until_ms: None,
                    message: None,
                    reference: None,
                };
                effects.push(Effect::Tell(seek.visitor, ended));
            }
        }
        for (id, standing) in self.challenges.take_all() {
            for visitor in [standing.from, standing.to] {
                effects.push(challenge_ended(visitor, id, ChallengeEnd::Draining, None));
            }
        }
        effects
    }

    pub(super) fn pool(&self, name: &str) -> Result<usize, Box<Error>> {
        self.pools.iter().position(|pool| pool.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.pools.iter().map(|pool| pool.name.as_str()).collect();
            let name: String = name.chars().take(40).collect();
            Box::new(Error::new(
                ErrorCode::UnknownPool,
                format!("there is no pool '{name}'; there are {}", known.join(", ")),
            ))
        })
    }

    pub(super) fn check_draining(&self) -> Result<(), Box<Error>> {
        if self.draining {
            refuse(ErrorCode::Draining, "the server is about to stop; come back after its start")
        } else {
            Ok(())
        }
    }

    pub(super) fn has_room(&self, name: &BotName) -> bool {
        self.bots.get(name).is_some_and(|presence| presence.has_room())
    }

    /// Has the seeks of a bot wait, or not: it began a game, or ended one.
    pub(super) fn line_up(&mut self, name: &BotName, now: Moment) {
        let Some(presence) = self.bots.get(name) else { return };
        let Some(visitor) = presence.visitor else { return };
        for queue in &mut self.queues {
            queue.has_room(visitor, presence.has_room(), now);
        }
    }

    pub(super) fn forget_if_gone(&mut self, name: &BotName) {
        if self.bots.get(name).is_some_and(|presence| presence.is_forgettable()) {
            self.bots.remove(name);
        }
    }

    /// What a new seek waits for, told before it is paired.
    fn seeking(&self, visitor: Visitor, at: usize, reference: Option<Ref>, now: Moment) -> Effect {
        let queue = &self.queues[at];
        let seek = queue.of(visitor);
        let in_line = seek.is_some_and(|seek| !seek.is_busy() && !self.is_house(&seek.bot));
        let waiting = (queue.waiting() - usize::from(in_line)) as u64 + 1;
        let reason = seek.and_then(|seek| self.reason(at, seek, now));
        let pool = self.pools[at].name.clone();
        Effect::Tell(visitor, ServerMessage::Seeking { pool, waiting, reason, reference })
    }

    /// A bot has got a pause.
    pub(super) fn note_pause(&mut self, name: &BotName, now: Moment) {
        let pause = self.bots.get(name).and_then(|presence| presence.conduct.paused(now));
        self.pauses.extend(pause.map(|(until, why)| (name.clone(), until.since(now), why)));
    }

    /// The pauses that bots have got since the last call, how long each is, and what it is for.
    pub fn take_pauses(&mut self) -> Vec<(BotName, Micros, Why)> {
        std::mem::take(&mut self.pauses)
    }

    /// A bot has to pause until then, for that.
    pub(super) fn penalised(
        &self,
        visitor: Visitor,
        at: usize,
        (until, why): (Moment, Why),
        reference: Option<Ref>,
        now: Now,
    ) -> Effect {
        let until_ms = now.unix_ms + until.since(now.moment).ms();
        let pool = self.pools[at].name.clone();
        let (reason, until_ms, message) = (SeekEnd::Penalised, Some(until_ms), Some(why.told()));
        Effect::Tell(visitor, ServerMessage::SeekEnded { pool, reason, until_ms, message, reference })
    }

    pub(super) fn seek_ended(&self, visitor: Visitor, at: usize, reason: SeekEnd, reference: Option<Ref>) -> Effect {
        let pool = self.pools[at].name.clone();
        Effect::Tell(visitor, ServerMessage::SeekEnded { pool, reason, until_ms: None, message: None, reference })
    }
}

pub(super) fn challenge_ended(
    visitor: Visitor,
    challenge: ChallengeId,
    reason: ChallengeEnd,
    reference: Option<Ref>,
) -> Effect {
    Effect::Tell(visitor, ServerMessage::ChallengeEnded { challenge, reason, reference })
}
