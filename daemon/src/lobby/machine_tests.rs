//! The lobby, told as scenes: who comes, what they ask, what each reads.

use super::machine::{Effect, Lobby, Now, Visitor};
use super::pairing::{Half, Pairing, Source};
use crate::clock::Moment;
use crate::config::Config;
use modiar_protocol::client::Challenge;
use modiar_protocol::limits::CHALLENGES;
use modiar_protocol::server::Error;
use modiar_protocol::{BotName, ChallengeId, ServerMessage};
use modiar_rules::{BySide, Side, parse_moves};
use std::time::{Duration, Instant};
use uuid::Uuid;

fn now(seconds: u64) -> Now {
    Now { moment: Moment(seconds * 1_000_000), unix_ms: 1_000_000 + seconds * 1000 }
}

/// A lobby with the default pools and bots `bot-1`, `bot-2`, … on connections 1, 2, …, each playing `games` at once.
fn lobby(bots: u64, games: u64) -> Lobby {
    let mut lobby = Lobby::new(Config::default().pools.into(), 64, 1);
    for number in 1..=bots {
        lobby.enter(Visitor(number), BotName::new(&format!("bot-{number}")).unwrap(), true, None, games);
    }
    lobby
}

fn seek(lobby: &mut Lobby, number: u64, games: u64) -> Vec<Effect> {
    lobby.seek(Visitor(number), "blitz", games, None, now(0)).unwrap()
}

/// The effects as short texts: who reads what, and who starts to play.
fn told(effects: &[Effect]) -> Vec<String> {
    let text = |effect: &Effect| match effect {
        Effect::Tell(Visitor(number), message) => {
            let json = serde_json::to_value(message).unwrap();
            let word = json["reason"].as_str().or(json["code"].as_str()).unwrap_or("");
            format!("{number} reads {} {word}", json["type"].as_str().unwrap()).trim_end().to_owned()
        }
        Effect::Start(pairing) => {
            let mut bots = [pairing.seats.south.bot.as_str(), pairing.seats.north.bot.as_str()];
            bots.sort_unstable();
            format!("{} - {}", bots[0], bots[1])
        }
    };
    effects.iter().map(text).collect()
}

fn pairings(effects: &[Effect]) -> Vec<Pairing> {
    let pairing = |effect: &Effect| match effect {
        Effect::Start(pairing) => Some(pairing.clone()),
        Effect::Tell(..) => None,
    };
    effects.iter().filter_map(pairing).collect()
}

fn code<T>(refused: Result<T, Box<Error>>) -> &'static str {
    refused.err().map_or("accepted", |error| error.code.as_str())
}

fn challenge(opponent: &str, games: u64) -> Challenge {
    Challenge { opponent: opponent.into(), pool: "blitz".into(), side: Some(Side::South), rated: false, games }
}

fn id(number: u128) -> ChallengeId {
    ChallengeId::new(Uuid::from_u128(number))
}

/// `session.seek`, `session.seek-done`, `session.guest-unrated`.
#[test]
fn two_seekers_play_and_are_done() {
    let mut lobby = lobby(2, 1);
    assert_eq!(told(&seek(&mut lobby, 1, 1)), ["1 reads seeking waiting for an opponent"]);
    let effects = seek(&mut lobby, 2, 1);
    assert_eq!(told(&effects), ["2 reads seeking", "bot-1 - bot-2"]);
    let pairing = &pairings(&effects)[0];
    assert!(!pairing.rated, "a game with a guest does not count");
    let mut done = told(&lobby.finished(pairing, None, false, now(1)));
    done.sort_unstable();
    assert_eq!(done, ["1 reads seek_ended done", "2 reads seek_ended done"]);
}

/// `session.seek-waits`: no bot is over its limit, and a freed one plays on at once.
#[test]
fn a_seek_waits_at_the_limit_of_games() {
    let mut lobby = lobby(3, 1);
    let mut seek = |number| lobby.seek(Visitor(number), "practice", 0, None, now(0)).unwrap();
    seek(1);
    let first = pairings(&seek(2)).remove(0);
    assert_eq!(told(&seek(3)), ["3 reads seeking waiting for an opponent"]);
    let next = told(&lobby.finished(&first, None, false, now(1)));
    assert_eq!(next.len(), 1, "{next:?}");
    assert!(next[0].ends_with("bot-3"), "who waited longest plays first: {next:?}");
}

