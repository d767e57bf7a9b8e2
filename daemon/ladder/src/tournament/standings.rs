//! How the players of a tournament stand (`ladder.tournament-standings`).

use super::{Encounter, Format, Game, Player, Points, Tournament};
use std::cmp::Reverse;
use std::collections::HashSet;

/// Games of a player that were played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Tally {
    pub won: usize,
    pub drawn: usize,
    pub lost: usize,
}

/// A player's line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// From 1; no two are the same.
    pub place: usize,
    /// Who.
    pub player: Player,
    /// Games, walkovers and byes together.
    pub points: Points,
    /// Buchholz of a Swiss, else Sonneborn-Berger.
    pub tie_break: Points,
    /// Points against those who have the same points and tie-break, where all of them have met.
    pub direct: Points,
    /// Seeds, of played games.
    pub captured: u32,
    /// Played games.
    pub games: Tally,
    /// Games that nobody played: the points they brought are in [`Self::points`].
    pub walkovers: usize,
    /// Rounds in which it rested and had points for it.
    pub byes: usize,
    /// Of a knockout the round it lost in; `None` for who won, or is in it still.
    pub out: Option<usize>,
    /// Whether it came no more.
    pub withdrawn: bool,
}

impl Tournament {
    /// All players, the best first: in a knockout by how far they came, then by points, tie-break, direct encounter, captured
    /// seeds, and seed.
    #[must_use]
    pub fn standings(&self) -> Vec<Standing> {
        let sheet = Sheet::of(self);
        let mut table: Vec<Standing> = self.order.iter().map(|player| sheet.standing(*player)).collect();
        table.sort_by_key(key);
        for group in table.chunk_by_mut(|one, other| key(one) == key(other)) {
            sheet.settle(group);
        }
        // Who is alike in all stays as seeded.
        table.sort_by_key(|standing| (key(standing), Reverse((standing.direct, standing.captured))));
        for (at, standing) in table.iter_mut().enumerate() {
            standing.place = at + 1;
        }
        table
    }
}

/// A tournament, looked up by player.
struct Sheet<'a> {
    tournament: &'a Tournament,
    points: Vec<Points>,
    /// Each player's matches, and its place in them.
    met: Vec<Vec<(&'a Encounter, usize)>>,
}

impl<'a> Sheet<'a> {
    fn of(tournament: &'a Tournament) -> Self {
        let mut met = vec![Vec::new(); tournament.order.len()];
        for encounter in &tournament.matches {
            for (place, player) in encounter.players.iter().enumerate() {
                met[player.0].push((encounter, place));
            }
        }
        let points = (0..met.len()).map(|player| tournament.points(Player(player))).collect();
        Self { tournament, points, met }
    }

    fn standing(&self, player: Player) -> Standing {
        let mut games = Tally::default();
        let met = &self.met[player.0];
        for (encounter, place) in met {
            for game in encounter.games.iter().filter(|game| matches!(game, Game::Played { .. })) {
                let counted = match game.points()[*place] {
                    Points::WIN => &mut games.won,
                    Points::DRAW => &mut games.drawn,
                    _ => &mut games.lost,
                };
                *counted += 1;
            }
        }
        Standing {
            place: 0,
            player,
            points: self.points[player.0],
            tie_break: self.tie_break(player),
            direct: Points::NONE,
            captured: met.iter().map(|(encounter, place)| encounter.captured()[*place]).sum(),
            games,
            walkovers: met.iter().map(|(encounter, _)| encounter.unplayed()).sum(),
            byes: self.tournament.byes(player),
            out: self.out(player),
            withdrawn: self.tournament.withdrawn[player.0],
        }
    }

    /// Buchholz: the points of all opponents, where a match that nobody played and a bye count as against one with the
    /// player's own points. Sonneborn-Berger: what was won of each opponent's points.
    fn tie_break(&self, player: Player) -> Points {
        let own = self.points[player.0];
        let of = |(met, place): &(&Encounter, usize)| {
            let other = self.points[met.players[1 - place].0];
            match self.tournament.plan.format {
                Format::Swiss { .. } if met.was_played() => other,
                // One that goes on may still be played.
                Format::Swiss { .. } if met.is_over() => own,
                Format::Swiss { .. } => Points::NONE,
                _ => met.points()[*place].product(other),
            }
        };
        self.met[player.0].iter().map(of).sum::<Points>() + own.times(self.tournament.byes(player))
    }

    /// Tells those who are alike so far what they have against one another, where all of them have met.
    fn settle(&self, group: &mut [Standing]) {
        let players: HashSet<Player> = group.iter().map(|standing| standing.player).collect();
        let others = |player: Player| {
            let met = self.met[player.0].iter().filter(|(met, place)| players.contains(&met.players[1 - place]));
            met.map(|(met, place)| (met.players[1 - place], met.points()[*place]))
        };
        let met = |player| others(player).map(|(other, _)| other).collect::<HashSet<_>>().len() + 1;
        if group.iter().all(|standing| met(standing.player) == players.len()) {
            for standing in group {
                standing.direct = others(standing.player).map(|(_, points)| points).sum();
            }
        }
    }

    fn out(&self, player: Player) -> Option<usize> {
        let knockout = self.tournament.plan.format == Format::Knockout;
        let mut over = self.met[player.0].iter().filter(|(met, _)| knockout && met.is_over());
        over.find(|(met, _)| self.tournament.winner(met) != Some(player)).map(|(met, _)| met.round)
    }
}

/// What goes before the direct encounter.
fn key(standing: &Standing) -> (Reverse<usize>, Reverse<Points>, Reverse<Points>) {
    (Reverse(standing.out.unwrap_or(usize::MAX)), Reverse(standing.points), Reverse(standing.tie_break))
}
