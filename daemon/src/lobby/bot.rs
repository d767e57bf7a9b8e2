//! A bot as the tables and its connections share it.

use crate::clock::{Micros, Moment};
use crate::net::Outlet;
use crate::referee::Table;
use crate::store::TokenHash;
use crate::time::{now, ran_since};
use modiar_protocol::limits::{MISSED_GAMES, MISSED_WINDOW, REMEMBERED_GAMES};
use modiar_protocol::server::Ended;
use modiar_protocol::{BotName, GameId};
use modiar_rules::Side;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Who a bot is, and its games: they belong to the bot, not to its connection.
#[derive(Debug)]
pub struct Bot {
    /// Its name.
    pub name: BotName,
    /// The hash of a guest's resume token; a registered bot has its own token.
    pub resume: Option<TokenHash>,
    games: Mutex<Games>,
}

#[derive(Debug, Default)]
struct Games {
    /// In the order of the ids, which is nearly that of their beginnings: a house bot has thousands.
    running: Vec<(GameId, Side, Arc<Table>)>,
    over: VecDeque<GameId>,
    endings: VecDeque<Ending>,
    /// Whether it has a connection: the one that it has left may still be open.
    here: bool,
    /// When its last connection or its last game ended.
    last_seen: Option<Moment>,
    /// The ends in [`Self::endings`] that it has to hear of at its return, as they were told to who keeps them.
    kept: Vec<GameId>,
}

/// A game's end.
#[derive(Debug)]
struct Ending {
    at: Moment,
    /// Where it ends in all that was said to the bot on its connection; none where it was not said or may not have come.
    said: Option<u64>,
    /// Whether it was said and long after that had not come.
    held_back: bool,
    ended: Ended,
}

impl Ending {
    fn new(ended: Ended, said: Option<u64>) -> Self {
        Self { at: now(), said, held_back: false, ended }
    }

    /// Whether it was surely read: it has `lain` with the bot for the [`MISSED_WINDOW`], and so much of its connection is
    /// `taken`.
    fn was_read(&self, taken: impl FnOnce(u64) -> bool, lain: impl FnOnce(Moment) -> bool) -> bool {
        self.said.is_some_and(|said| lain(self.at) && taken(said))
    }
}

/// Whether the [`MISSED_WINDOW`] has passed since, no stop of the server counted.
fn lain(at: Moment) -> bool {
    // Nearly always the first says no, and that is asked at every end of a game.
    now().since(at) > MISSED_WINDOW.into() && ran_since(at) > MISSED_WINDOW.into()
}

impl Bot {
    /// A bot without games; a guest where there is a resume token.
    #[must_use]
    pub fn new(name: BotName, resume: Option<TokenHash>) -> Self {
        Self { name, resume, games: Mutex::default() }
    }

    /// Whether the name is a guest's.
    #[must_use]
    pub const fn is_guest(&self) -> bool {
        self.resume.is_some()
    }

    /// Whether it is one of the server's own.
    #[must_use]
    pub fn is_house(&self) -> bool {
        self.name.is_house()
    }

    /// Whether it has an account, so that it is told of its games' ends whenever it comes back.
    #[must_use]
    pub fn is_registered(&self) -> bool {
        !self.is_guest() && !self.is_house()
    }

    /// It sits down at a table.
    pub fn sit(&self, side: Side, table: Arc<Table>) {
        let mut games = self.games();
        let place = games.running.partition_point(|(id, ..)| *id < table.id());
        // Most bots play one game at a time, and there are many bots.
        if games.running.is_empty() {
            games.running.reserve_exact(1);
        }
        games.running.insert(place, (table.id(), side, table));
    }

    /// It has a connection from now on.
    pub fn enter(&self) {
        self.games().here = true;
    }

    /// Its game is over, and that was laid in `outlet` last, for a bot that is there. The last [`REMEMBERED_GAMES`] are
    /// remembered.
    pub fn rise(&self, ended: Ended, outlet: &Outlet) {
        let mut games = self.games();
        if let Some(place) = games.place(ended.game) {
            games.running.remove(place);
        }
        games.remember(ended.game);
        games.last_seen = Some(now());
        let said = outlet.said().filter(|_| games.here);
        games.keep(Ending::new(ended, said), outlet);
    }

    /// A game ended that it may not have heard of.
    pub fn missed(&self, ended: Ended) {
        let mut games = self.games();
        if !games.over.contains(&ended.game) {
            games.remember(ended.game);
            // Before this process began, and so before all that has ended in it.
            games.keep(Ending { at: Moment(0), ..Ending::new(ended, None) }, &Outlet::closed());
        }
    }

