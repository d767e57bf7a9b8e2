//! One fit over all games: who is how strong, as far as the games say it (`ladder.fit`).
//!
//! # The model
//! Bradley-Terry with draws (Davidson) and a side. Between South of strength s and North of strength n, with
//! d = s - n + side, a win of South, a draw and a win of North have the weights e^(d/2), tie and e^(-d/2). All parameters are
//! estimated together by Newton's method; the likelihood has one maximum.
//!
//! # The points
//! A point is worth as much of the score between near equals as in Elo's formula, draws half a win: 400 / ln 10 for a unit of
//! the model without draws, and 2 / (2 + tie) of that with them. So ratings of the fit and of Glicko-2 mean the same: 100
//! points more score about 64 %.
//!
//! # What the games do not say
//! Who won everything is infinitely strong by the games alone, and two groups that never met have no difference. Each
//! parameter therefore comes with a weak prior: normal about the middle (a side worth nothing, a tie of 1) with a σ of
//! 1000 points. It is worth an eighth of a game of equals, moves nobody who has played, and keeps every figure finite. Where
//! it decides all the same, [`Strength::is_bounded`] says no.
//!
//! # Against what an interval is told
//! Only differences show in games, so a rating is a difference to a reference, and its interval that of this difference,
//! the reference's own error included. The reference are the anchors, whose mean in the fit is laid on the mean of their
//! constant ratings, each counted by how much the games say of it; without anchors all players, whose mean is then
//! [`MEAN_RATING`]. Anchors and players that no chain of wins and draws ties to the others, in both directions, are left out
//! of a reference, and anchors that the games bound no better than that. Two players are compared by [`Fit::difference`] and
//! [`Fit::superiority`], never by whether their intervals overlap.
//!
//! # How far it goes
//! What a fit costs depends on the distinct pairs, not on the games. Up to [`DENSE`] players the information is
//! inverted as a whole. Beyond, Newton's steps and the error of a difference come from conjugate gradients, as exact, and
//! the intervals of the strengths from sixty-four draws of the fit's own error, in which only the part that comes from the
//! opponents' errors is left to chance: their widths are within a few per cent. The draws are the same each time.

mod games;
mod gauss;
mod information;
mod links;
mod model;
mod separate;
#[cfg(test)]
mod tests;

pub use games::{Count, Games};
pub use model::Chances;
pub use separate::games_to_separate;

use information::Information;
use model::Model;
use nalgebra::{DMatrix, DVector};

/// The mean of all players where no anchor says otherwise, in rating points.
pub const MEAN_RATING: f64 = 1500.0;
/// Up to so many players the covariance of all is worked out as a whole.
const DENSE: usize = 1000;
/// Rating points of one unit of the model where nobody draws.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;
/// Half of a 95 % interval, in σ.
const Z95: f64 = 1.959_964;
/// The prior's σ of each parameter, in units of the model: 1000 points.
const PRIOR_SIGMA: f64 = 1000.0 / ELO;

/// Rating points of one unit of the model: of near equals a draw takes from what a difference is worth in the score.
fn points(tie: f64) -> f64 {
    ELO * 2.0 / (2.0 + tie)
}

/// A figure with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The likeliest value.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Estimate {
    fn new(value: f64, sigma: f64) -> Self {
        Self { value, low: value - Z95 * sigma, high: value + Z95 * sigma }
    }

    fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self { value: change(self.value), low: change(self.low), high: change(self.high) }
    }

    /// Half the width of the interval.
    #[must_use]
    pub fn margin(self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// How strong a player is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    /// In rating points, with the interval against the reference.
    pub rating: Estimate,
    /// Whether the games bound it from both sides. Not where a player won or lost everything, has no game, only drew, or belongs to a
    /// group that nothing ties to the reference: then the prior alone holds the open end.
    pub is_bounded: bool,
}

