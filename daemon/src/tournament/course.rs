//! One tournament under way: pure, and a fold over what is stored of it.
//!
//! ```text
//! due ─▶ reserved (its id is stored) ─▶ started ─▶ ended, and the next is due
//!             ▲                            │
//!             └───── it never began ───────┘        who does not come in time forfeits the match
//! ```

use super::{Plan, Verdict};
use crate::clock::{Micros, Moment};
use crate::lobby::{Summoned, Summons};
use crate::store::{TournamentForfeit, TournamentGame, TournamentName};
use modiar_ladder::Outcome;
use modiar_ladder::tournament::{Due, Encounter, Game, MatchNumber, Player, Tournament};
use modiar_protocol::{BotName, GameId, Record};
use modiar_rules::{BySide, Pit, Side, parse_moves};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Tries at a game that ends without a result: after the last it is not played any more (`ladder.tournament-aborted`).
const TRIES: usize = 2;
/// The most of the time between two looks that counts as waiting: beyond it the daemon stood still.
const LONGEST_LOOK: Micros = Micros(1_000_000);

/// A stored game, as far as a course needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// How it went.
    pub verdict: Verdict,
    /// What the server played.
    pub opening: Arc<[Pit]>,
}

impl Told {
    /// That of a record.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        // What cannot be read was never played.
        Self { verdict: Verdict::of(record), opening: parse_moves(&record.opening).unwrap_or_default().into() }
    }
}

/// The plan, what came of it, and the games that are reserved or run.
#[derive(Clone, Debug)]
pub struct Course {
    /// The tournament's name.
    pub name: TournamentName,
    plan: Plan,
    tournament: Tournament,
    /// The try at the next game of each match that is due.
    tries: BTreeMap<MatchNumber, Try>,
    /// Tries at the next game of a match that came to nothing.
    void: HashMap<MatchNumber, usize>,
    /// The opening of the newest game of each match.
    openings: HashMap<MatchNumber, Arc<[Pit]>>,
    looked: Option<Moment>,
}

#[derive(Clone, Debug)]
struct Try {
    row: TournamentGame,
    started: bool,
    /// For how long its sides were waited for.
    away: BySide<Micros>,
}

impl Course {
    /// A tournament that begins.
    #[must_use]
    pub fn new(name: TournamentName, plan: Plan) -> Self {
        let tournament = Tournament::new(plan.ladder());
        Self {
            name,
            plan,
            tournament,
            tries: BTreeMap::new(),
            void: HashMap::new(),
            openings: HashMap::new(),
            looked: None,
        }
    }

    /// A tournament as it is stored, its tries and forfeits in the order of matches. A game that is not stored goes on where
    /// its id is one of those that run; else it never began, and is due.
    #[must_use]
    pub fn restore(
        name: TournamentName,
        plan: Plan,
        tries: Vec<(TournamentGame, Option<Told>)>,
        forfeits: &[TournamentForfeit],
        running: &HashSet<GameId>,
    ) -> Self {
        let mut course = Self::new(name, plan);
        let mut rest = forfeits;
        for (row, told) in tries {
            let before = rest.partition_point(|forfeit| forfeit.number < row.number);
            course.give_up(&rest[..before]);
            rest = &rest[before..];
            match told {
                Some(told) => {
                    course.reserve(&[row]);
                    course.ended(row.id, &told);
                }
                None if running.contains(&row.id) => {
                    course.reserve(&[row]);
                    course.began(row.id, true);
                }
                None => {}
            }
        }
        course.give_up(rest);
        course
    }

    /// Where it stands.
    #[must_use]
    pub const fn tournament(&self) -> &Tournament {
        &self.tournament
    }

