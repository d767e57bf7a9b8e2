//! Games, counted by who sat where.

use crate::Outcome;
use std::collections::BTreeMap;

/// How the games of one South against one North went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Games that South won.
    pub south: u64,
    /// Games that nobody won.
    pub draws: u64,
    /// Games that North won.
    pub north: u64,
}

impl Count {
    /// All of them.
    #[must_use]
    pub const fn games(self) -> u64 {
        self.south + self.draws + self.north
    }
}

/// The games of players that are told apart by an index from 0; in whatever order they are added, the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Games {
    players: usize,
    counts: BTreeMap<(usize, usize), Count>,
}

impl Games {
    /// No game of so many players.
    #[must_use]
    pub const fn new(players: usize) -> Self {
        Self { players, counts: BTreeMap::new() }
    }

    /// Adds a game that ended so for South. A player beyond the last makes more of them; a game of one with itself says
    /// nothing and is passed over.
    pub fn add(&mut self, south: usize, north: usize, outcome: Outcome) {
        let mut count = Count::default();
        match outcome {
            Outcome::Win => count.south = 1,
            Outcome::Draw => count.draws = 1,
            Outcome::Loss => count.north = 1,
        }
        self.add_count(south, north, count);
    }

    /// Adds games that were counted.
    pub fn add_count(&mut self, south: usize, north: usize, more: Count) {
        self.players = self.players.max(south.max(north) + 1);
        if south != north {
            let count = self.counts.entry((south, north)).or_default();
            count.south += more.south;
            count.draws += more.draws;
            count.north += more.north;
        }
    }

    /// How many players there are.
    #[must_use]
    pub const fn players(&self) -> usize {
        self.players
    }

    /// South, North, and how it went, by the indices.
    pub fn counts(&self) -> impl Iterator<Item = (usize, usize, Count)> {
        self.counts.iter().map(|((south, north), count)| (*south, *north, *count))
    }

    /// How the games of this South against this North went.
    #[must_use]
    pub fn count(&self, south: usize, north: usize) -> Count {
        self.counts.get(&(south, north)).copied().unwrap_or_default()
    }
}
