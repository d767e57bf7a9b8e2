//! Chance from one seed: the same seed throws the same numbers on every machine.

pub struct Dice(modiar::dice::Dice);

impl Dice {
    /// Nearby seeds share nothing.
    pub fn new(seed: u64) -> Self {
        Self(modiar::dice::Dice::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x6d6f_6469_6172))
    }

    pub fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// From `0` to below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// Once in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[usize::try_from(self.below(among.len() as u64)).unwrap()]
    }
}
