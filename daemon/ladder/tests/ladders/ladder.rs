//! A ladder in memory: who meets whom, what they play, and what comes of it.

use super::{OPENINGS, TABLE};
use modiar_ladder::pairing::{Match, Meeting, RECENT, Waiting, pair};
use modiar_ladder::{Games, Outcome, Rating};
use modiar_rules::{EndRules, Line, Side};
use std::collections::VecDeque;

pub const BOTS: usize = 60;
/// How long the games of a round take.
const ROUND_MS: u64 = 2000;

/// The temperature of a bot: the first has 0.4, the last 30.
pub fn temperature(bot: usize) -> f64 {
    0.4 * 75.0_f64.powf(bot as f64 / (BOTS - 1) as f64)
}

/// Chance from a seed (`SplitMix64`).
pub struct Dice(u64);

impl Dice {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// From 0 on and below 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn below(&mut self, bound: usize) -> usize {
        (self.unit() * bound as f64) as usize
    }
}

/// Seeds given away over some plies.
#[derive(Clone, Copy, Default)]
pub struct Loss {
    seeds: f64,
    plies: f64,
}

impl Loss {
    pub fn mean(self) -> f64 {
        self.seeds / self.plies
    }
}

pub struct Ladder {
    pub games: Games,
    pub ratings: Vec<Rating>,
    pub losses: Vec<Loss>,
    /// How long each has waited.
    waited_ms: Vec<u64>,
    /// Whom each met last.
    last: Vec<VecDeque<usize>>,
    played: usize,
    dice: Dice,
}

impl Ladder {
    /// So many games and those of the round, in pairs with sides swapped.
    pub fn played(seed: u64, games: usize) -> Self {
        let mut ladder = Self {
            games: Games::new(BOTS),
            ratings: vec![Rating::default(); BOTS],
            losses: vec![Loss::default(); BOTS],
            waited_ms: vec![0; BOTS],
            last: vec![VecDeque::new(); BOTS],
            played: 0,
            dice: Dice::new(seed),
        };
        while ladder.played < games {
            for two in ladder.pairs() {
                ladder.meet(two);
            }
        }
        ladder
    }

    /// Who meets whom in a round, which everybody is free for; the others have waited a round more.
    fn pairs(&mut self) -> Vec<[usize; 2]> {
        let waits = |bot: usize| {
            let Rating { rating, rd, .. } = self.ratings[bot];
            Waiting { rating, rd, waited_ms: self.waited_ms[bot], owner: None }
        };
        let waiting: Vec<Waiting> = (0..BOTS).map(waits).collect();
        let met = |one: usize, other: usize| {
            let ago = |bot: usize, met: usize| self.last[bot].iter().rev().position(|known| *known == met);
            let ago = [ago(one, other), ago(other, one)].into_iter().flatten().min();
            ago.map_or(Meeting::Fresh, |ago| Meeting::Again(ago + 1))
        };
        let found = pair(&waiting, &[], true, met, |_, _| Meeting::Never);
        self.waited_ms.iter_mut().for_each(|waited_ms| *waited_ms += ROUND_MS);
        let each = |found| match found {
            Match::Each(two) => Some(two),
            Match::House(..) => None,
        };
        found.into_iter().filter_map(each).collect()
    }

    /// Both games of two.
    fn meet(&mut self, [one, other]: [usize; 2]) {
        let opening = self.dice.below(OPENINGS.len());
        for seats in [[one, other], [other, one]] {
            self.play(seats, opening);
            self.waited_ms[seats[0]] = 0;
            let last = &mut self.last[seats[0]];
            last.retain(|met| *met != seats[1]);
            last.push_back(seats[1]);
            if last.len() > RECENT {
                last.pop_front();
            }
        }
        self.played += 2;
    }

    fn play(&mut self, seats: [usize; 2], opening: usize) {
        let seat = |side: Side| seats[usize::from(side == Side::North)];
        let mut line = Line::replay(EndRules::default(), OPENINGS[opening].moves.iter().copied()).unwrap();
        while line.ending().is_none() {
            let position = line.position();
            let bot = seat(position.side());
            let pit = TABLE.soft(&position, temperature(bot), self.dice.unit()).unwrap();
            self.losses[bot].seeds += f64::from(TABLE.judge(&position, pit).unwrap().loss());
            self.losses[bot].plies += 1.0;
            line.play(pit).unwrap();
        }
        self.rate(
            seats,
            match line.winner() {
                Some(Side::South) => Outcome::Win,
                Some(Side::North) => Outcome::Loss,
                None => Outcome::Draw,
            },
        );
    }

    fn rate(&mut self, [south, north]: [usize; 2], outcome: Outcome) {
        self.games.add(south, north, outcome);
        let before = [self.ratings[south], self.ratings[north]];
        self.ratings[south] = before[0].after(before[1], outcome);
        self.ratings[north] = before[1].after(before[0], outcome.other());
    }
}
