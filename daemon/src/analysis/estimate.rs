//! Means with their 95 % intervals.

/// A value, and between what it lies with 95 % confidence; no interval where there is only one game.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Estimate {
    pub value: f64,
    pub interval: Option<[f64; 2]>,
}

/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_964;
/// The same of Student's distribution with 1, 2, … degrees of freedom: what the normal one is too narrow for.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// A count as a number to calculate with; exact below 2⁵³.
#[allow(clippy::cast_precision_loss)]
pub(super) const fn real(count: u64) -> f64 {
    count as f64
}

fn quantile(samples: u64) -> f64 {
    let freedom = samples.saturating_sub(1).max(1);
    let known = usize::try_from(freedom - 1).ok().and_then(|at| STUDENT.get(at));
    // Beyond the table two terms of its expansion are right to a ten-thousandth.
    known.copied().unwrap_or_else(|| {
        let (z, freedom) = (NORMAL, real(freedom));
        let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * freedom * freedom);
        z + (z.powi(3) + z) / (4.0 * freedom) + second
    })
}

/// Σy / Σx over clusters, by the usual linearisation: the deviation of a cluster is y − ratio · x. `squares` are Σy²,
/// Σxy and Σx². What is never negative has no interval below 0.
pub(super) fn mean_of_clusters(clusters: u64, y: u64, x: u64, squares: [u64; 3]) -> Option<Estimate> {
    if x == 0 {
        return None;
    }
    let (value, [yy, xy, xx]) = (real(y) / real(x), squares.map(real));
    let interval = (clusters > 1).then(|| {
        // Rounding may leave a little less than nothing.
        let deviations = (value.mul_add(-2.0 * xy, yy) + value * value * xx).max(0.0);
        let error = (deviations * real(clusters) / real(clusters - 1)).sqrt() / real(x);
        let reach = quantile(clusters) * error;
        [(value - reach).max(0.0), value + reach]
    });
    Some(Estimate { value, interval })
}

/// The share of points in so many games, a draw being half of one, with Wilson's interval. Draws vary less than that
/// takes them to: it is rather too wide.
pub(super) fn share(half_points: u64, games: u64) -> Option<Estimate> {
    if games == 0 {
        return None;
    }
    let (n, value, zz) = (real(games), real(half_points) / (2.0 * real(games)), NORMAL * NORMAL);
    let middle = (value + zz / (2.0 * n)) / (1.0 + zz / n);
    let reach = NORMAL / (1.0 + zz / n) * (value * (1.0 - value) / n + zz / (4.0 * n * n)).sqrt();
    Some(Estimate { value, interval: Some([(middle - reach).max(0.0), (middle + reach).min(1.0)]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-4, "{found} is not {expected}");
    }

    /// 8 of 10: Wilson's interval is known from textbooks.
    #[test]
    fn a_share_has_wilson_s_interval() {
        let Some(Estimate { value, interval: Some([lo, hi]) }) = share(16, 10) else { panic!("none") };
        near(value, 0.8);
        near(lo, 0.4902);
        near(hi, 0.9433);
        assert_eq!(share(0, 0), None);
    }

    /// 1, 2, 3, 4: mean 2.5, standard error 0.6455, 3 degrees of freedom.
    #[test]
    fn a_mean_has_student_s_interval() {
        let Some(Estimate { value, interval: Some([lo, hi]) }) = mean_of_clusters(4, 10, 4, [30, 10, 4]) else {
            panic!("none")
        };
        near(value, 2.5);
        near(hi - lo, 2.0 * 3.182 * 0.6455);
        assert_eq!(mean_of_clusters(1, 3, 1, [9, 3, 1]), Some(Estimate { value: 3.0, interval: None }));
    }

    /// Beyond the table, as tables have it.
    #[test]
    fn the_quantile_goes_on_where_its_table_ends() {
        for (freedom, known) in [(30, 2.042), (31, 2.0395), (40, 2.0211), (60, 2.0003), (120, 1.9799)] {
            near(quantile(freedom + 1), known);
        }
    }

    /// Two games of 10 and 30 plies with losses 10 and 10: 0.5 a ply; deviations 5 and -5.
    #[test]
    fn a_game_is_one_cluster() {
        let found = mean_of_clusters(2, 20, 40, [200, 400, 1000]);
        let Some(Estimate { value, interval: Some([lo, hi]) }) = found else { panic!("none") };
        near(value, 0.5);
        near(hi, 0.5 + 12.706 * 100.0_f64.sqrt() / 40.0);
        near(lo, 0.0);
    }
}
