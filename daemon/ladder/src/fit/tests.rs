use super::*;
use crate::Outcome;

/// South, North, and how often South won, nobody, North.
type Row = (usize, usize, [u64; 3]);

fn games(players: usize, rows: &[Row]) -> Games {
    let mut games = Games::new(players);
    for (south, north, [wins, draws, losses]) in rows {
        for (outcome, times) in [(Outcome::Win, wins), (Outcome::Draw, draws), (Outcome::Loss, losses)] {
            (0..*times).for_each(|_| games.add(*south, *north, outcome));
        }
    }
    games
}

fn ratings(fit: &Fit) -> Vec<f64> {
    fit.strengths().iter().map(|strength| strength.rating.value).collect()
}

#[track_caller]
fn assert_near(found: f64, wanted: f64, within: f64) {
    assert!((found - wanted).abs() <= within, "{found} is not {wanted}");
}

/// With sides swapped and equal results, the score's odds are the strength's: 750 wins to 250 are 400 log10(3) = 190.85
/// points, with a σ of 1 / sqrt(1000 × 3/16) units.
#[test]
fn two_players_are_as_the_closed_form_says() {
    let fit = Fit::new(&games(2, &[(0, 1, [375, 0, 125]), (1, 0, [125, 0, 375])]), &[]);
    let difference = fit.difference(0, 1);
    assert_near(difference.value, 190.85, 0.2);
    assert_near(difference.margin(), 1.959_964 * ELO / (1000.0_f64 * 3.0 / 16.0).sqrt(), 0.1);
    assert_near(fit.superiority(0, 1), 1.0, 1e-9);
    assert_near(fit.side().value, 0.0, 1e-6);
    assert!(fit.strengths().iter().all(|strength| strength.is_bounded));
    // Each is told against the mean of both, so by half the difference.
    let [strong, weak] = ratings(&fit)[..] else { panic!() };
    assert_near(strong - 1500.0, 95.4, 0.1);
    assert_near(strong + weak, 3000.0, 1e-6);
    assert_near(fit.strengths()[0].rating.margin(), difference.margin() / 2.0, 1e-6);
}

/// Whatever the share of draws: 50 points more score as Elo's formula says, 1 / (1 + 10^(-50/400)) = 0.5715.
#[test]
fn a_point_is_worth_what_it_is_in_elos_formula() {
    for [wins, draws, losses] in [[5715, 0, 4285], [4715, 2000, 3285], [2715, 6000, 1285]] {
        let fit = Fit::new(&games(2, &[(0, 1, [wins, draws, losses]), (1, 0, [losses, draws, wins])]), &[]);
        assert_near(fit.difference(0, 1).value, 50.0, 0.5);
    }
}

/// Of 1000 games of equals 400 drawn: a tie of 2 × 400 / 600; South has 400 wins of the others, so odds of 2.
#[test]
fn draws_and_the_side_are_as_the_closed_form_says() {
    let fit = Fit::new(&games(2, &[(0, 1, [200, 200, 100]), (1, 0, [200, 200, 100])]), &[]);
    assert_near(fit.difference(0, 1).value, 0.0, 1e-6);
    assert_near(fit.superiority(0, 1), 0.5, 1e-6);
    assert_near(fit.side().value, 400.0 * 2.0_f64.log10() * 2.0 / (2.0 + fit.tie().value), 0.2);
    // draws² / (wins × losses)
    assert_near(fit.tie().value, (400.0_f64 * 400.0 / (400.0 * 200.0)).sqrt(), 0.002);
    let chances = fit.chances(0, 1);
    assert_near(chances.south, 0.4, 1e-3);
    assert_near(chances.draw, 0.4, 1e-3);
    assert_near(chances.score(), 0.6, 1e-3);
    assert!(fit.tie().low > 1.0 && fit.tie().high < 2.0 && fit.side().low > 40.0);
}