    /// The plan.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether all is played.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.tournament.is_over()
    }

    /// The tries at games that are due and have no id yet, each with a new one. They may start once they are stored, and
    /// [reserved](Self::reserve) here.
    pub fn unreserved(&self, mut id: impl FnMut() -> GameId) -> Vec<TournamentGame> {
        let due = self.tournament.due().into_iter().filter(|due| !self.tries.contains_key(&due.number));
        let mut row = |Due { number, game, .. }: Due| {
            let attempt = 1 + self.void.get(&number).copied().unwrap_or(0);
            TournamentGame { number: number.0, game: game + 1, attempt, id: id() }
        };
        due.map(&mut row).collect()
    }

    /// These tries are stored.
    pub fn reserve(&mut self, rows: &[TournamentGame]) {
        let due: HashSet<[usize; 2]> = self.tournament.due().iter().map(|due| [due.number.0, due.game + 1]).collect();
        for row in rows.iter().filter(|row| due.contains(&[row.number, row.game])) {
            self.tries.insert(MatchNumber(row.number), Try { row: *row, started: false, away: BySide::default() });
        }
    }

    /// The games that may start, of the pool at this place in the list.
    #[must_use]
    pub fn wanted(&self, pool: usize) -> Vec<Summons> {
        let waiting = self.tries.iter().filter(|(_, a_try)| !a_try.started);
        let wanted = waiting.filter_map(|(number, Try { row, .. })| {
            // The second game of a pair is played from the opening of the first.
            let opening = if row.game.is_multiple_of(2) { self.openings.get(number).cloned() } else { None };
            Some(Summons { game: row.id, pool, seats: self.seats(row)?, rated: self.plan.rated, opening })
        });
        wanted.collect()
    }

    /// What became of the games that were wanted.
    pub fn answered(&mut self, answers: impl IntoIterator<Item = (GameId, Summoned)>, now: Moment) {
        let waited = self.looked.map_or(Micros(0), |looked| now.since(looked).min(LONGEST_LOOK));
        self.looked = Some(now);
        let mut tries: HashMap<GameId, &mut Try> = self.tries.values_mut().map(|a_try| (a_try.row.id, a_try)).collect();
        for (id, answer) in answers {
            let Some(a_try) = tries.get_mut(&id) else { continue };
            match answer {
                Summoned::Started => a_try.started = true,
                Summoned::Busy | Summoned::Held => {}
                Summoned::Absent(absent) => {
                    for side in Side::ALL.into_iter().filter(|side| absent[*side]) {
                        a_try.away[side] += waited;
                    }
                }
            }
        }
    }

    /// Who has let the time go by in which it was waited for, and who is gone for good. They have forfeited once that is
    /// stored, and [given up](Self::give_up) here.
    pub fn late(&self, is_gone: impl Fn(&BotName) -> bool) -> Vec<TournamentForfeit> {
        let patience = Micros(self.plan.patience_s.saturating_mul(1_000_000));
        let mut late = Vec::new();
        for Try { row, away, .. } in self.tries.values().filter(|a_try| !a_try.started) {
            let Some(seats) = self.seats(row) else { continue };
            for side in Side::ALL {
                let (bot, withdrawn) = (seats[side].clone(), is_gone(&seats[side]));
                if withdrawn || away[side] >= patience {
                    late.push(TournamentForfeit { number: row.number, bot, withdrawn });
                }
            }
        }
        late
    }

    /// These have forfeited.
    pub fn give_up(&mut self, forfeits: &[TournamentForfeit]) {
        for of_match in forfeits.chunk_by(|one, other| one.number == other.number) {
            let number = MatchNumber(of_match[0].number);
            let players: Vec<Player> = of_match.iter().filter_map(|forfeit| self.plan.player(&forfeit.bot)).collect();
            let gone: Vec<Player> = of_match
                .iter()
                .filter(|forfeit| forfeit.withdrawn)
                .filter_map(|forfeit| self.plan.player(&forfeit.bot))
                .collect();
            // What is stored was due when it was.
            let _ = self.tournament.give_up(number, &players, &gone);
            self.tries.remove(&number);
            self.void.remove(&number);
        }
    }

    /// The games that have started and are not known to have ended.
    #[must_use]
    pub fn running(&self) -> Vec<GameId> {
        self.tries.values().filter(|a_try| a_try.started).map(|a_try| a_try.row.id).collect()
    }

    /// Whether a game that is reserved has begun.
    pub fn began(&mut self, id: GameId, started: bool) {
        if let Some(a_try) = self.a_try(id) {
            a_try.started = started;
        }
    }

    /// A game is stored.
    pub fn ended(&mut self, id: GameId, told: &Told) {
        let Some(row) = self.a_try(id).map(|a_try| a_try.row) else { return };
        let number = MatchNumber(row.number);
        self.tries.remove(&number);
        self.openings.insert(number, Arc::clone(&told.opening));
        let void = self.void.remove(&number).unwrap_or(0) + 1;
        let Some(game) = self.counted(&row, told.verdict, void) else {
            self.void.insert(number, void);
            return;
        };
        // It was due, or would not have been reserved.
        let _ = self.tournament.report(number, game);
    }

    /// A game as it counts; `None` where it is tried once more, so many tries having come to nothing.
    fn counted(&self, row: &TournamentGame, verdict: Verdict, void: usize) -> Option<Game> {
        let met = self.encounter(row)?;
        let swapped = met.seats(row.game - 1)[0] != met.players[0];
        let first = if swapped { Side::North } else { Side::South };
        match verdict {
            Verdict::Played { winner, captured } => {
                let outcome = match winner {
                    None => Outcome::Draw,
                    Some(winner) if winner == first => Outcome::Win,
                    Some(_) => Outcome::Loss,
                };
                Some(Game::Played { outcome, captured: [captured[first].into(), captured[first.other()].into()] })
            }
            Verdict::Void { .. } if void < TRIES => None,
            Verdict::Void { absent } => {
                Some(Game::Unplayed { absent: [absent == Some(first), absent == Some(first.other())] })
            }
        }
    }

    fn encounter(&self, row: &TournamentGame) -> Option<&Encounter> {
        self.tournament.matches().get(row.number.checked_sub(1)?)
    }

    fn seats(&self, row: &TournamentGame) -> Option<BySide<BotName>> {
        let [south, north] = self.encounter(row)?.seats(row.game.checked_sub(1)?);
        Some(BySide::new(self.plan.name(south).clone(), self.plan.name(north).clone()))
    }

    fn a_try(&mut self, id: GameId) -> Option<&mut Try> {
        self.tries.values_mut().find(|a_try| a_try.row.id == id)
    }
}
