//! How alike two orders are.

/// Spearman's rank correlation; of equals each has their middle rank.
pub fn spearman(one: &[f64], other: &[f64]) -> f64 {
    let (one, other) = (ranks(one), ranks(other));
    let middle = (one.len() + 1) as f64 / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum::<f64>();
    product(&one, &other) / (product(&one, &one) * product(&other, &other)).sqrt()
}

fn ranks(figures: &[f64]) -> Vec<f64> {
    let rank = |figure: &f64| {
        let below = figures.iter().filter(|other| *other < figure).count();
        let equal = figures.iter().filter(|other| *other == figure).count();
        below as f64 + (equal + 1) as f64 / 2.0
    };
    figures.iter().map(rank).collect()
}

#[test]
fn the_correlation_is_that_of_the_ranks() {
    assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 900.0]), 1.0);
    assert_eq!(spearman(&[1.0, 2.0, 3.0], &[9.0, 2.0, 1.0]), -1.0);
    // Of n = 4 with one swap of neighbours: 1 - 6 × 2 / (4 × 15).
    assert!((spearman(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0]) - 0.8).abs() < 1e-12);
}