/// No bot plays itself, however many seeks its games would allow.
#[test]
fn nobody_plays_itself() {
    let mut lobby = lobby(1, 8);
    assert!(pairings(&seek(&mut lobby, 1, 0)).is_empty());
    assert_eq!(code(lobby.seek(Visitor(1), "blitz", 1, None, now(0))), "already_seeking");
    assert_eq!(code(lobby.challenge(Visitor(1), id(1), challenge("BOT-1", 1), None, now(0))), "bad_field");
}

#[test]
fn sides_balance() {
    let mut lobby = lobby(2, 1);
    seek(&mut lobby, 1, 0);
    let mut effects = seek(&mut lobby, 2, 0);
    let mut souths = BySide::<u32>::default();
    for _ in 0..20 {
        let pairing = pairings(&effects).remove(0);
        if pairing.seats.south.bot.as_str() == "bot-1" {
            souths.south += 1;
        } else {
            souths.north += 1;
        }
        assert!(souths.south.abs_diff(souths.north) <= 1);
        effects = lobby.finished(&pairing, None, false, now(1));
    }
}

/// `session.seek-count`: an aborted game does not count, its opponent plays next.
/// `forfeit.opponent`, `forfeit.penalty`: who stayed away pauses.
#[test]
fn a_no_show_pauses_and_its_opponent_is_first() {
    let mut lobby = lobby(4, 1);
    seek(&mut lobby, 1, 1);
    let pairing = pairings(&seek(&mut lobby, 2, 1)).remove(0);
    let effects = lobby.finished(&pairing, Some(Side::South), true, now(5));
    let absent = pairing.seats.south.visitor.0;
    assert_eq!(told(&effects), [format!("{absent} reads seek_ended penalised")]);
    let Effect::Tell(_, ServerMessage::SeekEnded { until_ms, .. }) = &effects[0] else { panic!("{effects:?}") };
    assert_eq!(*until_ms, Some(now(15).unix_ms));
    seek(&mut lobby, 3, 1);
    let next = lobby.seek(Visitor(absent), "blitz", 1, None, now(14)).unwrap();
    assert_eq!(told(&next), [format!("{absent} reads seek_ended penalised")]);
    let again = lobby.seek(Visitor(absent), "blitz", 1, None, now(15)).unwrap();
    assert_eq!(told(&again), [format!("{absent} reads seeking waiting for an opponent")], "the others play already");
    seek(&mut lobby, 4, 1);
}

/// `forfeit.second`: within its last twenty games a bot must show.
#[test]
fn a_second_no_show_is_a_forfeit() {
    let mut lobby = lobby(2, 1);
    seek(&mut lobby, 1, 0);
    let pairing = pairings(&seek(&mut lobby, 2, 0)).remove(0);
    assert_eq!(pairing.must_show, BySide::new(false, false));
    lobby.finished(&pairing, Some(Side::South), true, now(0));
    let again = pairings(&lobby.seek(pairing.seats.south.visitor, "blitz", 0, None, now(60)).unwrap()).remove(0);
    let absent = &pairing.seats.south.bot;
    for side in Side::ALL {
        assert_eq!(again.must_show[side], again.seats[side].bot == *absent);
    }
}

/// `forfeit.forgotten`: once a bot is removed its name is free as soon as no game of it runs, and the next bot of that name
/// begins anew.
#[test]
fn a_removed_bot_leaves_nothing_held_against_its_name() {
    for in_a_game in [false, true] {
        let mut lobby = Lobby::new(Config::default().pools.into(), 64, 1);
        let names = [1, 2].map(|number| BotName::new(&format!("bot-{number}")).unwrap());
        for (visitor, name) in (1..).map(Visitor).zip(&names) {
            lobby.enter(visitor, name.clone(), false, None, 2);
        }
        seek(&mut lobby, 1, 2);
        let games = pairings(&seek(&mut lobby, 2, 2));
        let absent = games[0].seats.south.clone();
        lobby.finished(&games[0], Some(Side::South), true, now(5));
        let running = in_a_game.then(|| {
            lobby.challenge(Visitor(1), id(1), challenge("bot-2", 1), None, now(6)).unwrap();
            pairings(&lobby.accept(Visitor(2), id(1)).unwrap()).remove(0)
        });
        lobby.leave(absent.visitor);
        assert!(lobby.is_taken(&absent.bot), "what it did is remembered");
        lobby.disown(&absent.bot);
        assert_eq!(lobby.is_taken(&absent.bot), in_a_game);
        if let Some(running) = running {
            lobby.finished(&running, None, false, now(7));
        }
        assert!(!lobby.is_taken(&absent.bot));
        lobby.enter(Visitor(3), absent.bot, false, None, 1);
        let sought = lobby.seek(Visitor(3), "blitz", 1, None, now(8)).unwrap();
        assert!(told(&sought)[0].starts_with("3 reads seeking"), "{sought:?}");
    }
}

