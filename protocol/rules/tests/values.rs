//! What the small types promise, and the edges that no vector can show.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod common;

use std::collections::HashMap;
use std::error::Error;

use common::{pit, position, set};
use modiar_rules::{
    Board, BySide, EndRules, Ending, Illegal, Line, Pit, PitSet, Position, Refusal, Setup, SetupError, Side,
    parse_moves,
};

#[test]
fn the_start_is_as_the_rules_say() {
    assert_eq!(Position::START.to_string(), "7.7.7-7.7.7 0-0 s 1");
    assert_eq!(Position::default(), Position::START);
    assert_eq!(Position::START.board().total(), 42);
}

#[test]
fn a_position_stays_small() {
    assert_eq!(size_of::<Position>(), 16);
}

#[test]
fn six_pits_and_no_seventh() {
    let pits: Vec<Pit> = (0..=u8::MAX).filter_map(Pit::new).collect();
    assert_eq!(pits, Pit::ALL);
    let owners = Pit::ALL.map(Pit::owner);
    assert_eq!(owners[..3], [Side::South; 3]);
    assert_eq!(owners[3..], [Side::North; 3]);
}

#[test]
fn a_set_of_pits_reads_ascending() {
    assert_eq!(set(&[2, 0]).to_string(), "0 2");
    assert_eq!(PitSet::EMPTY.to_string(), "");
    assert!(set(&[5, 3, 4]).into_iter().map(Pit::index).eq([3, 4, 5]));
    assert_eq!(set(&[1, 1]).iter().len(), 1);
}

#[test]
fn a_board_takes_any_bytes_and_gives_them_back() {
    let pits = [1, 2, 3, 200, 255, 0];
    let board = Board::from_pits(pits);
    assert_eq!(board.pits(), pits);
    assert_eq!(Pit::ALL.map(|pit| board.seeds(pit)), pits);
    assert_eq!(board.row(Side::South), 6);
    let _ = (board.total(), Board::from_pits([255; 6]).row(Side::North)); // nonsense, no panic
}

#[test]
fn by_side_keeps_the_sides_apart() {
    let mut seeds = BySide::new(1, 2);
    seeds[Side::North] += 5;
    assert_eq!((seeds[Side::South], seeds[Side::North]), (1, 7));
    assert_eq!(seeds.map(|n| n * 2), BySide { south: 2, north: 14 });
    assert_eq!(BySide::from_fn(Side::other), BySide::new(Side::North, Side::South));
}

#[test]
fn the_last_plies_of_all_alternate_and_do_not_overflow() {
    let mut position = position("0.0.2-2.0.0 20-18 s 4294967295");
    for (side, ply) in [(Side::North, u32::MAX - 1), (Side::South, u32::MAX)] {
        position.play_unchecked(position.legal().first().unwrap_or(pit(0)));
        assert_eq!((position.side(), position.ply()), (side, ply));
    }
}

#[test]
fn a_repetition_of_one_ends_a_line_before_its_first_ply() {
    let rules = EndRules { repetition: 1, ..EndRules::default() };
    let mut line = Line::new(rules);
    assert_eq!(line.ending(), Some(Ending::Repetition));
    assert_eq!((line.winner(), line.legal()), (None, PitSet::EMPTY));
    assert_eq!(line.play(pit(0)), Err(Refusal::Over(Ending::Repetition)));
    assert!(line.moves().is_empty());
}

#[test]
fn endings_rank_and_read_as_on_the_wire() {
    let endings = [Ending::Majority, Ending::Immobile, Ending::Repetition, Ending::QuietPlies];
    assert!(endings.is_sorted());
    let names = endings.map(|ending| ending.to_string());
    assert_eq!(names, ["majority", "immobile", "repetition", "quiet_plies"]);
    assert_eq!(Side::ALL.map(|side| side.to_string()), ["south", "north"]);
}

/// A peer reads these: lowercase, the value named, what to do said.
#[test]
fn errors_say_what_to_do() {
    let text = "7.7.7-7.7.x 0-0 s 1".parse::<Position>().unwrap_err();
    let seeds = "7.7.7-7.7.6 0-0 s 1".parse::<Position>().unwrap_err();
    let turn = SetupError::Turn { side: Side::North, ply: 1 };
    let moves = parse_moves("24 0").unwrap_err();
    let over = Refusal::Over(Ending::QuietPlies);
    let played = Position::START.play(pit(4)).unwrap_err();
    let replay = Line::replay(EndRules::default(), [pit(0), pit(0)]).unwrap_err();
    let errors: [(&dyn Error, &str); 8] = [
        (
            &text,
            "expected a number of seeds from 0 to 255 at byte 11: write a position as \
             7.7.7-7.7.7 0-0 s 1",
        ),
        (&seeds, "41 seeds: those on the board and captured must make 42"),
        (&turn, "north does not play ply 1: south plays the odd plies, north the even"),
        (&moves, "' ' at offset 2 is no pit: write each move as a digit from 0 to 5"),
        (&over, "the game is over (quiet_plies): send no more moves"),
        (&Illegal::Singleton, "the pit holds 1 seed: choose one that holds at least 2"),
        (
            &played,
            "pit 4 in 7.7.7-7.7.7 0-0 s 1: the pit is in the opponent's row: choose a pit of \
             your own; legal: 0 1 2",
        ),
        (&replay, "ply 2, pit 0: the pit is in the opponent's row: choose a pit of your own"),
    ];
    for (error, said) in errors {
        assert_eq!(error.to_string(), said);
    }
}

#[test]
fn the_first_of_several_faults_of_a_setup_is_told() {
    let setup = Setup { pits: [0; 6], captured: BySide::new(0, 0), side: Side::South, ply: 0 };
    let refused = |setup| Position::try_from(setup).unwrap_err();
    assert_eq!(refused(setup), SetupError::Seeds { found: 0 });
    let whole = Setup { captured: BySide::new(42, 0), ..setup };
    assert_eq!(refused(whole), SetupError::PlyZero);
    assert_eq!(refused(Setup { ply: 2, ..whole }), SetupError::Turn { side: Side::South, ply: 2 });
}

/// `rules.endless.repetition`: a board that stood long ago counts as one that stood now, by whose move it was.
#[test]
fn a_repetition_is_counted_over_any_number_of_plies() {
    for times in [2, 100, 171, 172, 400] {
        let rules = EndRules { repetition: times, quiet_plies: 0, ..EndRules::default() };
        let mut line = Line::new(rules);
        let mut stood = HashMap::new();
        let pits = [2, 4, 0].into_iter().chain([3, 1, 5, 0, 4, 2].into_iter().cycle());
        for number in pits {
            let (board, side) = (line.position().board(), line.position().side());
            let count = stood.entry((board, side)).or_insert(0u16);
            *count += 1;
            assert_eq!(line.ending().is_some(), *count == times, "{times}: {} plies", line.moves().len());
            if line.ending().is_some() {
                break;
            }
            line.play(pit(number)).unwrap();
        }
        assert_eq!(line.ending(), Some(Ending::Repetition));
    }
}
