//! The likelihood, its slope, and the way to its maximum.

use super::games::{Count, Games};
use super::information::{Information, Link};
use super::{ELO, PRIOR_SIGMA};
use nalgebra::DVector;

/// Newton's method needs some ten steps; a bound for what nobody has thought of.
const MOST_STEPS: usize = 200;
/// A step is halved so often before the maximum counts as reached: beyond is rounding.
const MOST_HALVINGS: usize = 40;
/// Twice the likelihood that may still be gained: a hundred-thousandth of a σ away.
const NEAR: f64 = 1e-10;
/// No step moves a parameter by more, so that none leaves what a double can tell apart: 2000 points.
const LONGEST: f64 = 2000.0 / ELO;

/// The chances of a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chances {
    /// That South wins.
    pub south: f64,
    /// That nobody does.
    pub draw: f64,
    /// That North wins.
    pub north: f64,
}

impl Chances {
    /// For South ahead by `ahead`, its side included, and the logarithm of the tie; with the logarithm of all weights.
    pub(super) fn of(ahead: f64, log_tie: f64) -> (Self, f64) {
        let logs = [ahead / 2.0, log_tie, -ahead / 2.0];
        let most = logs.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let [south, draw, north] = logs.map(|log| (log - most).exp());
        let all = south + draw + north;
        (Self { south: south / all, draw: draw / all, north: north / all }, most + all.ln())
    }

    /// South's expected score, a draw being half a point.
    #[must_use]
    pub fn score(self) -> f64 {
        self.south + self.draw / 2.0
    }
}

/// The games, ready to be fitted.
pub(super) struct Model {
    players: usize,
    pairs: Vec<Pair>,
}

/// The games of one South against one North, as real numbers.
struct Pair {
    south: usize,
    north: usize,
    /// Wins less losses of South, halved.
    score: f64,
    draws: f64,
    games: f64,
}

impl Pair {
    #[allow(clippy::cast_precision_loss, reason = "fewer games than 2^52")]
    fn new((south, north, count): (usize, usize, Count)) -> Self {
        let score = (count.south as f64 - count.north as f64) / 2.0;
        Self { south, north, score, draws: count.draws as f64, games: count.games() as f64 }
    }
}

impl Model {
    pub(super) fn new(games: &Games) -> Self {
        Self { players: games.players(), pairs: games.counts().map(Pair::new).collect() }
    }

    /// The parameters of the largest likelihood.
    pub(super) fn maximum(&self, dense: usize) -> DVector<f64> {
        let mut at = DVector::zeros(self.players + 2);
        let mut height = self.height(&at);
        for _ in 0..MOST_STEPS {
            let slope = self.slope(&at);
            let mut step = self.information(&at).newton(&slope, dense);
            if slope.dot(&step) < NEAR {
                break;
            }
            step *= (LONGEST / step.amax()).min(1.0);
            let Some((next, higher)) = self.climb(&at, height, step) else { break };
            (at, height) = (next, higher);
        }
        at
    }

    /// As far along the step as it goes up; nothing where it does not.
    fn climb(&self, from: &DVector<f64>, height: f64, mut step: DVector<f64>) -> Option<(DVector<f64>, f64)> {
        for _ in 0..MOST_HALVINGS {
            let next = from + &step;
            let higher = self.height(&next);
            if higher > height {
                return Some((next, higher));
            }
            step /= 2.0;
        }
        None
    }

    /// How far South of a pair is ahead, and the logarithm of the tie.
    fn ahead(&self, pair: &Pair, at: &DVector<f64>) -> (f64, f64) {
        (at[pair.south] - at[pair.north] + at[self.players], at[self.players + 1])
    }

    /// The logarithm of likelihood and prior.
    fn height(&self, at: &DVector<f64>) -> f64 {
        let of_pair = |pair: &Pair| {
            let (ahead, log_tie) = self.ahead(pair, at);
            pair.score * ahead + pair.draws * log_tie - pair.games * Chances::of(ahead, log_tie).1
        };
        self.pairs.iter().map(of_pair).sum::<f64>() - at.norm_squared() / (2.0 * PRIOR_SIGMA * PRIOR_SIGMA)
    }

    /// Its slope.
    fn slope(&self, at: &DVector<f64>) -> DVector<f64> {
        let mut slope = at / -(PRIOR_SIGMA * PRIOR_SIGMA);
        for pair in &self.pairs {
            let (ahead, log_tie) = self.ahead(pair, at);
            let chances = Chances::of(ahead, log_tie).0;
            let more = pair.score - pair.games * (chances.south - chances.north) / 2.0;
            slope[pair.south] += more;
            slope[pair.north] -= more;
            slope[self.players] += more;
            slope[self.players + 1] += pair.draws - pair.games * chances.draw;
        }
        slope
    }

    /// How sharply it bends.
    pub(super) fn information(&self, at: &DVector<f64>) -> Information {
        let link = |pair: &Pair| {
            let (ahead, log_tie) = self.ahead(pair, at);
            let Chances { south, draw, north } = Chances::of(ahead, log_tie).0;
            Link {
                south: pair.south,
                north: pair.north,
                of_score: pair.games * ((south + north) - (south - north).powi(2)) / 4.0,
                of_both: -pair.games * draw * (south - north) / 2.0,
                of_draws: pair.games * draw * (1.0 - draw),
            }
        };
        Information::new(self.players, self.pairs.iter().map(link).collect())
    }
}
