//! The laws of tournaments: whatever the results, who meets whom and how they stand.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

use modiar_ladder::Outcome;
use modiar_ladder::tournament::{
    Due, Encounter, Format, Game, MatchNumber, Plan, Player, Points, TIE_PAIRS, Tournament,
};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

/// What may happen to a game that is due.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Played(Outcome, u32, u32),
    Unplayed([bool; 2]),
    Forfeit(usize),
    ForfeitBoth,
    Withdraw(usize),
}

fn played() -> impl Strategy<Value = Fate> {
    let outcome = prop_oneof![Just(Outcome::Win), Just(Outcome::Draw), Just(Outcome::Loss)];
    (outcome, 0..=42u32, 0..=42u32).prop_map(|(outcome, one, other)| Fate::Played(outcome, one, other))
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        20 => played(),
        1 => any::<[bool; 2]>().prop_map(Fate::Unplayed),
        1 => (0..2usize).prop_map(Fate::Forfeit),
        1 => Just(Fate::ForfeitBoth),
        1 => (0..2usize).prop_map(Fate::Withdraw),
    ]
}

/// Plays it to its end: which of the games that are due is next, and its fate, by turns from these lists.
fn play(tournament: &mut Tournament, fates: &[Fate], picks: &[usize]) -> Vec<(MatchNumber, Fate)> {
    let mut log = Vec::new();
    while !tournament.is_over() {
        let due = tournament.due();
        assert!(!due.is_empty(), "it goes on, and nothing is to be done");
        assert!(log.len() < 200_000, "it does not end");
        let Due { number, .. } = due[picks[log.len() % picks.len()] % due.len()];
        let fate = fates[log.len() % fates.len()];
        apply(tournament, number, fate);
        log.push((number, fate));
    }
    log
}

fn apply(tournament: &mut Tournament, number: MatchNumber, fate: Fate) {
    let players = tournament.matches()[number.0 - 1].players;
    let done = match fate {
        Fate::Played(outcome, one, other) => {
            tournament.report(number, Game::Played { outcome, captured: [one, other] })
        }
        Fate::Unplayed(absent) => tournament.report(number, Game::Unplayed { absent }),
        Fate::Forfeit(place) => tournament.give_up(number, &[players[place]], &[]),
        Fate::ForfeitBoth => tournament.give_up(number, &players, &[]),
        Fate::Withdraw(place) => tournament.give_up(number, &[], &[players[place]]),
    };
    done.unwrap();
}

fn plan(format: Format, players: usize, pairs: usize, seed: u64) -> Plan {
    // Some are rated alike.
    let ratings = (0..players).map(|player| 1500.0 + 10.0 * (player / 3) as f64).collect();
    Plan { format, ratings, pairs, seed }
}

/// How often each two were to meet.
fn meetings(tournament: &Tournament) -> HashMap<[Player; 2], usize> {
    let mut met = HashMap::new();
    for Encounter { players, .. } in tournament.matches() {
        let mut players = *players;
        players.sort();
        *met.entry(players).or_default() += 1;
    }
    met
}

/// Nobody is in two matches of a round, nobody meets itself, and over whole pairs the sides are level.
fn check_rounds(tournament: &Tournament) {
    let mut busy = HashSet::new();
    for met in tournament.matches() {
        assert_ne!(met.players[0], met.players[1]);
        for player in met.players {
            assert!(busy.insert((met.round, player)), "{player:?} is twice in round {}", met.round);
        }
        let whole = met.games.len() / 2 * 2;
        for player in met.players {
            let south = (0..whole).filter(|game| met.seats(*game)[0] == player).count();
            assert_eq!(2 * south, whole);
        }
    }
    for round in 1..=tournament.round() {
        if let Some(player) = tournament.bye(round) {
            assert!(busy.insert((round, player)), "{player:?} rests and plays");
        }
    }
}

