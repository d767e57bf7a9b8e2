//! Sides, and who may meet at all, where games run at once, pairs break and bots come for one game at a time.

use super::*;
use crate::lobby::balance::LEANING;
use modiar_protocol::server::Openings;
use std::collections::{BTreeMap, BTreeSet};

fn empty(openings: Openings) -> Lobby {
    let mut pools = Config::default().pools;
    pools[1].openings = openings;
    Lobby::new(pools.into(), 64, 1)
}

fn enter(lobby: &mut Lobby, number: u64, limit: u64) {
    lobby.enter(Visitor(number), registered(&format!("bot-{number}"), limit));
}

/// The games of bot 1 as South less those as North.
fn lead(pairings: &[Pairing]) -> i32 {
    let side = |pairing: &Pairing| if pairing.seats.south.bot.as_str() == "bot-1" { 1 } else { -1 };
    pairings.iter().map(side).sum()
}

/// `ladder.sides`: sixty pairs at once, none of which gets its second game.
#[test]
fn a_broken_link_turns_no_sixty_pairs_to_one_side() {
    let mut lobby = empty(Openings::Balanced);
    enter(&mut lobby, 1, 64);
    seek(&mut lobby, 1, 0);
    let mut effects = Vec::new();
    for number in 2..62 {
        enter(&mut lobby, number, 1);
        effects.extend(seek(&mut lobby, number, 0));
    }
    let firsts = pairings(&effects);
    assert_eq!(firsts.len(), 60);
    lobby.leave(Visitor(1), FRUITFUL, now(1).moment);
    enter(&mut lobby, 1, 64);
    for first in &firsts {
        let after = lobby.finished(first, Fate::default(), now(2));
        assert!(pairings(&after).iter().all(|pairing| pairing.source != Source::Seeks(Half::Second)));
    }
    assert!(lead(&firsts).abs() <= LEANING, "{}", lead(&firsts));
}

/// `ladder.sides`: a game that does not count is on no side.
#[test]
fn who_makes_no_first_move_does_not_choose_the_other_s_side() {
    let mut lobby = empty(Openings::Start);
    enter(&mut lobby, 1, 1);
    let (mut counted, mut effects) = (Vec::new(), seek(&mut lobby, 1, 0));
    for number in 2..40 {
        enter(&mut lobby, number, 1);
        effects.extend(seek(&mut lobby, number, 1));
        let game = pairings(&effects).pop().unwrap();
        // Whoever would be South against it stays away.
        let absent = Some(Side::South).filter(|_| game.seats.north.visitor == Visitor(1));
        effects = lobby.finished(&game, Fate { absent, aborted: absent.is_some(), ..Fate::default() }, now(number));
        lobby.leave(Visitor(number), FRUITFUL, now(number).moment);
        counted.extend(Some(game).filter(|_| absent.is_none()));
    }
    assert!(lead(&counted) <= 1, "{}", lead(&counted));
}

/// `ladder.rematch`: of four bots that seek few games, again and again, each meets all others.
#[test]
fn four_bots_that_seek_one_game_at_a_time_mix() {
    for (openings, games) in [(Openings::Start, 1), (Openings::Balanced, 1), (Openings::Balanced, 2)] {
        let mut lobby = empty(openings);
        let (mut met, mut effects) = (BTreeMap::<BTreeSet<u64>, u32>::new(), Vec::new());
        for number in 1..=4 {
            enter(&mut lobby, number, 1);
            effects.extend(seek(&mut lobby, number, games));
        }
        // One step is 20 ms; a bot is back at the step after its seek's end.
        let (mut running, mut back): (Vec<(u64, Pairing)>, Vec<u64>) = Default::default();
        for step in 1..3000 {
            let moment = Moment(step * 20_000);
            let at = Now { moment, unix_ms: step * 20 };
            for number in std::mem::take(&mut back) {
                effects.extend(lobby.seek(Visitor(number), "blitz", games, None, at).unwrap());
            }
            effects.extend(lobby.pair_waiting(at));
            for effect in std::mem::take(&mut effects) {
                match effect {
                    Effect::Start(game) => {
                        let two = Side::ALL.map(|side| game.seats[side].visitor.0);
                        *met.entry(two.into()).or_default() += 1;
                        running.push((step + 5 + two[0], game));
                    }
                    Effect::Tell(visitor, ServerMessage::SeekEnded { .. }) => back.push(visitor.0),
                    Effect::Tell(..) => {}
                }
            }
            let (over, still) = std::mem::take(&mut running).into_iter().partition(|(end, _)| *end <= step);
            running = still;
            let over: Vec<(u64, Pairing)> = over;
            for (_, game) in over {
                effects.extend(lobby.finished(&game, Fate::default(), at));
            }
        }
        let [fewest, most] = [met.values().min(), met.values().max()].map(|count| *count.unwrap());
        assert!(met.len() == 6 && most < 3 * fewest, "{openings:?} {games}: {met:?}");
    }
}

/// `ladder.sides`: bots that seek one pair at a time and take their seek back once it runs.
#[test]
fn whoever_breaks_pairs_leads_nobody_past_the_bound() {
    let mut lobby = empty(Openings::Balanced);
    let mut lead = BTreeMap::<String, i32>::new();
    for round in 0..400 {
        let mut effects = Vec::new();
        for number in 1..=6 {
            enter(&mut lobby, number, 1);
            effects.extend(seek(&mut lobby, number, 2));
        }
        let firsts = pairings(&effects);
        for first in &firsts {
            for (side, by) in [(Side::South, 1), (Side::North, -1)] {
                *lead.entry(first.seats[side].bot.to_string()).or_default() += by;
            }
            lobby.unseek(first.seats.north.visitor, None, None).unwrap();
            lobby.finished(first, Fate::default(), now(round));
        }
        (1..=6).for_each(|number| drop(lobby.leave(Visitor(number), FRUITFUL, now(round).moment)));
        assert!(lead.values().all(|lead| lead.abs() <= LEANING), "{round}: {lead:?}");
    }
}

