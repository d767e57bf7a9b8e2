//! Who plays whom: from the seeks of a pool, and on through a series.

use super::machine::{Effect, Lobby, Now, Visitor, challenge_ended};
use super::queue::Seek;
use modiar_protocol::server::{ChallengeEnd, Openings, SeekEnd};
use modiar_protocol::{BotName, ChallengeId, GameId};
use modiar_rules::{BySide, Pit, Side};
use std::cmp::Ordering;
use std::sync::Arc;

/// Whether games can count. Ratings are kept by the ladder, which is not built yet, and a game that changes none is
/// unrated.
pub(super) const LADDER: bool = false;

/// Two bots to play.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairing {
    /// The pool's place in the list.
    pub pool: usize,
    /// Who sits where.
    pub seats: BySide<Sitter>,
    /// Whether the game counts.
    pub rated: bool,
    /// For whom not showing up is a forfeit.
    pub must_show: BySide<bool>,
    /// What brought them together.
    pub source: Source,
    /// What the server plays for them.
    pub opening: Arc<[Pit]>,
}

/// A bot, and the connection through which it asked for the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sitter {
    /// The bot.
    pub bot: BotName,
    /// The connection.
    pub visitor: Visitor,
    /// The number of the seek that wanted it.
    pub seek: Option<u64>,
}

/// What brought two bots together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Their seeks.
    Seeks(Half),
    /// A challenge, so many more games of which are to follow.
    Series(ChallengeId, u64),
    /// A tournament, which has given the game this id.
    Tournament(GameId),
    /// They had met before the daemon started; what they had sought ended with their connections.
    Restored,
}

/// Which game of a pair it is: two games from one opening, sides swapped (`session.pairs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The first; both seeks have kept room for the second.
    First,
    /// The second.
    Second,
    /// None: a game alone.
    Single,
}

impl Lobby {
    /// A game is over and told. `absent` is the side that did not show up for it; `aborted` that it does not count.
    pub fn finished(&mut self, pairing: &Pairing, absent: Option<Side>, aborted: bool, now: Now) -> Vec<Effect> {
        for side in Side::ALL {
            if let Some(presence) = self.bots.get_mut(&pairing.seats[side].bot) {
                presence.playing = presence.playing.saturating_sub(1);
            }
        }
        let mut effects = Vec::new();
        match pairing.source {
            Source::Seeks(half) => {
                let swapped = self.second_game(pairing, half, absent, aborted);
                if half == Half::First && swapped.is_none() {
                    self.release_second(pairing);
                }
                for side in Side::ALL {
                    let (sitter, absent) = (&pairing.seats[side], absent == Some(side));
                    self.finish_seek(pairing.pool, sitter, absent, aborted, now, &mut effects);
                }
                effects.extend(swapped.map(|seats| {
                    let opening = Arc::clone(&pairing.opening);
                    self.start(pairing.pool, seats, pairing.rated, Source::Seeks(Half::Second), opening)
                }));
            }
            Source::Series(challenge, left) => self.go_on(pairing, challenge, left, &mut effects),
            Source::Tournament(_) | Source::Restored => {}
        }
        for side in Side::ALL {
            let bot = &pairing.seats[side].bot;
            self.line_up(bot);
            self.forget_if_gone(bot);
        }
        self.pair_all(&mut effects);
        effects
    }

    /// A game could not start: it does not count, and none is tried until the lobby is held no longer. A challenge ends so.
    pub fn fell_through(&mut self, mut pairing: Pairing, now: Now) -> Vec<Effect> {
        self.held = true;
        if let Source::Series(_, left) = &mut pairing.source {
            *left += 1;
        }
        self.finished(&pairing, None, true, now)
    }

    /// Pairs the bots that wait, in every pool.
    pub(super) fn pair_all(&mut self, effects: &mut Vec<Effect>) {
        for at in 0..self.pools.len() {
            self.pair(at, effects);
        }
    }

    /// Pairs the bots of a pool that wait, those who waited longest first.
    pub(super) fn pair(&mut self, at: usize, effects: &mut Vec<Effect>) {
        while !self.draining && !self.held {
            let sitter = |seek: &Seek| Sitter { bot: seek.bot.clone(), visitor: seek.visitor, seek: Some(seek.number) };
            let Some(two) = self.queues[at].first_two() else { return };
            let pairs = self.pools[at].openings == Openings::Balanced && two.iter().all(|seek| seek.lacks(2));
            let (half, games) = if pairs { (Half::First, 2) } else { (Half::Single, 1) };
            let [first, second] = two.map(sitter);
            for visitor in [first.visitor, second.visitor] {
                self.queues[at].started(visitor, games);
            }
            let side = self.side_of(&first.bot, &second.bot);
            let rated = LADDER && self.pools[at].rated && !self.is_guest(&first.bot) && !self.is_guest(&second.bot);
            let opening = self.openings[at].next(&first.bot, &second.bot);
            effects.push(self.start(at, seated(first, side, second), rated, Source::Seeks(half), opening));
        }
    }