/// Every game gives one point to somebody, or none where both gave it up; places are 1 to n; nothing is lost between matches
/// and standings.
fn check_sums(tournament: &Tournament, players: usize, games: usize) {
    let table = tournament.standings();
    assert_eq!(table.iter().map(|standing| standing.place).collect::<Vec<_>>(), (1..=players).collect::<Vec<_>>());
    assert_eq!(table.iter().map(|standing| standing.player).collect::<HashSet<_>>().len(), players);
    let byes = (1..=tournament.round()).filter(|round| tournament.bye(*round).is_some()).count();
    let of_matches: Points = tournament.matches().iter().flat_map(Encounter::points).sum();
    let of_players: Points = table.iter().map(|standing| standing.points).sum();
    assert_eq!(of_players, of_matches + Points::WIN.times(byes * games));
    for met in tournament.matches() {
        let all: Points = met.points().into_iter().sum();
        let count = count(met, games);
        let both = |game: &&Game| matches!(game, Game::Unplayed { absent: [true, true] });
        let lost = met.games.iter().filter(both).count()
            + if met.forfeited == [true, true] { count - met.games.len() } else { 0 };
        assert_eq!(all, Points::WIN.times(count - lost), "{met:?}");
    }
    let counted = |standing: &modiar_ladder::tournament::Standing| {
        standing.games.won + standing.games.drawn + standing.games.lost + standing.walkovers
    };
    let counted: usize = table.iter().map(counted).sum();
    let games: usize = tournament.matches().iter().map(|met| 2 * count(met, games)).sum();
    assert_eq!(counted, games);
}

/// The games of a match, those that were given up included: all of its length, and beyond it the whole deciding pair.
fn count(met: &Encounter, games: usize) -> usize {
    let played = met.games.len();
    if met.forfeited == [false, false] { played } else { games.max((played / 2 + 1) * 2) }
}

