//! A bot as the lobby sees it.

use super::machine::Visitor;
use crate::clock::{Micros, Moment};
use crate::store::Owner;

/// Pauses after a first, second, … game a bot did not show up for (`forfeit.penalty`), in seconds.
const PENALTIES: [u64; 5] = [10, 30, 120, 600, 3600];
/// Games over which a second no-show is a forfeit (`forfeit.second`).
const WINDOW: u32 = 20;

/// One bot, connected or with games running.
#[derive(Clone, Debug)]
pub struct Presence {
    /// Its connection.
    pub visitor: Option<Visitor>,
    /// Whether it plays without a registered name.
    pub guest: bool,
    /// Whose it is, where that is known: two bots of one owner play no rated game.
    pub owner: Option<Owner>,
    /// Most games at once.
    pub limit: u64,
    /// Games running.
    pub playing: u64,
    /// Games as South less games as North.
    pub southward: i64,
    /// How it behaves.
    pub conduct: Conduct,
}

impl Presence {
    /// A bot that is not connected and plays nothing.
    #[must_use]
    pub fn new(guest: bool) -> Self {
        Self { visitor: None, guest, owner: None, limit: 1, playing: 0, southward: 0, conduct: Conduct::default() }
    }

    /// Whether it and `other` are known to be of one owner.
    #[must_use]
    pub fn is_kin(&self, other: &Self) -> bool {
        self.owner.is_some() && self.owner == other.owner
    }

    /// Whether nothing is lost by forgetting it: a registered bot's conduct is remembered.
    #[must_use]
    pub fn is_forgettable(&self) -> bool {
        self.visitor.is_none() && self.playing == 0 && (self.guest || self.conduct == Conduct::default())
    }

    /// Whether it may start one more game.
    #[must_use]
    pub const fn has_room(&self) -> bool {
        self.visitor.is_some() && self.playing < self.limit
    }
}

/// Whether a bot shows up for its games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conduct {
    level: usize,
    until: Moment,
    /// The last games, newest first: a set bit is a no-show.
    recent: u32,
}

impl Conduct {
    /// The end of a pause that holds at `now`.
    #[must_use]
    pub fn paused(&self, now: Moment) -> Option<Moment> {
        (self.until > now).then_some(self.until)
    }

    /// Whether its next no-show is a forfeit.
    #[must_use]
    pub const fn must_show(&self) -> bool {
        self.recent != 0
    }

    /// A game it played.
    pub const fn showed_up(&mut self) {
        self.level = self.level.saturating_sub(1);
        self.remember(false);
    }

    /// A game it did not show up for; the end of the pause this brings.
    pub fn stayed_away(&mut self, now: Moment) -> Moment {
        let seconds = PENALTIES[self.level.min(PENALTIES.len() - 1)];
        self.level += 1;
        self.remember(true);
        self.until = now + Micros(seconds * 1_000_000);
        self.until
    }

    const fn remember(&mut self, absent: bool) {
        self.recent = (self.recent << 1 | absent as u32) & ((1 << WINDOW) - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_a_played_game_takes_one_step_back() {
        let mut conduct = Conduct::default();
        let pause = |conduct: &mut Conduct| conduct.stayed_away(Moment(0)).0 / 1_000_000;
        assert_eq!([pause(&mut conduct), pause(&mut conduct), pause(&mut conduct)], [10, 30, 120]);
        conduct.showed_up();
        assert_eq!(pause(&mut conduct), 120);
        assert_eq!([pause(&mut conduct), pause(&mut conduct), pause(&mut conduct)], [600, 3600, 3600]);
    }

    #[test]
    fn a_no_show_is_held_against_a_bot_for_twenty_games() {
        let mut conduct = Conduct::default();
        conduct.stayed_away(Moment(0));
        for _ in 0..WINDOW - 1 {
            conduct.showed_up();
            assert!(conduct.must_show());
        }
        conduct.showed_up();
        assert!(!conduct.must_show());
    }

    #[test]
    fn a_pause_ends() {
        let mut conduct = Conduct::default();
        let until = conduct.stayed_away(Moment(0));
        assert_eq!(conduct.paused(Moment(9_999_999)), Some(until));
        assert_eq!(conduct.paused(Moment(10_000_000)), None);
    }
}
