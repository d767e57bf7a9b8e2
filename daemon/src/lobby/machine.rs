//! The lobby: pure, (state, event, now) → effects. A bot is known here by its name, a connection by its number.

use super::challenges::{Challenges, Standing};
use super::dice::Dice;
use super::presence::{Conduct, Presence};
use super::queue::{Queue, Seek};
use crate::clock::{Micros, Moment};
use crate::config::Pool;
use modiar_protocol::client::Challenge;
use modiar_protocol::limits::{CHALLENGE, CHALLENGES, GAMES_AT_ONCE};
use modiar_protocol::server::{ChallengeEnd, Challenged, Challenger, Error, SeekEnd};
use modiar_protocol::{BotName, ChallengeId, ErrorCode, Ref, ServerMessage};
use modiar_rules::{BySide, Side};
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

/// Two bots to play.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairing {
    /// The pool's place in the list.
    pub pool: usize,
    /// Who sits where.
    pub seats: BySide<BotName>,
    /// Whether the game counts.
    pub rated: bool,
    /// For whom not showing up is a forfeit.
    pub must_show: BySide<bool>,
    /// What brought them together.
    pub source: Source,
}

/// What brought two bots together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Their seeks, on these connections.
    Seeks(BySide<Visitor>),
    /// A challenge, so many more games of which are to follow.
    Series(u64),
}

/// The state of the lobby.
#[derive(Clone, Debug)]
pub struct Lobby {
    pools: Arc<[Pool]>,
    queues: Vec<Queue>,
    bots: HashMap<BotName, Presence>,
    visitors: HashMap<Visitor, BotName>,
    challenges: Challenges,
    dice: Dice,
    draining: bool,
}

type Refused = Result<Vec<Effect>, Box<Error>>;

fn refuse<T>(code: ErrorCode, message: impl Into<std::borrow::Cow<'static, str>>) -> Result<T, Box<Error>> {
    Err(Box::new(Error::new(code, message)))
}

impl Lobby {
    /// An empty lobby.
    #[must_use]
    pub fn new(pools: Arc<[Pool]>, seed: u64) -> Self {
        Self {
            queues: vec![Queue::default(); pools.len()],
            pools,
            bots: HashMap::new(),
            visitors: HashMap::new(),
            challenges: Challenges::default(),
            dice: Dice::new(seed),
            draining: false,
        }
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

    /// A bot comes in, under a name that is not taken.
    pub fn enter(&mut self, visitor: Visitor, name: BotName, guest: bool, limit: u64) {
        self.visitors.insert(visitor, name.clone());
        let limit = limit.min(GAMES_AT_ONCE);
        let presence =
            Presence { visitor: Some(visitor), guest, limit, playing: 0, southward: 0, conduct: Conduct::default() };
        self.bots.insert(name, presence);
    }

    /// A connection ends, and its seeks and challenges with it (`session.connection-scope`).
    pub fn leave(&mut self, visitor: Visitor) -> Vec<Effect> {
        for queue in &mut self.queues {
            queue.leave(visitor);
        }
        let mut effects = Vec::new();
        for (id, standing) in self.challenges.take_where(|standing| standing.concerns(visitor)) {
            let other = if standing.from == visitor { standing.to } else { standing.from };
            effects.push(challenge_ended(other, id, ChallengeEnd::Cancelled, None));
        }
        if let Some(name) = self.visitors.remove(&visitor)
            && let Some(presence) = self.bots.get_mut(&name)
        {
            presence.visitor = None;
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
        self.queues[at].join(Seek { visitor, bot, wanted, made: 0, running: 0 });
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
            return refuse(ErrorCode::UnknownChallenge, "no challenge of that id awaits your answer");
        };
        let (Some(from), Some(to)) =
            (self.visitors.get(&standing.from).cloned(), self.visitors.get(&standing.to).cloned())
        else {
            return Ok(Vec::new());
        };
        if !self.has_room(&from) || !self.has_room(&to) {
            let ended = |visitor| challenge_ended(visitor, id, ChallengeEnd::Unavailable, None);
            return Ok(vec![ended(standing.from), ended(standing.to)]);
        }
        let side = standing.terms.side.unwrap_or(if self.dice.coin() { Side::South } else { Side::North });
        let seats = seated(from, side, to);
        Ok(vec![self.start(standing.pool, seats, standing.terms.rated, Source::Series(standing.terms.games - 1))])
    }

    /// A bot turns a challenge down, or takes its own back.
    ///
    /// # Errors
    /// `unknown_challenge`.
    pub fn decline(&mut self, visitor: Visitor, id: ChallengeId, reference: Option<Ref>) -> Refused {
        let Some(standing) = self.challenges.take(id, visitor, Standing::concerns) else {
            return refuse(ErrorCode::UnknownChallenge, "no challenge of that id stands with you");
        };
        let reason = if visitor == standing.from { ChallengeEnd::Cancelled } else { ChallengeEnd::Declined };
        let other = if visitor == standing.from { standing.to } else { standing.from };
        Ok(vec![challenge_ended(visitor, id, reason, reference), challenge_ended(other, id, reason, None)])
    }

    /// Ends the challenges whose time is over.
    pub fn lapse(&mut self, now: Moment) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (id, standing) in self.challenges.take_where(|standing| standing.until <= now) {
            for visitor in [standing.from, standing.to] {
                effects.push(challenge_ended(visitor, id, ChallengeEnd::Expired, None));
            }
        }
        effects
    }

