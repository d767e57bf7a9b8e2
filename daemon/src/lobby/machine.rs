//! The lobby: pure, (state, event, now) → effects. A bot is known here by its name, a connection by its number.

use super::challenges::{Challenges, Standing};
use super::openings::Openings;
use super::pairing::{LADDER, Pairing, Sitter, Source, seated};
use super::presence::{Conduct, Presence};
use super::queue::{Queue, Seek};
use crate::clock::{Micros, Moment};
use crate::config::Pool;
use crate::dice::Dice;
use crate::store::Owner;
use modiar_protocol::client::Challenge;
use modiar_protocol::limits::{CHALLENGE, CHALLENGES};
use modiar_protocol::server::{ChallengeEnd, Challenged, Challenger, Error, SeekEnd};
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

/// The state of the lobby.
#[derive(Clone, Debug)]
pub struct Lobby {
    pub(super) pools: Arc<[Pool]>,
    /// Most games of one bot at once.
    games_per_bot: u64,
    pub(super) queues: Vec<Queue>,
    pub(super) openings: Vec<Openings>,
    pub(super) bots: HashMap<BotName, Presence>,
    pub(super) visitors: HashMap<Visitor, BotName>,
    pub(super) challenges: Challenges,
    pub(super) dice: Dice,
    /// Seeks there have been.
    sought: u64,
    pub(super) draining: bool,
    /// The server has no room for new games at present.
    pub(super) held: bool,
}

type Refused = Result<Vec<Effect>, Box<Error>>;

fn refuse<T>(code: ErrorCode, message: impl Into<std::borrow::Cow<'static, str>>) -> Result<T, Box<Error>> {
    Err(Box::new(Error::new(code, message)))
}

impl Lobby {
    /// An empty lobby.
    #[must_use]
    pub fn new(pools: Arc<[Pool]>, games_per_bot: u64, seed: u64) -> Self {
        Self {
            games_per_bot,
            queues: vec![Queue::default(); pools.len()],
            openings: vec![Openings::none(seed); pools.len()],
            pools,
            bots: HashMap::new(),
            visitors: HashMap::new(),
            challenges: Challenges::default(),
            dice: Dice::new(seed),
            sought: 0,
            draining: false,
            held: false,
        }
    }

    /// Other pools and another bound of a bot's games from now on: the pools that were come first, in their order, and seeks and
    /// challenges go on in them.
    pub fn reload(&mut self, pools: Arc<[Pool]>, games_per_bot: u64) {
        self.queues.resize_with(pools.len(), Queue::default);
        let dice = &mut self.dice;
        self.openings.resize_with(pools.len(), || Openings::none(dice.next()));
        (self.pools, self.games_per_bot) = (pools, games_per_bot);
    }

    /// Games of pools with balanced openings start from these lines from now on.
    pub fn use_openings(&mut self, lines: &[Arc<[Pit]>]) {
        for (pool, openings) in self.pools.iter().zip(&mut self.openings) {
            openings.use_lines(lines, pool);
        }
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
    pub fn enter(&mut self, visitor: Visitor, name: BotName, guest: bool, owner: Option<Owner>, limit: u64) {
        self.visitors.insert(visitor, name.clone());
        let presence = self.bots.entry(name).or_insert_with(|| Presence::new(guest));
        presence.visitor = Some(visitor);
        presence.owner = owner;
        presence.limit = limit.min(self.games_per_bot);
    }

    /// The host says whose a bot is; one that is not here brings it when it comes in.
    pub fn give(&mut self, name: &BotName, owner: Option<Owner>) {
        if let Some(presence) = self.bots.get_mut(name) {
            presence.owner = owner;
        }
    }

    /// A bot was removed by the host: what was held against it is forgotten, and its name is free as soon as it has left and
    /// no game of it runs (`forfeit.forgotten`).
    pub fn disown(&mut self, name: &BotName) {
        if let Some(presence) = self.bots.get_mut(name) {
            (presence.guest, presence.owner) = (true, None);
            presence.conduct = Conduct::default();
        }
        self.forget_if_gone(name);
    }

    /// A game of two bots that are away runs again after a restart.
    pub fn restore(&mut self, seats: &BySide<(BotName, bool)>) {
        for side in Side::ALL {
            let (name, guest) = &seats[side];
            self.bots.entry(name.clone()).or_insert_with(|| Presence::new(*guest)).playing += 1;
        }
    }

    /// A connection ends, and its seeks and challenges with it (`session.connection-scope`).
    pub fn leave(&mut self, visitor: Visitor) -> Vec<Effect> {
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
        if let Some(until) = self.bots.get(&bot).and_then(|presence| presence.conduct.paused(now.moment)) {
            return Ok(vec![self.penalised(visitor, at, until, reference, now)]);
        }
        let wanted = (games > 0).then_some(games);
        self.sought += 1;
        let has_room = self.has_room(&bot);
        self.queues[at].join(Seek::new(self.sought, visitor, bot, wanted, has_room));
        let mut effects = vec![self.seeking(visitor, at, reference)];
        self.pair(at, &mut effects);
        Ok(effects)
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
            effects.push(self.seek_ended(visitor, at, SeekEnd::Cancelled, None, reference.clone()));
        }
        Ok(effects)
    }

