//! A tournament as it goes on.

use super::encounter::{Length, MatchNumber, TIE_PAIRS};
use super::knockout::{self, Bracket};
use super::seeding::{chance, seeded};
use super::swiss::{self, Entrant};
use super::{Encounter, Format, Game, Plan, Player, Points, circle, swiss_rounds};

/// A game that may be played now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The match.
    pub number: MatchNumber,
    /// Which game of it, from 0. An odd one takes the opening of the one before.
    pub game: usize,
    /// South and North.
    pub seats: [Player; 2],
}

/// Nothing of that match, or of that player in it, is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotDue;

/// The plan, and what has come of it.
#[derive(Clone, Debug)]
pub struct Tournament {
    pub(super) plan: Plan,
    /// The players, the best seed first.
    pub(super) order: Vec<Player>,
    pub(super) matches: Vec<Encounter>,
    pub(super) rounds: Vec<Round>,
    pub(super) withdrawn: Vec<bool>,
    /// Of a knockout, before the round that is played.
    bracket: Bracket,
    over: bool,
}

/// A round that was made.
#[derive(Clone, Debug)]
pub(super) struct Round {
    /// Where its matches begin.
    first: usize,
    /// Who rests and has points for it, in a Swiss.
    pub(super) bye: Option<Player>,
}

