//! The ladder: who is paired with whom, who waits for what, and who has to pause.

use super::*;
use crate::lobby::balance::LEANING;
use modiar_protocol::server::Openings;
use std::collections::{BTreeMap, BTreeSet};

fn tick(seconds: u64) -> Now {
    now(seconds)
}

/// A bot of a rating that is well known, on connection `number`, which seeks in blitz without end.
fn seeker(lobby: &mut Lobby, number: u64, rating: f64, owner: Option<&str>) -> Vec<Effect> {
    let known = Rating { rating, rd: 0.0, volatility: 0.06 };
    let kind = Kind::Registered(owner.map(|owner| owner.to_owned().try_into().unwrap()));
    let entrant = Entrant { ratings: vec![known; 3], ..entrant(&format!("bot-{number}"), kind, 1) };
    lobby.enter(Visitor(number), entrant);
    seek(lobby, number, 0)
}

/// A house bot of a rating, which seeks in blitz.
fn house(lobby: &mut Lobby, number: u64, rating: f64) {
    let known = Rating { rating, rd: 30.0, volatility: 0.06 };
    let entrant = Entrant { ratings: vec![known; 3], ..entrant(&format!("house-{number}"), Kind::House, 9) };
    lobby.enter(Visitor(number), entrant);
    assert!(pairings(&seek(lobby, number, 0)).is_empty());
}

/// Nobody is here, and games are single ones.
fn empty() -> Lobby {
    let mut pools = Config::default().pools;
    pools[1].openings = Openings::Start;
    Lobby::new(pools.into(), 64, 1)
}

fn reason(effects: &[Effect]) -> String {
    let Effect::Tell(_, ServerMessage::Seeking { reason, .. }) = &effects[0] else { panic!("{effects:?}") };
    reason.clone().unwrap_or_default()
}

/// What the host is told of pauses.
fn pauses(lobby: &mut Lobby) -> Vec<String> {
    let pauses = lobby.take_pauses().into_iter();
    pauses.map(|(bot, pause, _)| format!("{bot} pauses for {} s", pause.ms() / 1000)).collect()
}

/// `ladder.pairing`, `ladder.reach`, `ladder.starvation`, `ladder.reason`: far apart they wait, and 4 s later they play.
#[test]
fn who_is_far_apart_is_paired_after_a_while() {
    let mut lobby = empty();
    assert_eq!(reason(&seeker(&mut lobby, 1, 1000.0, None)), "waiting for an opponent");
    let effects = seeker(&mut lobby, 2, 2000.0, None);
    assert_eq!(reason(&effects), "waiting for an opponent nearer to your rating, for 4 s at most");
    assert_eq!(effects.len(), 1);
    assert!(lobby.pair_waiting(tick(3)).is_empty());
    assert_eq!(told(&lobby.pair_waiting(tick(4))), ["bot-1 - bot-2"]);
    assert_eq!(lobby.take_waits(now(4).moment).2, [Micros(4_000_000); 2]);
    assert_eq!(told(&seeker(&mut lobby, 3, 1000.0, None)), ["3 reads seeking waiting for an opponent"]);
    assert_eq!(told(&seeker(&mut lobby, 4, 1080.0, None)), ["4 reads seeking", "bot-3 - bot-4"]);
}

/// `ladder.reason`: who is paired at once reads of nothing that it waits for, also where the only one here was met a moment ago.
#[test]
fn who_is_paired_at_once_waits_for_nothing() {
    let mut lobby = empty();
    seeker(&mut lobby, 1, 1500.0, None);
    let mut effects = seeker(&mut lobby, 2, 1500.0, None);
    for second in 1..10 {
        let pairing = pairings(&effects).pop().unwrap();
        lobby.unseek(Visitor(2), None, None).unwrap();
        lobby.finished(&pairing, Fate::default(), now(second));
        effects = seek(&mut lobby, 2, 0);
        if pairings(&effects).is_empty() {
            assert_eq!(reason(&effects), "waiting for an opponent that you have not met lately, for 2 s at most");
            effects = lobby.pair_waiting(now(second + 2));
        } else {
            assert_eq!(reason(&effects), "");
        }
    }
}

/// `ladder.owners`: of one owner none meet, however long they wait; a bot removed or of another owner is met.
#[test]
fn bots_of_one_owner_do_not_meet() {
    let mut lobby = empty();
    seeker(&mut lobby, 1, 1500.0, Some("ana"));
    let effects = seeker(&mut lobby, 2, 1500.0, Some("ana"));
    assert!(reason(&effects).contains("of your owner"), "{effects:?}");
    assert!(lobby.pair_waiting(tick(100)).is_empty());
    assert_eq!(pairings(&seeker(&mut lobby, 3, 1500.0, Some("ben"))).len(), 1);
}