/// `session.challenge`, `session.series`: sides alternate over a series.
#[test]
fn a_challenge_is_played_as_a_series() {
    let mut lobby = lobby(2, 1);
    let sent = lobby.challenge(Visitor(1), id(1), challenge("bot-2", 3), None, now(0)).unwrap();
    assert_eq!(told(&sent), ["1 reads challenge_sent", "2 reads challenged"]);
    let mut effects = lobby.accept(Visitor(2), id(1)).unwrap();
    let mut souths = Vec::new();
    while let Some(pairing) = pairings(&effects).pop() {
        souths.push(pairing.seats.south.bot.to_string());
        effects = lobby.finished(&pairing, None, false, now(1));
    }
    assert_eq!(souths, ["bot-1", "bot-2", "bot-1"]);
}

/// The first game of a series of three between the two bots of a lobby.
fn series(lobby: &mut Lobby) -> Pairing {
    lobby.challenge(Visitor(1), id(1), challenge("bot-2", 3), None, now(0)).unwrap();
    pairings(&lobby.accept(Visitor(2), id(1)).unwrap()).remove(0)
}

/// A lobby whose pool has openings, its two bots seeking so many games each, and the first of those.
fn pair(first: u64, second: u64) -> (Lobby, Pairing) {
    let mut lobby = lobby(3, 1);
    lobby.use_openings(&["24", "03"].map(|moves| parse_moves(moves).unwrap().into()));
    seek(&mut lobby, 1, first);
    let pairing = pairings(&seek(&mut lobby, 2, second)).remove(0);
    (lobby, pairing)
}

/// `session.pairs`, `session.seek-count`: two games, one opening, sides swapped, whoever waits meanwhile; then the next.
#[test]
fn two_bots_play_an_opening_from_both_sides() {
    let (mut lobby, first) = pair(3, 0);
    seek(&mut lobby, 3, 0);
    assert_eq!((first.source, first.opening.len()), (Source::Seeks(Half::First), 2));
    let second = pairings(&lobby.finished(&first, None, false, now(1))).remove(0);
    assert_eq!((second.source, &second.opening), (Source::Seeks(Half::Second), &first.opening));
    assert_eq!((&second.seats.south, &second.seats.north), (&first.seats.north, &first.seats.south));
    // One game is left to the first bot: a game alone. Who waited longest has it.
    let third = pairings(&lobby.finished(&second, None, false, now(2))).remove(0);
    assert!(told(&[Effect::Start(third.clone())])[0].contains("bot-3"));
    assert_ne!(third.opening.len(), 0);
}

/// `session.pairs`: a seek that has one game left, or a pool without openings, makes single games.
#[test]
fn a_single_game_is_made_where_two_are_too_many() {
    let (mut lobby, only) = pair(1, 0);
    assert_eq!(only.source, Source::Seeks(Half::Single));
    assert_eq!(told(&lobby.finished(&only, None, false, now(1))), ["1 reads seek_ended done"]);
    let mut lobby = self::lobby(2, 1);
    lobby.seek(Visitor(1), "practice", 0, None, now(0)).unwrap();
    let pairing = pairings(&lobby.seek(Visitor(2), "practice", 0, None, now(0)).unwrap()).remove(0);
    assert_eq!((pairing.source, pairing.opening.len()), (Source::Seeks(Half::Single), 0));
}

