//! The normal distribution.

use std::f64::consts::{SQRT_2, TAU};

/// The share of a normal distribution below so many σ, right within 1e-7 (Numerical Recipes, `erfc`).
pub(super) fn below(sigmas: f64) -> f64 {
    const TERMS: [f64; 10] = [
        0.170_872_77,
        -0.822_152_23,
        1.488_515_87,
        -1.135_203_98,
        0.278_868_07,
        -0.186_288_06,
        0.096_784_18,
        0.374_091_96,
        1.000_023_68,
        -1.265_512_23,
    ];
    let far = sigmas.abs() / SQRT_2;
    let near = 1.0 / (1.0 + far / 2.0);
    let sum = TERMS.iter().fold(0.0, |sum, term| sum * near + term);
    let beyond = near * (sum - far * far).exp() / 2.0;
    if sigmas < 0.0 { beyond } else { 1.0 - beyond }
}

/// Standard normal numbers, the same ones each time (Box and Muller over `SplitMix64`).
pub(super) struct Normals {
    state: u64,
    kept: Option<f64>,
}

impl Normals {
    pub(super) const fn new() -> Self {
        Self { state: 0, kept: None }
    }

    pub(super) fn next(&mut self) -> f64 {
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        let (length, (sine, cosine)) = ((-2.0 * self.unit().ln()).sqrt(), (TAU * self.unit()).sin_cos());
        self.kept = Some(length * sine);
        length * cosine
    }

    /// Above 0 and up to 1.
    #[allow(clippy::cast_precision_loss, reason = "53 bits fit a double")]
    fn unit(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((bits ^ (bits >> 31)) >> 11) + 1) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_are_those_of_the_tables() {
        for (sigmas, share) in
            [(0.0, 0.5), (1.0, 0.841_344_75), (-1.0, 0.158_655_25), (1.959_964, 0.975), (-3.0, 0.001_349_9)]
        {
            assert!((below(sigmas) - share).abs() < 2e-7, "{sigmas}: {}", below(sigmas));
        }
        assert!(below(40.0) <= 1.0 && below(-40.0) >= 0.0);
    }

    #[test]
    fn the_normals_have_mean_0_and_variance_1() {
        let mut normals = Normals::new();
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..100_000 {
            let next = normals.next();
            (sum, squares) = (sum + next, squares + next * next);
        }
        assert!(sum.abs() < 1000.0 && (squares / 100_000.0 - 1.0).abs() < 0.02, "{sum} {squares}");
    }
}