#[test]
fn the_order_of_the_games_changes_no_bit_and_the_names_of_the_players_no_rating() {
    let rows: [Row; 4] = [(0, 1, [5, 3, 2]), (1, 2, [4, 0, 3]), (2, 0, [1, 2, 6]), (1, 0, [3, 3, 3])];
    let fit = Fit::new(&games(3, &rows), &[]);
    let mut turned = rows;
    turned.reverse();
    assert_eq!(Fit::new(&games(3, &turned), &[]).strengths(), fit.strengths());
    let renamed = rows.map(|(south, north, count)| (2 - south, 2 - north, count));
    let renamed = ratings(&Fit::new(&games(3, &renamed), &[]));
    ratings(&fit).into_iter().zip(renamed.into_iter().rev()).for_each(|(one, other)| assert_near(one, other, 1e-6));
}

/// Counts as the model expects them, of 30 players with known strengths: a fit must give back what made them.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "small counts")]
fn expected_games(players: usize, rounds: usize, each: f64) -> (Games, Vec<f64>) {
    let truth: Vec<f64> =
        (0..players).map(|player| 3.0 * ((player * 7919 % players) as f64 / players as f64) - 1.5).collect();
    let mut rows = Vec::new();
    for (south, round) in (0..players).flat_map(|south| (1..=rounds).map(move |round| (south, round))) {
        let north = (south + round * round) % players;
        let chances = Chances::of(truth[south] - truth[north] + 0.2, 0.5_f64.ln()).0;
        let count = [chances.south, chances.draw, chances.north].map(|chance| (each * chance).round() as u64);
        rows.push((south, north, count));
    }
    (games(players, &rows), truth)
}

#[test]
fn known_parameters_are_recovered() {
    let (games, truth) = expected_games(30, 5, 10_000.0);
    let fit = Fit::new(&games, &[]);
    let middle = truth.iter().sum::<f64>() / 30.0;
    for (rating, truth) in ratings(&fit).into_iter().zip(truth) {
        assert_near(rating, 1500.0 + points(0.5) * (truth - middle), 0.5);
    }
    assert_near(fit.side().value, 0.2 * points(0.5), 0.2);
    assert_near(fit.tie().value, 0.5, 0.002);
}

#[test]
fn anchors_move_all_by_the_same_and_those_that_are_wrong_are_passed_over() {
    let (games, _) = expected_games(30, 5, 100.0);
    let (plain, wrong) = (Fit::new(&games, &[]), [(99, 1.0), (1, f64::NAN)]);
    assert_eq!(Fit::new(&games, &wrong).strengths(), plain.strengths());
    let anchored = Fit::new(&games, &[(3, 1200.0), (4, 1900.0)]);
    let shift = ratings(&anchored)[0] - ratings(&plain)[0];
    ratings(&anchored).iter().zip(ratings(&plain)).for_each(|(one, other)| assert_near(one - other, shift, 1e-6));
    // Each counts by what the games tell of it.
    assert_near(ratings(&anchored)[3] + ratings(&anchored)[4], 3100.0, 2.0);
    // The only anchor is what all is told against, so nothing about it is open.
    assert_near(Fit::new(&games, &[(3, 1200.0)]).strengths()[3].rating.margin(), 0.0, 1e-3);
    assert_near(anchored.superiority(0, 1), plain.superiority(0, 1), 1e-9);
}

#[track_caller]
fn assert_sound(fit: &Fit, players: usize, name: &str) {
    assert_eq!(fit.strengths().len(), players);
    let own = fit.strengths().iter().map(|strength| strength.rating);
    let all: Vec<_> = own.chain([fit.side(), fit.tie(), fit.draw_share()]).collect();
    for Estimate { value, low, high } in &all {
        assert!(low.is_finite() && high.is_finite() && low <= value && value <= high, "{name}: {all:?}");
    }
    for (one, other) in (0..players).zip((0..players).rev()) {
        let above = fit.superiority(one, other);
        assert!((0.0..=1.0).contains(&above), "{name}: {above}");
        assert_near(above + fit.superiority(other, one), 1.0, 1e-6);
    }
}

