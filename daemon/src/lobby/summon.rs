//! The door by which a tournament has bots play: it asks for a game, and the lobby starts it as soon as both have room.
//!
//! A bot that is asked for while it plays elsewhere is called: it gets no game of its seeks or challenges before the one it
//! is called to. Who asks asks again and again until the game has started; who is asked for no longer is called no longer.

use super::hall::{Hall, this_moment};
use super::machine::{Effect, Lobby, Now};
use super::pairing::{Sitter, Source};
use crate::clock::Moment;
use crate::config::Pool;
use modiar_protocol::{BotName, GameId};
use modiar_rules::{BySide, Pit, Side};
use std::collections::HashSet;
use std::sync::Arc;

/// A game of a tournament that is to start.
#[derive(Clone, Debug, PartialEq)]
pub struct Summons {
    /// Its id: that it belongs to the tournament is stored before it starts.
    pub game: GameId,
    /// The pool's place in the list.
    pub pool: usize,
    /// Who is to sit where.
    pub seats: BySide<BotName>,
    /// Whether it counts, where the pool's games do.
    pub rated: bool,
    /// What the server plays for them; `None` for the pool's next opening of these two.
    pub opening: Option<Arc<[Pit]>>,
}

/// What became of a summons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Summoned {
    /// The game starts.
    Started,
    /// One of them is at as many games as it may be; both are called.
    Busy,
    /// These are not connected.
    Absent(BySide<bool>),
    /// No games start at present.
    Held,
}

impl Lobby {
    /// Starts the games that can start, and calls those who are here for the others, in this order; nobody else is called
    /// from now on.
    pub fn summon(&mut self, all: Vec<Summons>, now: Now) -> (Vec<Summoned>, Vec<Effect>) {
        let before = std::mem::take(&mut self.called);
        for name in &before {
            self.call(name, false);
        }
        let mut effects = Vec::new();
        let answers = all.into_iter().map(|summons| self.summon_one(summons, now.moment, &mut effects)).collect();
        for name in &before {
            self.line_up(name, now.moment);
        }
        if !before.is_empty() {
            self.pair_all(now.moment, &mut effects);
        }
        (answers, effects)
    }

    fn summon_one(&mut self, summons: Summons, now: Moment, effects: &mut Vec<Effect>) -> Summoned {
        let Summons { game, pool, seats, rated, opening } = summons;
        // A tournament can wait the second that a start takes to know the openings.
        if self.draining || self.held || self.meetings[pool].is_awaited(&self.pools[pool]) {
            return Summoned::Held;
        }
        let sitter = |name: &BotName| {
            let presence = self.bots.get(name).filter(|presence| !presence.is_guest())?;
            Some(Sitter { bot: name.clone(), visitor: presence.visitor?, seek: None })
        };
        let (Some(south), Some(north)) = (sitter(&seats.south), sitter(&seats.north)) else {
            return Summoned::Absent(BySide::new(sitter(&seats.south).is_none(), sitter(&seats.north).is_none()));
        };
        if !self.has_room(&south.bot) || !self.has_room(&north.bot) {
            for side in Side::ALL {
                self.call(&seats[side], true);
                self.line_up(&seats[side], now);
                self.called.push(seats[side].clone());
            }
            return Summoned::Busy;
        }
        let rated = rated && self.is_rated(pool, [&south, &north]);
        let opening = opening.unwrap_or_else(|| self.meetings[pool].next(&south.bot, &north.bot));
        let start = self.start(pool, BySide::new(south, north), rated, Source::Tournament(game), opening, now);
        effects.push(start);
        Summoned::Started
    }

    fn call(&mut self, name: &BotName, called: bool) {
        if let Some(presence) = self.bots.get_mut(name) {
            presence.called = called;
        }
    }
}

impl Hall {
    /// See [`Lobby::summon`].
    pub fn summon(&self, all: Vec<Summons>) -> Vec<Summoned> {
        self.change(|state| {
            let (answers, effects) = state.lobby.summon(all, this_moment());
            self.carry_out(state, effects);
            answers
        })
    }

    /// The pools, by whose places a summons names one.
    #[must_use]
    pub fn pools(&self) -> Arc<[Pool]> {
        Arc::clone(&self.current().pools)
    }

    /// The games that run.
    #[must_use]
    pub fn running_games(&self) -> HashSet<GameId> {
        self.lock().tables.keys().copied().collect()
    }

