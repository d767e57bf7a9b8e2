//! A match of a tournament: pairs of games of the same two.

use super::{Player, Points};
use crate::Outcome;

/// Pairs that a level match of a knockout goes on for, one after the other, before captured seeds decide it
/// (`ladder.tournament-knockout`).
pub const TIE_PAIRS: usize = 2;

/// A match's number, from 1, over the whole tournament, in the order in which the rounds were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MatchNumber(pub usize);

/// How a game of a match went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Game {
    /// It was played.
    Played {
        /// For the first of the match's two.
        outcome: Outcome,
        /// Seeds, of the first and of the second.
        captured: [u32; 2],
    },
    /// It was not: who was absent lost it; where neither was, it counts as drawn.
    Unplayed {
        /// The first, the second.
        absent: [bool; 2],
    },
}

/// How long matches are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Length {
    /// Games of every match.
    pub games: usize,
    /// Games of one that stays level.
    pub most: usize,
}

/// Two players, and their games so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encounter {
    /// The round, from 1.
    pub round: usize,
    /// The two. The first is South in the first game of each pair.
    pub players: [Player; 2],
    /// The games, in order.
    pub games: Vec<Game>,
    /// Who gave the rest of it up.
    pub forfeited: [bool; 2],
    /// Games that count where none is given up.
    pub(super) length: Length,
}

impl Encounter {
    /// South and North of the game of this number, from 0.
    #[must_use]
    pub const fn seats(&self, game: usize) -> [Player; 2] {
        let [first, second] = self.players;
        if game.is_multiple_of(2) { [first, second] } else { [second, first] }
    }

    /// Whether nothing of it is left to be played.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let [first, second] = self.points();
        let played = self.games.len();
        let whole = played >= self.length.games && played.is_multiple_of(2);
        self.forfeited != [false, false] || whole && (first != second || played >= self.length.most)
    }

    /// What each has of it, the games that were given up included.
    #[must_use]
    pub fn points(&self) -> [Points; 2] {
        let rest = vec![Game::Unplayed { absent: self.forfeited }; self.given_up()];
        self.games
            .iter()
            .chain(&rest)
            .map(Game::points)
            .fold([Points::NONE; 2], |sum, game| [sum[0] + game[0], sum[1] + game[1]])
    }

    /// Seeds that each captured.
    #[must_use]
    pub fn captured(&self) -> [u32; 2] {
        self.games.iter().fold([0, 0], |sum, game| match game {
            Game::Played { captured, .. } => [sum[0] + captured[0], sum[1] + captured[1]],
            Game::Unplayed { .. } => sum,
        })
    }

    /// Games that nobody played, those that were given up included.
    #[must_use]
    pub fn unplayed(&self) -> usize {
        self.given_up() + self.games.iter().filter(|game| matches!(game, Game::Unplayed { .. })).count()
    }

    /// Whether any game of it was played.
    #[must_use]
    pub fn was_played(&self) -> bool {
        self.games.iter().any(|game| matches!(game, Game::Played { .. }))
    }

    /// Where `player` stands in [`Self::players`].
    #[must_use]
    pub fn place(&self, player: Player) -> Option<usize> {
        self.players.iter().position(|one| *one == player)
    }

    /// Who goes on from a match of a knockout that is over, `better` being the place of the higher seed; nobody where both
    /// gave it up.
    pub(super) fn winner(&self, better: usize) -> Option<Player> {
        let place = match self.forfeited {
            [true, true] => return None,
            [true, false] => 1,
            [false, true] => 0,
            [false, false] => {
                let ([first, second], [one, other]) = (self.points(), self.captured());
                match first.cmp(&second).then(one.cmp(&other)) {
                    std::cmp::Ordering::Greater => 0,
                    std::cmp::Ordering::Less => 1,
                    std::cmp::Ordering::Equal => better,
                }
            }
        };
        Some(self.players[place])
    }

    /// Games that were left when it was given up.
    #[must_use]
    pub fn given_up(&self) -> usize {
        let played = self.games.len();
        // Beyond the length what was due is the deciding pair.
        let due = self.length.games.max((played / 2 + 1) * 2);
        if self.forfeited == [false, false] { 0 } else { due - played }
    }
}

impl Game {
    /// What each of the two has for it.
    #[must_use]
    pub const fn points(&self) -> [Points; 2] {
        match self {
            Self::Played { outcome: Outcome::Win, .. } | Self::Unplayed { absent: [false, true] } => {
                [Points::WIN, Points::NONE]
            }
            Self::Played { outcome: Outcome::Loss, .. } | Self::Unplayed { absent: [true, false] } => {
                [Points::NONE, Points::WIN]
            }
            Self::Played { outcome: Outcome::Draw, .. } | Self::Unplayed { absent: [false, false] } => {
                [Points::DRAW, Points::DRAW]
            }
            Self::Unplayed { absent: [true, true] } => [Points::NONE, Points::NONE],
        }
    }
}