    /// A bot challenges another, under a fresh id.
    ///
    /// # Errors
    /// `unknown_pool`, `unknown_bot`, `bad_field`, `games_limit`, `draining`.
    pub fn challenge(
        &mut self,
        from: Visitor,
        id: ChallengeId,
        terms: Challenge,
        reference: Option<Ref>,
        now: Now,
    ) -> Refused {
        let pool = self.pool(&terms.pool)?;
        self.check_draining()?;
        let Some(challenger) = self.visitors.get(&from).cloned() else { return Ok(Vec::new()) };
        let to = self.opponent(&challenger, &terms)?;
        if self.challenges.count(from) >= CHALLENGES || self.challenges.count(to) >= CHALLENGES {
            return refuse(ErrorCode::GamesLimit, format!("{CHALLENGES} challenges stand already; wait for their end"));
        }
        let challenged = Challenged {
            challenge: id,
            from: Challenger { name: challenger, rating: None },
            pool: self.pools[pool].name.clone(),
            side: terms.side.into(),
            rated: terms.rated,
            games: terms.games,
            expires_ms: Micros::from(CHALLENGE).ms(),
        };
        self.challenges.stand(id, Standing { from, to, terms, pool, until: now.moment + CHALLENGE.into() });
        Ok(vec![
            Effect::Tell(from, ServerMessage::ChallengeSent { challenge: id, reference }),
            Effect::Tell(to, ServerMessage::Challenged(Box::new(challenged))),
        ])
    }

    /// A bot takes a challenge up.
    ///
    /// # Errors
    /// `unknown_challenge`.
    pub fn accept(&mut self, visitor: Visitor, id: ChallengeId) -> Refused {
        let Some(standing) = self.challenges.take(id, visitor, Standing::awaits) else {
            return refuse(
                ErrorCode::UnknownChallenge,
                unknown(id, "awaits your answer", "`challenged` tells those that do"),
            );
        };
        let (Some(from), Some(to)) =
            (self.visitors.get(&standing.from).cloned(), self.visitors.get(&standing.to).cloned())
        else {
            return Ok(Vec::new());
        };
        // Whose the two are may have been said since the challenge.
        let kin = standing.terms.rated && self.are_kin(&from, &to);
        if kin || self.held || !self.has_room(&from) || !self.has_room(&to) {
            let ended = |visitor| challenge_ended(visitor, id, ChallengeEnd::Unavailable, None);
            return Ok(vec![ended(standing.from), ended(standing.to)]);
        }
        let side = standing.terms.side.unwrap_or(if self.dice.coin() { Side::South } else { Side::North });
        let from = Sitter { bot: from, visitor: standing.from, seek: None };
        let to = Sitter { bot: to, visitor: standing.to, seek: None };
        let seats = seated(from, side, to);
        let source = Source::Series(id, standing.terms.games - 1);
        Ok(vec![self.start(standing.pool, seats, standing.terms.rated, source, Arc::default())])
    }

    /// A bot turns a challenge down, or takes its own back.
    ///
    /// # Errors
    /// `unknown_challenge`.
    pub fn decline(&mut self, visitor: Visitor, id: ChallengeId, reference: Option<Ref>) -> Refused {
        let Some(standing) = self.challenges.take(id, visitor, Standing::concerns) else {
            return refuse(
                ErrorCode::UnknownChallenge,
                unknown(id, "stands with you", "`challenged` and `challenge_sent` tell those that do"),
            );
        };
        let reason = if visitor == standing.from { ChallengeEnd::Cancelled } else { ChallengeEnd::Declined };
        let other = if visitor == standing.from { standing.to } else { standing.from };
        Ok(vec![challenge_ended(visitor, id, reason, reference), challenge_ended(other, id, reason, None)])
    }

