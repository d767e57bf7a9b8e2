//! Who plays whom of those who wait in a pool, as a function of who they are (`ladder.pairing`).
//!
//! Who waits longest chooses first, and takes the nearest in rating among those it may meet. How far it looks grows with
//! the time that it has waited, and with how little is known of the two. Who finds nobody meets a house bot.

/// How far a bot looks at once, in rating points, beside the deviations of both.
const REACH: f64 = 100.0;
/// By how many points a second that grows.
const WIDENING: f64 = 100.0;
/// From when on a bot looks as far as there is anybody, in milliseconds.
pub const ANYBODY_MS: u64 = 4000;
/// So many opponents that a bot met last are no fresh ones, where there are as many others. With one or two, and all bots free
/// at once, groups close: in one ladder of forty, four bots met nobody else any more, and little tells how strong they are
/// beside the others. With sixteen the games are of bots too far apart.
pub const RECENT: usize = 8;
/// How long two who met lately wait for others who may come, in milliseconds.
pub const REMATCH_MS: u64 = 2000;
/// When a house bot is sat down with who finds nobody, in milliseconds: where others may come, and where nobody else is here.
pub const HOUSE_MS: [u64; 2] = [5000, 2000];
/// Most opponents that are asked about for one bot in one call.
const LOOK: usize = 64;

/// A bot that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// Its rating.
    pub rating: f64,
    /// The rating's deviation.
    pub rd: f64,
    /// How long it has been able to play, in milliseconds.
    pub waited_ms: u64,
    /// Whose it is: bots with one number never meet. `None` is nobody's.
    pub owner: Option<usize>,
}

/// Whether two may meet now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// They may.
    Fresh,
    /// They met lately, so many opponents ago; 1 is the last. Only where nobody else waits for either.
    Again(usize),
    /// They may not.
    Never,
}

/// A bot of those who wait with its opponent, both by their places in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// Another of the list.
    Each([usize; 2]),
    /// A house bot, by its place among these.
    House(usize, usize),
}

/// Pairs those who wait. `houses` are the ratings of the house bots that have room. `others` tells whether more bots seek in
/// the pool, that play at present. `may_meet` is asked for two places of `waiting`, `may_sit` for one of these and one of
/// `houses`.
pub fn pair(
    waiting: &[Waiting],
    houses: &[f64],
    others: bool,
    mut may_meet: impl FnMut(usize, usize) -> Meeting,
    mut may_sit: impl FnMut(usize, usize) -> Meeting,
) -> Vec<Match> {
    let mut line = Line::of(waiting);
    let mut oldest: Vec<usize> = (0..waiting.len()).collect();
    oldest.sort_by_key(|at| std::cmp::Reverse(waiting[*at].waited_ms));
    let alone = !others && waiting.len() == 1;
    let mut matches = Vec::new();
    for one in oldest {
        if line.is_gone(one) {
            continue;
        }
        if let Some(other) = line.opponent(one, others, &mut may_meet) {
            line.take(one);
            line.take(other);
            matches.push(Match::Each([one, other]));
        } else if waiting[one].waited_ms >= HOUSE_MS[usize::from(alone)]
            && let Some(house) = nearest_house(&waiting[one], houses, |house| may_sit(one, house))
        {
            line.take(one);
            matches.push(Match::House(one, house));
        }
    }
    matches
}

/// The nearest house bot that it may meet; the one it met last only where there is no other.
fn nearest_house(one: &Waiting, houses: &[f64], mut may_sit: impl FnMut(usize) -> Meeting) -> Option<usize> {
    let known = |house: usize| (may_sit(house), (houses[house] - one.rating).abs(), house);
    let could = (0..houses.len()).map(known).filter(|(meeting, ..)| *meeting != Meeting::Never);
    let order = |(meeting, distance, _): &(Meeting, f64, usize)| (*meeting != Meeting::Fresh, *distance);
    could.min_by(|one, other| order(one).partial_cmp(&order(other)).unwrap_or(std::cmp::Ordering::Equal)).map(|it| it.2)
}

/// Those who wait, in the order of their ratings.
struct Line<'a> {
    waiting: &'a [Waiting],
    /// The places of the list, by rating.
    order: Vec<usize>,
    /// Where each place of the list stands in that order.
    rank: Vec<usize>,
    /// The first that is still there at or after a rank, by halves: a rank that is taken points further on.
    up: Vec<usize>,
    /// The same downwards, a rank more.
    down: Vec<usize>,
    /// The ranks just beyond the neighbours of one owner on both sides.
    beyond: Vec<[usize; 2]>,
}

