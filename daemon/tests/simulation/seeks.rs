//! The seeks as their bots may count them, from what they were told alone.

use modiar::clock::Moment;
use modiar::lobby::Half;
use modiar_protocol::server::SeekEnd;
use std::collections::BTreeMap;

/// One seek, and the number by which its games remember it.
#[derive(Clone, Debug)]
pub struct Seek {
    pub number: u64,
    pub bot: usize,
    pub wanted: u64,
    pub made: u64,
    pub running: u64,
}

impl Seek {
    pub fn is_open(&self) -> bool {
        self.wanted == 0 || self.made < self.wanted
    }
}

/// All seeks, by pool and connection.
#[derive(Default)]
pub struct Seeks {
    pub standing: BTreeMap<(usize, u64), Seek>,
    /// By pool: when the last of them was done.
    pub done: BTreeMap<usize, Moment>,
    count: u64,
}

impl Seeks {
    pub fn begin(&mut self, pool: usize, visitor: u64, bot: usize, wanted: u64) {
        self.count += 1;
        self.standing.insert((pool, visitor), Seek { number: self.count, bot, wanted, made: 0, running: 0 });
    }

    /// Those of a pool.
    pub fn of(&self, pool: usize) -> impl Iterator<Item = &Seek> {
        self.standing.iter().filter(move |((at, _), _)| *at == pool).map(|(_, seek)| seek)
    }

    /// A game was made for it; its number. With the first game of a pair room is kept for the second.
    pub fn made(&mut self, pool: usize, visitor: u64, half: Half) -> Result<u64, String> {
        let games = match half {
            Half::First => 2,
            Half::Second => 0,
            Half::Single => 1,
        };
        match self.standing.get_mut(&(pool, visitor)) {
            Some(seek) if seek.wanted == 0 || seek.made + games <= seek.wanted => {
                seek.made += games;
                seek.running += games;
                Ok(seek.number)
            }
            other => Err(format!("connection {visitor} was paired for a seek that does not wait: {other:?}")),
        }
    }

    /// A game of the seek of that number is over.
    pub fn over(&mut self, pool: usize, visitor: u64, number: u64, aborted: bool) {
        if let Some(seek) = self.standing.get_mut(&(pool, visitor)).filter(|seek| seek.number == number) {
            seek.running -= 1;
            seek.made -= u64::from(aborted);
        }
    }

    /// The server says that it is over.
    pub fn end(&mut self, pool: usize, visitor: u64, reason: SeekEnd, now: Moment) -> Result<(), String> {
        if reason == SeekEnd::Done {
            self.done.insert(pool, now);
        }
        let seek = self.standing.remove(&(pool, visitor));
        match (reason, seek) {
            (SeekEnd::Done, Some(seek)) if seek.is_open() || seek.running > 0 => {
                Err(format!("told done too early: {seek:?}"))
            }
            (SeekEnd::Done, None) => Err(format!("connection {visitor} was told done without a seek")),
            _ => Ok(()),
        }
    }

    pub fn leave(&mut self, visitor: u64) {
        self.standing.retain(|(_, of), _| *of != visitor);
    }
}
