//! Glicko-2, a game at a time.

use skillratings::Outcomes;
use skillratings::glicko2::{Glicko2Config, Glicko2Rating, glicko2};

/// Above this deviation a rating is provisional: too few games say what it is worth.
pub const PROVISIONAL_RD: f64 = 110.0;
/// Largest deviation: that of a bot of which nothing is known.
const MOST_RD: f64 = 350.0;
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

    /// The rating after a game against `opponent` that went so.
    #[must_use]
    pub fn after(self, opponent: Self, outcome: Outcome) -> Self {
        let outcome = match outcome {
            Outcome::Win => Outcomes::WIN,
            Outcome::Draw => Outcomes::DRAW,
            Outcome::Loss => Outcomes::LOSS,
        };
        let (Glicko2Rating { rating, deviation, volatility }, _) =
            glicko2(&self.into(), &opponent.into(), &outcome, &CONFIG);
        Self { rating, rd: deviation.min(MOST_RD), volatility }.rounded()
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

    #[test]
    fn what_comes_out_is_rounded() {
        let after = Rating::default().after(Rating { rating: 1433.7, rd: 61.0, volatility: 0.06 }, Outcome::Draw);
        for figure in [after.rating, after.rd, after.volatility] {
            assert_eq!(figure, format!("{figure:.6}").parse::<f64>().unwrap());
        }
    }
}