/// `ladder.rematch`: no two twice in a row while another waits or may come.
#[test]
fn two_do_not_meet_again_while_another_may_come() {
    let mut lobby = empty();
    seeker(&mut lobby, 1, 1500.0, None);
    let first = pairings(&seeker(&mut lobby, 2, 1500.0, None)).remove(0);
    seeker(&mut lobby, 3, 1500.0, None);
    let second = pairings(&seeker(&mut lobby, 4, 1500.0, None)).remove(0);
    // Four bots of whom two play: those who are free wait for one of these.
    assert!(lobby.finished(&first, Fate::default(), now(1)).is_empty());
    let mixed = pairings(&lobby.finished(&second, Fate::default(), now(2)));
    assert_eq!(mixed.len(), 2);
    for pairing in &mixed {
        let two = [&pairing.seats.south.bot, &pairing.seats.north.bot].map(|bot| bot.as_str() < "bot-3");
        assert_ne!(two[0], two[1], "{pairing:?}");
    }
    // Nobody becomes free: after 2 s they play again.
    assert!(lobby.finished(&mixed[0], Fate::default(), now(10)).is_empty());
    assert!(lobby.pair_waiting(tick(11)).is_empty());
    assert_eq!(pairings(&lobby.pair_waiting(tick(12))).len(), 1);
}

/// `ladder.house`: the server's own play who is left over, never each other, and a bot not the same one twice.
#[test]
fn a_house_bot_sits_down_with_who_is_left_over() {
    let mut lobby = empty();
    house(&mut lobby, 11, 1400.0);
    house(&mut lobby, 12, 1600.0);
    let effects = seeker(&mut lobby, 1, 1580.0, None);
    assert_eq!(
        reason(&effects),
        "waiting for an opponent; else a house bot sits down with you after 2 s, or 5 s where others come",
        "nobody else is here"
    );
    let Effect::Tell(_, ServerMessage::Seeking { waiting: 1, .. }) = effects[0] else { panic!("{effects:?}") };
    assert!(lobby.pair_waiting(tick(1)).is_empty());
    let game = pairings(&lobby.pair_waiting(tick(2))).remove(0);
    assert!(told(&[Effect::Start(game.clone())])[0].contains("house-12"), "the nearest");
    assert!(game.rated);
    assert!(lobby.finished(&game, Fate::default(), now(3)).is_empty());
    let next = pairings(&lobby.pair_waiting(tick(5))).remove(0);
    assert!(told(&[Effect::Start(next)])[0].contains("house-11"), "another one");
    // While others play one may come, and the house waits longer.
    let effects = seeker(&mut lobby, 2, 1580.0, None);
    assert!(reason(&effects).ends_with("after 5 s"), "{effects:?}");
    assert!(lobby.pair_waiting(tick(4)).is_empty());
}

/// `ladder.cap`: two bots have so many games of a day, and then wait for others.
#[test]
fn two_bots_meet_so_often_a_day() {
    let mut lobby = empty();
    lobby.cap(2);
    seeker(&mut lobby, 1, 1500.0, None);
    let mut effects = seeker(&mut lobby, 2, 1500.0, None);
    let mut games = 0;
    while let Some(pairing) = pairings(&effects).pop() {
        games += 1;
        effects = lobby.finished(&pairing, Fate::default(), now(games));
    }
    assert_eq!(games, 2);
    assert!(lobby.pair_waiting(tick(86_399)).is_empty());
    assert_eq!(pairings(&lobby.pair_waiting(tick(86_400))).len(), 1, "a day later");
}

/// `ladder.conduct-flags`: the third loss on time of twenty games brings a pause, and the bot is told why.
#[test]
fn who_loses_on_time_too_often_pauses() {
    let mut lobby = empty();
    seeker(&mut lobby, 1, 1500.0, None);
    let mut effects = seeker(&mut lobby, 2, 1500.0, None);
    let mut flags = 0;
    while let Some(pairing) = pairings(&effects).pop() {
        let first = pairing.seats.south.visitor == Visitor(1);
        let flagged = Some(if first { Side::South } else { Side::North });
        flags += 1;
        effects = lobby.finished(&pairing, Fate { flagged, ..Fate::default() }, now(5));
    }
    assert_eq!((flags, told(&effects)), (3, vec!["1 reads seek_ended penalised".to_owned()]));
    let Effect::Tell(_, ServerMessage::SeekEnded { message, until_ms, .. }) = &effects[0] else {
        panic!("{effects:?}")
    };
    assert!(message.as_ref().is_some_and(|message| message.contains("3 or more of its last 20 games on time")));
    assert_eq!(*until_ms, Some(now(15).unix_ms));
    assert_eq!(pauses(&mut lobby), ["bot-1 pauses for 10 s"]);
}

