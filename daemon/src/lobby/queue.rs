//! The seeks of one pool: all of them by connection, and in line those that could play now.

use super::machine::Visitor;
use crate::dice::Dice;
use modiar_protocol::BotName;
use std::collections::{BTreeMap, HashMap};

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
    running: u64,
    /// Whether its bot may start one more game.
    has_room: bool,
    /// Whether its bot is one of the server's own.
    house: bool,
    /// Where it stands in line, when it does: lower comes first.
    place: i64,
}

impl Seek {
    /// A seek of a bot that has room for a game, or has not.
    #[must_use]
    pub const fn new(
        number: u64,
        visitor: Visitor,
        bot: BotName,
        wanted: Option<u64>,
        has_room: bool,
        house: bool,
    ) -> Self {
        Self { number, visitor, bot, wanted, made: 0, running: 0, has_room, house, place: 0 }
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
    /// The places taken so far: the next ones lie before and behind them.
    front: i64,
    back: i64,
}

impl Queue {
    /// Adds a seek at the end.
    pub fn join(&mut self, seek: Seek) {
        let visitor = seek.visitor;
        self.seeks.insert(visitor, seek);
        self.move_to_back(visitor);
    }

    /// The seek of a connection.
    #[must_use]
    pub fn of(&self, visitor: Visitor) -> Option<&Seek> {
        self.seeks.get(&visitor)
    }

    /// Takes the seek of a connection out.
    pub fn leave(&mut self, visitor: Visitor) -> Option<Seek> {
        let seek = self.seeks.remove(&visitor)?;
        self.line.remove(&seek.place);
        Some(seek)
    }

    /// Takes all seeks out, in the order of waiting.
    pub fn clear(&mut self) -> impl Iterator<Item = Seek> + use<> {
        self.line.clear();
        let mut seeks: Vec<Seek> = self.seeks.drain().map(|(_, seek)| seek).collect();
        seeks.sort_by_key(|seek| seek.place);
        seeks.into_iter()
    }

    /// Whether the bot of a connection may start one more game.
    pub fn has_room(&mut self, visitor: Visitor, has_room: bool) {
        self.change(visitor, |seek| seek.has_room = has_room);
    }

    /// So many games were made for the seek of a connection, one after the other; it goes to the end.
    pub fn started(&mut self, visitor: Visitor, games: u64) {
        self.change(visitor, |seek| {
            seek.made += games;
            seek.running += games;
        });
        self.move_to_back(visitor);
    }

    /// A game of the seek `number` of a connection is over: the seek waits anew, first if the game does not count, and where
    /// it stands if it was waiting for further games meanwhile. `None` where that seek is not there any more, else whether
    /// it is done.
    pub fn finished(&mut self, visitor: Visitor, number: u64, aborted: bool) -> Option<bool> {
        // The bot may have taken that seek back and begun another: this game is none of the new one's.
        let waits = self.of(visitor).filter(|seek| seek.number == number)?.is_ready();
        self.change(visitor, |seek| {
            seek.running = seek.running.saturating_sub(1);
            seek.made = seek.made.saturating_sub(u64::from(aborted));
        });
        if aborted {
            self.front -= 1;
            self.move_to(visitor, self.front);
        } else if !waits {
            self.move_to_back(visitor);
        }
        self.of(visitor).map(Seek::is_done)
    }

    /// How many could play now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.line.len()
    }

    /// The two who wait longest; where one waits alone, that one and a house bot by chance (`session.house`).
    pub fn first_two(&self, dice: &mut Dice) -> Option<[&Seek; 2]> {
        let line = || self.line.values().filter_map(|visitor| self.of(*visitor));
        let mut others = line().filter(|seek| !seek.house);
        let first = others.next()?;
        let second = others.next().or_else(|| {
            let house: Vec<&Seek> = line().filter(|seek| seek.house).collect();
            house.get(dice.below(house.len())).copied()
        });
        Some([first, second?])
    }

    fn move_to_back(&mut self, visitor: Visitor) {
        self.back += 1;
        self.move_to(visitor, self.back);
    }

