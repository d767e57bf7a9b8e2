//! On which sides a bot plays (`ladder.sides`).

use super::pairing::Half;
use modiar_rules::{BySide, Side};

/// Most by which a bot's single games as South are more than those as North, or fewer.
pub const LEANING: i32 = 4;

/// The games of a bot from pools, by side. An aborted game is on none. A pair is on the side of its first game until it is
/// whole, and on none then: should it break, its first game was a single one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Single games that are over, as South less those as North.
    over: i32,
    /// Single games that run.
    singles: BySide<i32>,
    /// Pairs that are not whole.
    pairs: BySide<i32>,
}

impl Balance {
    /// What is known of a bot from before the daemon started: less than the bound, since challenges may be among it.
    #[must_use]
    pub fn recalled(over: i64) -> Self {
        let most = i64::from(LEANING - 1);
        Self { over: i32::try_from(over.clamp(-most, most)).unwrap_or_default(), ..Self::default() }
    }

    /// A game starts.
    pub fn start(&mut self, side: Side, half: Half) {
        match half {
            Half::Single => self.singles[side] += 1,
            Half::First => self.pairs[side] += 1,
            Half::Second => {}
        }
    }

    /// A game is over, and counts or does not; the first of a pair without a second one to follow.
    pub fn end(&mut self, side: Side, half: Half, counts: bool) {
        let (side, counts) = if half == Half::Second { (side.other(), !counts) } else { (side, counts) };
        let running = if half == Half::Single { &mut self.singles } else { &mut self.pairs };
        running[side] -= 1;
        if counts {
            self.over += sign(side);
        }
    }

    /// Single games as South less those as North, those that run included.
    #[must_use]
    pub const fn singles(&self) -> i32 {
        self.over + self.singles.south - self.singles.north
    }

    /// The same with all pairs that are not whole.
    #[must_use]
    pub const fn all(&self) -> i32 {
        self.singles() + self.pairs.south - self.pairs.north
    }

    /// Whether one more game on this side stays within the bound, whichever of those that run come to count; of a bot that may
    /// play so many games at once.
    #[must_use]
    pub fn has_room(&self, side: Side, half: Half, at_once: u32) -> bool {
        let singles = sign(side) * self.over + self.singles[side];
        singles + self.pairs[side] < bound(at_once) && (half != Half::Single || singles < LEANING)
    }

    /// Whether one more single game on this side is the last for now.
    #[must_use]
    pub fn leans(&self, side: Side) -> bool {
        sign(side) * self.over + self.singles[side] + self.pairs[side] >= LEANING - 1
    }
}

/// Of the pairs of a bot that plays more than eight games at once half as many as that may break on one side.
fn bound(at_once: u32) -> i32 {
    LEANING.max(i32::try_from(at_once.div_ceil(2)).unwrap_or(i32::MAX))
}

const fn sign(side: Side) -> i32 {
    match side {
        Side::South => 1,
        Side::North => -1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Games at once by chance, mostly as South and mostly ended as it leads furthest away. Pairs break where `broken`.
    fn live(at_once: u32, broken: bool, mut check: impl FnMut(&Balance, usize)) {
        let mut dice = crate::dice::Dice::new(at_once.into());
        let mut one_of = |most: usize| (0..most).filter(|_| dice.coin()).count() % most;
        let (mut balance, mut running) = (Balance::default(), Vec::<(Side, Half)>::new());
        for _ in 0..20_000 {
            let side = if one_of(4) == 0 { Side::North } else { Side::South };
            let half = if one_of(2) == 0 { Half::Single } else { Half::First };
            if running.len() < at_once as usize && one_of(2) == 0 && balance.has_room(side, half, at_once) {
                balance.start(side, half);
                running.push((side, half));
            } else if !running.is_empty() {
                let (side, half) = running.swap_remove(one_of(running.len()));
                if half == Half::First && !broken {
                    balance.start(side.other(), Half::Second);
                    running.push((side.other(), Half::Second));
                } else {
                    balance.end(side, half, half == Half::Second || (side == Side::South) != (one_of(8) == 0));
                }
            }
            check(&balance, running.len());
        }
    }

    /// `ladder.sides`: whatever becomes of what runs, and in whatever order.
    #[test]
    fn no_end_of_running_games_leads_past_the_bound() {
        for at_once in [1, 2, 8] {
            live(at_once, true, |balance, running| {
                assert!(balance.over.abs() <= LEANING, "{balance:?} of {at_once}");
                let room = Side::ALL.into_iter().any(|side| balance.has_room(side, Half::Single, at_once));
                assert!(room || running >= at_once as usize, "there is a side for one more: {balance:?} of {at_once}");
            });
        }
        for at_once in [9, 64] {
            live(at_once, false, |balance, _| assert!(balance.over.abs() <= LEANING, "{balance:?} of {at_once}"));
            live(at_once, true, |balance, running| {
                assert!(balance.over.abs() <= bound(at_once), "{balance:?} of {at_once}");
                let room = Side::ALL.into_iter().any(|side| balance.has_room(side, Half::First, at_once));
                assert!(room || running >= at_once as usize, "{balance:?} of {at_once}");
            });
        }
    }

    #[test]
    fn a_pair_counts_where_it_broke_and_not_where_it_is_whole() {
        let mut balance = Balance::default();
        let mut game = |half: Half, side: Side, counts: bool| {
            balance.start(side, half);
            if half != Half::First || !counts {
                balance.end(side, half, counts);
            }
            (balance.singles(), balance.all())
        };
        assert_eq!(game(Half::First, Side::South, true), (0, 1));
        assert_eq!(game(Half::Second, Side::North, true), (0, 0));
        assert_eq!(game(Half::First, Side::South, false), (0, 0));
        assert_eq!(game(Half::First, Side::South, true), (0, 1));
        // The second is aborted: the first was a single game.
        assert_eq!(game(Half::Second, Side::North, false), (1, 1));
        assert_eq!(game(Half::Single, Side::North, true), (0, 0));
        assert_eq!(game(Half::Single, Side::North, false), (0, 0));
    }

    #[test]
    fn what_was_before_a_start_leaves_room_for_one_more() {
        for (before, over) in [(0, 0), (2, 2), (-40, -3), (i64::MAX, 3)] {
            assert_eq!(Balance::recalled(before).singles(), over);
        }
    }
}
