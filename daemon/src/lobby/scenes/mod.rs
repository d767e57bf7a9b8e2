//! The lobby, told as scenes: who comes, what they ask, what each reads.

mod challenges;
mod ladder;
mod sides;

use super::conduct::{FRUITFUL, Stay};
use super::machine::{Effect, Lobby, Now, Visitor};
use super::pairing::{Fate, Half, Pairing, Source};
use super::presence::{Entrant, Kind};
use crate::clock::{Micros, Moment};
use crate::config::Config;
use modiar_ladder::Rating;
use modiar_protocol::client::Challenge;
use modiar_protocol::server::Error;
use modiar_protocol::{BotName, ChallengeId, ServerMessage};
use modiar_rules::{BySide, Side, parse_moves};
use uuid::Uuid;

fn now(seconds: u64) -> Now {
    Now { moment: Moment(seconds * 1_000_000), unix_ms: 1_000_000 + seconds * 1000 }
}

/// A game that does not count.
const ABORTED: Fate = Fate { absent: None, flagged: None, aborted: true };
/// The end of a connection that nothing is held against.
const GONE: Stay = Stay { lasted: Micros(0), fruitful: true };

fn entrant(name: &str, kind: Kind, limit: u64) -> Entrant {
    Entrant { name: BotName::new(name).unwrap(), kind, limit, ratings: vec![Rating::default(); 3] }
}

fn guest(name: &str, limit: u64) -> Entrant {
    entrant(name, Kind::Guest, limit)
}

fn registered(name: &str, limit: u64) -> Entrant {
    entrant(name, Kind::Registered(None), limit)
}

/// A lobby with the default pools and bots `bot-1`, `bot-2`, … on connections 1, 2, …, each playing `games` at once.
fn lobby(bots: u64, games: u64) -> Lobby {
    let mut lobby = Lobby::new(Config::default().pools.into(), 64, 1);
    for number in 1..=bots {
        lobby.enter(Visitor(number), guest(&format!("bot-{number}"), games));
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
    let mut done = told(&lobby.finished(pairing, Fate::default(), now(1)));
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
    let next = told(&lobby.finished(&first, Fate::default(), now(1)));
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
        effects = lobby.finished(&pairing, Fate::default(), now(1));
    }
}

/// `session.seek-count`: an aborted game does not count, its opponent plays next.
/// `forfeit.opponent`, `forfeit.penalty`: who stayed away pauses.
#[test]
fn a_no_show_pauses_and_its_opponent_is_first() {
    let mut lobby = lobby(4, 1);
    seek(&mut lobby, 1, 1);
    let pairing = pairings(&seek(&mut lobby, 2, 1)).remove(0);
    let effects = lobby.finished(&pairing, Fate { absent: Some(Side::South), ..ABORTED }, now(5));
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
    lobby.finished(&pairing, Fate { absent: Some(Side::South), ..ABORTED }, now(0));
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
            lobby.enter(visitor, registered(name.as_str(), 2));
        }
        seek(&mut lobby, 1, 2);
        let games = pairings(&seek(&mut lobby, 2, 2));
        let absent = games[0].seats.south.clone();
        lobby.finished(&games[0], Fate { absent: Some(Side::South), ..ABORTED }, now(5));
        let running = in_a_game.then(|| {
            lobby.challenge(Visitor(1), id(1), challenge("bot-2", 1), None, now(6)).unwrap();
            pairings(&lobby.accept(Visitor(2), id(1), now(0)).unwrap()).remove(0)
        });
        lobby.leave(absent.visitor, GONE, Moment(0));
        assert!(lobby.is_taken(&absent.bot), "what it did is remembered");
        lobby.disown(&absent.bot);
        assert_eq!(lobby.is_taken(&absent.bot), in_a_game);
        if let Some(running) = running {
            lobby.finished(&running, Fate::default(), now(7));
        }
        assert!(!lobby.is_taken(&absent.bot));
        lobby.enter(Visitor(3), registered(absent.bot.as_str(), 1));
        let sought = lobby.seek(Visitor(3), "blitz", 1, None, now(8)).unwrap();
        assert!(told(&sought)[0].starts_with("3 reads seeking"), "{sought:?}");
    }
}

