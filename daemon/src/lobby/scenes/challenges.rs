//! Challenges: who asks, who answers, and what becomes of a series.

use super::*;
use modiar_protocol::limits::CHALLENGES;
use std::time::{Duration, Instant};

/// `session.challenge`, `session.series`: sides alternate over a series.
#[test]
fn a_challenge_is_played_as_a_series() {
    let mut lobby = lobby(2, 1);
    let sent = lobby.challenge(Visitor(1), id(1), challenge("bot-2", 3), None, now(0)).unwrap();
    assert_eq!(told(&sent), ["1 reads challenge_sent", "2 reads challenged"]);
    let mut effects = lobby.accept(Visitor(2), id(1), now(0)).unwrap();
    let mut souths = Vec::new();
    while let Some(pairing) = pairings(&effects).pop() {
        souths.push(pairing.seats.south.bot.to_string());
        effects = lobby.finished(&pairing, Fate::default(), now(1));
    }
    assert_eq!(souths, ["bot-1", "bot-2", "bot-1"]);
}

/// The first game of a series of three between the two bots of a lobby.
fn series(lobby: &mut Lobby) -> Pairing {
    lobby.challenge(Visitor(1), id(1), challenge("bot-2", 3), None, now(0)).unwrap();
    pairings(&lobby.accept(Visitor(2), id(1), now(0)).unwrap()).remove(0)
}

/// `session.series-gone`: the rest of a series is dropped when a side is gone, and the other is told.
#[test]
fn a_series_ends_with_its_bots() {
    let mut lobby = lobby(2, 1);
    let pairing = series(&mut lobby);
    lobby.leave(Visitor(1), GONE, Moment(0));
    assert!(lobby.is_taken(&pairing.seats.south.bot), "its game runs (session.guest-name-held)");
    let effects = lobby.finished(&pairing, Fate::default(), now(1));
    assert_eq!(told(&effects), ["2 reads challenge_ended unavailable"]);
    assert!(!lobby.is_taken(&pairing.seats.south.bot), "its name is free again");
}

/// `session.series-gone`: a series that cannot go on ends in words, to both sides.
#[test]
fn a_series_does_not_end_in_silence() {
    let both = |reason: &str| [2, 1].map(|number| format!("{number} reads challenge_ended {reason}"));
    let ends = |spoil: fn(&mut Lobby)| {
        let mut lobby = lobby(2, 1);
        let pairing = series(&mut lobby);
        spoil(&mut lobby);
        told(&lobby.finished(&pairing, Fate::default(), now(1)))
    };
    assert_eq!(ends(|lobby| drop(lobby.hold(true, now(0)))), both("unavailable"));
    assert_eq!(ends(|lobby| drop(lobby.drain())), both("draining"));
    // A game that could not start, be it the last one.
    for games in [1, 3] {
        let mut lobby = lobby(2, 1);
        lobby.challenge(Visitor(1), id(1), challenge("bot-2", games), None, now(0)).unwrap();
        let pairing = pairings(&lobby.accept(Visitor(2), id(1), now(0)).unwrap()).remove(0);
        assert_eq!(told(&lobby.fell_through(pairing, now(0))), both("unavailable"));
    }
}

/// `session.challenge-first`, `session.challenge-cancelled`, `session.challenge-expiry`, `session.decline`.
#[test]
fn the_first_answer_to_a_challenge_counts() {
    let mut lobby = lobby(3, 1);
    let sent = |lobby: &mut Lobby, number, at| {
        lobby.challenge(Visitor(1), id(number), challenge("bot-2", 1), None, now(at)).unwrap();
    };
    sent(&mut lobby, 1, 0);
    assert_eq!(code(lobby.accept(Visitor(3), id(1), now(0))), "unknown_challenge", "not its own");
    assert_eq!(code(lobby.accept(Visitor(1), id(1), now(0))), "unknown_challenge", "nobody accepts its own");
    let taken_back = lobby.decline(Visitor(1), id(1), None, now(0)).unwrap();
    assert_eq!(told(&taken_back), ["1 reads challenge_ended cancelled", "2 reads challenge_ended cancelled"]);
    sent(&mut lobby, 2, 0);
    let declined = lobby.decline(Visitor(2), id(2), None, now(0)).unwrap();
    assert_eq!(told(&declined), ["2 reads challenge_ended declined", "1 reads challenge_ended declined"]);
    assert_eq!(code(lobby.accept(Visitor(2), id(2), now(0))), "unknown_challenge");
    sent(&mut lobby, 3, 30);
    assert!(lobby.lapse(Moment(89_999_999)).is_empty());
    assert_eq!(
        told(&lobby.lapse(Moment(90_000_000))),
        ["1 reads challenge_ended expired", "2 reads challenge_ended expired"]
    );
    sent(&mut lobby, 4, 120);
    assert_eq!(told(&lobby.leave(Visitor(2), GONE, Moment(0))), ["1 reads challenge_ended cancelled"]);
}

