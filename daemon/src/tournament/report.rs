//! How a tournament stands, from what is stored of it: beside a running daemon and without one.

use super::{Course, Kind, Plan, Told};
use crate::store::{
    DataDir, StoreError, StoredTournament, TournamentForfeit, TournamentGame, TournamentName, TournamentState,
    TournamentStore, look_at_tournaments,
};
use modiar_ladder::tournament::{Encounter, Game, Player, Points, Standing, Tournament};
use modiar_protocol::{BotName, GameId, GameResult, Record, Sides, Termination};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// A tournament as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Listed {
    pub tournament: TournamentName,
    pub state: TournamentState,
    pub format: Kind,
    pub pool: String,
    pub players: usize,
    /// RFC 3339.
    pub starts: String,
}

/// All that is known of a tournament. Points are numbers with quarters, places and numbers are from 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Report {
    pub tournament: TournamentName,
    pub state: TournamentState,
    pub created: String,
    pub starts: String,
    pub plan: Plan,
    pub standings: Vec<Line>,
    /// What each had of each other, in the order of the standings; null where they have not met.
    pub crosstable: Vec<Vec<Option<f64>>>,
    pub rounds: Vec<Round>,
}

/// A player's line of the standings.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Line {
    pub place: usize,
    pub bot: BotName,
    pub rating: f64,
    pub points: f64,
    pub tie_break: f64,
    pub direct: f64,
    pub captured: u32,
    pub won: usize,
    pub drawn: usize,
    pub lost: usize,
    pub walkovers: usize,
    pub byes: usize,
    /// Of a knockout: the round it lost in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<usize>,
    pub withdrawn: bool,
}

/// A round.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Round {
    pub round: usize,
    /// Who rests, and has the points of a won match for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bye: Option<BotName>,
    pub matches: Vec<Met>,
}

/// A match.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Met {
    #[serde(rename = "match")]
    pub number: usize,
    pub bots: [BotName; 2],
    pub points: [f64; 2],
    pub over: bool,
    /// Who did not come to what was left of it.
    pub forfeited: Vec<BotName>,
    pub games: Vec<Played>,
}

/// A try at a game of a match, or a game that nobody played.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Played {
    pub game: usize,
    pub south: BotName,
    pub north: BotName,
    /// None of a game that was given up before it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<GameId>,
    pub outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination: Option<Termination>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<Sides<u8>>,
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// South won.
    South,
    /// North won.
    North,
    /// Nobody won.
    Draw,
    /// It ended without a result.
    None,
    /// It runs, or is to come.
    Open,
    /// It was not played: South has the point.
    WalkoverSouth,
    /// It was not played: North has the point.
    WalkoverNorth,
    /// It was not played, and nobody has the point.
    Unplayed,
}

impl From<GameResult> for Outcome {
    fn from(result: GameResult) -> Self {
        match result {
            GameResult::South => Self::South,
            GameResult::North => Self::North,
            GameResult::Draw => Self::Draw,
            GameResult::None => Self::None,
        }
    }
}

/// What is shown of a stored game.
#[derive(Clone, Debug)]
struct Shown {
    result: GameResult,
    termination: Termination,
    score: Sides<u8>,
}

impl Shown {
    fn of(record: &Record) -> Self {
        Self { result: record.result, termination: record.termination, score: record.score }
    }
}

type Tries = BTreeMap<(usize, usize), Vec<(GameId, Option<Shown>)>>;

/// All tournaments of a data directory, those added first in front.
///
/// # Errors
/// There is no database, or it cannot be read.
pub fn list(data: &DataDir) -> Result<Vec<Listed>, StoreError> {
    let Some(store) = look_at_tournaments(data)? else { return Ok(Vec::new()) };
    let listed = |StoredTournament { name, plan, state, starts, .. }: StoredTournament| {
        let Plan { format, pool, bots, .. } = serde_json::from_str(&plan)?;
        Ok(Listed { tournament: name, state, format, pool, players: bots.len(), starts })
    };
    store.tournaments()?.into_iter().map(listed).collect()
}

/// The tournament of that name; none where there is no such one.
///
/// # Errors
/// As [`list`].
pub fn show(data: &DataDir, name: &TournamentName) -> Result<Option<Report>, StoreError> {
    let Some(store) = look_at_tournaments(data)? else { return Ok(None) };
    let stored = store.tournaments()?.into_iter().find(|stored| stored.name.is(name));
    stored.map(|stored| report(&store, stored)).transpose()
}