/// `ladder.conduct-crashes`: a bot that is started again and again without playing is benched, its name remembered.
#[test]
fn who_crashes_in_a_loop_is_benched() {
    let mut lobby = empty();
    for round in 0..10 {
        assert_eq!(told(&seeker(&mut lobby, 1, 1500.0, None)), ["1 reads seeking waiting for an opponent"], "{round}");
        lobby.leave(Visitor(1), Stay { lasted: Micros(1000), fruitful: false }, now(round).moment);
    }
    let effects = seeker(&mut lobby, 1, 1500.0, None);
    assert_eq!(told(&effects), ["1 reads seek_ended penalised"]);
    assert_eq!(pauses(&mut lobby), ["bot-1 pauses for 600 s"]);
    assert_eq!(pauses(&mut lobby), [""; 0], "told once");
    let Effect::Tell(_, ServerMessage::SeekEnded { message, .. }) = &effects[0] else { panic!("{effects:?}") };
    assert!(message.as_ref().is_some_and(|message| message.contains("10 connections of the bot in a row")));
}

/// `ladder.rated`: a pool that is rated, and two who are no guests.
#[test]
fn a_game_counts_where_the_pool_does_and_nobody_is_a_guest() {
    let rated = |pool: &str, kinds: [Kind; 2]| {
        let mut lobby = empty();
        let mut effects = Vec::new();
        for (number, kind) in (1..).zip(kinds) {
            lobby.enter(Visitor(number), entrant(&format!("bot-{number}"), kind, 1));
            effects = lobby.seek(Visitor(number), pool, 1, None, now(0)).unwrap();
        }
        pairings(&effects)[0].rated
    };
    let owned = || Kind::Registered(None);
    assert!(rated("blitz", [owned(), owned()]));
    assert!(!rated("blitz", [owned(), Kind::Guest]));
    assert!(!rated("practice", [owned(), owned()]));
}

/// `session.challenge-refused`, `ladder.rated`: a rated challenge needs a rated pool and two accounts.
#[test]
fn a_challenge_counts_where_it_says_so_and_may() {
    let ask = |pool: &str, rated: bool, kinds: [Kind; 2]| {
        let mut lobby = empty();
        for (number, kind) in (1..).zip(kinds) {
            lobby.enter(Visitor(number), entrant(&format!("bot-{number}"), kind, 1));
        }
        let terms = Challenge { pool: pool.into(), rated, ..challenge("bot-2", 1) };
        lobby.challenge(Visitor(1), id(1), terms, None, now(0)).map_err(|error| error.field).ok()?;
        Some(pairings(&lobby.accept(Visitor(2), id(1), now(0)).unwrap())[0].rated)
    };
    let owned = || Kind::Registered(None);
    assert_eq!(ask("blitz", true, [owned(), owned()]), Some(true));
    assert_eq!(ask("blitz", true, [owned(), Kind::House]), Some(true));
    assert_eq!(ask("blitz", false, [owned(), owned()]), Some(false));
    assert_eq!(ask("practice", true, [owned(), owned()]), None);
    assert_eq!([ask("blitz", true, [owned(), Kind::Guest]), ask("blitz", true, [Kind::Guest, owned()])], [None, None]);
}

/// A bot is paired by the rating that its last game left it.
#[test]
fn a_rating_that_has_changed_is_paired_by() {
    let mut lobby = empty();
    seeker(&mut lobby, 1, 1000.0, None);
    seeker(&mut lobby, 2, 2000.0, None);
    lobby.rate(&BotName::new("BOT-2").unwrap(), 1, Rating { rating: 1050.0, rd: 0.0, volatility: 0.06 });
    assert_eq!(told(&lobby.pair_waiting(now(0))), ["bot-1 - bot-2"]);
}

/// What an evening of a ladder was.
#[derive(Default)]
struct Evening {
    /// Games of each bot as South less those as North: in single games, and in pairs that are complete.
    single: BTreeMap<String, i64>,
    pairs: BTreeMap<String, i64>,
    /// The side of a bot in the first game of a pair with another, as 1 or -1.
    first: BTreeMap<[String; 2], i64>,
    games: BTreeMap<String, u64>,
    /// Who met whom in a single game, as South less as North of the first by name.
    of_two: BTreeMap<[String; 2], i64>,
}

