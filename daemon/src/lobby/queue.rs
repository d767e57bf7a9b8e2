//! The seeks of one pool: all of them by connection, and in line those that could play now.

use super::machine::Visitor;
use crate::clock::{Micros, Moment};
use modiar_ladder::pairing::{ANYBODY_MS, REMATCH_MS};
use modiar_protocol::BotName;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// Of so many bots it is remembered that their seeks were done: more than two can hide behind.
const GONE: usize = 4;

/// A bot looking for games in a pool.
#[derive(Clone, Debug)]
pub struct Seek {
    /// Its number, by which a game remembers the seek that wanted it.
    pub number: u64,
    /// Whose.
    pub visitor: Visitor,
    /// The bot.
    pub bot: BotName,
    /// How many games it wants; `None` until it says stop.
    pub wanted: Option<u64>,
    /// Games made for it and not aborted.
    made: u64,
    /// Of these, still running or to be played.
    running: u32,
    /// Whether its bot may start one more game.
    has_room: bool,
    /// Whether its bot is the server's own, and plays who is left over.
    house: bool,
    /// Where it stands in line, when it does: lower comes first.
    place: i64,
    /// Since when it stands there.
    since: Moment,
}

impl Seek {
    /// A seek of a bot, which has room for a game.
    #[must_use]
    pub const fn new(number: u64, visitor: Visitor, bot: BotName, wanted: Option<u64>) -> Self {
        let (made, running, has_room, house) = (0, 0, true, false);
        Self { number, visitor, bot, wanted, made, running, has_room, house, place: 0, since: Moment(0) }
    }

    /// The same of one that has room, or has not.
    #[must_use]
    pub const fn with_room(self, has_room: bool) -> Self {
        Self { has_room, ..self }
    }

    /// The same of one of the server's own, or not.
    #[must_use]
    pub const fn of_house(self, house: bool) -> Self {
        Self { house, ..self }
    }

    /// Since when it has been able to play.
    #[must_use]
    pub const fn since(&self) -> Moment {
        self.since
    }

    /// How long that is.
    #[must_use]
    pub const fn waited(&self, now: Moment) -> Micros {
        now.since(self.since)
    }

    /// Whether it still lacks so many games.
    #[must_use]
    pub fn lacks(&self, games: u64) -> bool {
        self.wanted.is_none_or(|wanted| self.made + games <= wanted)
    }

    fn is_open(&self) -> bool {
        self.lacks(1)
    }

    /// Whether it lacks games that its bot has no room for at present.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.is_open() && !self.has_room
    }

    /// Whether all its games are played.
    fn is_done(&self) -> bool {
        !self.is_open() && self.running == 0
    }

    fn is_ready(&self) -> bool {
        self.is_open() && self.has_room
    }
}

/// The seeks of one pool.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    seeks: HashMap<Visitor, Seek>,
    /// Those that are ready, in the order of waiting.
    line: BTreeMap<i64, Visitor>,
    /// The server's own bots, those that are ready.
    houses: BTreeSet<Visitor>,
    /// How many of the seeks are of these, ready or not.
    house_seeks: usize,
    /// Whose seeks were done last, and when: who seeks a few games at a time may be back at once.
    gone: VecDeque<(BotName, Moment)>,
    /// The places taken so far: the next ones lie before and behind them.
    front: i64,
    back: i64,
}

impl Queue {
    /// Adds a seek at the end.
    pub fn join(&mut self, seek: Seek, now: Moment) {
        let visitor = seek.visitor;
        self.house_seeks += usize::from(seek.house);
        self.seeks.insert(visitor, seek);
        self.move_to_back(visitor, now);
    }

    /// The seek of a connection.
    #[must_use]
    pub fn of(&self, visitor: Visitor) -> Option<&Seek> {
        self.seeks.get(&visitor)
    }

    /// Takes the seek of a connection out.
    pub fn leave(&mut self, visitor: Visitor) -> Option<Seek> {
        let seek = self.seeks.remove(&visitor)?;
        self.house_seeks -= usize::from(seek.house);
        self.houses.remove(&visitor);
        self.line.remove(&seek.place);
        Some(seek)
    }