    /// Waits until a game has ended that may be one of a tournament.
    pub async fn tournament_game_ended(&self) {
        self.ended.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::lobby::{Entrant, Fate, Kind, Pairing, Visitor};
    use uuid::Uuid;

    fn name(number: u64) -> BotName {
        BotName::new(&format!("bot-{number}")).unwrap()
    }

    fn enter(lobby: &mut Lobby, number: u64, kind: Kind) {
        lobby.enter(Visitor(number), Entrant { name: name(number), kind, limit: 1, ratings: Vec::new() });
    }

    /// Registered bots `bot-1`, `bot-2`, … on connections 1, 2, …, one game each at once.
    fn lobby(bots: u64) -> Lobby {
        let mut lobby = Lobby::new(Config::default().pools.into(), 64, 1);
        lobby.use_openings(&[], &[]);
        for number in 1..=bots {
            enter(&mut lobby, number, Kind::Registered(None));
        }
        lobby
    }

    fn summons(id: u128, south: u64, north: u64) -> Summons {
        let game = GameId::new(Uuid::from_u128(id));
        Summons { game, pool: 0, seats: BySide::new(name(south), name(north)), rated: true, opening: None }
    }

    fn started(effects: &[Effect]) -> Vec<Pairing> {
        let pairing = |effect: &Effect| match effect {
            Effect::Start(pairing) => Some(pairing.clone()),
            Effect::Tell(..) => None,
        };
        effects.iter().filter_map(pairing).collect()
    }

    fn now() -> Now {
        Now { moment: Moment(1), unix_ms: 1 }
    }

    #[test]
    fn a_game_starts_where_both_are_here_and_free_and_nobody_is_in_two() {
        let mut lobby = lobby(3);
        let (answers, effects) = lobby.summon(vec![summons(1, 1, 2), summons(2, 3, 1), summons(3, 3, 4)], now());
        let absent = Summoned::Absent(BySide::new(false, true));
        assert_eq!(answers, [Summoned::Started, Summoned::Busy, absent]);
        let [pairing] = &started(&effects)[..] else { panic!("{effects:?}") };
        assert_eq!(pairing.source, Source::Tournament(summons(1, 1, 2).game));
        assert_eq!((&pairing.seats.south.bot, &pairing.seats.north.bot), (&name(1), &name(2)));
    }

    /// Who is called plays no game of its seek first, however long its opponent is busy; who is not called any more does.
    #[test]
    fn who_is_called_gets_no_other_game_before() {
        let mut lobby = lobby(4);
        let (_, effects) = lobby.summon(vec![summons(1, 1, 2)], now());
        let pairing = started(&effects).remove(0);
        lobby.summon(vec![summons(2, 1, 3)], now());
        for seeker in [1, 3, 4] {
            assert!(started(&lobby.seek(Visitor(seeker), "blitz", 0, None, now()).unwrap()).is_empty(), "{seeker}");
        }
        assert!(started(&lobby.finished(&pairing, Fate::default(), now())).is_empty(), "bot-1 is called, and bot-3");
        let mut other = lobby.clone();
        let (answers, effects) = lobby.summon(vec![summons(2, 1, 3)], now());
        assert_eq!((&answers[..], started(&effects).len()), (&[Summoned::Started][..], 1));
        let (_, effects) = other.summon(Vec::new(), now());
        assert_eq!(started(&effects).len(), 1, "their seeks go on");
    }

    #[test]
    fn a_guest_is_nobody_and_a_held_or_draining_lobby_starts_nothing() {
        let mut lobby = lobby(1);
        enter(&mut lobby, 2, Kind::Guest);
        assert_eq!(lobby.summon(vec![summons(1, 1, 2)], now()).0, [Summoned::Absent(BySide::new(false, true))]);
        enter(&mut lobby, 3, Kind::Registered(None));
        let mut early = lobby.clone();
        early.meetings = Lobby::new(Config::default().pools.into(), 1, 1).meetings;
        assert_eq!(early.summon(vec![summons(1, 1, 3)], now()).0, [Summoned::Held], "the openings are not known yet");
        lobby.hold(true, now());
        assert_eq!(lobby.summon(vec![summons(1, 1, 3)], now()).0, [Summoned::Held]);
        lobby.hold(false, now());
        lobby.drain();
        assert_eq!(lobby.summon(vec![summons(1, 1, 3)], now()).0, [Summoned::Held]);
    }
}
