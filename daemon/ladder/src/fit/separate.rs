//! How many games tell two bots apart.

use super::model::Chances;
use super::{Z95, points};

/// Games of two bots, in pairs of swapped sides from balanced openings, until a difference of `elo` points is as large as
/// half its own 95 % interval, so that nothing is left of "the other may be stronger": with so many, a bot that is
/// stronger by so much has been told apart every other time, with twice as many in four of five. `draw_share` is the share
/// of draws between equals, 0 to below 1. Nothing where no number of games does it, as for no difference.
#[must_use]
pub fn games_to_separate(elo: f64, draw_share: f64) -> Option<u64> {
    let tie = 2.0 * draw_share / (1.0 - draw_share);
    let ahead = elo.abs() / points(tie);
    let Chances { south, north, .. } = Chances::of(ahead, tie.ln()).0;
    // With the tie unknown too, only games that are won tell anything: each as a coin does, and so many are.
    let information = south * north / (south + north);
    let games = 2.0 * (Z95 * Z95 / (information * ahead * ahead) / 2.0).ceil();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 2 and 1e15")]
    (games.is_finite() && games < 1e15).then_some(games as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without draws a game tells p(1 - p), and 25 points are 0.1439 units: 3.8415 / (0.2487 × 0.02071) = 745.9 games.
    #[test]
    fn half_the_difference_takes_four_times_the_games_and_draws_take_less() {
        let games = [25.0, 50.0, 100.0].map(|elo| games_to_separate(elo, 0.0).unwrap());
        assert_eq!(games, [746, 190, 52]);
        // With half of all games drawn the score of one varies half as much.
        assert!(games_to_separate(25.0, 0.5).unwrap().abs_diff(746 / 2) < 10);
        assert_eq!(games_to_separate(-25.0, 0.0), games_to_separate(25.0, 0.0));
    }

    #[test]
    fn what_no_number_of_games_separates_has_none() {
        for (elo, draws) in [(0.0, 0.0), (25.0, 1.0), (f64::NAN, 0.0), (25.0, f64::NAN), (25.0, 2.0), (1e9, 0.0)] {
            assert_eq!(games_to_separate(elo, draws), None, "{elo} {draws}");
        }
    }
}
