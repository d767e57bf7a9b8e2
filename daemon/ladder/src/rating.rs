//! Glicko-2, a game at a time.

use skillratings::Outcomes;
use skillratings::glicko2::{Glicko2Config, Glicko2Rating, glicko2};

/// Above this deviation a rating is provisional: too few games say what it is worth (`ladder.provisional`).
pub const PROVISIONAL_RD: f64 = 110.0;
/// Largest deviation: that of a bot of which nothing is known.
const MOST_RD: f64 = 350.0;
/// No rating is further from 1500, and no volatility higher: none that was played for comes near, and beyond some 6,400 points
/// between two the arithmetic divides by nothing.
const LEAST: f64 = -1500.0;
const MOST: f64 = 4500.0;
const MOST_VOLATILITY: f64 = 1.0;
/// Least deviation at the beginning of a season that carries ratings over.
const CARRIED_RD: f64 = 150.0;
/// How much a volatility may change; the field's figure.
const CONFIG: Glicko2Config = Glicko2Config { tau: 0.5, convergence_tolerance: 0.000_001 };

/// What is known of a bot's strength in a pool, rounded to 1e-6 as it is stored and told (`record.rounding`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// Rating points; a bot of which nothing is known has 1500.
    pub rating: f64,
    /// One σ of it, in rating points.
    pub rd: f64,
    /// How much the strength is expected to change.
    pub volatility: f64,
}

/// How a game went for one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It won.
    Win,
    /// Nobody did.
    Draw,
    /// The other won.
    Loss,
}

impl Outcome {
    /// The same for the other.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Win => Self::Loss,
            Self::Draw => Self::Draw,
            Self::Loss => Self::Win,
        }
    }
}

impl Default for Rating {
    fn default() -> Self {
        Self { rating: 1500.0, rd: MOST_RD, volatility: 0.06 }
    }
}

impl Rating {
    /// Whether too few games say what it is worth.
    #[must_use]
    pub fn is_provisional(self) -> bool {
        self.rd > PROVISIONAL_RD
    }

    /// Whether it can be one: what came out of games is. Of others the arithmetic knows no end.
    #[must_use]
    pub fn is_possible(self) -> bool {
        (LEAST..=MOST).contains(&self.rating)
            && (0.0..=MOST_RD).contains(&self.rd)
            && self.rd > 0.0
            && (0.0..=MOST_VOLATILITY).contains(&self.volatility)
            && self.volatility > 0.0
    }

    /// The rating after a game against `opponent` that went so. Where one of the two cannot be a rating it stays what it is.
    #[must_use]
    pub fn after(self, opponent: Self, outcome: Outcome) -> Self {
        if !self.is_possible() || !opponent.is_possible() {
            return self;
        }
        let outcome = match outcome {
            Outcome::Win => Outcomes::WIN,
            Outcome::Draw => Outcomes::DRAW,
            Outcome::Loss => Outcomes::LOSS,
        };
        let (Glicko2Rating { rating, deviation, volatility }, _) =
            glicko2(&self.into(), &opponent.into(), &outcome, &CONFIG);
        let rating = rating.clamp(LEAST, MOST);
        Self { rating, rd: deviation.min(MOST_RD), volatility: volatility.min(MOST_VOLATILITY) }.rounded()
    }

    /// What a season that carries half takes over: half the way to 1500, and known so much less that new games count
    /// (`ladder.season-half`).
    #[must_use]
    pub fn carried(self) -> Self {
        let Self { rating, rd, volatility } = self;
        let middle = Self::default().rating;
        Self { rating: f64::midpoint(rating, middle), rd: rd.max(CARRIED_RD), volatility }.rounded()
    }

    fn rounded(self) -> Self {
        let round = |figure: f64| (figure * 1e6).round() / 1e6;
        Self { rating: round(self.rating), rd: round(self.rd), volatility: round(self.volatility) }
    }
}

impl From<Rating> for Glicko2Rating {
    fn from(Rating { rating, rd, volatility }: Rating) -> Self {
        Self { rating, deviation: rd, volatility }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Glickman's paper has three opponents in one period; one of them alone gives these figures, by the
    /// paper's own steps worked out apart.
    #[test]
    fn a_win_raises_what_a_loss_lowers_and_a_draw_of_equals_moves_nobody() {
        let new = Rating::default();
        let won = new.after(new, Outcome::Win);
        let lost = new.after(new, Outcome::Loss);
        assert_eq!(won.rating - 1500.0, 1500.0 - lost.rating);
        assert_eq!(new.after(new, Outcome::Draw).rating, 1500.0);
        assert!(won.rd < new.rd && won.is_provisional());
    }

    /// `ladder.season-half`
    #[test]
    fn a_rating_is_carried_half_way_to_the_middle() {
        let carried = |rating, rd| {
            let Rating { rating, rd, .. } = Rating { rating, rd, volatility: 0.059 }.carried();
            [rating, rd]
        };
        assert_eq!(carried(1700.0, 45.5), [1600.0, 150.0]);
        assert_eq!(carried(1_200.000_002, 200.25), [1_350.000_001, 200.25]);
        assert_eq!(carried(1500.0, 350.0), [1500.0, 350.0]);
    }

    proptest::proptest! {
        /// Whatever two have that may meet, and however it goes, both have a rating after it; nothing else is touched.
        #[test]
        fn what_is_possible_stays_so(
            one in (-1500.0..=4500.0, 0.000_001..=350.0, 0.000_001..=1.0),
            other in (-1500.0..=4500.0, 0.000_001..=350.0, 0.000_001..=1.0),
        ) {
            let [one, other] = [one, other].map(|(rating, rd, volatility)| Rating { rating, rd, volatility });
            for outcome in [Outcome::Win, Outcome::Draw, Outcome::Loss] {
                let after = one.after(other, outcome);
                proptest::prop_assert!(after.is_possible(), "{one:?} {other:?} {outcome:?}: {after:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_a_rating_is_left_alone() {
        let new = Rating::default();
        for (rating, rd, volatility) in [
            (f64::NAN, 350.0, 0.06),
            (f64::INFINITY, 350.0, 0.06),
            (1e300, 350.0, 0.06),
            (1500.0, 0.0, 0.06),
            (1500.0, 350.1, 0.06),
            (1500.0, 350.0, 0.0),
            (1500.0, 350.0, -0.06),
        ] {
            let strange = Rating { rating, rd, volatility };
            assert!(!strange.is_possible());
            assert_eq!(format!("{:?}", strange.after(new, Outcome::Win)), format!("{strange:?}"));
            assert_eq!(new.after(strange, Outcome::Win), new);
        }
    }

    #[test]
    fn what_comes_out_is_rounded() {
        let after = Rating::default().after(Rating { rating: 1433.7, rd: 61.0, volatility: 0.06 }, Outcome::Draw);
        for figure in [after.rating, after.rd, after.volatility] {
            assert_eq!(figure, format!("{figure:.6}").parse::<f64>().unwrap());
        }
    }
}
