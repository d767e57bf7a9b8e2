//! Balanced openings: lines after which best play leads to 21 seeds each.

use crate::{Bounds, Table};
use modiar_rules::{Pit, Position};
use std::collections::HashSet;

/// Plies of a balanced opening.
const PLIES: u32 = 8;
/// Plies of best play that are still to come after it, at the least.
const TO_COME: u32 = 6;

/// A line from the start position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Its pits.
    pub moves: Vec<Pit>,
    /// Where it leads.
    pub position: Position,
    /// Plies of best play from there to the end.
    pub to_come: u32,
}

/// The lines of exactly 8 plies whose exact final result is 21 : 21, which leave the side to move a choice and have 6
/// plies of best play to come. Of lines that lead to the same position the first in the order of the pits.
#[must_use]
pub fn balanced_openings(table: &Table) -> Vec<Opening> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    extend(&mut Vec::new(), Position::START, &mut |moves, position| {
        if is_level(table, &position) && position.legal().len() > 1 && seen.insert(position) {
            let to_come = plies_to_come(table, position);
            if to_come >= TO_COME {
                found.push(Opening { moves: moves.to_vec(), position, to_come });
            }
        }
    });
    found
}

fn extend(moves: &mut Vec<Pit>, position: Position, found: &mut impl FnMut(&[Pit], Position)) {
    if position.ply() > PLIES {
        return found(moves, position);
    }
    for pit in position.legal() {
        let mut next = position;
        next.play_unchecked(pit);
        moves.push(pit);
        extend(moves, next, found);
        moves.pop();
    }
}

/// Whether best play leads to as many seeds for each side, whatever endless play is worth.
fn is_level(table: &Table, position: &Position) -> bool {
    let (mover, captured) = (position.side(), position.captured());
    let behind = captured[mover.other()].cast_signed() - captured[mover].cast_signed();
    table.value(position) == Some(Bounds::exact(behind))
}

/// How long perfect play goes on from here.
fn plies_to_come(table: &Table, position: Position) -> u32 {
    let next = |position: &Position| {
        let mut next = *position;
        next.play_unchecked(table.perfect(position)?);
        Some(next)
    };
    // Perfect play comes to an end: no position comes twice.
    let plies = std::iter::successors(Some(position), next).count() - 1;
    u32::try_from(plies).unwrap_or(u32::MAX)
}