    /// Ends the challenges whose time is over.
    pub fn lapse(&mut self, now: Moment) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some((id, standing)) = self.challenges.take_lapsed(now) {
            for visitor in [standing.from, standing.to] {
                effects.push(challenge_ended(visitor, id, ChallengeEnd::Expired, None));
            }
        }
        effects
    }

    /// Whether no games start any more.
    #[must_use]
    pub const fn is_draining(&self) -> bool {
        self.draining
    }

    /// Starts no games while it is held; catches up when it no longer is.
    pub fn hold(&mut self, held: bool) -> Vec<Effect> {
        self.held = held;
        let mut effects = Vec::new();
        self.pair_all(&mut effects);
        effects
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

    fn pool(&self, name: &str) -> Result<usize, Box<Error>> {
        self.pools.iter().position(|pool| pool.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.pools.iter().map(|pool| pool.name.as_str()).collect();
            let name: String = name.chars().take(40).collect();
            Box::new(Error::new(
                ErrorCode::UnknownPool,
                format!("there is no pool '{name}'; there are {}", known.join(", ")),
            ))
        })
    }

    fn check_draining(&self) -> Result<(), Box<Error>> {
        if self.draining {
            refuse(ErrorCode::Draining, "the server is about to stop; come back after its start")
        } else {
            Ok(())
        }
    }

    fn opponent(&self, challenger: &BotName, terms: &Challenge) -> Result<Visitor, Box<Error>> {
        let name = BotName::new(&terms.opponent).ok();
        let found = name.as_ref().and_then(|name| Some((name, self.bots.get(name)?)));
        let Some((name, Presence { visitor: Some(visitor), guest, .. })) = found else {
            let name: String = terms.opponent.chars().take(40).collect();
            return refuse(ErrorCode::UnknownBot, format!("no bot '{name}' is connected; challenge one that is"));
        };
        let bad_field = |field: &'static str, message| {
            Err(Box::new(Error { field: Some(field.into()), ..Error::new(ErrorCode::BadField, message) }))
        };
        if name == challenger {
            return bad_field("opponent", "a bot does not play itself; challenge another");
        }
        if terms.rated && self.are_kin(challenger, name) {
            return bad_field("rated", "both bots are of one owner; send false");
        }
        if terms.rated && !LADDER {
            return bad_field("rated", "this server keeps no ratings yet; send false");
        }
        if terms.rated && (*guest || self.bots.get(challenger).is_some_and(|presence| presence.guest)) {
            return bad_field("rated", "a game with a guest is never rated; send false");
        }
        Ok(*visitor)
    }

    /// Whether two bots are known to be of one owner.
    pub(super) fn are_kin(&self, one: &BotName, other: &BotName) -> bool {
        self.bots.get(one).zip(self.bots.get(other)).is_some_and(|(one, other)| one.is_kin(other))
    }

    pub(super) fn has_room(&self, name: &BotName) -> bool {
        self.bots.get(name).is_some_and(Presence::has_room)
    }

    /// Has the seeks of a bot wait, or not: it began a game, or ended one.
    pub(super) fn line_up(&mut self, name: &BotName) {
        let Some(presence) = self.bots.get(name) else { return };
        let Some(visitor) = presence.visitor else { return };
        for queue in &mut self.queues {
            queue.has_room(visitor, presence.has_room());
        }
    }

    pub(super) fn forget_if_gone(&mut self, name: &BotName) {
        if self.bots.get(name).is_some_and(Presence::is_forgettable) {
            self.bots.remove(name);
        }
    }

    /// What a new seek waits for, told before it is paired.
    fn seeking(&self, visitor: Visitor, at: usize, reference: Option<Ref>) -> Effect {
        let queue = &self.queues[at];
        let busy = queue.of(visitor).is_some_and(Seek::is_busy);
        let others = queue.waiting() - usize::from(!busy);
        let reason = match others {
            _ if self.held => Some("the server starts no games at present: it is overloaded, or its disk is full"),
            _ if busy => Some("waiting for one of your games to end"),
            0 => Some("waiting for an opponent"),
            _ => None,
        };
        let pool = self.pools[at].name.clone();
        let waiting = others as u64 + 1;
        Effect::Tell(visitor, ServerMessage::Seeking { pool, waiting, reason: reason.map(str::to_owned), reference })
    }

    pub(super) fn penalised(
        &self,
        visitor: Visitor,
        at: usize,
        until: Moment,
        reference: Option<Ref>,
        now: Now,
    ) -> Effect {
        let until_ms = now.unix_ms + until.since(now.moment).ms();
        self.seek_ended(visitor, at, SeekEnd::Penalised, Some(until_ms), reference)
    }

    pub(super) fn seek_ended(
        &self,
        visitor: Visitor,
        at: usize,
        reason: SeekEnd,
        until_ms: Option<u64>,
        reference: Option<Ref>,
    ) -> Effect {
        Effect::Tell(
            visitor,
            ServerMessage::SeekEnded { pool: self.pools[at].name.clone(), reason, until_ms, reference },
        )
    }
}

/// A challenge that is none of the bot's, or what stood in the place of its id.
fn unknown(id: ChallengeId, what: &str, advice: &str) -> String {
    if id == ChallengeId::NOWHERE {
        format!("that is no id of a challenge; {advice}")
    } else {
        format!("no challenge {id} {what}; {advice}")
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
