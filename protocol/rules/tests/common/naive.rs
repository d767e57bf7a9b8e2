//! The rules once more, seed by seed and as plainly as `spec/rules.md` puts them.
//!
//! Shares nothing with the crate but the names: plain arrays, one drop at a time, the capture walked
//! back along the list of drops, and legality straight from the sentences.

/// South is 0, North is 1.
pub(crate) type Mover = usize;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outcome {
    pub(crate) pits: [u8; 6],
    pub(crate) taken: u8,
    /// Whether a seed was dropped into the opponent's row.
    pub(crate) passed: bool,
    /// Whether the opponent's row was captured whole.
    pub(crate) slam: bool,
}

pub(crate) fn owner(pit: usize) -> Mover {
    pit / 3
}

pub(crate) fn row(pits: &[u8; 6], mover: Mover) -> u8 {
    (0..6).filter(|&pit| owner(pit) == mover).map(|pit| pits[pit]).sum()
}

/// Plays a pit of `mover`, legal or not; on the first ply of a game nothing is captured.
pub(crate) fn outcome(mut pits: [u8; 6], mover: Mover, origin: usize, first_ply: bool) -> Outcome {
    let opponent = 1 - mover;
    let mut path = [0; 42];
    let hand = usize::from(std::mem::take(&mut pits[origin]));
    for (nth, dropped) in path.iter_mut().take(hand).enumerate() {
        *dropped = (origin + nth) % 6;
        pits[*dropped] += 1;
    }
    let path = &path[..hand];

    let (mut taken, mut taken_there) = (0, 0);
    for &pit in path.iter().rev() {
        if first_ply || ![2, 4, 6].contains(&pits[pit]) {
            break;
        }
        let seeds = std::mem::take(&mut pits[pit]);
        taken += seeds;
        taken_there += if owner(pit) == opponent { seeds } else { 0 };
    }
    Outcome {
        pits,
        taken,
        passed: path.iter().any(|&pit| owner(pit) == opponent),
        slam: taken_there > 0 && row(&pits, opponent) == 0,
    }
}

/// Which pits may be played.
pub(crate) fn legal(pits: &[u8; 6], mover: Mover, first_ply: bool) -> [bool; 6] {
    let outcome = |pit| outcome(*pits, mover, pit, first_ply);
    let able = |pit| owner(pit) == mover && pits[pit] >= 2 && !outcome(pit).slam;
    let starving = row(pits, 1 - mover) == 0;
    let can_feed = (0..6).any(|pit| able(pit) && outcome(pit).passed);
    std::array::from_fn(|pit| able(pit) && (!starving || !can_feed || outcome(pit).passed))
}
