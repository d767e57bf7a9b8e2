//! A line of play from the start to its end.
//!
//! A [`Position`] cannot know that it stood before; a [`Line`] can, and so it is the line that tells
//! all endings of a game.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;

use crate::{Board, BySide, EndRules, Ending, Illegal, Pit, PitSet, Position, SEEDS, Side};

/// Plies that few games exceed: so many are kept room for at the start.
const PLIES: usize = 24;
/// Boards that are looked through; of more it is counted how often each stood.
const SCANNED: usize = 512;

/// A game under its [`EndRules`]: the plies played, the position they led to, and whether it is over.
///
/// Opening plies count like all others for repetition and quiet plies (rules.endless.opening).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    rules: EndRules,
    moves: Vec<Pit>,
    position: Position,
    /// What may be played, empty once the line has ended.
    legal: PitSet,
    ending: Option<Ending>,
    /// The boards since the last capture, the present one last; none while repetition is off. Earlier
    /// ones cannot come back, for captured seeds do not.
    standings: Vec<Board>,
    /// How often each stood before those, by whose move it was.
    stood: BTreeMap<(Board, Side), u32>,
    /// Plies since the last capture.
    quiet: u32,
}

impl Line {
    /// The line without a ply, at the start position.
    #[must_use]
    pub fn new(rules: EndRules) -> Self {
        let mut line = Self {
            rules,
            moves: Vec::with_capacity(PLIES),
            position: Position::START,
            legal: PitSet::EMPTY,
            ending: None,
            standings: Vec::with_capacity(if rules.repetition > 0 { PLIES } else { 0 }),
            stood: BTreeMap::new(),
            quiet: 0,
        };
        line.settle();
        line
    }

    /// The line of the given moves.
    ///
    /// # Errors
    ///
    /// The first move that is refused, one that comes after the end included.
    pub fn replay(rules: EndRules, moves: impl IntoIterator<Item = Pit>) -> Result<Self, ReplayError> {
        let mut line = Self::new(rules);
        for pit in moves {
            let ply = line.position.ply();
            line.play(pit).map_err(|refusal| ReplayError { ply, pit, refusal })?;
        }
        Ok(line)
    }

    /// The position reached; once the line has ended, the one before each side takes its row.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.position
    }

    /// The rules under which it ends.
    #[must_use]
    pub const fn rules(&self) -> EndRules {
        self.rules
    }

    /// The pits played so far; ply 1 first.
    #[must_use]
    pub fn moves(&self) -> &[Pit] {
        &self.moves
    }

    /// The pits that may be played; none once the line has ended, and only then.
    #[must_use]
    pub const fn legal(&self) -> PitSet {
        self.legal
    }

    /// Why the line is over, if it is.
    #[must_use]
    pub const fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// What each side has when its own row is added to its captures (rules.end.scoop): the final score
    /// once the line has ended, before that the score if it ended now.
    #[must_use]
    pub fn score(&self) -> BySide<u8> {
        self.position.scoop()
    }

    /// The side with more seeds by [`score`](Self::score), or none at 21 each (rules.end.winner).
    #[must_use]
    pub fn winner(&self) -> Option<Side> {
        let score = self.score();
        Side::ALL.into_iter().find(|&side| score[side] > score[side.other()])
    }

    /// Whether `pit` may be played; `Ok` for exactly the pits of [`legal`](Self::legal).
    ///
    /// # Errors
    ///
    /// That the line is over, or else the rule that the move breaks.
    pub fn check(&self, pit: Pit) -> Result<(), Refusal> {
        match self.ending {
            Some(ending) => Err(Refusal::Over(ending)),
            None if self.legal.contains(pit) => Ok(()),
            None => self.position.check(pit).map_err(Refusal::Illegal),
        }
    }

    /// Plays `pit` and gives the number of seeds taken.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check); the line is then as it was.
    pub fn play(&mut self, pit: Pit) -> Result<u8, Refusal> {
        self.check(pit)?;
        let taken = self.position.play_unchecked(pit);
        self.moves.push(pit);
        if taken == 0 {
            self.quiet = self.quiet.saturating_add(1);
        } else {
            self.quiet = 0;
            self.standings.clear();
            self.stood.clear();
        }
        self.settle();
        Ok(taken)
    }

    /// Brings all that derives from the position up to it.
    fn settle(&mut self) {
        if self.rules.repetition > 0 {
            if self.standings.len() == SCANNED {
                self.count_standings();
            }
            self.standings.push(self.position.board());
        }
        self.legal = self.position.legal();
        self.ending = self.find_ending();
        if self.ending.is_some() {
            self.legal = PitSet::EMPTY;
        }
    }

    /// The ending that holds now, the first by rank (rules.end.rank).
    fn find_ending(&self) -> Option<Ending> {
        if self.rules.majority && self.has_majority() {
            Some(Ending::Majority)
        } else if self.legal.is_empty() {
            Some(Ending::Immobile)
        } else if reached(self.times_standing(), self.rules.repetition) {
            Some(Ending::Repetition)
        } else if reached(self.quiet, self.rules.quiet_plies) {
            Some(Ending::QuietPlies)
        } else {
            None
        }
    }

    /// Whether a side has captured more than half of the seeds; what lies in its row does not count.
    fn has_majority(&self) -> bool {
        let captured = self.position.captured();
        Side::ALL.into_iter().any(|side| captured[side] > SEEDS / 2)
    }

    /// How often the present pits have stood with the present side to move, now included. The sides
    /// alternate, so that it was the same side's move at every second board.
    fn times_standing(&self) -> u32 {
        let now = self.position.board();
        let before = if self.stood.is_empty() { None } else { self.stood.get(&(now, self.position.side())) };
        let newest: u32 = self.standings.iter().rev().step_by(2).map(|&board| u32::from(board == now)).sum();
        newest + before.unwrap_or(&0)
    }

    /// Counts the boards that stood before the present one, for a line that takes none would be looked through
    /// longer with every ply.
    fn count_standings(&mut self) {
        let mut side = self.position.side();
        for board in self.standings.drain(..).rev() {
            side = side.other();
            *self.stood.entry((board, side)).or_default() += 1;
        }
    }
}

/// Whether a count has come to its limit; a limit of 0 is none.
fn reached(count: u32, limit: u16) -> bool {
    limit > 0 && count >= u32::from(limit)
}

/// Why a line does not take a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The line has ended.
    Over(Ending),
    /// The move is illegal.
    Illegal(Illegal),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Over(ending) => write!(f, "the game is over ({ending}): send no more moves"),
            Self::Illegal(illegal) => illegal.fmt(f),
        }
    }
}

impl Error for Refusal {}

/// The move at which a replay stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplayError {
    /// The ply that it would have been; the first is 1.
    pub ply: u32,
    /// The pit.
    pub pit: Pit,
    /// Why it was refused.
    pub refusal: Refusal,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ply, pit, refusal } = self;
        write!(f, "ply {ply}, pit {pit}: {refusal}")
    }
}

impl Error for ReplayError {}
