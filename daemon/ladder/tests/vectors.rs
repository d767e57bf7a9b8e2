//! `spec/vectors/ratings.jsonl`, which another program of Glickman's paper wrote.

#![allow(clippy::unwrap_used)] // a test fails so

use modiar_ladder::{Outcome, Rating};
use serde_json::Value;

fn rating(told: &Value) -> Rating {
    let [rating, rd, volatility] = ["rating", "rd", "volatility"].map(|part| told[part].as_f64().unwrap());
    Rating { rating, rd, volatility }
}

fn outcome(told: &Value) -> Outcome {
    match told.as_str() {
        Some("south") => Outcome::Win,
        Some("north") => Outcome::Loss,
        other => {
            assert_eq!(other, Some("draw"));
            Outcome::Draw
        }
    }
}

/// `ladder.rating`, `record.rounding`, `ladder.season-half`: both sides of each case, one game after the other from the rounded
/// figures.
#[test]
fn the_vectors_of_ratings_hold() {
    let vectors = include_str!("../../../spec/vectors/ratings.jsonl");
    let (mut games, mut carried) = (0, 0);
    for line in vectors.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (before, after) = (&case["before"], &case["after"]);
        let Some(results) = case["results"].as_array() else {
            carried += 1;
            assert_eq!(rating(before).carried(), rating(after), "{line}");
            continue;
        };
        let (mut south, mut north) = (rating(&before["south"]), rating(&before["north"]));
        for outcome in results.iter().map(outcome) {
            games += 1;
            (south, north) = (south.after(north, outcome), north.after(south, outcome.other()));
        }
        assert_eq!((south, north), (rating(&after["south"]), rating(&after["north"])), "{line}");
    }
    assert_eq!((games, carried), (186, 3));
}
