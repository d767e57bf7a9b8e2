//! Values survive their text, and a line of play keeps its promises on random lines.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod common;

use std::collections::HashMap;

use modiar_rules::{
    BySide, EndRules, Ending, Line, Pit, PitSet, Position, Refusal, Setup, Side, moves_text, parse_moves,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::South), Just(Side::North)]
}

fn setup() -> impl Strategy<Value = Setup> {
    (any::<[u8; 6]>(), any::<[u8; 2]>(), side(), any::<u32>()).prop_map(|(pits, [south, north], side, ply)| Setup {
        pits,
        captured: BySide::new(south, north),
        side,
        ply,
    })
}

/// Setups of which about one in five is a position: off by a seed, ply 0, or the wrong turn.
fn nearly_lawful() -> impl Strategy<Value = Setup> {
    let seeds = prop_oneof![3 => Just(42u8), 1 => Just(41), 1 => Just(43)];
    ([0..=6u8, 0..=6, 0..=6, 0..=6, 0..=6, 0..=6], 0..=5u8, seeds, side(), 0..4u32).prop_map(
        |(pits, south, seeds, side, ply)| {
            let north = seeds - south - pits.iter().sum::<u8>();
            Setup { pits, captured: BySide::new(south, north), side, ply }
        },
    )
}

fn pits() -> impl Strategy<Value = Vec<Pit>> {
    vec((0..6u8).prop_map(common::pit), 0..300)
}

fn end_rules() -> impl Strategy<Value = EndRules> {
    // Small limits, so that random lines meet them; 1 ends a line before it begins.
    let repetition = prop_oneof![Just(0), 2..4u16];
    let quiet_plies = prop_oneof![Just(0), 1..12u16];
    (repetition, quiet_plies, any::<bool>()).prop_map(|(repetition, quiet_plies, majority)| EndRules {
        repetition,
        quiet_plies,
        majority,
    })
}

/// A line of random legal moves that stops at its end, or where the choices do.
fn line() -> impl Strategy<Value = Line> {
    (end_rules(), vec(any::<prop::sample::Index>(), 0..120)).prop_map(|(rules, choices)| {
        let mut line = Line::new(rules);
        for choice in choices {
            let legal: Vec<Pit> = line.legal().iter().collect();
            if legal.is_empty() {
                break;
            }
            line.play(*choice.get(&legal)).unwrap();
        }
        line
    })
}

proptest! {
    #[test]
    fn a_setup_survives_its_text(setup in setup()) {
        prop_assert_eq!(setup.to_string().parse(), Ok(setup));
    }

    #[test]
    fn a_setup_is_a_position_if_and_only_if_it_is_lawful(setup in nearly_lawful()) {
        let Setup { pits, captured, side, ply } = setup;
        let seeds: u8 = pits.iter().sum::<u8>() + captured.south + captured.north;
        let turn = (ply % 2 == 1) == (side == Side::South);
        let position = Position::try_from(setup);
        prop_assert_eq!(position.is_ok(), seeds == 42 && ply > 0 && turn);
        if let Ok(position) = position {
            prop_assert_eq!(Setup::from(position), setup);
            prop_assert_eq!(position.to_string().parse(), Ok(position));
        }
    }

    #[test]
    fn moves_survive_their_text(moves in pits()) {
        prop_assert_eq!(parse_moves(&moves_text(&moves).to_string()), Ok(moves));
    }

    #[test]
    fn any_text_is_read_or_refused_and_what_is_read_is_canonical(text in "[-0-9.sn ]{0,30}|.*") {
        if let Ok(setup) = text.parse::<Setup>() {
            prop_assert_eq!(setup.to_string(), text.as_str());
        }
        match parse_moves(&text) {
            Ok(moves) => prop_assert_eq!(moves_text(&moves).to_string(), text),
            Err(error) => prop_assert!(text[error.offset..].starts_with(error.found)),
        }
    }

    #[test]
    fn a_changed_text_is_another_value_or_refused(line in line(), at: prop::sample::Index, to in "[-0-9.sn +]") {
        let text = line.position().to_string();
        let at = at.index(text.len());
        let changed = format!("{}{to}{}", &text[..at], &text[at + 1..]);
        if let Ok(position) = changed.parse::<Position>() {
            prop_assert_eq!(position == line.position(), changed == text);
            prop_assert_eq!(position.to_string(), changed);
        }
    }

    #[test]
    fn a_set_of_pits_is_what_was_put_into_it(moves in pits()) {
        let moves = &moves[..moves.len().min(4)];
        let set: PitSet = moves.iter().copied().collect();
        let mut sorted = moves.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        prop_assert_eq!(set.len(), sorted.len());
        prop_assert_eq!(set.first(), sorted.first().copied());
        prop_assert_eq!(set.is_empty(), sorted.is_empty());
        prop_assert!(Pit::ALL.iter().all(|pit| set.contains(*pit) == sorted.contains(pit)));
        prop_assert_eq!(set.iter().collect::<Vec<_>>(), sorted);
    }

    #[test]
    fn a_line_replays_to_itself(line in line()) {
        prop_assert_eq!(Line::replay(line.rules(), line.moves().iter().copied()), Ok(line));
    }

    #[test]
    fn a_line_takes_exactly_its_legal_pits(line in line()) {
        for pit in Pit::ALL {
            let mut after = line.clone();
            let played = after.play(pit);
            prop_assert_eq!(played.is_ok(), line.legal().contains(pit));
            prop_assert_eq!(line.check(pit), played.map(|_| ()));
            match (played, line.ending()) {
                (Ok(_), ending) => prop_assert_eq!(ending, None),
                (Err(refusal), Some(ending)) => prop_assert_eq!(refusal, Refusal::Over(ending)),
                (Err(refusal), None) => {
                    let reason = line.position().check(pit).unwrap_err();
                    prop_assert_eq!(refusal, Refusal::Illegal(reason));
                }
            }
            prop_assert!(played.is_ok() || after == line, "a refusal changed the line");
        }
    }

    #[test]
    fn a_line_ends_when_a_plain_count_says_so(line in line()) {
        let rules = line.rules();
        let (mut position, mut quiet) = (Position::START, 0);
        let mut seen = HashMap::from([((position.pits(), position.side()), 1)]);
        for (nth, &pit) in line.moves().iter().enumerate() {
            let played = position.play(pit).unwrap();
            position = played.position;
            quiet = if played.taken == 0 { quiet + 1 } else { 0 };
            let times = seen.entry((position.pits(), position.side())).or_insert(0);
            *times += 1;
            let captured = position.captured();
            let ending = [
                (rules.majority && captured.south.max(captured.north) >= 22, Ending::Majority),
                (position.legal().is_empty(), Ending::Immobile),
                (rules.repetition == *times, Ending::Repetition),
                (quiet > 0 && rules.quiet_plies == quiet, Ending::QuietPlies),
            ]
            .into_iter()
            .find_map(|(holds, ending)| holds.then_some(ending));
            let last = nth + 1 == line.moves().len();
            prop_assert_eq!(ending, if last { line.ending() } else { None });
        }
        prop_assert_eq!(position, line.position());
        prop_assert_eq!(line.score(), position.scoop());
    }
}