    /// Takes the seek of a connection out, all its games being played.
    pub fn done(&mut self, visitor: Visitor, now: Moment) {
        let Some(seek) = self.leave(visitor).filter(|seek| !seek.house) else { return };
        self.gone.retain(|(bot, _)| *bot != seek.bot);
        self.gone.push_back((seek.bot, now));
        if self.gone.len() > GONE {
            self.gone.pop_front();
        }
    }

    /// Whether somebody may be back soon who is not in line: of those whose seeks were done a moment ago.
    #[must_use]
    pub fn may_come_back(&self, now: Moment) -> bool {
        let recent = |gone: &Moment| now.since(*gone) < Micros::from_ms(REMATCH_MS);
        let mut recent = self.gone.iter().filter(|(_, gone)| recent(gone));
        recent.any(|(bot, _)| self.line().take(GONE + 1).all(|seek| seek.bot != *bot))
    }

    /// Takes all seeks out, in the order of waiting.
    pub fn clear(&mut self) -> impl Iterator<Item = Seek> + use<> {
        let mut seeks: Vec<Seek> = std::mem::take(self).seeks.into_values().collect();
        seeks.sort_by_key(|seek| seek.place);
        seeks.into_iter()
    }

    /// Whether the bot of a connection may start one more game.
    pub fn has_room(&mut self, visitor: Visitor, has_room: bool, now: Moment) {
        self.change(visitor, |seek| {
            if has_room && !seek.has_room {
                seek.since = now;
            }
            seek.has_room = has_room;
        });
    }

    /// So many games were made for the seek of a connection, one after the other; it goes to the end, and has waited since
    /// `since` where it waits for further ones.
    pub fn started(&mut self, visitor: Visitor, games: u64, since: Moment) {
        self.change(visitor, |seek| {
            seek.made += games;
            seek.running += u32::try_from(games).unwrap_or(u32::MAX);
        });
        self.move_to_back(visitor, since);
    }

    /// A game of the seek `number` of a connection is over: the seek waits anew, first if the game does not count, and where
    /// it stands if it was waiting for further games meanwhile. `None` where that seek is not there any more, else whether
    /// it is done.
    pub fn finished(&mut self, visitor: Visitor, number: u64, aborted: bool, now: Moment) -> Option<bool> {
        // The bot may have taken that seek back and begun another: this game is none of the new one's.
        let waits = self.of(visitor).filter(|seek| seek.number == number)?.is_ready();
        self.change(visitor, |seek| {
            seek.running = seek.running.saturating_sub(1);
            seek.made = seek.made.saturating_sub(u64::from(aborted));
        });
        if aborted {
            self.move_to_front(visitor, now);
        } else if !waits {
            self.move_to_back(visitor, now);
        }
        self.of(visitor).map(Seek::is_done)
    }