/// What the games say.
#[derive(Clone, Debug)]
pub struct Fit {
    strengths: Vec<Strength>,
    /// Strengths, then side and logarithm of the tie, in units of the model.
    parameters: DVector<f64>,
    spread: Spread,
}

/// How far the parameters may be off.
#[derive(Clone, Debug)]
enum Spread {
    Dense(DMatrix<f64>),
    /// Too many to invert.
    Iterative(Information),
}

impl Spread {
    fn of(information: Information, dense: usize) -> Self {
        if information.players() > dense {
            return Self::Iterative(information);
        }
        match information.inverse() {
            Some(covariance) => Self::Dense(covariance),
            None => Self::Iterative(information),
        }
    }

    /// The variance of a sum of parameters, each times its weight.
    fn variance(&self, weights: &DVector<f64>) -> f64 {
        match self {
            Self::Dense(covariance) => (covariance * weights).dot(weights),
            Self::Iterative(information) => information.solve(weights).dot(weights),
        }
        .max(0.0)
    }

    /// The variance of each strength less the mean of the reference.
    fn contrasts(&self, reference: &DVector<f64>) -> Vec<f64> {
        match self {
            Self::Dense(covariance) => {
                let with_reference = covariance * reference;
                let own = with_reference.dot(reference);
                (0..covariance.nrows() - 2)
                    .map(|player| (covariance[(player, player)] - 2.0 * with_reference[player] + own).max(0.0))
                    .collect()
            }
            Self::Iterative(information) => information.sampled_contrasts(reference),
        }
    }
}

impl Fit {
    /// Fits all games at once. `anchors` are players with ratings that are known, as points; those beyond the last player
    /// and ratings that are no number are passed over. Always ends, and no figure is ever infinite or NaN.
    #[must_use]
    pub fn new(games: &Games, anchors: &[(usize, f64)]) -> Self {
        Self::within(games, anchors, DENSE)
    }

    /// The same, inverting what has at most `dense` players.
    fn within(games: &Games, anchors: &[(usize, f64)], dense: usize) -> Self {
        let model = Model::new(games);
        let parameters = model.maximum(dense);
        let information = model.information(&parameters);
        let told = information.diagonal();
        let spread = Spread::of(information, dense);
        let everybody = Reference::everybody(games);
        let known = anchors.iter().filter(|(player, rating)| *player < games.players() && rating.is_finite());
        let reference = Reference::anchored(everybody, known, &spread, &told);
        let Reference { weights, rating, tied } = &reference;
        let middle = weights.dot(&parameters);
        let points = points(parameters[games.players() + 1].exp());
        let strength = |(player, variance): (usize, f64)| {
            let ahead = Estimate::new(parameters[player] - middle, variance.sqrt());
            let is_bounded = tied[player] && reference.is_said(player, variance);
            Strength { rating: ahead.map(|ahead| rating + points * ahead), is_bounded }
        };
        let strengths = spread.contrasts(weights).into_iter().enumerate().map(strength).collect();
        Self { strengths, parameters, spread }
    }

    /// How strong each player is, by its index.
    #[must_use]
    pub fn strengths(&self) -> &[Strength] {
        &self.strengths
    }

    /// How far `player` is above `other`, in points, with the interval of this difference.
    #[must_use]
    pub fn difference(&self, player: usize, other: usize) -> Estimate {
        let (value, sigma) = self.ahead(player, other);
        Estimate::new(value, sigma).map(|ahead| self.points() * ahead)
    }

    /// The likelihood that `player` is stronger than `other`, 0 to 1.
    #[must_use]
    pub fn superiority(&self, player: usize, other: usize) -> f64 {
        let (value, sigma) = self.ahead(player, other);
        if sigma > 0.0 { gauss::below(value / sigma) } else { 0.5 }
    }

    fn points(&self) -> f64 {
        points(self.parameters[self.strengths.len() + 1].exp())
    }