/// A lobby whose pool has openings, its two bots seeking so many games each, and the first of those.
fn pair(first: u64, second: u64) -> (Lobby, Pairing) {
    let mut lobby = lobby(3, 1);
    lobby.use_openings(&["24", "03"].map(|moves| parse_moves(moves).unwrap().into()), &[]);
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
    let second = pairings(&lobby.finished(&first, Fate::default(), now(1))).remove(0);
    assert_eq!((second.source, &second.opening), (Source::Seeks(Half::Second), &first.opening));
    assert_eq!((&second.seats.south, &second.seats.north), (&first.seats.north, &first.seats.south));
    // One game is left to the first bot: a game alone. Who waited longest has it.
    let third = pairings(&lobby.finished(&second, Fate::default(), now(2))).remove(0);
    assert!(told(&[Effect::Start(third.clone())])[0].contains("bot-3"));
    assert_ne!(third.opening.len(), 0);
}

/// `session.pairs`: a seek that has one game left, or a pool without openings, makes single games.
#[test]
fn a_single_game_is_made_where_two_are_too_many() {
    let (mut lobby, only) = pair(1, 0);
    assert_eq!(only.source, Source::Seeks(Half::Single));
    assert_eq!(told(&lobby.finished(&only, Fate::default(), now(1))), ["1 reads seek_ended done"]);
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
        let mut effects = lobby.finished(&first, Fate::default(), now(1));
        effects.extend(seek(&mut lobby, 3, 0));
        effects.retain(|effect| matches!(effect, Effect::Start(_)));
        told(&effects)
    };
    assert_eq!(next(|_| ()), ["bot-1 - bot-2"]);
    assert_eq!(next(|lobby| drop(lobby.leave(Visitor(2), GONE, Moment(0)))), ["bot-1 - bot-3"]);
    assert_eq!(next(|lobby| drop(lobby.unseek(Visitor(1), None, None))), ["bot-2 - bot-3"]);
    // An aborted first game is made up for, by a pair.
    let (mut lobby, first) = pair(2, 2);
    let again = pairings(&lobby.finished(&first, ABORTED, now(1))).remove(0);
    assert_eq!(again.source, Source::Seeks(Half::First));
    assert_ne!(again.opening, first.opening);
    let second = pairings(&lobby.finished(&again, Fate::default(), now(2))).remove(0);
    let done = told(&lobby.finished(&second, Fate::default(), now(3)));
    assert_eq!(done, ["1 reads seek_ended done", "2 reads seek_ended done"].map(str::to_owned));
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
    assert!(pairings(&lobby.finished(&pairing, Fate::default(), now(0))).is_empty());
}

/// `session.connection-scope`: seeks end with their connection.
#[test]
fn a_seek_leaves_with_its_bot() {
    let mut lobby = lobby(2, 1);
    seek(&mut lobby, 1, 0);
    lobby.leave(Visitor(1), GONE, Moment(0));
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
    assert_eq!(told(&lobby.finished(&first, Fate::default(), now(1))), ["2 reads seek_ended done"]);
    let mut ends = told(&lobby.finished(&second, Fate::default(), now(2)));
    ends.sort_unstable();
    assert_eq!(ends, ["1 reads seek_ended done", "3 reads seek_ended done"]);
}

/// While the server starts no games a challenge ends like one between busy bots, and a seek waits
/// (`session.challenge-unavailable`).
#[test]
fn while_it_is_held_no_game_starts() {
    let mut lobby = lobby(4, 1);
    assert!(lobby.hold(true, now(0)).is_empty());
    seek(&mut lobby, 1, 1);
    assert_eq!(
        told(&seek(&mut lobby, 2, 1)),
        ["2 reads seeking the server starts no games at present: it is overloaded, or its disk is full"]
    );
    lobby.challenge(Visitor(3), id(1), challenge("bot-4", 1), None, now(0)).unwrap();
    let effects = lobby.accept(Visitor(4), id(1), now(0)).unwrap();
    assert_eq!(told(&effects), ["3 reads challenge_ended unavailable", "4 reads challenge_ended unavailable"]);
    assert_eq!(told(&lobby.hold(false, now(0))), ["bot-1 - bot-2"]);
}

/// `forfeit.penalty`: a pause takes the seeks of a bot that stayed away, also on the connection it is on by now.
#[test]
fn a_pause_finds_a_bot_on_its_new_connection() {
    let mut lobby = lobby(2, 2);
    seek(&mut lobby, 1, 1);
    let pairing = pairings(&seek(&mut lobby, 2, 1)).remove(0);
    let absent = if pairing.seats.south.visitor == Visitor(1) { Side::South } else { Side::North };
    lobby.leave(Visitor(1), GONE, Moment(0));
    lobby.enter(Visitor(7), guest("bot-1", 2));
    seek(&mut lobby, 7, 1);
    let effects = lobby.finished(&pairing, Fate { absent: Some(absent), ..ABORTED }, now(5));
    assert!(told(&effects).contains(&"7 reads seek_ended penalised".to_owned()), "{effects:?}");
}
