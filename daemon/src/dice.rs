//! Chance as a value: the same seed throws the same.

/// A small generator (`SplitMix64`).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Dice that start from `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Heads or tails.
    pub const fn coin(&mut self) -> bool {
        self.next() & 1 == 1
    }

    /// A number from 0 on and below 1.
    #[allow(clippy::cast_precision_loss, reason = "53 bits fit a double")]
    pub const fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A place below `length`, each as likely; 0 where there is none.
    #[allow(clippy::cast_possible_truncation, reason = "what is below a usize fits one")]
    pub const fn below(&mut self, length: usize) -> usize {
        let length = if length == 0 { 1 } else { length };
        ((self.next() as u128 * length as u128) >> 64) as usize
    }

    /// 64 bits.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}
