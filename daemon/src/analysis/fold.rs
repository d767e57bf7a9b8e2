//! What many games add up to.

use super::GameAnalysis;
use super::bot::{BotFold, Judgements, Points, outcome, seat};
use super::cell::{Cell, Sum};
use super::openings::Openings;
use super::worst::Worst;
use jiff::Timestamp;
use modiar_protocol::{BotName, Record};
use modiar_rules::Side;
use std::collections::{BTreeMap, HashMap};

/// Bots that are told apart; those that come after so many are added up as one.
pub const BOTS: usize = 10_000;
/// Plies that are told apart; those beyond are added up as one.
pub const PLIES: usize = 60;

/// The place of a ply, from 1, in a list by ply.
pub(super) fn place_of_ply(ply: u32) -> usize {
    usize::try_from(ply.saturating_sub(1)).unwrap_or(PLIES).min(PLIES)
}

/// Games in numbers.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Count {
    pub games: u64,
    pub no_result: u64,
    pub south: Points,
    pub terminations: BTreeMap<&'static str, u64>,
    /// Plies that the server played.
    pub served: u64,
    /// Games that began with such.
    pub openings: u64,
    pub turning_points: u64,
    pub losing_games: u64,
    /// The first and the last end of a game.
    pub ended: Option<(Timestamp, Timestamp)>,
}

impl Count {
    fn add(&mut self, record: &Record, game: &GameAnalysis) {
        self.games += 1;
        match outcome(record, Side::South) {
            Some(outcome) => self.south.add(outcome),
            None => self.no_result += 1,
        }
        *self.terminations.entry(record.termination.as_str()).or_default() += 1;
        self.served += game.plies.iter().filter(|ply| ply.served).count() as u64;
        self.openings += u64::from(!record.opening.is_empty());
        self.turning_points += game.turning_points.len() as u64;
        self.losing_games += u64::from(game.first_losing().is_some());
        // A time that is none is passed over: `modiar games verify` finds it.
        if let Ok(ended) = record.ended.parse() {
            self.span(ended, ended);
        }
    }

    fn span(&mut self, from: Timestamp, to: Timestamp) {
        let (first, last) = self.ended.unwrap_or((from, to));
        self.ended = Some((first.min(from), last.max(to)));
    }

    fn merge(&mut self, other: &Self) {
        self.games += other.games;
        self.no_result += other.no_result;
        self.south.merge(&other.south);
        for (termination, games) in &other.terminations {
            *self.terminations.entry(termination).or_default() += games;
        }
        self.served += other.served;
        self.openings += other.openings;
        self.turning_points += other.turning_points;
        self.losing_games += other.losing_games;
        if let Some((from, to)) = other.ended {
            self.span(from, to);
        }
    }
}

/// What games add up to, in whole numbers; folds of one half of the games and the other make that of all.
#[derive(Clone, PartialEq, Debug)]
pub struct Fold {
    pub(super) count: Count,
    pub(super) bots: Vec<(BotName, BotFold)>,
    places: HashMap<BotName, usize>,
    /// The bots beyond [`BOTS`].
    pub(super) others: Option<Box<BotFold>>,
    /// The plies of all bots.
    pub(super) judged: Judgements,
    /// The same by their place in the game.
    pub(super) by_ply: [Cell; PLIES + 1],
    pub(super) openings: Openings,
    pub(super) worst: Worst,
}

impl Default for Fold {
    fn default() -> Self {
        Self {
            count: Count::default(),
            bots: Vec::new(),
            places: HashMap::new(),
            others: None,
            judged: Judgements::default(),
            by_ply: [Cell::default(); PLIES + 1],
            openings: Openings::default(),
            worst: Worst::default(),
        }
    }
}

impl Fold {
    /// Adds a game, which stands on line or place `place` of where it comes from.
    pub fn add(&mut self, place: u64, record: &Record, game: &GameAnalysis) {
        self.count.add(record, game);
        for side in Side::ALL {
            self.bot(&seat(record, side).name).add(side, record, game);
        }
        self.judged.add(&Side::ALL, game);
        self.add_by_ply(game);
        self.openings.add(record, game);
        self.worst.add(place, record, game);
    }

    fn add_by_ply(&mut self, game: &GameAnalysis) {
        let mut sums = [Sum::default(); PLIES + 1];
        for ply in game.plies.iter().filter(|ply| !ply.served) {
            sums[place_of_ply(ply.position.ply())].add(ply);
        }
        for (cell, sum) in self.by_ply.iter_mut().zip(sums) {
            cell.add(sum);
        }
    }

    /// Adds a fold of games that come after those of this one.
    pub fn merge(&mut self, later: Self) {
        self.count.merge(&later.count);
        for (name, bot) in &later.bots {
            self.bot(name).merge(bot);
        }
        if let Some(others) = later.others {
            self.others.get_or_insert_default().merge(&others);
        }
        self.judged.merge(&later.judged);
        for (cell, other) in self.by_ply.iter_mut().zip(&later.by_ply) {
            cell.merge(other);
        }
        self.openings.merge(&later.openings);
        self.worst.merge(later.worst);
    }

    /// Games so far.
    #[must_use]
    pub const fn games(&self) -> u64 {
        self.count.games
    }

    fn bot(&mut self, name: &BotName) -> &mut BotFold {
        let next = self.bots.len();
        let place = match self.places.get(name) {
            Some(place) => *place,
            None if next == BOTS => return self.others.get_or_insert_default(),
            None => {
                self.places.insert(name.clone(), next);
                self.bots.push((name.clone(), BotFold::default()));
                next
            }
        };
        &mut self.bots[place].1
    }
}