fn report(store: &dyn TournamentStore, stored: StoredTournament) -> Result<Report, StoreError> {
    let StoredTournament { name, plan, state, created, starts } = stored;
    let plan: Plan = serde_json::from_str(&plan)?;
    let (mut tries, mut told): (Tries, Vec<(TournamentGame, Option<Told>)>) = Default::default();
    // Before the games: who forfeits meanwhile does so in a match whose games are read then.
    let forfeits: Vec<TournamentForfeit> = store.tournament_forfeits(&name)?;
    store.tournament_games(&name, &mut |row, record| {
        let tries = tries.entry((row.number, row.game)).or_default();
        tries.push((row.id, record.as_ref().map(Shown::of)));
        told.push((row, record.as_ref().map(Told::of)));
    })?;
    let course = Course::restore(name.clone(), plan.clone(), told, &forfeits, &HashSet::new());
    let (tournament, begun) = (course.tournament(), state != TournamentState::Planned);
    let standings = tournament.standings();
    let crosstable = crosstable(&standings, tournament);
    let rounds = if begun { rounds(&plan, tournament, &tries) } else { Vec::new() };
    let standings = standings.into_iter().map(|standing| line(&plan, standing)).collect();
    Ok(Report { tournament: name, state, created, starts, plan, standings, crosstable, rounds })
}

fn line(plan: &Plan, standing: Standing) -> Line {
    Line {
        place: standing.place,
        bot: plan.name(standing.player).clone(),
        rating: plan.bots[standing.player.0].rating,
        points: number(standing.points),
        tie_break: number(standing.tie_break),
        direct: number(standing.direct),
        captured: standing.captured,
        won: standing.games.won,
        drawn: standing.games.drawn,
        lost: standing.games.lost,
        walkovers: standing.walkovers,
        byes: standing.byes,
        out: standing.out,
        withdrawn: standing.withdrawn,
    }
}

/// Quarters are exact in a double, of far more points than anybody can have.
#[allow(clippy::cast_precision_loss)]
fn number(points: Points) -> f64 {
    points.0 as f64 / 4.0
}

fn crosstable(standings: &[Standing], tournament: &Tournament) -> Vec<Vec<Option<f64>>> {
    let mut had: BTreeMap<[Player; 2], Points> = BTreeMap::new();
    for met in tournament.matches().iter().filter(|met| met.was_played() || met.is_over()) {
        let [one, other] = met.players;
        let points = met.points();
        *had.entry([one, other]).or_default() += points[0];
        *had.entry([other, one]).or_default() += points[1];
    }
    let row = |one: &Standing| {
        standings.iter().map(|other| had.get(&[one.player, other.player]).copied().map(number)).collect()
    };
    standings.iter().map(row).collect()
}

fn rounds(plan: &Plan, tournament: &Tournament, tries: &Tries) -> Vec<Round> {
    let mut rounds: Vec<Round> = (1..=tournament.round())
        .map(|round| {
            let bye = tournament.bye(round).map(|player| plan.name(player).clone());
            Round { round, bye, matches: Vec::new() }
        })
        .collect();
    for (number, met) in (1..).zip(tournament.matches()) {
        if let Some(round) = rounds.get_mut(met.round - 1) {
            round.matches.push(self::met(plan, number, met, tries));
        }
    }
    rounds
}

fn met(plan: &Plan, number: usize, met: &Encounter, tries: &Tries) -> Met {
    let bots = met.players.map(|player| plan.name(player).clone());
    let forfeited = bots.iter().zip(met.forfeited).filter(|(_, forfeited)| *forfeited).map(|(bot, _)| bot.clone());
    let last = met.games.len() + if met.is_over() { met.given_up() } else { 1 };
    Met {
        number,
        points: met.points().map(self::number),
        over: met.is_over(),
        forfeited: forfeited.collect(),
        games: (1..=last).flat_map(|game| games(plan, met, game, tries.get(&(number, game)))).collect(),
        bots,
    }
}

/// The tries at a game, and where it was not played who has the point.
fn games(plan: &Plan, met: &Encounter, game: usize, tries: Option<&Vec<(GameId, Option<Shown>)>>) -> Vec<Played> {
    let [south, north] = met.seats(game - 1).map(|player| plan.name(player).clone());
    let swapped = met.seats(game - 1)[0] != met.players[0];
    let played = |id, outcome, shown: Option<&Shown>| Played {
        game,
        south: south.clone(),
        north: north.clone(),
        id,
        outcome,
        termination: shown.map(|shown| shown.termination),
        score: shown.map(|shown| shown.score),
    };
    let of_try = |(id, shown): &(GameId, Option<Shown>)| {
        let outcome = shown.as_ref().map_or(Outcome::Open, |shown| shown.result.into());
        played(Some(*id), outcome, shown.as_ref())
    };
    let all = tries.into_iter().flatten();
    let unplayed = match met.games.get(game - 1) {
        Some(Game::Played { .. }) => None,
        Some(Game::Unplayed { absent }) => Some(*absent),
        None if met.is_over() => Some(met.forfeited),
        None => return all.map(of_try).collect(),
    };
    let stored = all.filter(|(_, shown)| shown.is_some()).map(of_try);
    stored.chain(unplayed.map(|absent| played(None, walkover(absent, swapped), None))).collect()
}

/// Who has the point of a game that was not played, the first and the second of the match having been absent or not.
const fn walkover([first, second]: [bool; 2], swapped: bool) -> Outcome {
    match (if swapped { second } else { first }, if swapped { first } else { second }) {
        (true, false) => Outcome::WalkoverNorth,
        (false, true) => Outcome::WalkoverSouth,
        _ => Outcome::Unplayed,
    }
}
