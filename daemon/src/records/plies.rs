//! The plies of a record, each with the position it was played in and its times.

use modiar_protocol::Record;
use modiar_rules::{BySide, MovesError, Pit, PlayError, Position, parse_moves};
use thiserror::Error;

/// A ply of a finished game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ply {
    /// What it was played in.
    pub position: Position,
    /// What was played.
    pub pit: Pit,
    /// Seeds taken by it.
    pub taken: u8,
    /// Its times; the server's own plies, of an opening, have none.
    pub times: Option<PlyTimes>,
}

/// The times of a ply, in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlyTimes {
    /// From the turn to the move, the server's own delay taken off.
    pub elapsed_us: u64,
    /// The server's own delay.
    pub own_us: u64,
    /// What was taken off the clock.
    pub charged_us: u64,
    /// What was left then, the increment added.
    pub remaining_us: u64,
}

/// Why a record has no plies to look at.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum PliesError {
    #[error("its moves cannot be read: {0}")]
    Moves(#[from] MovesError),
    #[error(transparent)]
    Uneven(#[from] Uneven),
    #[error("ply {ply}: {error}", ply = error.position.ply())]
    Illegal { error: PlayError },
}

/// Why the plies of a record are not those that it has an opening and times for.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum Uneven {
    #[error("its moves do not begin with its opening '{0}'")]
    Opening(String),
    #[error("it has {plies} plies after the opening and {times} of {column}")]
    Times { plies: usize, column: &'static str, times: usize },
}

/// How many plies the server played, where all others have their times.
///
/// # Errors
/// They have not, or the opening was not played.
pub fn served(record: &Record) -> Result<usize, Uneven> {
    let Some(played) = record.moves.strip_prefix(&*record.opening) else {
        return Err(Uneven::Opening(record.opening.clone()));
    };
    let plies = played.len();
    for (column, times) in
        [("elapsed_us", &record.elapsed_us), ("own_us", &record.own_us), ("charged_us", &record.charged_us)]
    {
        if times.len() != plies {
            return Err(Uneven::Times { plies, column, times: times.len() });
        }
    }
    Ok(record.opening.len())
}

/// The plies of a record, in order.
///
/// # Errors
/// The record does not replay. Its clock arithmetic is taken as it stands: `modiar games verify` checks it.
pub fn plies(record: &Record) -> Result<Vec<Ply>, PliesError> {
    let base_us = record.time.base_ms.saturating_mul(1000);
    let (mut position, mut remaining) = (Position::START, BySide::new(base_us, base_us));
    let (moves, served) = (parse_moves(&record.moves)?, served(record)?);
    let mut plies = Vec::with_capacity(moves.len());
    for (at, pit) in moves.into_iter().enumerate() {
        let played = position.play(pit).map_err(|error| PliesError::Illegal { error })?;
        let times = at.checked_sub(served).and_then(|at| {
            let (elapsed_us, charged_us) = (*record.elapsed_us.get(at)?, *record.charged_us.get(at)?);
            let left = &mut remaining[position.side()];
            *left = left.saturating_sub(charged_us).saturating_add(record.time.increment_ms.saturating_mul(1000));
            Some(PlyTimes { elapsed_us, own_us: *record.own_us.get(at)?, charged_us, remaining_us: *left })
        });
        plies.push(Ply { position, pit, taken: played.taken, times });
        position = played.position;
    }
    Ok(plies)
}