/// The same plan with the same results in the order of matches, as a restart finds them, is the same tournament.
fn check_rebuilt(plan: &Plan, log: &[(MatchNumber, Fate)], tournament: &Tournament) {
    let mut rebuilt = Tournament::new(plan.clone());
    let mut sorted = log.to_vec();
    sorted.sort_by_key(|(number, _)| *number);
    for (number, fate) in sorted {
        apply(&mut rebuilt, number, fate);
    }
    assert!(rebuilt.is_over());
    assert_eq!(rebuilt.matches(), tournament.matches());
    assert_eq!(rebuilt.standings(), tournament.standings());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// `ladder.tournament-round-robin`
    #[test]
    fn in_a_round_robin_all_meet_as_often_as_there_are_cycles(
        players in 1..14usize, cycles in 1..4usize, pairs in 1..3usize, seed: u64,
        fates in prop::collection::vec(fate(), 50), picks in prop::collection::vec(0..100usize, 20),
    ) {
        let plan = plan(Format::RoundRobin { cycles }, players, pairs, seed);
        let mut tournament = Tournament::new(plan.clone());
        let log = play(&mut tournament, &fates, &picks);
        let met = meetings(&tournament);
        prop_assert_eq!(met.len(), players * (players - 1) / 2);
        prop_assert!(met.values().all(|times| *times == cycles));
        let rounds = if players < 2 { 0 } else { cycles * (players - 1 + players % 2) };
        prop_assert_eq!(tournament.round(), rounds);
        check_rounds(&tournament);
        check_sums(&tournament, players, 2 * pairs);
        check_rebuilt(&plan, &log, &tournament);
    }

    /// `ladder.tournament-swiss`: nobody meets the same again while the rounds are fewer than the players, unless those who
    /// are left have all met.
    #[test]
    fn in_a_swiss_nobody_meets_the_same_twice(
        players in 2..=64usize, seed: u64,
        fates in prop::collection::vec(played(), 50), picks in prop::collection::vec(0..100usize, 20),
    ) {
        let plan = plan(Format::Swiss { rounds: None }, players, 1, seed);
        let mut tournament = Tournament::new(plan.clone());
        let log = play(&mut tournament, &fates, &picks);
        let rounds = tournament.round();
        prop_assert_eq!(rounds, modiar_ladder::tournament::swiss_rounds(players));
        // Up to half the field a round without a rematch is always there (each two of the others may meet).
        if 2 * rounds <= players {
            prop_assert!(meetings(&tournament).values().all(|times| *times == 1));
        }
        let byes: Vec<Player> = (1..=rounds).filter_map(|round| tournament.bye(round)).collect();
        prop_assert_eq!(byes.len(), if players % 2 == 1 { rounds } else { 0 });
        if rounds <= players {
            prop_assert_eq!(byes.iter().collect::<HashSet<_>>().len(), byes.len());
        }
        prop_assert_eq!(tournament.matches().len(), rounds * (players / 2));
        check_rounds(&tournament);
        check_sums(&tournament, players, 2);
        check_rebuilt(&plan, &log, &tournament);
    }

    /// Who comes no more is paired no more, and all others go on.
    #[test]
    fn a_swiss_goes_on_without_those_who_leave(
        players in 2..=64usize, rounds in 1..9usize, seed: u64,
        fates in prop::collection::vec(fate(), 50), picks in prop::collection::vec(0..100usize, 20),
    ) {
        let plan = plan(Format::Swiss { rounds: Some(rounds) }, players, 1, seed);
        let mut tournament = Tournament::new(plan.clone());
        let log = play(&mut tournament, &fates, &picks);
        for standing in tournament.standings().iter().filter(|standing| standing.withdrawn) {
            let withdrew = tournament.matches().iter().rposition(|met| met.place(standing.player).is_some()).unwrap();
            let met = &tournament.matches()[withdrew];
            prop_assert!(met.forfeited[met.place(standing.player).unwrap()], "it left in its last match");
        }
        let left = tournament.standings().iter().filter(|standing| standing.withdrawn).count();
        prop_assert!(tournament.round() == rounds || players - left < 2);
        check_rounds(&tournament);
        check_sums(&tournament, players, 2);
        check_rebuilt(&plan, &log, &tournament);
    }

    /// `ladder.tournament-knockout`
    #[test]
    fn in_a_knockout_who_loses_is_out(
        players in 1..=33usize, pairs in 1..3usize, seed: u64,
        fates in prop::collection::vec(fate(), 50), picks in prop::collection::vec(0..100usize, 20),
    ) {
        let plan = plan(Format::Knockout, players, pairs, seed);
        let mut tournament = Tournament::new(plan.clone());
        let log = play(&mut tournament, &fates, &picks);
        let table = tournament.standings();
        let gone: Vec<_> = tournament.matches().iter().filter(|met| met.forfeited == [true; 2]).collect();
        prop_assert!(table.iter().filter(|standing| standing.out.is_none()).count() <= 1);
        prop_assert!(table[0].out.is_none() || !gone.is_empty());
        for standing in &table {
            let last = tournament.matches().iter().filter(|met| met.place(standing.player).is_some()).map(|met| met.round).max();
            prop_assert!(standing.out.is_none() || standing.out == last, "it was in a match after it had lost");
        }
        for met in tournament.matches() {
            prop_assert!(met.games.len() <= 2 * (pairs + TIE_PAIRS));
        }
        prop_assert_eq!(tournament.round(), players.next_power_of_two().ilog2() as usize);
        if gone.is_empty() {
            prop_assert_eq!(tournament.matches().len(), players - 1);
        }
        check_rounds(&tournament);
        check_sums(&tournament, players, 2 * pairs);
        check_rebuilt(&plan, &log, &tournament);
    }

    /// `ladder.tournament-gauntlet`
    #[test]
    fn in_a_gauntlet_one_meets_each_of_the_others(
        players in 2..14usize, cycles in 1..4usize, challenger in 0..14usize, seed: u64,
        fates in prop::collection::vec(fate(), 50), picks in prop::collection::vec(0..100usize, 20),
    ) {
        let challenger = Player(challenger % players);
        let plan = plan(Format::Gauntlet { challenger, cycles }, players, 1, seed);
        let mut tournament = Tournament::new(plan.clone());
        let log = play(&mut tournament, &fates, &picks);
        let met = meetings(&tournament);
        prop_assert_eq!(met.len(), players - 1);
        prop_assert!(met.iter().all(|(two, times)| two.contains(&challenger) && *times == cycles));
        check_rounds(&tournament);
        check_sums(&tournament, players, 2);
        check_rebuilt(&plan, &log, &tournament);
    }
}

const fn game(outcome: Outcome, captured: [u32; 2]) -> Game {
    Game::Played { outcome, captured }
}

