//! What the games of one bot add up to.

use super::cell::{Cell, Phase, Sum, TIMES, add_all, time_class};
use super::fold::PLIES;
use super::thoughts::Thoughts;
use super::{GameAnalysis, Outcome};
use modiar_protocol::{GameResult, Record, RecordSeat, Sides, Termination};
use modiar_rules::{BySide, Side};

/// Pools of which a bot's rating is kept: those in which it was rated last.
const POOLS: usize = 64;

/// Games won, drawn and lost.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Points {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
}

impl Points {
    pub(crate) const fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    pub(crate) const fn half_points(&self) -> u64 {
        2 * self.wins + self.draws
    }

    pub(crate) const fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Win => self.wins += 1,
            Outcome::Draw => self.draws += 1,
            Outcome::Loss => self.losses += 1,
        }
    }

    /// The same for the other of two.
    pub(crate) const fn turned(self) -> Self {
        Self { wins: self.losses, draws: self.draws, losses: self.wins }
    }

    pub(crate) const fn merge(&mut self, other: &Self) {
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
    }
}

/// How a game ended for a side; nothing where it has no result.
pub(crate) fn outcome(record: &Record, side: Side) -> Option<Outcome> {
    let for_south = match record.result {
        GameResult::South => Outcome::Win,
        GameResult::Draw => Outcome::Draw,
        GameResult::North => Outcome::Loss,
        GameResult::None => return None,
    };
    Some(if side == Side::South { for_south } else { for_south.turned() })
}

/// The plies of one bot, or of all. A game counts once, be they of one side of it or of both.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Judgements {
    pub all: Cell,
    pub sides: BySide<Cell>,
    pub phases: [Cell; Phase::ALL.len()],
    pub times: [Cell; TIMES],
    pub thoughts: Thoughts,
    /// Games with a losing move of it.
    pub losing_games: u64,
    /// By ply, from 1, how many of these had the first there; those beyond [`PLIES`] stand at the end.
    pub first_losing: Losing,
}

/// Counts by ply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Losing(pub [u64; PLIES + 1]);

impl Default for Losing {
    fn default() -> Self {
        Self([0; PLIES + 1])
    }
}

impl Judgements {
    pub(super) fn add(&mut self, sides: &[Side], game: &GameAnalysis) {
        let (mut all, mut phases, mut times) = (Sum::default(), [Sum::default(); 3], [Sum::default(); TIMES]);
        for side in sides {
            let mut own = Sum::default();
            for ply in game.of_bot(*side) {
                own.add(ply);
                phases[Phase::of(ply.position.board().total()) as usize].add(ply);
                if let Some(elapsed_us) = ply.elapsed_us {
                    times[time_class(elapsed_us)].add(ply);
                    self.thoughts.add(elapsed_us);
                }
            }
            self.sides[*side].add(own);
            all.merge(own);
        }
        self.all.add(all);
        add_sums(&mut self.phases, &phases);
        add_sums(&mut self.times, &times);
        if let Some(ply) = sides.iter().filter_map(|side| game.losing[*side]).min() {
            self.losing_games += 1;
            self.first_losing.0[super::fold::place_of_ply(ply)] += 1;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.all.merge(&other.all);
        for side in Side::ALL {
            self.sides[side].merge(&other.sides[side]);
        }
        merge_cells(&mut self.phases, &other.phases);
        merge_cells(&mut self.times, &other.times);
        self.thoughts.merge(&other.thoughts);
        self.losing_games += other.losing_games;
        add_all(&mut self.first_losing.0, &other.first_losing.0);
    }
}

fn add_sums(cells: &mut [Cell], sums: &[Sum]) {
    for (cell, sum) in cells.iter_mut().zip(sums) {
        cell.add(*sum);
    }
}

fn merge_cells(cells: &mut [Cell], others: &[Cell]) {
    for (cell, other) in cells.iter_mut().zip(others) {
        cell.merge(other);
    }
}

/// Games that a bot lost otherwise than by the rules' score.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Forfeits {
    pub time_forfeit: u64,
    pub illegal_move: u64,
    pub resignation: u64,
}