impl Tournament {
    /// A tournament that has just begun; one that has nobody to play is over.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        let order = seeded(&plan);
        let bracket = knockout::first(&order);
        let withdrawn = vec![false; order.len()];
        let mut tournament =
            Self { plan, order, matches: Vec::new(), rounds: Vec::new(), withdrawn, bracket, over: false };
        tournament.advance();
        tournament
    }

    /// The next game of each match that is not over, in the order of the matches.
    #[must_use]
    pub fn due(&self) -> Vec<Due> {
        let first = self.rounds.last().map_or(0, |round| round.first);
        let open = self.matches.iter().enumerate().skip(first).filter(|(_, met)| !met.is_over());
        open.map(|(at, met)| {
            let game = met.games.len();
            Due { number: MatchNumber(at + 1), game, seats: met.seats(game) }
        })
        .collect()
    }

    /// The next game of a match is over, or will not be played.
    ///
    /// # Errors
    /// No game of that match is awaited.
    pub fn report(&mut self, number: MatchNumber, game: Game) -> Result<(), NotDue> {
        self.open(number)?.games.push(game);
        self.advance();
        Ok(())
    }

    /// These players do not come to a match: they lose the games that are left of it, each to the other where that comes.
    /// Those of them who are `gone` lose all later matches too.
    ///
    /// # Errors
    /// No game of that match is awaited, or one of them is none of its players.
    pub fn give_up(&mut self, number: MatchNumber, players: &[Player], gone: &[Player]) -> Result<(), NotDue> {
        let met = self.open(number)?;
        let places: Option<Vec<usize>> = players.iter().chain(gone).map(|player| met.place(*player)).collect();
        for place in places.ok_or(NotDue)? {
            met.forfeited[place] = true;
        }
        for player in gone {
            self.withdrawn[player.0] = true;
        }
        self.advance();
        Ok(())
    }

    /// Whether nothing is left to be played.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.over
    }

    /// The matches so far, in the order of their numbers.
    #[must_use]
    pub fn matches(&self) -> &[Encounter] {
        &self.matches
    }

    /// Rounds made so far.
    #[must_use]
    pub const fn round(&self) -> usize {
        self.rounds.len()
    }

    /// Who rests in a round, from 1, and has the points of a won match for it.
    #[must_use]
    pub fn bye(&self, round: usize) -> Option<Player> {
        self.rounds.get(round.checked_sub(1)?)?.bye
    }

    /// The points of a round that a player rests in.
    pub(super) fn bye_points(&self) -> Points {
        Points::WIN.times(self.length().games)
    }

    /// A player's points so far.
    pub(super) fn points(&self, player: Player) -> Points {
        let played = self.matches.iter().filter_map(|met| Some(met.points()[met.place(player)?])).sum::<Points>();
        played + self.bye_points().times(self.byes(player))
    }

    pub(super) fn byes(&self, player: Player) -> usize {
        self.rounds.iter().filter(|round| round.bye == Some(player)).count()
    }

    /// Who goes on from a match of a knockout that is over.
    pub(super) fn winner(&self, met: &Encounter) -> Option<Player> {
        let seed = |player| self.order.iter().position(|one| *one == player);
        let [first, second] = met.players.map(seed);
        met.winner(usize::from(second < first))
    }

    fn length(&self) -> Length {
        let games = 2 * self.plan.pairs.max(1);
        let more = if self.plan.format == Format::Knockout { 2 * TIE_PAIRS } else { 0 };
        Length { games, most: games + more }
    }

    fn open(&mut self, number: MatchNumber) -> Result<&mut Encounter, NotDue> {
        // Matches of earlier rounds are all over.
        self.matches.get_mut(number.0.wrapping_sub(1)).filter(|met| !met.is_over()).ok_or(NotDue)
    }

    /// Makes the next round once the one before is over; rounds of which all is given up are passed by.
    fn advance(&mut self) {
        while !self.over && self.due().is_empty() {
            let first = self.matches.len();
            match self.next_round() {
                None => self.over = true,
                Some(swiss::Round { matches, bye }) => {
                    let (round, length) = (self.rounds.len() + 1, self.length());
                    let met = |players: [Player; 2]| {
                        let forfeited = players.map(|player| self.withdrawn[player.0]);
                        Encounter { round, players, games: Vec::new(), forfeited, length }
                    };
                    let met: Vec<Encounter> = matches.into_iter().map(met).collect();
                    self.matches.extend(met);
                    self.rounds.push(Round { first, bye });
                }
            }
        }
    }

    fn next_round(&mut self) -> Option<swiss::Round> {
        let (round, players) = (self.rounds.len(), self.order.len());
        let of = |matches| Some(swiss::Round { matches, bye: None });
        match self.plan.format {
            Format::RoundRobin { cycles } if round < circle::rounds(players, cycles) => {
                of(circle::round(&self.order, round))
            }
            Format::Gauntlet { challenger, cycles } if round < players.saturating_sub(1) * cycles => {
                of(circle::gauntlet(&self.order, challenger, round))
            }
            Format::Swiss { rounds } if round < rounds.unwrap_or_else(|| swiss_rounds(players)) => self.swiss_round(),
            Format::Knockout => of(self.knockout_round()?),
            _ => None,
        }
    }

    fn knockout_round(&mut self) -> Option<Vec<[Player; 2]>> {
        if let Some(last) = self.rounds.last() {
            let winners = self.matches[last.first..].iter().map(|met| self.winner(met));
            self.bracket = knockout::next(&self.bracket, winners);
        }
        (self.bracket.len() > 1).then(|| knockout::meeting(&self.bracket))
    }

    fn swiss_round(&self) -> Option<swiss::Round> {
        let here = self.order.iter().copied().filter(|player| !self.withdrawn[player.0]);
        let entrant = |player| Entrant { player, points: self.points(player), byes: self.byes(player) };
        let mut field: Vec<Entrant> = here.map(entrant).collect();
        if field.len() < 2 {
            return None;
        }
        // Those of equal points stay as they are seeded.
        field.sort_by_key(|entrant| std::cmp::Reverse(entrant.points));
        let mut met = vec![vec![false; self.order.len()]; self.order.len()];
        for [Player(one), Player(other)] in self.matches.iter().map(|met| met.players) {
            (met[one][other], met[other][one]) = (true, true);
        }
        let mut round = swiss::round(field, |one, other| met[one.0][other.0]);
        for (at, two) in round.matches.iter_mut().enumerate() {
            if chance(self.plan.seed, (self.matches.len() + at) as u64) & 1 == 1 {
                two.reverse();
            }
        }
        Some(round)
    }
}
