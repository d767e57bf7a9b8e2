//! What a host asks for, and the plan that comes of it.

use crate::config::Pool;
use crate::house::Brain;
use crate::store::TournamentName;
use jiff::Timestamp;
use modiar_ladder::Rating;
use modiar_ladder::tournament::{self as ladder, Player, swiss_rounds};
use modiar_protocol::BotName;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use thiserror::Error;

/// Most players.
const MOST_PLAYERS: usize = 256;
/// Most rounds, cycles or pairs.
const MOST_TIMES: usize = 100;
/// Most games that a plan may come to.
const MOST_GAMES: usize = 100_000;
/// How long a bot is waited for where nothing is said, in seconds.
const PATIENCE_S: u64 = 120;
/// The longest that may be asked for, in seconds: a day.
const MOST_PATIENCE_S: u64 = 86_400;

/// Who meets whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Everybody meets everybody
    RoundRobin,
    /// Who stands alike meets
    Swiss,
    /// Who loses is out
    Knockout,
    /// One meets each of the others
    Gauntlet,
}

impl Kind {
    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::Swiss => "swiss",
            Self::Knockout => "knockout",
            Self::Gauntlet => "gauntlet",
        }
    }
}

/// What a host asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    /// The tournament's name.
    pub name: TournamentName,
    /// Who meets whom.
    pub format: Kind,
    /// The pool by whose rules and time it is played.
    pub pool: String,
    /// Who plays; `None` for all registered bots that are not kept out.
    pub bots: Option<Vec<BotName>>,
    /// Of a gauntlet: who meets the others.
    pub challenger: Option<BotName>,
    /// Of a Swiss: how many rounds.
    pub rounds: Option<usize>,
    /// Of a round robin or a gauntlet: how often the same two meet.
    pub cycles: Option<usize>,
    /// Pairs of games in a match.
    pub pairs: Option<usize>,
    /// When it starts; at once where that is past, or nothing is said.
    pub at: Option<Timestamp>,
    /// Where chance starts.
    pub seed: Option<u64>,
    /// How long a bot is waited for, in seconds.
    pub patience_s: Option<u64>,
    /// Whether its games change no ratings where the pool's do.
    pub unrated: bool,
}

/// A player of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its name.
    pub name: BotName,
    /// Its rating in the pool when the tournament was added, by which it is seeded.
    pub rating: f64,
}

/// What a tournament follows from, but for its results. Stored as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Who meets whom.
    pub format: Kind,
    /// The pool's name.
    pub pool: String,
    /// The players.
    pub bots: Vec<Entry>,
    /// Of a gauntlet: who meets the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub challenger: Option<BotName>,
    /// Of a Swiss: how many rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<usize>,
    /// How often the same two meet; 1 where the format says otherwise how often.
    pub cycles: usize,
    /// Pairs of games in a match.
    pub pairs: usize,
    /// Where chance starts.
    pub seed: u64,
    /// How long a bot is waited for, in seconds of the daemon's running time.
    pub patience_s: u64,
    /// Whether its games change ratings, where the pool's do.
    pub rated: bool,
}