    /// How many could play now, the server's own left out.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.line.len()
    }

    /// How many seek and play at present, the server's own left out.
    #[must_use]
    pub fn playing(&self) -> usize {
        self.seeks.len() - self.house_seeks - self.line.len()
    }

    /// Those who could play now, in the order of waiting.
    pub fn line(&self) -> impl Iterator<Item = &Seek> {
        self.line.values().filter_map(|visitor| self.of(*visitor))
    }

    /// The server's own that could play now.
    pub fn houses(&self) -> impl Iterator<Item = &Seek> {
        self.houses.iter().filter_map(|visitor| self.of(*visitor))
    }

    /// How long the first in line has waited.
    #[must_use]
    pub fn longest_wait(&self, now: Moment) -> Micros {
        self.line().map(|seek| seek.waited(now)).max().unwrap_or_default()
    }

    fn move_to_back(&mut self, visitor: Visitor, now: Moment) {
        self.back += 1;
        self.move_to(visitor, self.back, now);
    }

    /// It has waited as long as who has waited longest, and long enough to meet anybody.
    fn move_to_front(&mut self, visitor: Visitor, now: Moment) {
        self.front -= 1;
        let long_ago = now.earlier(Micros::from_ms(ANYBODY_MS));
        let since = self.line().map(|seek| seek.since).min().map_or(long_ago, |first| first.min(long_ago));
        self.move_to(visitor, self.front, since);
    }

    fn move_to(&mut self, visitor: Visitor, place: i64, since: Moment) {
        if let Some(seek) = self.seeks.get_mut(&visitor) {
            self.line.remove(&seek.place);
            (seek.place, seek.since) = (place, since);
        }
        self.change(visitor, |_| {});
    }

    /// Changes a seek, and has it stand in line as long as it is ready.
    fn change(&mut self, visitor: Visitor, change: impl FnOnce(&mut Seek)) {
        let Some(seek) = self.seeks.get_mut(&visitor) else { return };
        change(seek);
        match (seek.is_ready(), seek.house) {
            (true, false) => drop(self.line.insert(seek.place, visitor)),
            (false, false) => drop(self.line.remove(&seek.place)),
            (true, true) => drop(self.houses.insert(visitor)),
            (false, true) => drop(self.houses.remove(&visitor)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment(10_000_000);

    fn join(queue: &mut Queue, number: u64, wanted: Option<u64>) -> Visitor {
        let visitor = Visitor(number);
        queue.join(Seek::new(number, visitor, BotName::new(&format!("bot-{number}")).unwrap(), wanted), Moment(number));
        visitor
    }

    fn line(queue: &Queue) -> Vec<u64> {
        queue.line.values().map(|visitor| visitor.0).collect()
    }

    #[test]
    fn who_waited_longest_is_first_and_an_aborted_game_brings_nobody_back_to_the_end() {
        let mut queue = Queue::default();
        let [one, two, three] = [1, 2, 3].map(|number| join(&mut queue, number, None));
        queue.started(one, 1, NOW);
        assert_eq!(line(&queue), [2, 3, 1]);
        queue.started(two, 1, NOW);
        assert_eq!(queue.finished(two, 2, true, NOW), Some(false));
        assert_eq!(line(&queue), [2, 3, 1]);
        assert_eq!(queue.finished(one, 1, false, NOW), Some(false));
        assert_eq!(queue.line().map(|seek| seek.visitor).collect::<Vec<_>>(), [two, three, one]);
        let waited: Vec<u64> = queue.line().map(|seek| seek.waited(NOW).ms()).collect();
        assert_eq!(waited, [9999, 9999, 0], "the aborted game took nothing of the time that it has waited");
    }

    #[test]
    fn who_waits_for_further_games_keeps_its_place_when_one_of_its_games_ends() {
        let mut queue = Queue::default();
        let [one, two, three] = [1, 2, 3].map(|number| join(&mut queue, number, None));
        for visitor in [one, two, three] {
            queue.started(visitor, 1, NOW);
        }
        queue.has_room(two, false, NOW);
        queue.finished(one, 1, false, NOW);
        assert_eq!(line(&queue), [1, 3]);
        queue.finished(two, 2, false, NOW);
        queue.has_room(two, true, NOW);
        assert_eq!(line(&queue), [1, 3, 2], "it was playing, not waiting");
    }

    #[test]
    fn only_who_lacks_games_and_has_room_stands_in_line() {
        let mut queue = Queue::default();
        let [one, two] = [1, 2].map(|number| join(&mut queue, number, Some(1)));
        queue.has_room(one, false, NOW);
        assert!(queue.of(one).unwrap().is_busy());
        assert_eq!(line(&queue), [2]);
        queue.has_room(one, true, NOW);
        assert_eq!(line(&queue), [1, 2], "its place was kept");
        queue.started(two, 1, NOW);
        queue.has_room(two, true, NOW);
        assert_eq!(line(&queue), [1], "it has its game");
        assert_eq!(queue.finished(two, 7, false, NOW), None, "a seek of before");
        assert_eq!(queue.finished(two, 2, false, NOW), Some(true));
        queue.leave(two);
        assert_eq!((queue.waiting(), queue.clear().count()), (1, 1));
        assert_eq!(queue.waiting(), 0);
    }

    #[test]
    fn the_server_s_own_stand_in_no_line() {
        let mut queue = Queue::default();
        let one = join(&mut queue, 1, None);
        let house = Seek::new(2, Visitor(2), BotName::new("house-random").unwrap(), None).of_house(true);
        queue.join(house, NOW);
        assert_eq!((line(&queue), queue.playing(), queue.houses().count()), (vec![1], 0, 1));
        queue.started(one, 1, NOW);
        queue.has_room(one, false, NOW);
        queue.has_room(Visitor(2), false, NOW);
        assert_eq!((queue.waiting(), queue.playing(), queue.houses().count()), (0, 1, 0));
        queue.leave(Visitor(2));
        assert_eq!(queue.playing(), 1);
    }
}
