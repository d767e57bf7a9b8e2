//! Inputs made from others, by chance from a seed: what a fuzzer does without looking at the program.

use modiar::dice::Dice;

/// Pieces of JSON that a line may take or lose anywhere.
const TOKENS: [&str; 40] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "\\ud83d\\ude00",
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1.0",
    "1e0",
    "1e999",
    "-1",
    "5",
    "6",
    "4294967296",
    "9007199254740992",
    "18446744073709551616",
    "\"type\":",
    "\"ref\":",
    "\"game\":",
    "\"pit\":",
    "\"ply\":",
    "\"games\":",
    "\"pool\":",
    "\"name\":",
    "\"side\":\"south\"",
    "\"x\":{}",
    " ",
    "\t",
    "\r",
    "\n",
    "\u{feff}",
];

/// Mutates inputs, the same way for the same seed.
#[derive(Debug)]
pub struct Mutator(Dice);

impl Mutator {
    /// By this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(Dice::new(seed))
    }

    /// One of `inputs`, changed a few times, perhaps with a piece of another.
    pub fn mutate(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let mut input = inputs[self.below(inputs.len())].clone();
        for _ in 0..=self.below(4) {
            let at = self.below(input.len() + 1);
            match self.below(7) {
                0 if at < input.len() => input[at] ^= 1 << self.below(8),
                1 if at < input.len() => input[at] = self.byte(),
                2 => input.insert(at, self.byte()),
                3 => {
                    let end = (at + 1 + self.below(8)).min(input.len());
                    input.drain(at.min(end)..end);
                }
                4 => {
                    let token = TOKENS[self.below(TOKENS.len())];
                    input.splice(at..at, token.bytes());
                }
                5 => {
                    let other = &inputs[self.below(inputs.len())];
                    let from = self.below(other.len() + 1);
                    let piece = other[from..(from + self.below(40)).min(other.len())].to_vec();
                    input.splice(at..at, piece);
                }
                _ => {
                    let count = 1 + self.below(40);
                    let bytes: Vec<u8> = (0..count).map(|_| self.byte()).collect();
                    input.splice(at..at, bytes);
                }
            }
        }
        input
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap_or(0)
    }

    const fn next(&mut self) -> u64 {
        self.0.next()
    }
}
