//! How a house bot chooses. Each is described exactly, so that its strength can be measured and told.
//!
//! The seeds that each gives away a ply, measured with its rating ([`Brain::rating`]): random 4.32, level 1 3.29, greedy 3.53,
//! level 2 2.49, level 3 1.76, level 4 1.15, level 5 0.73, level 6 0.41, level 7 0.21, level 8 0.08, perfect 0.

use crate::dice::Dice;
use modiar_oracle::Table;
use modiar_rules::{Pit, Position};

/// The temperatures of level 1 to level 8, in seeds: how much worse than the best a pit may be that is still played often.
const TEMPERATURES: [f64; 8] = [25.6, 13.9, 8.85, 5.95, 4.2, 2.9, 1.95, 1.2];

/// A way to choose.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Brain {
    /// Any legal pit, each as likely.
    Random,
    /// The pit that takes the most seeds; of equals each as likely.
    Greedy,
    /// 1 to 8: a pit by the softmax of the exact values at the level's temperature ([`Table::soft`]).
    Level(u8),
    /// Best play that makes progress ([`Table::perfect`]).
    Perfect,
}

impl Brain {
    /// All house bots, the weakest first.
    pub const ALL: [Self; 11] = [
        Self::Random,
        Self::Level(1),
        Self::Greedy,
        Self::Level(2),
        Self::Level(3),
        Self::Level(4),
        Self::Level(5),
        Self::Level(6),
        Self::Level(7),
        Self::Level(8),
        Self::Perfect,
    ];

    /// The name of its bot, `house-level3`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Random => "house-random".to_owned(),
            Self::Greedy => "house-greedy".to_owned(),
            Self::Level(level) => format!("house-level{level}"),
            Self::Perfect => "house-perfect".to_owned(),
        }
    }

    /// The one whose bot has this name, without regard to case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|brain| brain.name().eq_ignore_ascii_case(name))
    }

    /// Its rating in every pool, which no game changes: the ladder is anchored by it.
    ///
    /// Measured by `modiar-bench house --games 20000`, each against each from balanced openings with sides swapped: the joint
    /// fit over 1,100,000 games, level 4 having 1500, rounded to 5. No figure is further off than 4 points, but a difference
    /// depends on the opponents a little: against its neighbour each of them scores 61 to 67 % (level 1 and greedy, 53 %).
    #[must_use]
    pub const fn rating(self) -> f64 {
        match self {
            Self::Random => 1080.0,
            Self::Level(1) => 1210.0,
            Self::Greedy => 1240.0,
            Self::Level(2) => 1305.0,
            Self::Level(3) => 1400.0,
            Self::Level(4) => 1500.0,
            Self::Level(5) => 1585.0,
            Self::Level(6) => 1670.0,
            Self::Level(7) => 1755.0,
            Self::Level(_) => 1830.0,
            Self::Perfect => 1895.0,
        }
    }

    /// The pit that it plays. Nothing where the game is over.
    #[must_use]
    pub fn choose(self, table: &Table, position: &Position, dice: &mut Dice) -> Option<Pit> {
        match self {
            Self::Random => weighed(position, |_| 1.0, dice),
            Self::Greedy => greedy(position, dice),
            Self::Level(level) => table.soft(position, temperature(level), dice.unit()),
            Self::Perfect => table.perfect(position),
        }
    }
}

/// The temperature of a level; those beyond 1 to 8 are the nearest.
fn temperature(level: u8) -> f64 {
    TEMPERATURES[usize::from(level.clamp(1, 8)) - 1]
}

fn greedy(position: &Position, dice: &mut Dice) -> Option<Pit> {
    let taken = |pit| position.play(pit).map_or(0, |played| played.taken);
    let most = position.legal().into_iter().map(taken).max()?;
    weighed(position, |pit| if taken(pit) == most { 1.0 } else { 0.0 }, dice)
}