impl<'a> Line<'a> {
    fn of(waiting: &'a [Waiting]) -> Self {
        let count = waiting.len();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|one, other| waiting[*one].rating.total_cmp(&waiting[*other].rating));
        let mut rank = vec![0; count];
        for (place, at) in order.iter().enumerate() {
            rank[*at] = place;
        }
        let mut beyond = vec![[0, 0]; count];
        let owned = |place: usize| waiting[order[place]].owner;
        let one_owner = |one: usize, other: usize| owned(one).is_some() && owned(one) == owned(other);
        for place in 0..count {
            let joined = place > 0 && one_owner(place, place - 1);
            beyond[place][0] = if joined { beyond[place - 1][0] } else { place };
        }
        for place in (0..count).rev() {
            let joined = place + 1 < count && one_owner(place, place + 1);
            beyond[place][1] = if joined { beyond[place + 1][1] } else { place + 1 };
        }
        Self { waiting, order, rank, up: (0..=count).collect(), down: (0..=count).collect(), beyond }
    }

    fn is_gone(&self, at: usize) -> bool {
        self.up[self.rank[at]] != self.rank[at]
    }

    fn take(&mut self, at: usize) {
        let rank = self.rank[at];
        self.up[rank] = rank + 1;
        self.down[rank + 1] = rank;
    }

    /// The nearest opponent that `one` may have now.
    fn opponent(
        &mut self,
        one: usize,
        others: bool,
        may_meet: &mut impl FnMut(usize, usize) -> Meeting,
    ) -> Option<usize> {
        let waiting = self.waiting;
        // Of those that it met lately the one that was longest ago; of equals the nearest.
        let mut again: Option<(usize, usize)> = None;
        for other in self.neighbours(one) {
            match may_meet(one, other) {
                Meeting::Never => {}
                Meeting::Again(ago) if again.is_some_and(|(longest, _)| longest >= ago) => {}
                Meeting::Again(ago) => again = Some((ago, other)),
                Meeting::Fresh if is_within_reach(&waiting[one], &waiting[other]) => return Some(other),
                // Those further on are further away, and this one is worth waiting for.
                Meeting::Fresh => return None,
            }
        }
        let Some((_, other)) = again else { return self.further(one, may_meet) };
        let has_another = self.neighbours(other).any(|third| may_meet(other, third) == Meeting::Fresh);
        let waits = others && waiting[one].waited_ms < REMATCH_MS;
        (!has_another && !waits).then_some(other)
    }

    /// For who has waited long enough for anybody, and may meet none of the nearest: somebody of as many others, who are others
    /// at each moment.
    fn further(&self, one: usize, may_meet: &mut impl FnMut(usize, usize) -> Meeting) -> Option<usize> {
        let Waiting { waited_ms, owner, .. } = self.waiting[one];
        let count = self.order.len();
        if waited_ms < ANYBODY_MS || count <= LOOK {
            return None;
        }
        let moment = usize::try_from(waited_ms.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).unwrap_or_default();
        let others = (moment..moment + LOOK).map(|place| self.order[place % count]);
        let mut there = others.filter(|other| *other != one && !self.is_gone(*other));
        there.find(|other| {
            (owner.is_none() || self.waiting[*other].owner != owner) && may_meet(one, *other) != Meeting::Never
        })
    }

    /// Those who are there and of another owner, the nearest in rating first, [`LOOK`] at most.
    fn neighbours(&mut self, one: usize) -> impl Iterator<Item = usize> + use<'_, 'a> {
        let Waiting { owner, rating, .. } = self.waiting[one];
        let rank = self.rank[one];
        let (mut below, mut above) = (self.below(rank, owner), self.above(rank + 1, owner));
        let next = move || {
            let distance = |rank: usize| (self.waiting[self.order[rank]].rating - rating).abs();
            let next = match (below, above) {
                (Some(low), high) if high.is_none_or(|high| distance(low) <= distance(high)) => {
                    below = self.below(low, owner);
                    low
                }
                (_, high) => {
                    above = self.above(high? + 1, owner);
                    high?
                }
            };
            Some(self.order[next])
        };
        std::iter::from_fn(next).take(LOOK)
    }

    /// The first at this rank or above it that is there and of another owner.
    fn above(&mut self, mut rank: usize, owner: Option<usize>) -> Option<usize> {
        loop {
            rank = first(&mut self.up, rank);
            let at = *self.order.get(rank)?;
            if owner.is_none() || self.waiting[at].owner != owner {
                return Some(rank);
            }
            rank = self.beyond[rank][1];
        }
    }

    /// The last below this rank that is there and of another owner.
    fn below(&mut self, mut rank: usize, owner: Option<usize>) -> Option<usize> {
        loop {
            rank = first(&mut self.down, rank).checked_sub(1)?;
            if owner.is_none() || self.waiting[self.order[rank]].owner != owner {
                return Some(rank);
            }
            rank = self.beyond[rank][0];
        }
    }
}