impl Forfeits {
    pub(crate) const fn add(&mut self, termination: Termination) {
        match termination {
            Termination::TimeForfeit => self.time_forfeit += 1,
            Termination::IllegalMove => self.illegal_move += 1,
            Termination::Resignation => self.resignation += 1,
            _ => {}
        }
    }

    pub(crate) const fn merge(&mut self, other: &Self) {
        self.time_forfeit += other.time_forfeit;
        self.illegal_move += other.illegal_move;
        self.resignation += other.resignation;
    }
}

/// A rating and its deviation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rating {
    pub rating: f64,
    pub rd: f64,
}

/// One bot, or all those there was no more room for.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct BotFold {
    /// Seats that it had: two a game if it played itself.
    pub seats: u64,
    pub no_result: u64,
    pub sides: BySide<Points>,
    pub forfeits: Forfeits,
    /// By pool, the newest that a record tells; the pool of the newest last.
    pub ratings: Vec<(String, Rating)>,
    pub judged: Judgements,
}

impl BotFold {
    pub(super) fn add(&mut self, side: Side, record: &Record, game: &GameAnalysis) {
        self.seats += 1;
        match outcome(record, side) {
            None => self.no_result += 1,
            Some(outcome) => {
                self.sides[side].add(outcome);
                if outcome == Outcome::Loss {
                    self.forfeits.add(record.termination);
                }
            }
        }
        if let Some(rating) = rating(record, side) {
            self.rate(&record.pool, rating);
        }
        self.judged.add(&[side], game);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.seats += other.seats;
        self.no_result += other.no_result;
        for side in Side::ALL {
            self.sides[side].merge(&other.sides[side]);
        }
        self.forfeits.merge(&other.forfeits);
        for (pool, rating) in &other.ratings {
            self.rate(pool, *rating);
        }
        self.judged.merge(&other.judged);
    }

    fn rate(&mut self, pool: &str, rating: Rating) {
        let known = self.ratings.iter().position(|(name, _)| name == pool).map(|at| self.ratings.remove(at));
        let name = known.map_or_else(|| pool.to_owned(), |(name, _)| name);
        self.ratings.push((name, rating));
        if self.ratings.len() > POOLS {
            self.ratings.remove(0);
        }
    }

    pub(super) fn points(&self) -> Points {
        let mut points = self.sides.south;
        points.merge(&self.sides.north);
        points
    }
}

/// A side's seat in a record.
pub(crate) const fn seat(record: &Record, side: Side) -> &RecordSeat {
    match side {
        Side::South => &record.south,
        Side::North => &record.north,
    }
}

/// The rating after the game, or else the one it was played with.
fn rating(record: &Record, side: Side) -> Option<Rating> {
    if let Some(Sides { south, north }) = record.rating_after {
        let after = if side == Side::South { south } else { north };
        return Some(Rating { rating: after.rating, rd: after.rd });
    }
    let seat = seat(record, side);
    Some(Rating { rating: seat.rating?, rd: seat.rd? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rated(ratings: impl IntoIterator<Item = (usize, f64)>) -> BotFold {
        let mut bot = BotFold::default();
        for (pool, rating) in ratings {
            bot.rate(&format!("pool{pool}"), Rating { rating, rd: 50.0 });
        }
        bot
    }

    /// What is told of a pool is its newest rating, however many pools there are and however they are spread over batches.
    #[test]
    fn the_newest_ratings_of_the_pools_rated_last_are_kept() {
        let mut bot = rated((0..POOLS).map(|pool| (pool, 1.0)));
        bot.merge(&rated((POOLS..POOLS + 10).map(|pool| (pool, 2.0))));
        bot.merge(&rated([(0, 3.0), (POOLS - 1, 3.0), (0, 4.0)]));
        let kept = |pool: usize| {
            let name = format!("pool{pool}");
            bot.ratings.iter().find(|(known, _)| *known == name).map(|(_, rating)| rating.rating)
        };
        assert_eq!(bot.ratings.len(), POOLS);
        assert_eq!([kept(0), kept(POOLS - 1), kept(POOLS + 9)], [Some(4.0), Some(3.0), Some(2.0)]);
        assert_eq!([kept(1), kept(10), kept(11)], [None, None, Some(1.0)]);
    }
}