/// A legal pit by chance, each as likely as its weight says.
fn weighed(position: &Position, weight: impl Fn(Pit) -> f64, dice: &mut Dice) -> Option<Pit> {
    let legal = position.legal();
    let mut left = dice.unit() * legal.into_iter().map(&weight).sum::<f64>();
    let chosen = legal.into_iter().find(|pit| {
        left -= weight(*pit);
        left < 0.0
    });
    // By rounding nothing may be left over for the last one that has a weight.
    chosen.or_else(|| legal.into_iter().filter(|pit| weight(*pit) > 0.0).last())
}

#[cfg(test)]
mod tests {
    use super::*;
    use modiar_oracle::solve;
    use modiar_rules::{EndRules, Line, Side};
    use std::collections::BTreeMap;
    use std::sync::LazyLock;

    static TABLE: LazyLock<Table> = LazyLock::new(solve);

    /// How often of 100,000 times each pit is played at the start.
    fn shares(brain: Brain, position: &Position) -> BTreeMap<u8, f64> {
        let (mut dice, mut shares) = (Dice::new(1), BTreeMap::new());
        for _ in 0..100_000 {
            let pit = brain.choose(&TABLE, position, &mut dice).unwrap();
            *shares.entry(pit.index()).or_insert(0.0) += 0.00001;
        }
        shares
    }

    fn assert_shares(brain: Brain, position: &Position, wanted: &[(u8, f64)]) {
        let shares = shares(brain, position);
        assert_eq!(shares.len(), wanted.len(), "{brain:?} {shares:?}");
        for (pit, share) in wanted {
            assert!((shares[pit] - share).abs() < 0.01, "{brain:?} {shares:?}");
        }
    }

    /// From the start the pits are worth -18, -4 and -2.
    #[test]
    fn each_chooses_as_it_is_described() {
        let start = Position::START;
        assert_shares(Brain::Random, &start, &[(0, 0.333), (1, 0.333), (2, 0.333)]);
        assert_shares(Brain::Perfect, &start, &[(2, 1.0)]);
        for level in 1..=8 {
            let weights = [-16.0, -2.0, 0.0].map(|loss: f64| (loss / temperature(level)).exp());
            let all: f64 = weights.iter().sum();
            let shares = shares(Brain::Level(level), &start);
            for (pit, weight) in (0..).zip(weights) {
                assert!((shares.get(&pit).unwrap_or(&0.0) - weight / all).abs() < 0.01, "level {level}: {shares:?}");
            }
        }
        // After 2 4 0 pit 3 takes four seeds, pit 5 two, pit 4 none.
        let position = Line::replay(EndRules::default(), modiar_rules::parse_moves("240").unwrap()).unwrap().position();
        let most = position.legal().into_iter().map(|pit| position.play(pit).unwrap().taken).max();
        for pit in shares(Brain::Greedy, &position).keys() {
            assert_eq!(Some(position.play(Pit::new(*pit).unwrap()).unwrap().taken), most);
        }
        let over = Position::try_from("1.1.1-6.1.16 4-12 n 8".parse::<modiar_rules::Setup>().unwrap()).unwrap();
        for brain in Brain::ALL {
            assert_eq!(brain.choose(&TABLE, &over, &mut Dice::new(1)), None);
        }
    }

    /// North wins under best play, whoever sits opposite: 2,000 games against each.
    #[test]
    fn perfect_play_wins_every_game_as_north() {
        let mut dice = Dice::new(2);
        for opponent in Brain::ALL {
            for _ in 0..2000 {
                let mut line = Line::new(EndRules::default());
                while line.ending().is_none() {
                    let position = line.position();
                    let brain = if position.side() == Side::South { opponent } else { Brain::Perfect };
                    line.play(brain.choose(&TABLE, &position, &mut dice).unwrap()).unwrap();
                }
                assert_eq!(line.winner(), Some(Side::North), "{opponent:?}");
            }
        }
    }
}
