//! The information of all parameters, as the sum of what each pair adds.

use super::gauss::Normals;
use super::{PRIOR_SIGMA, share};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Rounds of conjugate gradients at most; what they have by then is still a way up.
const MOST_ROUNDS: usize = 2000;
/// The part of the right side that may be left over.
const LEFT_OVER: f64 = 1e-9;
/// Draws of the fit's error.
const DRAWS: usize = 64;

/// What the games of a pair add: the covariance of their score and draws.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub south: usize,
    pub north: usize,
    pub of_score: f64,
    pub of_both: f64,
    pub of_draws: f64,
}

/// The information: strengths first, then side and tie.
#[derive(Clone, Debug)]
pub(super) struct Information {
    players: usize,
    links: Vec<Link>,
}

/// What the prior adds to each parameter.
const PRIOR: f64 = 1.0 / (PRIOR_SIGMA * PRIOR_SIGMA);

impl Information {
    pub(super) const fn new(players: usize, links: Vec<Link>) -> Self {
        Self { players, links }
    }

    pub(super) const fn players(&self) -> usize {
        self.players
    }

    /// A step by Newton's method: this, inverted, times `slope`.
    pub(super) fn newton(&self, slope: &DVector<f64>, dense: usize) -> DVector<f64> {
        let factors = (self.players <= dense).then(|| self.cholesky()).flatten();
        factors.map_or_else(|| self.solve(slope), |factors| factors.solve(slope))
    }

    /// The covariance of all parameters. Nothing where rounding leaves no square root.
    pub(super) fn inverse(&self) -> Option<DMatrix<f64>> {
        Some(self.cholesky()?.inverse())
    }

    fn cholesky(&self) -> Option<Cholesky<f64, Dyn>> {
        let (side, tie) = (self.players, self.players + 1);
        let mut matrix = DMatrix::from_diagonal_element(tie + 1, tie + 1, PRIOR);
        // The lower half is all that is read.
        let mut add = |row: usize, column: usize, value: f64| matrix[(row.max(column), row.min(column))] += value;
        for link in &self.links {
            let signed = [(link.south, 1.0), (link.north, -1.0), (side, 1.0)];
            for (at, (row, sign)) in signed.into_iter().enumerate() {
                signed[..=at].iter().for_each(|(column, other)| add(row, *column, sign * other * link.of_score));
                add(tie, row, sign * link.of_both);
            }
            add(tie, tie, link.of_draws);
        }
        Cholesky::new(matrix)
    }

    /// This times a vector.
    fn times(&self, vector: &DVector<f64>) -> DVector<f64> {
        let mut product = vector * PRIOR;
        let (side, tie) = (self.players, self.players + 1);
        for link in &self.links {
            let ahead = vector[link.south] - vector[link.north] + vector[side];
            let score = link.of_score * ahead + link.of_both * vector[tie];
            let draws = link.of_both * ahead + link.of_draws * vector[tie];
            self.spread(&mut product, link, score, draws);
        }
        product
    }

    /// Adds what a link's score and draws mean for each parameter.
    fn spread(&self, sum: &mut DVector<f64>, link: &Link, score: f64, draws: f64) {
        sum[link.south] += score;
        sum[link.north] -= score;
        sum[self.players] += score;
        sum[self.players + 1] += draws;
    }

    pub(super) fn diagonal(&self) -> DVector<f64> {
        let mut diagonal = DVector::from_element(self.players + 2, PRIOR);
        for link in &self.links {
            [link.south, link.north, self.players].iter().for_each(|at| diagonal[*at] += link.of_score);
            diagonal[self.players + 1] += link.of_draws;
        }
        diagonal
    }

    /// This, inverted, times a vector: conjugate gradients, each parameter weighed by its own information.
    pub(super) fn solve(&self, right: &DVector<f64>) -> DVector<f64> {
        let diagonal = self.diagonal();
        let mut solution = DVector::zeros(right.len());
        let mut left = right.clone();
        let mut weighed = left.component_div(&diagonal);
        let mut way = weighed.clone();
        let mut size = left.dot(&weighed);
        let enough = size * LEFT_OVER * LEFT_OVER;
        for _ in 0..MOST_ROUNDS {
            // With nothing left over there is no way on either.
            if size <= enough {
                break;
            }
            let bent = self.times(&way);
            let length = size / way.dot(&bent);
            solution.axpy(length, &way, 1.0);
            left.axpy(-length, &bent, 1.0);
            weighed = left.component_div(&diagonal);
            let next = left.dot(&weighed);
            way = &weighed + &way * (next / size);
            size = next;
        }
        solution
    }

    /// The variance of each strength less the sum of all, each times its weight in `reference`. What a strength's own games
    /// leave open is exact; what its opponents and the reference leave open is the mean of draws.
    pub(super) fn sampled_contrasts(&self, reference: &DVector<f64>) -> Vec<f64> {
        let diagonal = self.diagonal();
        let mut normals = Normals::new();
        let mut squares = vec![0.0; self.players];
        for _ in 0..DRAWS {
            let force = self.draw(&mut normals);
            let error = self.solve(&force);
            let common = reference.dot(&error);
            for (player, square) in squares.iter_mut().enumerate() {
                // The mean of this error, were all others known.
                let expected = error[player] - force[player] / diagonal[player];
                let rest = common - reference[player] * error[player];
                *square += ((1.0 - reference[player]) * expected - rest).powi(2);
            }
        }
        let own = |player: usize| (1.0 - reference[player]).powi(2) / diagonal[player];
        squares.into_iter().enumerate().map(|(player, square)| own(player) + square / share(DRAWS)).collect()
    }

    /// A vector by chance, whose covariance is this.
    fn draw(&self, normals: &mut Normals) -> DVector<f64> {
        let mut force = DVector::from_fn(self.players + 2, |_, _| PRIOR.sqrt() * normals.next());
        for link in &self.links {
            let by_score = link.of_score.sqrt();
            let shared = if by_score > 0.0 { link.of_both / by_score } else { 0.0 };
            let by_draws = (link.of_draws - shared * shared).max(0.0).sqrt();
            let (first, second) = (normals.next(), normals.next());
            self.spread(&mut force, link, by_score * first, shared * first + by_draws * second);
        }
        force
    }
}