/// The room that was kept for a second game is free again where there is none.
#[test]
fn a_pair_that_is_broken_off_counts_one_game() {
    let next = |spoil: fn(&mut Lobby)| {
        let (mut lobby, first) = pair(2, 2);
        spoil(&mut lobby);
        let mut effects = lobby.finished(&first, None, false, now(1));
        effects.extend(seek(&mut lobby, 3, 0));
        effects.retain(|effect| matches!(effect, Effect::Start(_)));
        told(&effects)
    };
    assert_eq!(next(|_| ()), ["bot-1 - bot-2"]);
    assert_eq!(next(|lobby| drop(lobby.leave(Visitor(2)))), ["bot-1 - bot-3"]);
    assert_eq!(next(|lobby| drop(lobby.unseek(Visitor(1), None, None))), ["bot-2 - bot-3"]);
    // An aborted first game is made up for, by a pair.
    let (mut lobby, first) = pair(2, 2);
    let again = pairings(&lobby.finished(&first, None, true, now(1))).remove(0);
    assert_eq!(again.source, Source::Seeks(Half::First));
    assert_ne!(again.opening, first.opening);
    let second = pairings(&lobby.finished(&again, None, false, now(2))).remove(0);
    let done = told(&lobby.finished(&second, None, false, now(3)));
    assert_eq!(done, ["1 reads seek_ended done", "2 reads seek_ended done"].map(str::to_owned));
}

/// `session.series-gone`: the rest of a series is dropped when a side is gone, and the other is told.
#[test]
fn a_series_ends_with_its_bots() {
    let mut lobby = lobby(2, 1);
    let pairing = series(&mut lobby);
    lobby.leave(Visitor(1));
    assert!(lobby.is_taken(&pairing.seats.south.bot), "its game runs (session.guest-name-held)");
    let effects = lobby.finished(&pairing, None, false, now(1));
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
        told(&lobby.finished(&pairing, None, false, now(1)))
    };
    assert_eq!(ends(|lobby| drop(lobby.hold(true))), both("unavailable"));
    assert_eq!(ends(|lobby| drop(lobby.drain())), both("draining"));
    // A game that could not start, be it the last one.
    for games in [1, 3] {
        let mut lobby = lobby(2, 1);
        lobby.challenge(Visitor(1), id(1), challenge("bot-2", games), None, now(0)).unwrap();
        let pairing = pairings(&lobby.accept(Visitor(2), id(1)).unwrap()).remove(0);
        assert_eq!(told(&lobby.fell_through(pairing, now(0))), both("unavailable"));
    }
}

/// `session.challenge-first`, `session.challenge-cancelled`, `session.challenge-expiry`, `session.decline`.
#[test]
fn the_first_answer_to_a_challenge_counts() {
    let mut lobby = lobby(3, 1);
    let sent = |lobby: &mut Lobby, number| {
        lobby.challenge(Visitor(1), id(number), challenge("bot-2", 1), None, now(0)).unwrap();
    };
    sent(&mut lobby, 1);
    assert_eq!(code(lobby.accept(Visitor(3), id(1))), "unknown_challenge", "not its own");
    assert_eq!(code(lobby.accept(Visitor(1), id(1))), "unknown_challenge", "nobody accepts its own");
    let declined = lobby.decline(Visitor(2), id(1), None).unwrap();
    assert_eq!(told(&declined), ["2 reads challenge_ended declined", "1 reads challenge_ended declined"]);
    assert_eq!(code(lobby.accept(Visitor(2), id(1))), "unknown_challenge");
    sent(&mut lobby, 2);
    let taken_back = lobby.decline(Visitor(1), id(2), None).unwrap();
    assert_eq!(told(&taken_back), ["1 reads challenge_ended cancelled", "2 reads challenge_ended cancelled"]);
    sent(&mut lobby, 3);
    assert!(lobby.lapse(Moment(59_999_999)).is_empty());
    assert_eq!(
        told(&lobby.lapse(Moment(60_000_000))),
        ["1 reads challenge_ended expired", "2 reads challenge_ended expired"]
    );
    sent(&mut lobby, 4);
    assert_eq!(told(&lobby.leave(Visitor(2))), ["1 reads challenge_ended cancelled"]);
}