/// faults.md 21: 101 bots, of which one never starts and one never finishes, others leave and come back each second.
#[test]
fn a_hundred_and_one_bots_play_an_evening() {
    for openings in [Openings::Start, Openings::Balanced] {
        let mut pools = Config::default().pools;
        pools[1].openings = openings;
        let mut lobby = Lobby::new(pools.into(), 64, 7);
        lobby.use_openings(&["24", "03", "13"].map(|moves| parse_moves(moves).unwrap().into()), &[]);
        house(&mut lobby, 900, 1500.0);
        let evening = live(&mut lobby);
        assert!(evening.pairs.values().all(|lead| *lead == 0), "{:?}", evening.pairs);
        assert!(openings == Openings::Start || !evening.pairs.is_empty());
        let most = evening.single.values().map(|lead| lead.abs()).max().unwrap_or(0);
        assert!(most <= LEANING.into(), "{most}");
        let idle: BTreeSet<u64> =
            (3..=101).filter(|number| !evening.games.contains_key(&format!("bot-{number}"))).collect();
        assert!(idle.is_empty(), "{idle:?}");
        if openings == Openings::Start {
            assert!(evening.of_two.values().all(|lead| lead.abs() <= 3), "{:?}", evening.of_two.values().max());
        }
    }
}

/// Six hundred seconds. Bot 1 makes no first move, bot 2 never ends its game; every second one of the others leaves, and
/// comes back later.
fn live(lobby: &mut Lobby) -> Evening {
    let mut dice = crate::dice::Dice::new(5);
    let (mut evening, mut running, mut away) = (Evening::default(), Vec::new(), Vec::new());
    let mut effects: Vec<Effect> = Vec::new();
    for number in 1..=101 {
        effects.extend(seeker(lobby, number, 800.0 + 15.0 * number as f64, None));
    }
    for second in 1..600 {
        let at = now(second);
        let begun: Vec<Pairing> = pairings(&std::mem::take(&mut effects));
        check(lobby, &begun, &mut evening);
        running.extend(begun.into_iter().map(|pairing| (second + 1 + below(&mut dice, 8), pairing)));
        let (over, on): (Vec<_>, Vec<_>) = running.drain(..).partition(|(until, _)| *until <= second);
        running = on;
        for (_, pairing) in over {
            match fate(&pairing) {
                Some(fate) => effects.extend(lobby.finished(&pairing, fate, at)),
                None => running.push((u64::MAX, pairing)),
            }
        }
        let leaver = 3 + below(&mut dice, 99);
        if !away.iter().any(|(_, gone)| *gone == leaver) {
            effects.extend(lobby.leave(Visitor(leaver), Stay { lasted: Micros(1), fruitful: true }, at.moment));
            away.push((second + 3, leaver));
        }
        away.retain(|(back, number)| {
            let comes = *back <= second;
            if comes {
                effects.extend(seeker(lobby, *number, 800.0 + 15.0 * *number as f64, None));
            }
            !comes
        });
        effects.extend(lobby.pair_waiting(at));
        let (_, longest, _) = lobby.take_waits(at.moment);
        assert!(longest <= Micros(6_000_000), "somebody has waited {} ms", longest.ms());
    }
    evening
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the numbers are small
fn below(dice: &mut crate::dice::Dice, most: u32) -> u64 {
    (dice.unit() * f64::from(most)) as u64
}

/// How a game ends: with bot 2 never.
fn fate(pairing: &Pairing) -> Option<Fate> {
    let of = |number| Side::ALL.into_iter().find(|side| pairing.seats[*side].visitor == Visitor(number));
    if of(2).is_some() {
        return None;
    }
    let absent = of(1);
    Some(Fate { absent, flagged: None, aborted: absent.is_some() })
}

fn check(lobby: &Lobby, begun: &[Pairing], evening: &mut Evening) {
    for Pairing { seats, source, .. } in begun {
        assert_ne!(seats.south.bot, seats.north.bot);
        assert!(!(seats.south.bot.is_house() && seats.north.bot.is_house()));
        let names = [&seats.south.bot, &seats.north.bot].map(ToString::to_string);
        let mut two = names.clone();
        two.sort();
        for (at, lead) in [(0, 1), (1, -1)].into_iter().filter(|(at, _)| !names[*at].starts_with("house")) {
            let (name, with) = (&names[at], [names[at].clone(), names[1 - at].clone()]);
            assert!(lobby.bots[&BotName::new(name).unwrap()].playing <= 1);
            *evening.games.entry(name.clone()).or_default() += 1;
            match source {
                Source::Seeks(Half::Single) => *evening.single.entry(name.clone()).or_default() += lead,
                Source::Seeks(Half::First) => drop(evening.first.insert(with, lead)),
                _ => *evening.pairs.entry(name.clone()).or_default() += evening.first[&with] + lead,
            }
        }
        if *source == Source::Seeks(Half::Single) {
            *evening.of_two.entry(two.clone()).or_default() += if two[0] == names[0] { 1 } else { -1 };
        }
    }
}
