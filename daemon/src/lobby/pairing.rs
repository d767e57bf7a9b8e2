//! Two who play each other: from the seeks of a pool or a challenge, to what follows their game.

use super::machine::{Effect, Lobby, Now, Visitor, challenge_ended};
use crate::clock::Moment;
use modiar_protocol::server::{ChallengeEnd, SeekEnd};
use modiar_protocol::{BotName, ChallengeId, GameId};
use modiar_rules::{BySide, Pit, Side};
use std::sync::Arc;

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

/// How a game went for those who paired the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// The side that did not show up for it.
    pub absent: Option<Side>,
    /// The side that lost it on time, having shown up.
    pub flagged: Option<Side>,
    /// Whether it does not count.
    pub aborted: bool,
}

impl Lobby {
    /// A game is over and told.
    pub fn finished(&mut self, pairing: &Pairing, fate: Fate, now: Now) -> Vec<Effect> {
        for side in Side::ALL {
            if let Some(presence) = self.bots.get_mut(&pairing.seats[side].bot) {
                presence.playing = presence.playing.saturating_sub(1);
            }
        }
        let mut effects = Vec::new();
        match pairing.source {
            Source::Seeks(half) => {
                let paused =
                    BySide::from_fn(|side| self.has_misbehaved(&pairing.seats[side].bot, side, fate, now.moment));
                let swapped = self.second_game(pairing, half, fate).filter(|_| !paused.south && !paused.north);
                if half != Half::First || swapped.is_none() {
                    self.rise(pairing.pool, &pairing.seats, half, !fate.aborted);
                }
                if half == Half::First && swapped.is_none() {
                    self.release_second(pairing, now.moment);
                }
                for side in Side::ALL {
                    if paused[side] {
                        self.penalise(&pairing.seats[side], now, &mut effects);
                    } else {
                        self.finish_seek(pairing.pool, &pairing.seats[side], fate, now, &mut effects);
                    }
                }
                effects.extend(swapped.map(|seats| {
                    let opening = Arc::clone(&pairing.opening);
                    let rated = self.still_rated(pairing);
                    self.start(pairing.pool, seats, rated, Source::Seeks(Half::Second), opening, now.moment)
                }));
            }
            Source::Series(challenge, left) => self.go_on(pairing, challenge, left, now.moment, &mut effects),
            Source::Restored => {
                self.balance(&pairing.seats, |balance, side| balance.end(side, Half::Single, !fate.aborted));
            }
            Source::Tournament(_) => {}
        }
        for side in Side::ALL {
            let bot = &pairing.seats[side].bot;
            self.line_up(bot, now.moment);
            self.forget_if_gone(bot);
        }
        self.pair_all(now.moment, &mut effects);
        effects
    }

    /// A game could not start: it does not count, and none is tried until the lobby is held no longer. A challenge ends so.
    pub fn fell_through(&mut self, mut pairing: Pairing, now: Now) -> Vec<Effect> {
        self.held = true;
        if let Source::Series(_, left) = &mut pairing.source {
            *left += 1;
        }
        self.finished(&pairing, Fate { aborted: true, ..Fate::default() }, now)
    }

    /// The seats of the second game of a pair, where the first is well over and nothing has changed for the two meanwhile.
    fn second_game(&self, pairing: &Pairing, half: Half, fate: Fate) -> Option<BySide<Sitter>> {
        let BySide { south, north } = &pairing.seats;
        let seeks = |sitter: &Sitter| {
            let seek = self.queues[pairing.pool].of(sitter.visitor);
            seek.is_some_and(|seek| Some(seek.number) == sitter.seek) && self.has_room(&sitter.bot)
        };
        let well_over = half == Half::First && fate.absent.is_none() && !fate.aborted;
        let can_start = !self.draining && !self.held && seeks(south) && seeks(north);
        (well_over && can_start).then(|| BySide::new(north.clone(), south.clone()))
    }