/// The first of a match wins both games of it, from South and from North.
fn win_all(tournament: &mut Tournament, wins: impl Fn([Player; 2]) -> Outcome) {
    while let Some(Due { number, .. }) = tournament.due().first().copied() {
        let players = tournament.matches()[number.0 - 1].players;
        tournament.report(number, game(wins(players), [21, 21])).unwrap();
    }
}

/// `ladder.tournament-knockout`: where the better seed always wins, the seeds come in as they were seeded.
#[test]
fn a_level_match_is_decided_by_further_pairs_then_seeds_captured_then_the_seed() {
    let two = Plan { format: Format::Knockout, ratings: vec![1500.0, 1600.0], pairs: 1, seed: 1 };
    let level = |captured: [u32; 2]| {
        let mut tournament = Tournament::new(two.clone());
        let mut games = 0;
        while let Some(Due { number, .. }) = tournament.due().first().copied() {
            tournament.report(number, game(Outcome::Draw, captured)).unwrap();
            games += 1;
        }
        assert_eq!(games, 2 * (1 + TIE_PAIRS));
        let winner = tournament.standings()[0].player;
        (winner, tournament.matches()[0].players)
    };
    let (winner, players) = level([20, 22]);
    assert_eq!(winner, players[1]);
    assert_eq!(level([22, 20]).0, players[0]);
    assert_eq!(level([21, 21]).0, Player(1), "the better rated");
    let mut tournament = Tournament::new(two);
    for outcome in [Outcome::Draw, Outcome::Draw, Outcome::Win] {
        tournament.report(MatchNumber(1), game(outcome, [21, 21])).unwrap();
    }
    assert!(!tournament.is_over(), "a pair is played to its end");
    tournament.report(MatchNumber(1), game(Outcome::Draw, [21, 21])).unwrap();
    assert!(tournament.is_over());
}

/// `ladder.tournament-standings`
#[test]
fn who_won_all_is_first_and_ties_are_broken_as_told() {
    let plan = Plan { format: Format::RoundRobin { cycles: 1 }, ratings: vec![1500.0; 3], pairs: 1, seed: 4 };
    let mut tournament = Tournament::new(plan.clone());
    win_all(&mut tournament, |[one, other]| if one < other { Outcome::Win } else { Outcome::Loss });
    let table = tournament.standings();
    assert_eq!(table.iter().map(|standing| standing.player.0).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(table.iter().map(|standing| standing.points).collect::<Vec<_>>(), [16, 8, 0].map(Points));
    // Two wins over one with 2 points, two over one with none.
    assert_eq!(table[0].tie_break, Points::WIN.times(4));
    // All beat one another in turn: only the captured seeds tell them apart.
    let mut tournament = Tournament::new(plan);
    while let Some(Due { number, .. }) = tournament.due().first().copied() {
        let players = tournament.matches()[number.0 - 1].players;
        let first_wins = (players[0].0 + 1) % 3 == players[1].0;
        let seeds = players.map(|player| 20 + u32::try_from(player.0).unwrap());
        tournament.report(number, game(if first_wins { Outcome::Win } else { Outcome::Loss }, seeds)).unwrap();
    }
    let table = tournament.standings();
    assert!(table.iter().all(|standing| standing.points == Points(8) && standing.direct == Points(8)));
    assert_eq!(table.iter().map(|standing| standing.player.0).collect::<Vec<_>>(), [2, 1, 0]);
}

/// A report that nobody waits for changes nothing.
#[test]
fn what_is_not_due_is_refused() {
    let mut tournament = Tournament::new(plan(Format::RoundRobin { cycles: 1 }, 4, 1, 7));
    let before = tournament.matches().to_vec();
    let stranger = (0..4).map(Player).find(|player| before[0].place(*player).is_none()).unwrap();
    for number in [0, 3, 99].map(MatchNumber) {
        assert!(tournament.report(number, game(Outcome::Win, [22, 0])).is_err());
        assert!(tournament.give_up(number, &[], &[]).is_err());
    }
    assert!(tournament.give_up(MatchNumber(1), &[stranger], &[]).is_err());
    assert!(tournament.give_up(MatchNumber(1), &[], &[stranger]).is_err());
    assert_eq!(tournament.matches(), before);
    assert!(tournament.standings().iter().all(|standing| !standing.withdrawn));
}