    /// The difference and its σ, in units of the model.
    fn ahead(&self, player: usize, other: usize) -> (f64, f64) {
        let mut weights = DVector::zeros(self.parameters.len());
        weights[player] += 1.0;
        weights[other] -= 1.0;
        (weights.dot(&self.parameters), self.spread.variance(&weights).sqrt())
    }

    /// What it is worth to sit South, in points.
    #[must_use]
    pub fn side(&self) -> Estimate {
        self.estimate(self.strengths.len()).map(|side| self.points() * side)
    }

    /// Davidson's tie parameter: of two equals, a draw is so many times as likely as a win of one of them.
    #[must_use]
    pub fn tie(&self) -> Estimate {
        self.estimate(self.strengths.len() + 1).map(f64::exp)
    }

    /// The share of draws between two equals, 0 to 1.
    #[must_use]
    pub fn draw_share(&self) -> Estimate {
        self.tie().map(|tie| tie / (2.0 + tie))
    }

    fn estimate(&self, parameter: usize) -> Estimate {
        let mut weights = DVector::zeros(self.parameters.len());
        weights[parameter] = 1.0;
        Estimate::new(self.parameters[parameter], self.spread.variance(&weights).sqrt())
    }

    /// What the fit expects of a game.
    #[must_use]
    pub fn chances(&self, south: usize, north: usize) -> Chances {
        let players = self.strengths.len();
        let parameter = |at: usize| self.parameters[at];
        Chances::of(parameter(south) - parameter(north) + parameter(players), parameter(players + 1)).0
    }
}

/// What ratings are told against.
struct Reference {
    /// By parameter: its part in the mean; together 1 where there is any player, and none of what is no player.
    weights: DVector<f64>,
    /// The rating of their mean.
    rating: f64,
    /// By player: whether wins and draws tie it to the largest group in both directions.
    tied: Vec<bool>,
}

impl Reference {
    /// The mean of the largest group that wins and draws tie together in both directions; of all where there is none.
    fn everybody(games: &Games) -> Self {
        let tied = links::main_group(games);
        let all = !tied.contains(&true);
        let weights = tied.iter().map(|tied| if *tied || all { 1.0 } else { 0.0 }).chain([0.0; 2]);
        Self { weights: evened(weights.collect()), rating: MEAN_RATING, tied }
    }

    /// The anchors that the games bound, each by how much they tell of it, so that one that has hardly played moves nobody;
    /// where they bound none it is everybody still.
    fn anchored<'a>(
        everybody: Self,
        anchors: impl Iterator<Item = &'a (usize, f64)>,
        spread: &Spread,
        told: &DVector<f64>,
    ) -> Self {
        let variances = spread.contrasts(&everybody.weights);
        let said = |player: usize| everybody.tied[player] && everybody.is_said(player, variances[player]);
        let (mut weights, mut rating) = (vec![0.0; everybody.weights.len()], 0.0);
        let mut all = 0.0;
        for (player, known) in anchors.filter(|(player, _)| said(*player)) {
            let weight = told[*player];
            weights[*player] = weight;
            (rating, all) = (rating + weight * known, all + weight);
        }
        if all > 0.0 {
            Self { weights: evened(weights), rating: rating / all, tied: everybody.tied }
        } else {
            everybody
        }
    }

    /// Whether games say more of a difference than the prior does: it is half as wide as by that alone.
    fn is_said(&self, player: usize, variance: f64) -> bool {
        let squares = self.weights.norm_squared();
        variance <= PRIOR_SIGMA * PRIOR_SIGMA * (1.0 - 2.0 * self.weights[player] + squares) / 4.0
    }
}

/// Weights that are 1 together.
fn evened(weights: Vec<f64>) -> DVector<f64> {
    let all: f64 = weights.iter().sum();
    let weights = DVector::from_vec(weights);
    if all > 0.0 { weights / all } else { weights }
}

/// A count as a divisor.
#[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
const fn share(count: usize) -> f64 {
    count as f64
}