/// Why there is no such tournament.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum PlanError {
    #[error("there is no pool '{name}'; there are {known}")]
    UnknownPool { name: String, known: String },
    #[error(
        "no bot '{0}' is registered, nor is it one of the server's own; `modiar bot list` shows the registered ones"
    )]
    UnknownBot(BotName),
    #[error("'{0}' is named twice in --bots; name each once")]
    Twice(BotName),
    #[error("players: {found}, and it takes 2 to {MOST_PLAYERS}; name others with --bots")]
    Players { found: usize },
    #[error("a gauntlet needs --challenger, the one who meets all others")]
    NoChallenger,
    #[error("--{option} is of {of} and says nothing in a tournament of format {format}; leave it out")]
    Foreign { option: &'static str, of: &'static str, format: &'static str },
    #[error("--{option} {found} is not from 1 to {most}; write a number that is")]
    Range { option: &'static str, found: u64, most: u64 },
    #[error("it would come to {found} games, and {MOST_GAMES} is the most; ask for fewer rounds, cycles or pairs")]
    Games { found: usize },
}

impl Wish {
    /// The plan, where `known` is registered or the server's own and `ratings` are theirs in the pool.
    ///
    /// # Errors
    /// What cannot be had.
    pub fn plan(
        self,
        pools: &[Pool],
        registered: &[BotName],
        ratings: &HashMap<BotName, f64>,
        seed: u64,
    ) -> Result<Plan, PlanError> {
        if !pools.iter().any(|pool| pool.name == self.pool) {
            let known: Vec<&str> = pools.iter().map(|pool| pool.name.as_str()).collect();
            let name = self.pool.chars().take(40).collect::<String>().escape_debug().to_string();
            return Err(PlanError::UnknownPool { name, known: known.join(", ") });
        }
        self.check_options()?;
        let names = self.players(registered)?;
        let rating = |name: &BotName| {
            let house = Brain::named(name.as_str()).map(Brain::rating);
            ratings.get(name).copied().or(house).unwrap_or(Rating::default().rating)
        };
        let bots: Vec<Entry> = names.into_iter().map(|name| Entry { rating: rating(&name), name }).collect();
        let rounds = match self.format {
            Kind::Swiss => Some(self.rounds.unwrap_or_else(|| swiss_rounds(bots.len()))),
            _ => None,
        };
        let plan = Plan {
            format: self.format,
            pool: self.pool,
            bots,
            challenger: self.challenger,
            rounds,
            cycles: self.cycles.unwrap_or(1),
            pairs: self.pairs.unwrap_or(1),
            seed: self.seed.unwrap_or(seed),
            patience_s: self.patience_s.unwrap_or(PATIENCE_S),
            rated: !self.unrated,
        };
        match plan.games() {
            found if found > MOST_GAMES => Err(PlanError::Games { found }),
            _ => Ok(plan),
        }
    }

    /// Whose ratings its plan needs, but for the challenger's where that is not among them.
    #[must_use]
    pub fn named<'a>(&'a self, registered: &'a [BotName]) -> &'a [BotName] {
        self.bots.as_deref().unwrap_or(registered)
    }

    fn check_options(&self) -> Result<(), PlanError> {
        let foreign = |option, of| Err(PlanError::Foreign { option, of, format: self.format.as_str() });
        match self.format {
            Kind::Swiss => {}
            _ if self.rounds.is_some() => return foreign("rounds", "a swiss"),
            _ => {}
        }
        if self.cycles.is_some() && !matches!(self.format, Kind::RoundRobin | Kind::Gauntlet) {
            return foreign("cycles", "a round-robin or a gauntlet");
        }
        match (self.format, &self.challenger) {
            (Kind::Gauntlet, None) => return Err(PlanError::NoChallenger),
            (Kind::Gauntlet, _) | (_, None) => {}
            _ => return foreign("challenger", "a gauntlet"),
        }
        for (option, found) in [("rounds", self.rounds), ("cycles", self.cycles), ("pairs", self.pairs)] {
            if let Some(found) = found.filter(|found| !(1..=MOST_TIMES).contains(found)) {
                return Err(PlanError::Range { option, found: found as u64, most: MOST_TIMES as u64 });
            }
        }
        match self.patience_s {
            Some(found) if !(1..=MOST_PATIENCE_S).contains(&found) => {
                Err(PlanError::Range { option: "patience", found, most: MOST_PATIENCE_S })
            }
            _ => Ok(()),
        }
    }

    /// Who plays: the challenger, whether it is named among the others or not, and those.
    fn players(&self, registered: &[BotName]) -> Result<Vec<BotName>, PlanError> {
        let mut players = self.named(registered).to_vec();
        let mut seen = HashSet::new();
        if let Some(twice) = players.iter().find(|name| !seen.insert((*name).clone())) {
            return Err(PlanError::Twice(twice.clone()));
        }
        players.extend(self.challenger.clone().filter(|challenger| !seen.contains(challenger)));
        let is_known = |name: &BotName| registered.contains(name) || Brain::named(name.as_str()).is_some();
        if let Some(unknown) = players.iter().find(|name| !is_known(name)) {
            return Err(PlanError::UnknownBot(unknown.clone()));
        }
        if !(2..=MOST_PLAYERS).contains(&players.len()) {
            return Err(PlanError::Players { found: players.len() });
        }
        Ok(players)
    }
}

impl Plan {
    /// The same for the ladder, whose players are places in [`Self::bots`].
    #[must_use]
    pub fn ladder(&self) -> ladder::Plan {
        let format = match self.format {
            Kind::RoundRobin => ladder::Format::RoundRobin { cycles: self.cycles },
            Kind::Swiss => ladder::Format::Swiss { rounds: self.rounds },
            Kind::Knockout => ladder::Format::Knockout,
            Kind::Gauntlet => {
                let challenger = self.challenger.as_ref().and_then(|name| self.player(name));
                ladder::Format::Gauntlet { challenger: challenger.unwrap_or(Player(0)), cycles: self.cycles }
            }
        };
        let ratings = self.bots.iter().map(|entry| entry.rating).collect();
        ladder::Plan { format, ratings, pairs: self.pairs, seed: self.seed }
    }

    /// A player's name.
    #[must_use]
    pub fn name(&self, player: Player) -> &BotName {
        &self.bots[player.0].name
    }

    /// The player of that name.
    #[must_use]
    pub fn player(&self, name: &BotName) -> Option<Player> {
        self.bots.iter().position(|entry| entry.name == *name).map(Player)
    }

    /// Whether a plan that was read can be followed.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let challenger = self.challenger.as_ref().map(|name| self.player(name));
        self.bots.len() > 1 && challenger != Some(None) && (self.format != Kind::Gauntlet || challenger.is_some())
    }

    /// Games that it comes to, those that decide level matches not counted.
    #[must_use]
    pub fn games(&self) -> usize {
        let players = self.bots.len();
        let matches = match self.format {
            Kind::RoundRobin => players * (players - 1) / 2 * self.cycles,
            Kind::Swiss => players / 2 * self.rounds.unwrap_or_default(),
            Kind::Knockout => players - 1,
            Kind::Gauntlet => (players - 1) * self.cycles,
        };
        2 * self.pairs * matches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn name(text: &str) -> BotName {
        BotName::new(text).unwrap()
    }

    fn wish(format: Kind) -> Wish {
        Wish {
            name: "cup".to_owned().try_into().unwrap(),
            format,
            pool: "blitz".to_owned(),
            bots: None,
            challenger: None,
            rounds: None,
            cycles: None,
            pairs: None,
            at: None,
            seed: None,
            patience_s: None,
            unrated: false,
        }
    }

    fn plan(wish: Wish) -> Result<Plan, PlanError> {
        let registered = ["anna", "bert", "carl"].map(name);
        wish.plan(&Config::default().pools, &registered, &HashMap::from([(name("bert"), 1700.0)]), 7)
    }

    #[test]
    fn a_plan_knows_all_that_was_left_open() {
        let plan = plan(wish(Kind::Swiss)).unwrap();
        assert_eq!((plan.rounds, plan.cycles, plan.pairs, plan.seed, plan.patience_s), (Some(4), 1, 1, 7, 120));
        assert!(plan.rated);
        assert_eq!(plan.bots.iter().map(|entry| entry.rating).collect::<Vec<_>>(), [1500.0, 1700.0, 1500.0]);
        assert_eq!(serde_json::from_str::<Plan>(&serde_json::to_string(&plan).unwrap()).unwrap(), plan);
        assert_eq!(plan.games(), 8);
    }

    #[test]
    fn the_challenger_plays_whether_it_is_named_among_the_others_or_not() {
        for others in [vec!["anna", "bert"], vec!["anna", "carl", "bert"]] {
            let bots = Some(others.into_iter().map(name).collect());
            let plan = plan(Wish { bots, challenger: Some(name("carl")), ..wish(Kind::Gauntlet) }).unwrap();
            assert_eq!((plan.bots.len(), plan.games()), (3, 4));
            let ladder::Format::Gauntlet { challenger, .. } = plan.ladder().format else { panic!("{plan:?}") };
            assert_eq!(plan.name(challenger), &name("carl"));
        }
    }

    #[test]
    fn a_house_bot_may_play_and_has_its_constant_rating() {
        let bots = Some(vec![name("anna"), name("House-Perfect")]);
        let plan = plan(Wish { bots, ..wish(Kind::Knockout) }).unwrap();
        assert_eq!(plan.bots[1].rating, Brain::Perfect.rating());
    }

    #[test]
    fn what_cannot_be_had_is_refused_in_words_that_help() {
        let swiss = || wish(Kind::Swiss);
        let bots = |names: &[&str]| Some(names.iter().map(|text| name(text)).collect::<Vec<_>>());
        let cases = [
            (Wish { pool: "slow".to_owned(), ..swiss() }, "there is no pool 'slow'; there are bullet, blitz, practice"),
            (Wish { bots: bots(&["anna", "dora"]), ..swiss() }, "no bot 'dora' is registered"),
            (Wish { bots: bots(&["anna", "ANNA"]), ..swiss() }, "'ANNA' is named twice"),
            (Wish { bots: bots(&["anna"]), ..swiss() }, "players: 1"),
            (wish(Kind::Gauntlet), "a gauntlet needs --challenger"),
            (Wish { challenger: Some(name("anna")), ..swiss() }, "--challenger is of a gauntlet"),
            (Wish { rounds: Some(3), ..wish(Kind::Knockout) }, "--rounds is of a swiss"),
            (Wish { cycles: Some(3), ..swiss() }, "--cycles is of a round-robin or a gauntlet"),
            (Wish { pairs: Some(0), ..swiss() }, "--pairs 0 is not from 1 to 100"),
            (Wish { patience_s: Some(0), ..swiss() }, "--patience 0 is not from 1 to 86400"),
        ];
        for (wish, told) in cases {
            let error = plan(wish).unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}");
        }
        let many: Vec<BotName> = (0..100).map(|number| name(&format!("bot-{number}"))).collect();
        let huge = Wish { cycles: Some(100), ..wish(Kind::RoundRobin) };
        let error = huge.plan(&Config::default().pools, &many, &HashMap::new(), 7).unwrap_err();
        assert_eq!(error, PlanError::Games { found: 990_000 });
    }
}