    /// There will be no second game: the seeks may have it elsewhere, and the first was a single one.
    fn release_second(&mut self, pairing: &Pairing, now: Moment) {
        for side in Side::ALL {
            let Sitter { visitor, seek, .. } = &pairing.seats[side];
            if let Some(number) = seek {
                self.queues[pairing.pool].finished(*visitor, *number, true, now);
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
        now: Moment,
    ) -> Effect {
        let mut must_show = BySide::default();
        for side in Side::ALL {
            if let Some(presence) = self.bots.get_mut(&seats[side].bot) {
                presence.playing += 1;
                // Challenges bring no penalty, and none is held against them.
                must_show[side] = matches!(source, Source::Seeks(_)) && presence.conduct.must_show();
            }
            self.line_up(&seats[side].bot, now);
        }
        if let Source::Seeks(half) = source {
            self.sit(pool, &seats, half);
        }
        Effect::Start(Pairing { pool, seats, rated, must_show, source, opening })
    }

    pub(super) fn is_guest(&self, name: &BotName) -> bool {
        self.bots.get(name).is_some_and(|presence| presence.is_guest())
    }

    pub(super) fn is_house(&self, name: &BotName) -> bool {
        self.bots.get(name).is_some_and(|presence| presence.is_house())
    }

    /// Whether a game of these two in a pool counts (`ladder.rated`).
    pub(super) fn is_rated(&self, pool: usize, two: [&Sitter; 2]) -> bool {
        let guests = two.iter().any(|sitter| self.is_guest(&sitter.bot));
        self.pools[pool].rated && !guests && !self.are_kin(&two[0].bot, &two[1].bot)
    }

    /// Whether a further game of a pair or a series counts: what was so when it began may be otherwise by now.
    fn still_rated(&self, pairing: &Pairing) -> bool {
        let BySide { south, north } = &pairing.seats;
        pairing.rated && self.is_rated(pairing.pool, [south, north])
    }

    /// One side's seek after a game: it waits anew, first if the game does not count, or is done.
    fn finish_seek(&mut self, at: usize, sitter: &Sitter, fate: Fate, now: Now, effects: &mut Vec<Effect>) {
        let Sitter { visitor, seek, .. } = sitter;
        let finished = |number| self.queues[at].finished(*visitor, number, fate.aborted, now.moment);
        if seek.and_then(finished).unwrap_or(false) {
            self.queues[at].done(*visitor, now.moment);
            effects.push(self.seek_ended(*visitor, at, SeekEnd::Done, None));
        }
    }

    /// Notes how a bot behaved in a game; whether it has to pause for that.
    fn has_misbehaved(&mut self, bot: &BotName, side: Side, fate: Fate, now: Moment) -> bool {
        let Some(presence) = self.bots.get_mut(bot) else { return false };
        if fate.absent == Some(side) {
            presence.conduct.stayed_away(now);
            return true;
        }
        if fate.flagged == Some(side) {
            return presence.conduct.flagged(now);
        }
        if !fate.aborted {
            presence.conduct.showed_up();
        }
        false
    }

    /// All seeks of a bot that has to pause end, and none is taken until that is over.
    fn penalise(&mut self, sitter: &Sitter, now: Now, effects: &mut Vec<Effect>) {
        self.note_pause(&sitter.bot, now.moment);
        let Some(presence) = self.bots.get(&sitter.bot) else { return };
        let Some((until, why)) = presence.conduct.paused(now.moment) else { return };
        // It may seek again by now, on another connection.
        let visitor = presence.visitor.unwrap_or(sitter.visitor);
        for at in 0..self.queues.len() {
            if self.queues[at].leave(visitor).is_some() {
                effects.push(self.penalised(visitor, at, (until, why), None, now));
            }
        }
    }

    /// The next game of a series, sides changed; dropped where there is no room for it, and then who is there reads so
    /// (`session.series`, `session.series-gone`).
    fn go_on(&mut self, pairing: &Pairing, challenge: ChallengeId, left: u64, now: Moment, effects: &mut Vec<Effect>) {
        if left == 0 {
            return;
        }
        let BySide { south, north } = &pairing.seats;
        let room = !self.draining && !self.held && self.has_room(&south.bot) && self.has_room(&north.bot);
        // Either may be on another connection by now.
        match (self.sitter(&north.bot), self.sitter(&south.bot)) {
            (Some(north), Some(south)) if room => {
                let source = Source::Series(challenge, left - 1);
                let (seats, rated) = (BySide::new(north, south), self.still_rated(pairing));
                effects.push(self.start(pairing.pool, seats, rated, source, Arc::default(), now));
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