/// `session.challenge-again`: who has said no three times is left alone for 30 s; others may be asked.
#[test]
fn a_bot_that_said_no_is_left_alone_for_a_while() {
    let mut lobby = lobby(3, 1);
    let ask = |lobby: &mut Lobby, number, opponent, at| {
        code(lobby.challenge(Visitor(1), id(number), challenge(opponent, 1), None, now(at)))
    };
    for number in 1..=3 {
        assert_eq!(ask(&mut lobby, number, "bot-2", 0), "accepted");
        lobby.decline(Visitor(2), id(number), None, now(1)).unwrap();
    }
    assert_eq!(ask(&mut lobby, 4, "BOT-2", 30), "rate_limited");
    assert_eq!(ask(&mut lobby, 5, "bot-3", 30), "accepted");
    assert_eq!(code(lobby.challenge(Visitor(2), id(6), challenge("bot-1", 1), None, now(30))), "accepted");
    assert_eq!(ask(&mut lobby, 7, "bot-2", 31), "accepted");
    // What was long ago counts no longer.
    lobby.decline(Visitor(2), id(7), None, now(32)).unwrap();
    assert_eq!(ask(&mut lobby, 8, "bot-2", 33), "accepted");
}

/// `session.challenge-unavailable`: at the limit of games when accepted, both read so.
#[test]
fn a_busy_bot_cannot_take_a_challenge_up() {
    let mut lobby = lobby(3, 1);
    lobby.challenge(Visitor(3), id(1), challenge("bot-2", 1), None, now(0)).unwrap();
    seek(&mut lobby, 1, 1);
    seek(&mut lobby, 2, 1);
    let effects = lobby.accept(Visitor(2), id(1), now(0)).unwrap();
    assert_eq!(told(&effects), ["3 reads challenge_ended unavailable", "2 reads challenge_ended unavailable"]);
}

/// `limits.open-challenges`: the bound, and one past it.
#[test]
fn challenges_have_a_bound() {
    let mut lobby = lobby(2, 1);
    for number in 0..64 {
        assert!(lobby.challenge(Visitor(1), id(number), challenge("bot-2", 1), None, now(0)).is_ok());
    }
    assert_eq!(code(lobby.challenge(Visitor(1), id(64), challenge("bot-2", 1), None, now(0))), "games_limit");
    assert_eq!(code(lobby.challenge(Visitor(2), id(65), challenge("bot-1", 1), None, now(0))), "games_limit");
}

/// The time a bot takes for its last challenges and for leaving, where so many bots each have almost as many as they may.
fn time_to_challenge(bots: u64) -> Duration {
    const MORE: u64 = 4;
    let mut lobby = lobby(bots, 1);
    let mut made = 0;
    let mut challenge_next = |lobby: &mut Lobby, from: u64, step: u64| {
        made += 1;
        let opponent = format!("bot-{}", (from + step) % bots + 1);
        lobby.challenge(Visitor(from), id(made), challenge(&opponent, 1), None, now(0)).unwrap();
        lobby.next_lapse()
    };
    for from in 1..=bots {
        for step in 1..=(CHALLENGES as u64 / 2 - MORE) {
            challenge_next(&mut lobby, from, step);
        }
    }
    let begun = Instant::now();
    for from in 1..=bots {
        for step in 1..=MORE {
            challenge_next(&mut lobby, from, step);
        }
    }
    for from in 1..=bots {
        lobby.leave(Visitor(from), GONE, Moment(0));
    }
    assert_eq!(lobby.next_lapse(), None);
    begun.elapsed() / u32::try_from(bots).unwrap()
}

/// A thousand bots within all limits kept every other hello waiting for seconds: each challenge looked through all.
#[test]
fn a_challenge_costs_no_more_where_many_stand() {
    let least = |bots| (0..3).map(|_| time_to_challenge(bots)).min().unwrap();
    let (few, many) = (least(50), least(1000));
    assert!(many < few * 6, "a bot's challenges took {many:?} among 1000 bots, {few:?} among 50");
}

/// `session.challenge-refused`, `session.unknown-bot`, `session.unknown-pool`.
#[test]
fn what_cannot_be_asked_is_refused() {
    let mut lobby = lobby(2, 1);
    let ask = |lobby: &mut Lobby, terms| code(lobby.challenge(Visitor(1), id(1), terms, None, now(0)));
    assert_eq!(ask(&mut lobby, challenge("bot-9", 1)), "unknown_bot");
    assert_eq!(ask(&mut lobby, challenge("<no name>", 1)), "unknown_bot");
    assert_eq!(ask(&mut lobby, Challenge { rated: true, ..challenge("bot-2", 1) }), "bad_field");
    assert_eq!(ask(&mut lobby, Challenge { pool: "chess".into(), ..challenge("bot-2", 1) }), "unknown_pool");
    assert_eq!(code(lobby.seek(Visitor(1), "chess", 1, None, now(0))), "unknown_pool");
    assert_eq!(code(lobby.unseek(Visitor(1), Some("chess"), None)), "unknown_pool");
}