/// Each by full inversion and by conjugate gradients.
fn odd_cases() -> Vec<(&'static str, usize, Vec<Row>)> {
    let chain = (0..60).map(|player| (player, player + 1, [100, 0, 0])).collect();
    vec![
        ("nobody", 0, vec![]),
        ("one", 1, vec![]),
        ("no game", 5, vec![]),
        ("a single win", 2, vec![(0, 1, [1, 0, 0])]),
        ("a million wins", 3, vec![(0, 1, [500_000, 0, 0]), (1, 0, [0, 0, 500_000]), (1, 2, [1, 1, 1])]),
        ("one won everything", 4, vec![(0, 1, [9, 0, 0]), (2, 0, [0, 0, 9]), (1, 2, [3, 2, 4])]),
        ("two groups", 5, vec![(0, 1, [5, 1, 2]), (1, 0, [5, 1, 2]), (2, 3, [4, 4, 1]), (3, 4, [2, 2, 2])]),
        ("only draws", 3, vec![(0, 1, [0, 50, 0]), (1, 2, [0, 50, 0])]),
        ("no draws", 3, vec![(0, 1, [30, 0, 20]), (1, 2, [30, 0, 20]), (2, 0, [30, 0, 20])]),
        ("south always wins", 2, vec![(0, 1, [50, 0, 0]), (1, 0, [50, 0, 0])]),
        ("each beats the next", 61, chain),
        ("with itself", 2, vec![(0, 0, [5, 0, 0]), (0, 1, [2, 0, 2])]),
    ]
}

#[test]
fn whatever_was_played_every_figure_is_finite() {
    for (name, players, rows) in odd_cases() {
        let (games, anchors) = (games(players, &rows), [(0, 1000.0), (1, 1400.0)]);
        for (anchors, dense) in [(&[][..], DENSE), (&anchors, DENSE), (&[], 0), (&anchors, 0)] {
            let fit = Fit::within(&games, anchors, dense);
            assert_sound(&fit, players, name);
        }
    }
}

#[test]
fn who_won_everything_or_never_met_the_others_is_not_bounded() {
    let bounded = |name: &str| {
        let (_, players, rows) = odd_cases().into_iter().find(|case| case.0 == name).unwrap();
        let fit = Fit::new(&games(players, &rows), &[]);
        fit.strengths().iter().map(|strength| strength.is_bounded).collect::<Vec<_>>()
    };
    assert_eq!(bounded("one won everything"), [false, true, true, false]);
    assert_eq!(bounded("two groups"), [false, false, true, true, true]);
    assert_eq!(bounded("a single win"), [false, false]);
    // With a tie of any size, draws alone are as likely between equals as between others.
    assert_eq!(bounded("only draws"), [false; 3]);
    assert_eq!(bounded("no game"), [false; 5]);
}

#[test]
fn an_unbeaten_bot_stands_above_all_that_it_beat() {
    let fit = Fit::new(&games(4, &[(0, 1, [9, 0, 0]), (2, 0, [0, 0, 9]), (1, 2, [3, 2, 4])]), &[]);
    assert!(fit.superiority(0, 1) > 0.95 && fit.superiority(0, 2) > 0.95);
    assert_near(fit.superiority(3, 3), 0.5, 0.0);
}

/// Beyond [`DENSE`] players other arithmetic must say the same.
#[test]
fn without_the_inverse_the_strengths_are_the_same_and_the_intervals_nearly() {
    let (games, _) = expected_games(200, 6, 20.0);
    for anchors in [&[][..], &[(3, 1200.0), (4, 1300.0)]] {
        let (dense, sparse) = (Fit::within(&games, anchors, DENSE), Fit::within(&games, anchors, 0));
        for (one, other) in dense.strengths().iter().zip(sparse.strengths()) {
            assert_near(one.rating.value, other.rating.value, 0.01);
            assert_near(other.rating.margin() / one.rating.margin(), 1.0, 0.1);
        }
        assert_near(dense.superiority(7, 9), sparse.superiority(7, 9), 1e-6);
        assert_near(dense.difference(7, 190).margin(), sparse.difference(7, 190).margin(), 1e-3);
        assert_near(dense.side().margin(), sparse.side().margin(), 1e-3);
    }
}

#[test]
fn ten_thousand_players_are_answered() {
    let (games, truth) = expected_games(10_000, 10, 10.0);
    let fit = Fit::new(&games, &[]);
    assert!(fit.strengths().iter().all(|strength| strength.is_bounded && strength.rating.margin() < 200.0));
    let far = fit.strengths().iter().zip(truth).filter(|(strength, truth)| {
        let found = strength.rating;
        let truth = 1500.0 + points(0.5) * truth;
        truth < found.low || truth > found.high
    });
    // The counts are the expected ones, rounded: their error is smaller than chance would make it.
    assert!(far.count() < 100);
}