/// `session.challenge-unavailable`: at the limit of games when accepted, both read so.
#[test]
fn a_busy_bot_cannot_take_a_challenge_up() {
    let mut lobby = lobby(3, 1);
    lobby.challenge(Visitor(3), id(1), challenge("bot-2", 1), None, now(0)).unwrap();
    seek(&mut lobby, 1, 1);
    seek(&mut lobby, 2, 1);
    let effects = lobby.accept(Visitor(2), id(1)).unwrap();
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
        lobby.leave(Visitor(from));
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

/// `session.unseek`, `session.unseek-all`.
#[test]
fn an_unseek_is_answered_also_where_nothing_was_sought() {
    let mut lobby = lobby(1, 1);
    assert_eq!(told(&lobby.unseek(Visitor(1), None, None).unwrap()), ["1 reads seek_ended cancelled"]);
    seek(&mut lobby, 1, 0);
    lobby.seek(Visitor(1), "bullet", 0, None, now(0)).unwrap();
    assert_eq!(lobby.unseek(Visitor(1), None, None).unwrap().len(), 2);
    assert_eq!(seek(&mut lobby, 1, 0).len(), 1, "it may seek again");
}

/// `session.drain`: no new games, seeks and challenges end, a series stops.
#[test]
fn a_draining_lobby_starts_nothing() {
    let mut lobby = lobby(4, 2);
    seek(&mut lobby, 1, 0);
    let pairing = pairings(&seek(&mut lobby, 2, 0)).remove(0);
    lobby.challenge(Visitor(3), id(1), challenge("bot-4", 1), None, now(0)).unwrap();
    let mut read = told(&lobby.drain());
    read.sort_unstable();
    let ended = [
        "1 reads seek_ended draining",
        "2 reads seek_ended draining",
        "3 reads challenge_ended draining",
        "4 reads challenge_ended draining",
    ];
    assert_eq!(read, ended);
    assert_eq!(code(lobby.seek(Visitor(1), "blitz", 1, None, now(0))), "draining");
    assert_eq!(code(lobby.challenge(Visitor(3), id(2), challenge("bot-4", 1), None, now(0))), "draining");
    assert!(pairings(&lobby.finished(&pairing, None, false, now(0))).is_empty());
}

/// `session.connection-scope`: seeks end with their connection.
#[test]
fn a_seek_leaves_with_its_bot() {
    let mut lobby = lobby(2, 1);
    seek(&mut lobby, 1, 0);
    lobby.leave(Visitor(1));
    assert!(pairings(&seek(&mut lobby, 2, 1)).is_empty());
}

/// `session.seek-done`: the game of a seek that was taken back is none of the next seek's.
#[test]
fn a_seek_is_not_done_by_a_game_of_the_one_before() {
    let mut lobby = lobby(3, 2);
    seek(&mut lobby, 1, 1);
    let first = pairings(&seek(&mut lobby, 2, 1)).remove(0);
    lobby.unseek(Visitor(1), None, None).unwrap();
    seek(&mut lobby, 1, 1);
    let second = pairings(&seek(&mut lobby, 3, 1)).remove(0);
    assert_eq!(told(&lobby.finished(&first, None, false, now(1))), ["2 reads seek_ended done"]);
    let mut ends = told(&lobby.finished(&second, None, false, now(2)));
    ends.sort_unstable();
    assert_eq!(ends, ["1 reads seek_ended done", "3 reads seek_ended done"]);
}

/// While the server starts no games a challenge ends like one between busy bots, and a seek waits
/// (`session.challenge-unavailable`).
#[test]
fn while_it_is_held_no_game_starts() {
    let mut lobby = lobby(4, 1);
    assert!(lobby.hold(true).is_empty());
    seek(&mut lobby, 1, 1);
    assert_eq!(
        told(&seek(&mut lobby, 2, 1)),
        ["2 reads seeking the server starts no games at present: it is overloaded, or its disk is full"]
    );
    lobby.challenge(Visitor(3), id(1), challenge("bot-4", 1), None, now(0)).unwrap();
    let effects = lobby.accept(Visitor(4), id(1)).unwrap();
    assert_eq!(told(&effects), ["3 reads challenge_ended unavailable", "4 reads challenge_ended unavailable"]);
    assert_eq!(told(&lobby.hold(false)), ["bot-1 - bot-2"]);
}

/// `forfeit.penalty`: a pause takes the seeks of a bot that stayed away, also on the connection it is on by now.
#[test]
fn a_pause_finds_a_bot_on_its_new_connection() {
    let mut lobby = lobby(2, 2);
    seek(&mut lobby, 1, 1);
    let pairing = pairings(&seek(&mut lobby, 2, 1)).remove(0);
    let absent = if pairing.seats.south.visitor == Visitor(1) { Side::South } else { Side::North };
    lobby.leave(Visitor(1));
    lobby.enter(Visitor(7), BotName::new("bot-1").unwrap(), true, None, 2);
    seek(&mut lobby, 7, 1);
    let effects = lobby.finished(&pairing, Some(absent), true, now(5));
    assert!(told(&effects).contains(&"7 reads seek_ended penalised".to_owned()), "{effects:?}");
}
