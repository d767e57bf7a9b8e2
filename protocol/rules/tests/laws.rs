//! Laws of the rules, held on every layout there is: six pits with at most 42 seeds.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod common;

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::thread;

use common::{mirrored, naive};
use modiar_rules::{BySide, Illegal, Pit, PitSet, Position, Setup, Side};

/// 48 over 6: the ways to put at most 42 seeds into six pits.
const LAYOUTS: u64 = 12_271_512;

/// Calls `law` with every layout, on all processors, and gives the number of calls.
fn every_layout(law: impl Fn([u8; 6]) + Sync) -> u64 {
    let (next, visited) = (AtomicU8::new(0), AtomicU64::new(0));
    let work = || {
        // Layouts by their first pit, the largest share first.
        while let Some(first) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n <= 42) {
            let count = with_prefix(&mut [first, 0, 0, 0, 0, 0], 1, 42 - first, &law);
            visited.fetch_add(count, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        (0..threads).for_each(|_| drop(scope.spawn(work)));
    });
    visited.into_inner()
}

fn with_prefix(pits: &mut [u8; 6], at: usize, left: u8, law: &impl Fn([u8; 6])) -> u64 {
    if at == 6 {
        law(*pits);
        return 1;
    }
    let mut count = 0;
    for seeds in 0..=left {
        pits[at] = seeds;
        count += with_prefix(pits, at + 1, left - seeds, law);
    }
    count
}

/// The position of a layout at a ply; the seeds that are not on the board are South's but for one.
fn at_ply(pits: [u8; 6], ply: u32) -> Position {
    let gone = 42 - pits.iter().sum::<u8>();
    let north = gone.min(1);
    let captured = BySide::new(gone - north, north);
    let setup = Setup { pits, captured, side: Side::on_ply(ply), ply };
    Position::try_from(setup).unwrap()
}

/// North's, South's, and the first ply, on which other rules hold.
const PLIES: [u32; 3] = [1, 2, 3];

#[test]
fn agrees_with_the_naive_rules() {
    let visited = every_layout(|pits| {
        for ply in PLIES {
            let position = at_ply(pits, ply);
            let (mover, first) = (usize::from(ply == 2), ply == 1);
            let legal = naive::legal(&pits, mover, first);
            assert_eq!(indices(position.legal()), legal, "{position}");
            for pit in position.legal() {
                let outcome = naive::outcome(pits, mover, pit.index().into(), first);
                let mut after = position;
                let taken = after.play_unchecked(pit);
                assert_eq!((after.pits(), taken), (outcome.pits, outcome.taken), "{position} {pit}");
            }
        }
    });
    assert_eq!(visited, LAYOUTS);
}

fn indices(pits: PitSet) -> [bool; 6] {
    Pit::ALL.map(|pit| pits.contains(pit))
}

#[test]
fn both_doors_lead_to_the_same_place_and_the_checked_one_opens_for_legal_moves_only() {
    let visited = every_layout(|pits| {
        for ply in PLIES {
            let position = at_ply(pits, ply);
            let legal = position.legal();
            for pit in Pit::ALL {
                let mut trusted = position;
                let taken = trusted.play_unchecked(pit);
                match position.play(pit) {
                    Ok(played) => {
                        assert!(legal.contains(pit), "{position} {pit}");
                        assert_eq!((played.position, played.taken), (trusted, taken));
                    }
                    Err(error) => {
                        assert!(!legal.contains(pit), "{position} {pit}");
                        assert_eq!((error.position, error.pit), (position, pit));
                        assert_eq!(Err(error.reason), position.check(pit));
                        assert_reason(position, pit, error.reason);
                    }
                }
            }
        }
    });
    assert_eq!(visited, LAYOUTS);
}

/// The reason for a refusal is true, and none before it in the order of the variants is.
fn assert_reason(position: Position, pit: Pit, reason: Illegal) {
    let (pits, mover) = (position.pits(), usize::from(position.side() == Side::North));
    let origin = usize::from(pit.index());
    let outcome = naive::outcome(pits, mover, origin, position.ply() == 1);
    let expected = match pits[origin] {
        _ if naive::owner(origin) != mover => Illegal::OpponentPit,
        0 => Illegal::EmptyPit,
        1 => Illegal::Singleton,
        _ if naive::row(&pits, 1 - mover) == 0 && !outcome.passed => Illegal::NotFeeding,
        _ => Illegal::GrandSlam,
    };
    assert_eq!(reason, expected, "{position} {pit}");
    assert_eq!(reason == Illegal::GrandSlam, outcome.slam && naive::owner(origin) == mover);
}

#[test]
fn seeds_are_conserved_taken_in_pairs_and_the_turn_passes_whatever_is_played() {
    let visited = every_layout(|pits| {
        for ply in PLIES {
            let position = at_ply(pits, ply);
            for pit in Pit::ALL {
                let mut after = position;
                let taken = after.play_unchecked(pit);
                let (before, captured) = (position.captured(), after.captured());
                assert_eq!(after.board().total() + captured.south + captured.north, 42);
                assert_eq!(position.board().total() - after.board().total(), taken);
                assert_eq!(captured[position.side()] - before[position.side()], taken);
                assert_eq!(taken % 2, 0, "{position} {pit}");
                assert!(ply > 1 || taken == 0, "{position} {pit}");
                assert_eq!((after.side(), after.ply()), (position.side().other(), ply + 1));
                let score = after.scoop();
                assert_eq!(score.south + score.north, 42, "{after}");
            }
        }
    });
    assert_eq!(visited, LAYOUTS);
}

#[test]
fn the_sides_are_mirror_images() {
    let visited = every_layout(|pits| {
        let (south, north) = (at_ply(pits, 3), at_ply(mirrored(pits), 2));
        assert_eq!(indices(south.legal()), turned(indices(north.legal())), "{south}");
        for pit in south.legal() {
            let opposite = Pit::ALL[usize::from(pit.index() + 3)];
            let (mut south, mut north) = (south, north);
            assert_eq!(south.play_unchecked(pit), north.play_unchecked(opposite), "{south}");
            assert_eq!(south.pits(), mirrored(north.pits()));
            assert_eq!(south.board().row(Side::South), north.board().row(Side::North));
        }
    });
    assert_eq!(visited, LAYOUTS);
}

fn turned(mut pits: [bool; 6]) -> [bool; 6] {
    pits.rotate_left(3);
    pits
}

/// To feed is to pass a seed into the empty row; among legal moves that is to leave one there, because
/// a move that took them all again would be a grand slam (rules.feed.must).
#[test]
fn feeding_by_passing_and_feeding_by_leaving_are_one() {
    let visited = every_layout(|pits| {
        for ply in PLIES {
            let position = at_ply(pits, ply);
            let (mover, opponent) = (position.side(), position.side().other());
            if position.board().row(opponent) > 0 {
                continue;
            }
            let leaves = |pit: Pit| {
                let mut after = position;
                after.play_unchecked(pit);
                after.board().row(opponent) > 0
            };
            let movable = |pit: &Pit| pit.owner() == mover && position.board().seeds(*pit) > 1;
            let slams = |pit: Pit| position.check(pit) == Err(Illegal::GrandSlam);
            let able: PitSet = Pit::ALL.into_iter().filter(movable).filter(|&p| !slams(p)).collect();
            let leaving: PitSet = able.iter().filter(|&pit| leaves(pit)).collect();
            let expected = if leaving.is_empty() { able } else { leaving };
            assert_eq!(position.legal(), expected, "{position}");
        }
    });
    assert_eq!(visited, LAYOUTS);
}