    fn move_to(&mut self, visitor: Visitor, place: i64) {
        if let Some(seek) = self.seeks.get_mut(&visitor) {
            self.line.remove(&seek.place);
            seek.place = place;
        }
        self.change(visitor, |_| {});
    }

    /// Changes a seek, and has it stand in line as long as it is ready.
    fn change(&mut self, visitor: Visitor, change: impl FnOnce(&mut Seek)) {
        let Some(seek) = self.seeks.get_mut(&visitor) else { return };
        change(seek);
        if seek.is_ready() {
            self.line.insert(seek.place, visitor);
        } else {
            self.line.remove(&seek.place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(queue: &mut Queue, number: u64, wanted: Option<u64>) -> Visitor {
        let visitor = Visitor(number);
        queue.join(Seek::new(number, visitor, BotName::new(&format!("bot-{number}")).unwrap(), wanted, true, false));
        visitor
    }

    fn line(queue: &Queue) -> Vec<u64> {
        queue.line.values().map(|visitor| visitor.0).collect()
    }

    #[test]
    fn who_waited_longest_is_first_and_an_aborted_game_brings_nobody_back_to_the_end() {
        let mut queue = Queue::default();
        let [one, two, three] = [1, 2, 3].map(|number| join(&mut queue, number, None));
        queue.started(one, 1);
        assert_eq!(line(&queue), [2, 3, 1]);
        queue.started(two, 1);
        assert_eq!(queue.finished(two, 2, true), Some(false));
        assert_eq!(line(&queue), [2, 3, 1]);
        assert_eq!(queue.finished(one, 1, false), Some(false));
        assert_eq!(queue.first_two(&mut Dice::new(1)).map(|two| two.map(|seek| seek.visitor)), Some([two, three]));
    }

    /// `session.house`
    #[test]
    fn a_house_bot_plays_only_who_waits_alone() {
        let mut queue = Queue::default();
        for number in 1..=3 {
            let bot = BotName::new(&format!("house-level{number}")).unwrap();
            queue.join(Seek::new(number, Visitor(number), bot, None, true, true));
        }
        let mut dice = Dice::new(1);
        let two = |queue: &Queue, dice: &mut Dice| queue.first_two(dice).map(|two| two.map(|seek| seek.number));
        assert_eq!(two(&queue, &mut dice), None, "two of them never meet");
        join(&mut queue, 4, None);
        let met: BTreeMap<u64, u64> =
            (0..100).filter_map(|_| two(&queue, &mut dice)).map(|[alone, house]| (house, alone)).collect();
        assert_eq!(met, BTreeMap::from([(1, 4), (2, 4), (3, 4)]), "by chance");
        join(&mut queue, 5, None);
        assert_eq!(two(&queue, &mut dice), Some([4, 5]));
    }

    #[test]
    fn who_waits_for_further_games_keeps_its_place_when_one_of_its_games_ends() {
        let mut queue = Queue::default();
        let [one, two, three] = [1, 2, 3].map(|number| join(&mut queue, number, None));
        for visitor in [one, two, three] {
            queue.started(visitor, 1);
        }
        queue.has_room(two, false);
        queue.finished(one, 1, false);
        assert_eq!(line(&queue), [1, 3]);
        queue.finished(two, 2, false);
        queue.has_room(two, true);
        assert_eq!(line(&queue), [1, 3, 2], "it was playing, not waiting");
    }

    #[test]
    fn only_who_lacks_games_and_has_room_stands_in_line() {
        let mut queue = Queue::default();
        let [one, two] = [1, 2].map(|number| join(&mut queue, number, Some(1)));
        queue.has_room(one, false);
        assert!(queue.of(one).unwrap().is_busy());
        assert_eq!(line(&queue), [2]);
        queue.has_room(one, true);
        assert_eq!(line(&queue), [1, 2], "its place was kept");
        queue.started(two, 1);
        queue.has_room(two, true);
        assert_eq!(line(&queue), [1], "it has its game");
        assert_eq!(queue.finished(two, 7, false), None, "a seek of before");
        assert_eq!(queue.finished(two, 2, false), Some(true));
        queue.leave(two);
        assert_eq!((queue.waiting(), queue.clear().count()), (1, 1));
        assert_eq!(queue.waiting(), 0);
    }
}