    /// The seats of the second game of a pair, where the first is well over and nothing has changed for the two meanwhile.
    fn second_game(
        &self,
        pairing: &Pairing,
        half: Half,
        absent: Option<Side>,
        aborted: bool,
    ) -> Option<BySide<Sitter>> {
        let BySide { south, north } = &pairing.seats;
        let seeks = |sitter: &Sitter| {
            let seek = self.queues[pairing.pool].of(sitter.visitor);
            seek.is_some_and(|seek| Some(seek.number) == sitter.seek) && self.has_room(&sitter.bot)
        };
        let well_over = half == Half::First && absent.is_none() && !aborted;
        let can_start = !self.draining && !self.held && seeks(south) && seeks(north);
        (well_over && can_start).then(|| BySide::new(north.clone(), south.clone()))
    }

    /// There will be no second game: the seeks may have it elsewhere.
    fn release_second(&mut self, pairing: &Pairing) {
        for side in Side::ALL {
            let Sitter { visitor, seek, .. } = &pairing.seats[side];
            if let Some(number) = seek {
                self.queues[pairing.pool].finished(*visitor, *number, true);
            }
        }
    }

    pub(super) fn start(
        &mut self,
        pool: usize,
        seats: BySide<Sitter>,
        rated: bool,
        source: Source,
        opening: Arc<[Pit]>,
    ) -> Effect {
        let mut must_show = BySide::default();
        for side in Side::ALL {
            if let Some(presence) = self.bots.get_mut(&seats[side].bot) {
                presence.playing += 1;
                presence.southward += if side == Side::South { 1 } else { -1 };
                // Challenges bring no penalty, and none is held against them.
                must_show[side] = matches!(source, Source::Seeks(_)) && presence.conduct.must_show();
            }
            self.line_up(&seats[side].bot);
        }
        Effect::Start(Pairing { pool, seats, rated, must_show, source, opening })
    }

    /// The side of the first of two bots: South for who has been South less, by chance where that is level.
    fn side_of(&mut self, first: &BotName, second: &BotName) -> Side {
        let southward = |name| self.bots.get(name).map_or(0, |presence| presence.southward);
        let south = match southward(first).cmp(&southward(second)) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => self.dice.coin(),
        };
        if south { Side::South } else { Side::North }
    }

    pub(super) fn is_guest(&self, name: &BotName) -> bool {
        self.bots.get(name).is_some_and(|presence| presence.guest)
    }

    /// One side's seek after a game: it waits anew, first if the game does not count, or is done.
    fn finish_seek(
        &mut self,
        at: usize,
        sitter: &Sitter,
        absent: bool,
        aborted: bool,
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
        let Sitter { bot, visitor, seek } = sitter;
        if absent {
            return self.punish(bot, *visitor, now, effects);
        }
        if !aborted && let Some(presence) = self.bots.get_mut(bot) {
            presence.conduct.showed_up();
        }
        let done = seek.and_then(|number| self.queues[at].finished(*visitor, number, aborted)).unwrap_or(false);
        if done {
            self.queues[at].leave(*visitor);
            effects.push(self.seek_ended(*visitor, at, SeekEnd::Done, None, None));
        }
    }

    /// All seeks of a bot that did not show up end, and none is taken until its pause is over.
    fn punish(&mut self, name: &BotName, visitor: Visitor, now: Now, effects: &mut Vec<Effect>) {
        let Some(presence) = self.bots.get_mut(name) else { return };
        let until = presence.conduct.stayed_away(now.moment);
        // It may seek again by now, on another connection.
        let visitor = presence.visitor.unwrap_or(visitor);
        for at in 0..self.queues.len() {
            if self.queues[at].leave(visitor).is_some() {
                effects.push(self.penalised(visitor, at, until, None, now));
            }
        }
    }

    /// The next game of a series, sides changed; dropped where there is no room for it, and then who is there reads so
    /// (`session.series`, `session.series-gone`).
    fn go_on(&mut self, pairing: &Pairing, challenge: ChallengeId, left: u64, effects: &mut Vec<Effect>) {
        if left == 0 {
            return;
        }
        let BySide { south, north } = &pairing.seats;
        let room = !self.draining && !self.held && self.has_room(&south.bot) && self.has_room(&north.bot);
        // Either may be on another connection by now.
        match (self.sitter(&north.bot), self.sitter(&south.bot)) {
            (Some(north), Some(south)) if room => {
                let source = Source::Series(challenge, left - 1);
                let seats = BySide::new(north, south);
                effects.push(self.start(pairing.pool, seats, pairing.rated, source, Arc::default()));
            }
            present => {
                let reason = if self.draining { ChallengeEnd::Draining } else { ChallengeEnd::Unavailable };
                let ended = |sitter: Sitter| challenge_ended(sitter.visitor, challenge, reason, None);
                effects.extend(present.0.into_iter().chain(present.1).map(ended));
            }
        }
    }

    fn sitter(&self, name: &BotName) -> Option<Sitter> {
        Some(Sitter { bot: name.clone(), visitor: self.visitor(name)?, seek: None })
    }
}

/// `one` on `side`, the other opposite.
pub(super) fn seated<T>(one: T, side: Side, other: T) -> BySide<T> {
    match side {
        Side::South => BySide::new(one, other),
        Side::North => BySide::new(other, one),
    }
}
