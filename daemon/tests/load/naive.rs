//! The rules once more, on plain numbers and seed by seed, sharing nothing with the daemon but the names.

use serde_json::{Value, json};

/// A game as far as it was played. South is 0, North is 1.
pub struct Board {
    pub pits: [u64; 6],
    pub captured: [u64; 2],
    pub ply: u64,
    quiet: u64,
    stood: Vec<([u64; 6], usize)>,
}

impl Board {
    pub fn start() -> Self {
        Self { pits: [7; 6], captured: [0; 2], ply: 1, quiet: 0, stood: vec![([7; 6], 0)] }
    }

    pub const fn mover(&self) -> usize {
        if self.ply % 2 == 1 { 0 } else { 1 }
    }

    pub const fn name(side: usize) -> &'static str {
        ["south", "north"][side]
    }

    /// The pits that may be played, whether the game has ended or not.
    pub fn legal(&self) -> Vec<usize> {
        let able = |pit: &usize| pit / 3 == self.mover() && self.pits[*pit] > 1 && !self.sow(*pit).slam;
        let able: Vec<usize> = (0..6).filter(able).collect();
        let starving = self.row(1 - self.mover()) == 0;
        let feeding: Vec<usize> = able.iter().copied().filter(|pit| self.sow(*pit).passed).collect();
        if starving && !feeding.is_empty() { feeding } else { able }
    }

    /// Plays a pit and gives the seeds taken.
    pub fn play(&mut self, pit: usize) -> u64 {
        let mover = self.mover();
        let sown = self.sow(pit);
        self.pits = sown.pits;
        self.captured[mover] += sown.taken;
        self.ply += 1;
        self.quiet = if sown.taken == 0 { self.quiet + 1 } else { 0 };
        self.stood.push((self.pits, self.mover()));
        sown.taken
    }

    /// Why the game is over, by a pool's `rules`.
    pub fn ending(&self, rules: &Value) -> Option<&'static str> {
        let limit = |name: &str| rules[name].as_u64().unwrap();
        let now = (self.pits, self.mover());
        let standings = self.stood.iter().filter(|before| **before == now).count() as u64;
        if rules["majority"] == true && self.captured.iter().any(|captured| *captured >= 22) {
            Some("majority")
        } else if self.legal().is_empty() {
            Some("immobile")
        } else if limit("repetition") > 0 && standings >= limit("repetition") {
            Some("repetition")
        } else if limit("quiet_plies") > 0 && self.quiet >= limit("quiet_plies") {
            Some("quiet_plies")
        } else {
            None
        }
    }

    /// The score when each side takes its own row, and who has won by it.
    pub fn outcome(&self) -> (Value, &'static str) {
        let [south, north] = [0, 1].map(|side| self.captured[side] + self.row(side));
        let result = if south > north {
            "south"
        } else if north > south {
            "north"
        } else {
            "draw"
        };
        (json!({"south": south, "north": north}), result)
    }

    fn row(&self, side: usize) -> u64 {
        self.pits[3 * side..3 * side + 3].iter().sum()
    }

    fn sow(&self, origin: usize) -> Sown {
        let mut pits = self.pits;
        let opponent = 1 - self.mover();
        let mut dropped = Vec::new();
        let mut pit = origin;
        for _ in 0..std::mem::take(&mut pits[origin]) {
            dropped.push(pit);
            pits[pit] += 1;
            pit = (pit + 1) % 6;
        }
        let passed = dropped.iter().any(|pit| pit / 3 == opponent);
        let (mut taken, mut taken_there) = (0, 0);
        while let Some(pit) = dropped.pop() {
            if self.ply == 1 || !matches!(pits[pit], 2 | 4 | 6) {
                break;
            }
            taken_there += if pit / 3 == opponent { pits[pit] } else { 0 };
            taken += std::mem::take(&mut pits[pit]);
        }
        let slam = taken_there > 0 && pits[3 * opponent..3 * opponent + 3].iter().sum::<u64>() == 0;
        Sown { pits, taken, passed, slam }
    }
}

struct Sown {
    pits: [u64; 6],
    taken: u64,
    /// Whether a seed fell into the opponent's row.
    passed: bool,
    /// Whether the opponent's row was captured whole.
    slam: bool,
}