    /// The ends of games that it may not have read (`session.missed`); so it is still until [`Self::has_read`].
    #[must_use]
    pub fn unread(&self) -> Vec<Ended> {
        self.games().unread().map(|ending| ending.ended.clone()).collect()
    }

    /// It has read what [`Self::unread`] told last.
    pub fn has_read(&self) {
        self.games().endings.retain(|ending| ending.said.is_some());
    }

    /// Whether `outlet` still holds the end of `game`, that was said long ago: then it is as good as unread, should the daemon
    /// be killed.
    #[must_use]
    pub fn holds_back(&self, game: GameId, outlet: &Outlet) -> bool {
        let mut games = self.games();
        let ending = games.endings.iter_mut().find(|ending| ending.ended.game == game);
        let held = ending.filter(|ending| ending.said.is_some_and(|said| !outlet.has_taken(said)));
        held.map(|ending| ending.held_back = true).is_some()
    }

    /// Its connection by `outlet` has ended: what that was told last may not have been read.
    pub fn left(&self, outlet: &Outlet) {
        let mut games = self.games();
        (games.here, games.last_seen) = (false, Some(now()));
        games.endings.retain_mut(|ending| {
            let lost = !ending.was_read(|said| outlet.has_taken(said), lain);
            ending.said = None;
            lost
        });
    }

    /// Has `keep` keep the games whose ends it has to hear of at its return, where these are others than at the last call,
    /// and in the order of calls. A guest's go with the process, and a house bot does not ask.
    pub fn keep_unread(&self, keep: impl FnOnce(Vec<GameId>)) {
        if !self.is_registered() {
            return;
        }
        let mut games = self.games();
        let unread = games.endings.iter().filter(|ending| ending.said.is_none() || ending.held_back);
        let unread: Vec<GameId> = unread.map(|ending| ending.ended.game).collect();
        if unread != games.kept {
            games.kept.clone_from(&unread);
            keep(unread);
        }
    }

    /// Whether nothing is lost by forgetting it: no game runs, it has been away for `time` or remembers none, and a registered
    /// bot has nothing to read.
    #[must_use]
    pub fn is_forgettable(&self, time: Micros) -> bool {
        let games = self.games();
        let long_gone = games.last_seen.is_some_and(|seen| now().since(seen) > time);
        let has_read = !self.is_registered() || games.endings.is_empty();
        games.running.is_empty() && has_read && (long_gone || !self.is_guest() && games.over.is_empty())
    }

    /// Since when it is away, where no game of it runs.
    #[must_use]
    pub fn away_since(&self) -> Option<Moment> {
        let games = self.games();
        games.last_seen.filter(|_| games.running.is_empty())
    }

    /// Its seat in a running game.
    #[must_use]
    pub fn seat(&self, game: GameId) -> Option<(Arc<Table>, Side)> {
        let games = self.games();
        let (_, side, table) = &games.running[games.place(game)?];
        Some((Arc::clone(table), *side))
    }

    /// Whether a game of it runs.
    #[must_use]
    pub fn plays(&self) -> bool {
        !self.games().running.is_empty()
    }

    /// Whether `game` is one of its last games.
    #[must_use]
    pub fn remembers(&self, game: GameId) -> bool {
        self.games().over.contains(&game)
    }

    /// Its running games.
    #[must_use]
    pub fn tables(&self) -> Vec<(Arc<Table>, Side)> {
        self.games().running.iter().map(|(_, side, table)| (Arc::clone(table), *side)).collect()
    }

