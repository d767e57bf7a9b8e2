//! On which sides a bot plays (`ladder.sides`).

use modiar_rules::{BySide, Side};

/// Most by which a bot's single games as South are more than those as North, or fewer.
pub const LEANING: i32 = 4;

/// The games of a bot from pools, by side: those that are over, and those that run. A whole pair has both sides, so none of its
/// games need be told from a single one; an aborted game counts for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Games over as South less those as North.
    over: i32,
    running: BySide<i32>,
}

impl Balance {
    /// What is known of a bot from before the daemon started: less than the bound, since challenges may be among it.
    #[must_use]
    pub fn recalled(over: i64) -> Self {
        let most = i64::from(LEANING - 1);
        Self { over: i32::try_from(over.clamp(-most, most)).unwrap_or_default(), running: BySide::default() }
    }

    /// A game starts.
    pub fn start(&mut self, side: Side) {
        self.running[side] += 1;
    }

    /// A game is over, and counts or does not.
    pub fn end(&mut self, side: Side, counts: bool) {
        self.running[side] -= 1;
        if counts {
            self.over += sign(side);
        }
    }

    /// Games as South less those as North, should all that run come to count.
    #[must_use]
    pub const fn southward(&self) -> i32 {
        self.over + self.running.south - self.running.north
    }

    /// Whether one more game on this side stays within the bound, whichever of those that run come to count; of a bot that may
    /// play so many games at once.
    #[must_use]
    pub fn has_room(&self, side: Side, at_once: u32) -> bool {
        sign(side) * self.over + self.running[side] < bound(at_once)
    }

    /// Whether one game more or two on this side are too many.
    #[must_use]
    pub fn leans(&self, side: Side) -> bool {
        sign(side) * self.over + self.running[side] >= LEANING - 1
    }
}

/// Of a bot that plays more than eight games at once half of them may be on one side.
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

    /// `ladder.sides`: whatever becomes of what runs, and in whatever order.
    #[test]
    fn no_end_of_running_games_leads_past_the_bound() {
        let mut dice = 0x9e37_79b9_u32;
        let mut roll = |most: u32| {
            dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (dice >> 16) % most
        };
        for at_once in [1, 2, 8, 9, 64] {
            let (mut balance, mut running) = (Balance::default(), Vec::new());
            for _ in 0..20_000 {
                let side = if roll(4) == 0 { Side::North } else { Side::South };
                if running.len() < at_once as usize && roll(2) == 0 && balance.has_room(side, at_once) {
                    balance.start(side);
                    running.push(side);
                } else if !running.is_empty() {
                    let side = running.swap_remove(roll(running.len() as u32) as usize);
                    // Mostly what takes it further away.
                    balance.end(side, (side == Side::South) != (roll(8) == 0));
                }
                assert!(balance.over.abs() <= bound(at_once), "{balance:?} of {at_once}");
                // There is always a side for one more.
                let room = Side::ALL.into_iter().any(|side| balance.has_room(side, at_once));
                assert!(room || running.len() >= at_once as usize, "{balance:?} of {at_once}");
            }
        }
    }

    #[test]
    fn the_second_game_of_a_pair_has_room_whatever_runs_beside_it() {
        let mut balance = Balance::default();
        for _ in 0..4 {
            balance.start(Side::South);
        }
        for _ in 0..4 {
            balance.start(Side::North);
        }
        assert!(!balance.has_room(Side::South, 8) && !balance.has_room(Side::North, 8));
        balance.end(Side::South, true);
        assert!(balance.has_room(Side::North, 8));
    }

    #[test]
    fn what_was_before_a_start_leaves_room_for_one_more() {
        for (before, over) in [(0, 0), (2, 2), (-40, -3), (i64::MAX, 3)] {
            assert_eq!(Balance::recalled(before).southward(), over);
        }
    }
}