/// Whether two are near enough in rating to be paired at once: who has waited longer looks for both.
#[must_use]
pub fn is_within_reach(one: &Waiting, other: &Waiting) -> bool {
    let waited_ms = one.waited_ms.max(other.waited_ms);
    let reach = REACH + WIDENING * waited_ms as f64 / 1000.0 + one.rd + other.rd;
    waited_ms >= ANYBODY_MS || (one.rating - other.rating).abs() <= reach
}

/// Follows the pointers from `at` to the end of their chain, and shortens it.
fn first(chain: &mut [usize], mut at: usize) -> usize {
    while chain[at] != at {
        chain[at] = chain[chain[at]];
        at = chain[at];
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bot(rating: f64, waited_ms: u64) -> Waiting {
        Waiting { rating, rd: 0.0, waited_ms, owner: None }
    }

    fn fresh(waiting: &[Waiting], others: bool) -> Vec<Match> {
        pair(waiting, &[], others, |_, _| Meeting::Fresh, |_, _| Meeting::Fresh)
    }

    #[test]
    fn who_waited_longest_takes_the_nearest() {
        let waiting = [bot(1500.0, 1), bot(1450.0, 2), bot(1540.0, 3), bot(1900.0, 0)];
        assert_eq!(fresh(&waiting, true), [Match::Each([2, 0])]);
    }

    #[test]
    fn the_reach_grows_with_the_time_and_with_what_is_not_known() {
        let pairs = |distance, waited_ms, rd| {
            let far = Waiting { rd, ..bot(1500.0 + distance, 0) };
            !fresh(&[bot(1500.0, waited_ms), far], true).is_empty()
        };
        assert_eq!([pairs(100.0, 0, 0.0), pairs(101.0, 0, 0.0), pairs(450.0, 0, 350.0)], [true, false, true]);
        assert_eq!([pairs(400.0, 3000, 0.0), pairs(401.0, 3000, 0.0)], [true, false]);
        assert!(pairs(5000.0, ANYBODY_MS, 0.0));
    }

    #[test]
    fn two_who_met_last_meet_again_only_where_nobody_else_waits_or_may_come() {
        let pairs = |waiting: &[Waiting], others| {
            let met = |one: usize, other: usize| {
                if one + other == 1 { Meeting::Again(1) } else { Meeting::Fresh }
            };
            pair(waiting, &[], others, met, |_, _| Meeting::Fresh)
        };
        let two = [bot(1500.0, 1), bot(1500.0, 0)];
        assert_eq!(pairs(&two, false), [Match::Each([0, 1])]);
        assert_eq!(pairs(&two, true), []);
        assert_eq!(pairs(&[bot(1500.0, REMATCH_MS), bot(1500.0, 0)], true), [Match::Each([0, 1])]);
        // The third is out of reach still, and worth waiting for.
        let three = [bot(1500.0, 3000), bot(1500.0, 0), bot(5000.0, 0)];
        assert_eq!(pairs(&three, false), []);
        let three = [bot(1500.0, ANYBODY_MS), bot(1500.0, 0), bot(5000.0, 0)];
        assert_eq!(pairs(&three, false), [Match::Each([0, 2])]);
    }

    /// `ladder.starvation`: at one moment or another.
    #[test]
    fn who_may_meet_none_of_the_nearest_meets_somebody_further_on() {
        let may_meet = |one: usize, other: usize| {
            let far = one + other == one.max(other) && one.max(other) > 190;
            if far { Meeting::Fresh } else { Meeting::Never }
        };
        let after = |waited_ms| {
            let waiting: Vec<Waiting> =
                (0..200).map(|at| bot(1500.0 + f64::from(at), if at == 0 { waited_ms } else { 0 })).collect();
            pair(&waiting, &[], true, may_meet, |_, _| Meeting::Never).len()
        };
        assert_eq!(after(ANYBODY_MS - 1), 0);
        assert!((0..10).map(|look| after(ANYBODY_MS + 100 * look)).sum::<usize>() > 0);
    }

    #[test]
    fn of_those_it_met_lately_a_bot_meets_the_one_of_longest_ago() {
        let ago = |one: usize, other: usize| Meeting::Again([9, 1, 3, 2][one.max(other)]);
        let waiting = [bot(1500.0, 9), bot(1500.0, 0), bot(1900.0, 0), bot(1500.0, 0)];
        let found = pair(&waiting, &[], false, ago, |_, _| Meeting::Fresh);
        assert_eq!(found[0], Match::Each([0, 2]));
    }

    #[test]
    fn who_finds_nobody_meets_the_nearest_house_bot_and_not_the_same_twice() {
        let houses = [1000.0, 1500.0, 1700.0];
        let sits = |waited_ms, others, last: Option<usize>| {
            let met = |_, house| if Some(house) == last { Meeting::Again(1) } else { Meeting::Fresh };
            pair(&[bot(1520.0, waited_ms)], &houses, others, |_, _| Meeting::Fresh, met)
        };
        assert_eq!(sits(HOUSE_MS[1] - 1, false, None), []);
        assert_eq!(sits(HOUSE_MS[1], false, None), [Match::House(0, 1)]);
        assert_eq!(sits(HOUSE_MS[1], true, None), []);
        assert_eq!(sits(HOUSE_MS[0], true, Some(1)), [Match::House(0, 2)]);
        let all_met = pair(&[bot(0.0, 9000)], &houses[..1], true, |_, _| Meeting::Fresh, |_, _| Meeting::Again(1));
        assert_eq!(all_met, [Match::House(0, 0)], "better than nobody");
        let full = pair(&[bot(0.0, 9000)], &houses, true, |_, _| Meeting::Fresh, |_, _| Meeting::Never);
        assert_eq!(full, []);
    }

    proptest! {
        /// The opponents that [`Line`] finds are those that a search through all finds.
        #[test]
        fn neighbours_are_all_others_by_distance(
            bots in prop::collection::vec((0u32..40, prop::option::of(0usize..3), any::<bool>()), 1..40)
        ) {
            let waiting: Vec<Waiting> = bots.iter()
                .map(|(rating, owner, _)| Waiting { owner: *owner, ..bot(f64::from(*rating), 0) })
                .collect();
            let mut line = Line::of(&waiting);
            for (at, (_, _, gone)) in bots.iter().enumerate().skip(1) {
                if *gone {
                    line.take(at);
                }
            }
            let distance = |at: usize| bots[at].0.abs_diff(bots[0].0);
            let mut all: Vec<usize> = (1..bots.len())
                .filter(|at| !bots[*at].2 && (waiting[0].owner.is_none() || waiting[*at].owner != waiting[0].owner))
                .collect();
            all.sort_by_key(|at| distance(*at));
            let found: Vec<usize> = line.neighbours(0).collect();
            prop_assert_eq!(
                found.iter().map(|at| distance(*at)).collect::<Vec<_>>(),
                all.iter().map(|at| distance(*at)).collect::<Vec<_>>()
            );
            let sorted = |mut places: Vec<usize>| { places.sort_unstable(); places };
            prop_assert_eq!(sorted(found), sorted(all));
        }

        /// Nobody plays twice, an owner's bots never meet, and of those who waited long no two are left who might.
        #[test]
        fn nobody_starves(
            bots in prop::collection::vec((0u32..3000, prop::option::of(0usize..4), 0u64..6000), 0..60)
        ) {
            let waiting: Vec<Waiting> = bots.iter()
                .map(|(rating, owner, waited)| Waiting { owner: *owner, ..bot(f64::from(*rating), *waited) })
                .collect();
            let mut left: Vec<usize> = (0..bots.len()).collect();
            for met in fresh(&waiting, true) {
                let Match::Each(two) = met else { panic!("there is no house") };
                let owners = two.map(|at| waiting[at].owner);
                prop_assert!(owners[0].is_none() || owners[0] != owners[1]);
                for at in two {
                    prop_assert!(left.contains(&at));
                    left.retain(|other| *other != at);
                }
            }
            for one in &left {
                for other in left.iter().filter(|other| *other != one && waiting[*one].waited_ms >= ANYBODY_MS) {
                    let owners = [one, other].map(|at| waiting[*at].owner);
                    prop_assert!(owners[0].is_some() && owners[0] == owners[1]);
                }
            }
        }
    }
}