    fn games(&self) -> MutexGuard<'_, Games> {
        self.games.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Games {
    /// Where a running game stands.
    fn place(&self, game: GameId) -> Option<usize> {
        self.running.binary_search_by_key(&game, |(id, ..)| *id).ok()
    }

    fn unread(&self) -> impl Iterator<Item = &Ending> {
        self.endings.iter().filter(|ending| ending.said.is_none())
    }

    fn remember(&mut self, over: GameId) {
        self.over.push_back(over);
        if self.over.len() > REMEMBERED_GAMES {
            self.over.pop_front();
        }
    }

    /// Keeps an end that may have to be told again, and drops those that were surely read.
    fn keep(&mut self, ending: Ending, outlet: &Outlet) {
        while self.endings.front().is_some_and(|first| first.was_read(|said| outlet.has_taken(said), lain)) {
            self.endings.pop_front();
        }
        // Nearly always it is the newest.
        let newest = self.endings.back().is_none_or(|last| last.at <= ending.at);
        let place =
            if newest { self.endings.len() } else { self.endings.partition_point(|other| other.at <= ending.at) };
        self.endings.insert(place, ending);
        if self.endings.len() > MISSED_GAMES {
            self.endings.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use modiar_protocol::{GameResult, Sides, Termination};
    use std::time::Duration;
    use uuid::Uuid;

    fn ended(number: u128) -> Ended {
        Ended {
            game: GameId::new(Uuid::from_u128(number)),
            result: GameResult::South,
            termination: Termination::Resignation,
            score: Sides { south: 0, north: 0 },
            pits: [7; 6],
            ply: 1,
            detail: None,
            rating: None,
        }
    }

    /// What [`Bot::keep_unread`] has kept.
    fn to_keep(bot: &Bot) -> Option<Vec<GameId>> {
        let mut kept = None;
        bot.keep_unread(|games| kept = Some(games));
        kept
    }

    fn bot(resume: Option<TokenHash>) -> Bot {
        Bot::new(BotName::new("anna").unwrap(), resume)
    }

    /// `session.missed`: what the peer's kernel has not taken was not read, however long ago it was said; what it has
    /// taken was, after the window.
    #[test]
    fn an_end_is_read_when_it_has_lain_with_the_bot_for_the_window() {
        let window = Micros::from(MISSED_WINDOW);
        let (at, later) = (Moment(1_000_000), Moment(1_000_000) + window + Micros(1));
        let ending = |said| Ending { at, ..Ending::new(ended(1), said) };
        let cases = [
            (Some(100), 100, later, true),
            (Some(100), 99, later, false),
            (Some(100), 100, at + window, false),
            (None, u64::MAX, later, false),
        ];
        for (said, taken, now, read) in cases {
            assert_eq!(
                ending(said).was_read(|said| said <= taken, |at| now.since(at) > window),
                read,
                "{said:?} {taken}"
            );
        }
    }

    /// `session.guest-resume`: the time counts from the last connection and the last game.
    #[test]
    fn a_guest_is_kept_from_the_end_of_its_last_game_on() {
        let guest = bot(Some(TokenHash::stored(String::new())));
        let out = Outlet::closed();
        guest.left(&out);
        std::thread::sleep(Duration::from_millis(40));
        guest.rise(ended(1), &out);
        assert!(!guest.is_forgettable(Micros(30_000)));
        std::thread::sleep(Duration::from_millis(40));
        assert!(guest.is_forgettable(Micros(30_000)));
    }

    /// What a start tells again is older than what ends while it does, whichever comes first.
    #[test]
    fn the_newest_ends_are_kept() {
        let (dice, out) = (bot(None), Outlet::closed());
        dice.rise(ended(1000), &out);
        (1..=MISSED_GAMES as u128 + 5).for_each(|number| dice.missed(ended(number)));
        let unread: Vec<GameId> = dice.unread().iter().map(|ended| ended.game).collect();
        let expected = (7..=MISSED_GAMES as u128 + 5).chain([1000]).map(|number| ended(number).game);
        assert_eq!(unread, expected.collect::<Vec<_>>());
        (1..=2 * REMEMBERED_GAMES as u128).for_each(|number| dice.missed(ended(2000 + number)));
        (1..=3).for_each(|number| dice.rise(ended(5000 + number), &out));
        assert_eq!(dice.games().over.len(), REMEMBERED_GAMES);
    }

    /// `session.missed`: however long a registered bot is away, what it missed is its own.
    #[test]
    fn a_registered_bot_is_kept_until_it_has_read_what_it_missed() {
        let (dice, out) = (bot(None), Outlet::closed());
        dice.left(&out);
        assert!(dice.is_forgettable(Micros(0)));
        dice.rise(ended(1), &out);
        std::thread::sleep(Duration::from_millis(2));
        assert!(!dice.is_forgettable(Micros(0)));
        dice.has_read();
        assert!(dice.is_forgettable(Micros(0)));
        assert!(!dice.is_forgettable(Micros(60_000_000)), "it remembers its games a while (`verdict.game-over`)");
    }

    #[test]
    fn what_is_unread_is_kept_once_it_changes_and_a_guest_s_or_a_house_bot_s_never() {
        let (dice, out) = (bot(None), Outlet::closed());
        assert_eq!(to_keep(&dice), None);
        dice.rise(ended(1), &out);
        assert_eq!(to_keep(&dice), Some(vec![ended(1).game]));
        assert_eq!(to_keep(&dice), None);
        dice.rise(ended(2), &out);
        assert_eq!(to_keep(&dice), Some(vec![ended(1).game, ended(2).game]));
        dice.has_read();
        assert_eq!(to_keep(&dice), Some(Vec::new()));
        let guest = bot(Some(TokenHash::stored(String::new())));
        guest.rise(ended(1), &out);
        assert_eq!(to_keep(&guest), None);
        let house = Bot::new(BotName::new("house-perfect").unwrap(), None);
        house.rise(ended(1), &out);
        assert_eq!(to_keep(&house), None);
    }
}