    /// A game is over and told. `absent` is the side that did not show up for it; `aborted` that it does not count.
    pub fn finished(&mut self, pairing: &Pairing, absent: Option<Side>, aborted: bool, now: Now) -> Vec<Effect> {
        for side in Side::ALL {
            if let Some(presence) = self.bots.get_mut(&pairing.seats[side]) {
                presence.playing = presence.playing.saturating_sub(1);
            }
        }
        let mut effects = Vec::new();
        match pairing.source {
            Source::Seeks(visitors) => self.finish_seeks(pairing, visitors, absent, aborted, now, &mut effects),
            Source::Series(left) => self.go_on(pairing, left, &mut effects),
        }
        for name in [&pairing.seats.south, &pairing.seats.north] {
            self.forget_if_gone(name);
        }
        for at in 0..self.pools.len() {
            self.pair(at, &mut effects);
        }
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
        for (id, standing) in self.challenges.take_where(|_| true) {
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
            return refuse(ErrorCode::UnknownBot, format!("no bot '{name}' is connected"));
        };
        let bad_field = |field: &'static str, message| {
            Err(Box::new(Error { field: Some(field.into()), ..Error::new(ErrorCode::BadField, message) }))
        };
        if name == challenger {
            return bad_field("opponent", "a bot does not play itself; challenge another");
        }
        if terms.rated && (*guest || self.bots.get(challenger).is_some_and(|presence| presence.guest)) {
            return bad_field("rated", "a game with a guest is never rated; send false");
        }
        Ok(*visitor)
    }

    fn has_room(&self, name: &BotName) -> bool {
        self.bots.get(name).is_some_and(Presence::has_room)
    }

    /// Pairs the bots of a pool that wait, those who waited longest first.
    fn pair(&mut self, at: usize, effects: &mut Vec<Effect>) {
        while !self.draining {
            let mut waiting = self.queues[at].waiting(|seek| self.has_room(&seek.bot));
            let (Some(first), Some(second)) = (waiting.next(), waiting.next()) else { return };
            let (first, second) = ((first.visitor, first.bot.clone()), (second.visitor, second.bot.clone()));
            drop(waiting);
            let side = self.side_of(&first.1, &second.1);
            for visitor in [first.0, second.0] {
                if let Some(seek) = self.queues[at].of(visitor) {
                    seek.made += 1;
                    seek.running += 1;
                }
                self.queues[at].move_to_back(visitor);
            }
            let rated = self.pools[at].rated
                && ![&first.1, &second.1]
                    .into_iter()
                    .any(|bot| self.bots.get(bot).is_some_and(|presence| presence.guest));
            let source = Source::Seeks(seated(first.0, side, second.0));
            effects.push(self.start(at, seated(first.1, side, second.1), rated, source));
        }
    }

    /// The side of the first of two bots: South for who has been South less, by chance where that is level.
    fn side_of(&mut self, first: &BotName, second: &BotName) -> Side {
        let southward = |name| self.bots.get(name).map_or(0, |presence| presence.southward);
        let south = match southward(first).cmp(&southward(second)) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => self.dice.coin(),
        };
        if south { Side::South } else { Side::North }
    }

    fn start(&mut self, pool: usize, seats: BySide<BotName>, rated: bool, source: Source) -> Effect {
        let mut must_show = BySide::default();
        for side in Side::ALL {
            if let Some(presence) = self.bots.get_mut(&seats[side]) {
                presence.playing += 1;
                presence.southward += if side == Side::South { 1 } else { -1 };
                // Challenges bring no penalty, and none is held against them.
                must_show[side] = matches!(source, Source::Seeks(_)) && presence.conduct.must_show();
            }
        }
        Effect::Start(Pairing { pool, seats, rated, must_show, source })
    }

    fn finish_seeks(
        &mut self,
        pairing: &Pairing,
        visitors: BySide<Visitor>,
        absent: Option<Side>,
        aborted: bool,
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
        for side in Side::ALL {
            let (at, visitor) = (pairing.pool, visitors[side]);
            if let Some(seek) = self.queues[at].of(visitor) {
                seek.running = seek.running.saturating_sub(1);
                seek.made = seek.made.saturating_sub(u64::from(aborted));
            }
            if absent == Some(side) {
                self.punish(&pairing.seats[side], visitor, now, effects);
                continue;
            }
            if !aborted && let Some(presence) = self.bots.get_mut(&pairing.seats[side]) {
                presence.conduct.showed_up();
            }
            if aborted {
                self.queues[at].move_to_front(visitor);
            } else {
                self.queues[at].move_to_back(visitor);
            }
            if self.queues[at].of(visitor).is_some_and(|seek| seek.is_done()) {
                self.queues[at].leave(visitor);
                effects.push(self.seek_ended(visitor, at, SeekEnd::Done, None, None));
            }
        }
    }

    /// All seeks of a bot that did not show up end, and none is taken until its pause is over.
    fn punish(&mut self, name: &BotName, visitor: Visitor, now: Now, effects: &mut Vec<Effect>) {
        let Some(presence) = self.bots.get_mut(name) else { return };
        let until = presence.conduct.stayed_away(now.moment);
        for at in 0..self.queues.len() {
            if self.queues[at].leave(visitor).is_some() {
                effects.push(self.penalised(visitor, at, until, None, now));
            }
        }
    }

    /// The next game of a series, sides changed; dropped where a side is gone or busy (`session.series`).
    fn go_on(&mut self, pairing: &Pairing, left: u64, effects: &mut Vec<Effect>) {
        let BySide { south, north } = &pairing.seats;
        if left > 0 && !self.draining && self.has_room(south) && self.has_room(north) {
            let seats = BySide::new(north.clone(), south.clone());
            effects.push(self.start(pairing.pool, seats, pairing.rated, Source::Series(left - 1)));
        }
    }

    fn forget_if_gone(&mut self, name: &BotName) {
        if self.bots.get(name).is_some_and(|presence| presence.visitor.is_none() && presence.playing == 0) {
            self.bots.remove(name);
        }
    }

    /// What a new seek waits for, told before it is paired.
    fn seeking(&self, visitor: Visitor, at: usize, reference: Option<Ref>) -> Effect {
        let has_room = |seek: &Seek| self.has_room(&seek.bot);
        let others = self.queues[at].waiting(|seek| seek.visitor != visitor && has_room(seek)).count() as u64;
        let busy = self.queues[at].waiting(|seek| seek.visitor == visitor && !has_room(seek)).next().is_some();
        let reason = match others {
            _ if busy => Some("waiting for one of your games to end"),
            0 => Some("waiting for an opponent"),
            _ => None,
        };
        let pool = self.pools[at].name.clone();
        let waiting = others + 1;
        Effect::Tell(visitor, ServerMessage::Seeking { pool, waiting, reason: reason.map(str::to_owned), reference })
    }

    fn penalised(&self, visitor: Visitor, at: usize, until: Moment, reference: Option<Ref>, now: Now) -> Effect {
        let until_ms = now.unix_ms + until.since(now.moment).ms();
        self.seek_ended(visitor, at, SeekEnd::Penalised, Some(until_ms), reference)
    }

    fn seek_ended(
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

/// `one` on `side`, the other opposite.
fn seated<T>(one: T, side: Side, other: T) -> BySide<T> {
    match side {
        Side::South => BySide::new(one, other),
        Side::North => BySide::new(other, one),
    }
}

fn challenge_ended(visitor: Visitor, challenge: ChallengeId, reason: ChallengeEnd, reference: Option<Ref>) -> Effect {
    Effect::Tell(visitor, ServerMessage::ChallengeEnded { challenge, reason, reference })
}