/// `ladder.sides`: what a bot was before a start.
#[test]
fn a_restart_remembers_on_which_side_a_bot_has_been() {
    let mut lobby = empty(Openings::Start);
    lobby.recall_sides([("bot-1".to_owned(), 40), ("bot-2".to_owned(), -1)].into());
    let mut sides = Vec::new();
    for number in 3..9 {
        let mut effects = Vec::new();
        for number in [1, number] {
            enter(&mut lobby, number, 1);
            effects.extend(seek(&mut lobby, number, 1));
        }
        let game = pairings(&effects).pop().unwrap();
        sides.push(if game.seats.south.visitor == Visitor(1) { 'S' } else { 'N' });
        lobby.finished(&game, Fate::default(), now(number));
        lobby.leave(Visitor(number), FRUITFUL, now(number).moment);
    }
    assert_eq!(sides[..3], ['N', 'N', 'N']);
}

/// `ladder.rated`: two who become of one owner meanwhile play what they have begun, and it counts no more.
#[test]
fn an_owner_who_is_named_meanwhile_ends_what_counts() {
    let owner = Some("ana".to_owned().try_into().unwrap());
    let mut lobby = empty(Openings::Balanced);
    let mut effects = Vec::new();
    for number in [1, 2] {
        enter(&mut lobby, number, 2);
        effects.extend(seek(&mut lobby, number, 2));
    }
    let first = pairings(&effects).pop().unwrap();
    let series = Challenge { rated: true, ..challenge("bot-2", 3) };
    lobby.challenge(Visitor(1), id(1), series, None, now(1)).unwrap();
    let of_series = pairings(&lobby.accept(Visitor(2), id(1), now(1)).unwrap()).pop().unwrap();
    assert!(first.rated && of_series.rated);
    for number in [1, 2] {
        lobby.give(&BotName::new(&format!("bot-{number}")).unwrap(), owner.clone());
    }
    for begun in [first, of_series] {
        let next = pairings(&lobby.finished(&begun, Fate::default(), now(2)));
        assert_eq!(next.iter().map(|game| game.rated).collect::<Vec<_>>(), [false]);
    }
}

/// `ladder.rated`: a rated challenge that stands in a pool that is unrated by now is off.
#[test]
fn a_challenge_for_what_no_longer_counts_is_off() {
    let mut lobby = empty(Openings::Start);
    for number in [1, 2] {
        enter(&mut lobby, number, 1);
    }
    let terms = Challenge { rated: true, ..challenge("bot-2", 1) };
    lobby.challenge(Visitor(1), id(1), terms, None, now(1)).unwrap();
    let mut pools = Config::default().pools;
    pools.iter_mut().for_each(|pool| pool.rated = false);
    lobby.reload(pools.into(), 64);
    let effects = lobby.accept(Visitor(2), id(1), now(1)).unwrap();
    assert!(pairings(&effects).is_empty() && effects.len() == 2, "{effects:?}");
}

/// `ladder.conduct-crashes`: a bad link during a game is no crash.
#[test]
fn who_comes_back_to_its_game_is_not_benched() {
    let mut lobby = empty(Openings::Start);
    for number in [1, 2] {
        enter(&mut lobby, number, 1);
        seek(&mut lobby, number, 1);
    }
    for second in 1..30 {
        lobby.leave(Visitor(1), Stay { lasted: Micros(1000), fruitful: false }, now(second).moment);
        enter(&mut lobby, 1, 1);
    }
    assert_eq!(lobby.take_pauses(), []);
}

/// `ladder.cap`: of a pair that would be one game too many there is one.
#[test]
fn a_pair_goes_beyond_no_cap() {
    let mut lobby = empty(Openings::Balanced);
    lobby.cap(3);
    let mut effects = Vec::new();
    for number in [1, 2] {
        enter(&mut lobby, number, 1);
        effects.extend(seek(&mut lobby, number, 0));
    }
    let mut games = 0;
    while let Some(game) = pairings(&effects).pop() {
        games += 1;
        effects = lobby.finished(&game, Fate::default(), now(games));
    }
    assert_eq!(games, 3);
}

/// `ladder.openings`: a game that runs on over a start has its opening, whose turn is not again.
#[test]
fn the_opening_of_a_game_that_runs_on_does_not_come_again() {
    let lines = ["24", "23", "14"].map(|moves| parse_moves(moves).unwrap().into());
    let opening = |runs_on: bool| {
        let mut lobby = empty(Openings::Balanced);
        let kind = Kind::Registered(None);
        let seat = |number: u64| (BotName::new(&format!("bot-{number}")).unwrap(), kind.clone());
        if runs_on {
            lobby.restore(&BySide::new(seat(1), seat(2)), Some("blitz"));
        }
        lobby.use_openings(&lines, &[]);
        let mut effects = Vec::new();
        for number in [1, 2] {
            enter(&mut lobby, number, 2);
            effects.extend(seek(&mut lobby, number, 1));
        }
        pairings(&effects).pop().unwrap().opening
    };
    assert_ne!(opening(true), opening(false));
}
