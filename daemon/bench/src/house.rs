//! How strong the house bots are: each against each, from balanced openings, sides swapped, one joint fit over all games.

use anyhow::Context as _;
use clap::Args;
use modiar::dice::Dice;
use modiar::house::Brain;
use modiar_ladder::{Estimate, Fit, Games, Outcome};
use modiar_oracle::{Opening, Table, balanced_openings, solve};
use modiar_rules::{BySide, EndRules, Line, Side};
use serde::Serialize;

/// The rating of `house-level4`, which the others are told against.
const LEVEL4: f64 = 1500.0;

/// The options of `house`.
#[derive(Debug, Args)]
pub struct Houses {
    /// Games of each bot against each other
    #[arg(long, default_value_t = 10_000)]
    games: usize,
    /// Only the line of JSON
    #[arg(long)]
    json: bool,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Measured {
    games: usize,
    /// What it is worth to sit South, in points, and half the width of the 95 % interval.
    side: [f64; 2],
    /// The share of draws between equals, and half the width of its interval.
    draw_share: [f64; 2],
    bots: Vec<Strength>,
}

/// A bot among the others.
#[derive(Debug, Serialize)]
struct Strength {
    bot: String,
    /// What [`Brain::rating`] says.
    constant: f64,
    /// In points, `house-level4` having 1500, and half the width of the 95 % interval of the difference to it.
    rating: [f64; 2],
    /// The same where a draw counts as half a win and half a loss, as Glicko-2 takes it.
    rating_by_score: f64,
    /// Points a game against all others.
    score: f64,
    /// Against the bot before it.
    score_against_last: Option<f64>,
    /// The share of its games that nobody won.
    draws: f64,
    /// Seeds given away a ply.
    mean_loss_seeds: f64,
}

/// What one bot did in its games.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    score: f64,
    draws: f64,
    games: f64,
    loss: i64,
    plies: u32,
}

impl Houses {
    /// Measures, and tells.
    ///
    /// # Errors
    /// A game cannot be played: a bug.
    pub fn run(self) -> anyhow::Result<()> {
        let table = solve();
        let mut hall = Hall::new(&table);
        for stronger in 0..Brain::ALL.len() {
            for weaker in 0..stronger {
                for game in 0..self.games {
                    let two = if game % 2 == 0 { [weaker, stronger] } else { [stronger, weaker] };
                    hall.play(two, game / 2)?;
                }
            }
        }
        tell(&hall.measured(self.games), self.json)
    }
}

/// Where they play.
struct Hall<'a> {
    table: &'a Table,
    openings: Vec<Opening>,
    accounts: [Account; Brain::ALL.len()],
    games: Games,
    dice: Dice,
}

impl<'a> Hall<'a> {
    fn new(table: &'a Table) -> Self {
        Self {
            table,
            openings: balanced_openings(table),
            accounts: [Account::default(); Brain::ALL.len()],
            games: Games::new(Brain::ALL.len()),
            dice: Dice::new(1),
        }
    }

    /// A game of two, South and North.
    fn play(&mut self, [south, north]: [usize; 2], opening: usize) -> anyhow::Result<()> {
        let opening = &self.openings[opening % self.openings.len()];
        let mut line = Line::replay(EndRules::default(), opening.moves.iter().copied())?;
        let players = BySide::new(south, north);
        while line.ending().is_none() {
            let position = line.position();
            let player = players[position.side()];
            let pit = Brain::ALL[player].choose(self.table, &position, &mut self.dice).context("no pit was chosen")?;
            let judgement = self.table.judge(&position, pit).context("a pit is not legal")?;
            self.accounts[player].loss += i64::from(judgement.loss());
            self.accounts[player].plies += 1;
            line.play(pit).map_err(|refusal| anyhow::anyhow!("{refusal:?}"))?;
        }
        let outcome = line.winner().map_or(Outcome::Draw, |side| match side {
            Side::South => Outcome::Win,
            Side::North => Outcome::Loss,
        });
        self.games.add(south, north, outcome);
        self.accounts[south].add(outcome);
        self.accounts[north].add(outcome.other());
        Ok(())
    }

    fn measured(&self, each: usize) -> Measured {
        let level4 = Brain::ALL.iter().position(|brain| *brain == Brain::Level(4)).unwrap_or_default();
        let (fit, by_score) = (Fit::new(&self.games, &[]), Fit::new(&halved(&self.games), &[]));
        let strength = |(at, brain): (usize, &Brain)| {
            let Account { score, draws, games, loss, plies } = self.accounts[at];
            let Estimate { value, .. } = fit.difference(at, level4);
            Strength {
                bot: brain.name(),
                constant: brain.rating(),
                rating: [LEVEL4 + value, fit.difference(at, level4).margin()],
                rating_by_score: LEVEL4 + by_score.difference(at, level4).value,
                score: score / games,
                score_against_last: at.checked_sub(1).map(|last| self.score(at, last)),
                draws: draws / games,
                mean_loss_seeds: loss as f64 / f64::from(plies),
            }
        };
        let with_margin = |estimate: Estimate| [estimate.value, estimate.margin()];
        Measured {
            games: each,
            side: with_margin(fit.side()),
            draw_share: with_margin(fit.draw_share()),
            bots: Brain::ALL.iter().enumerate().map(strength).collect(),
        }
    }

    /// What one scored against another.
    fn score(&self, one: usize, other: usize) -> f64 {
        let (south, north) = (self.games.count(one, other), self.games.count(other, one));
        let wins = (south.south + north.north) as f64;
        (wins + (south.draws + north.draws) as f64 / 2.0) / (south.games() + north.games()) as f64
    }
}

impl Account {
    fn add(&mut self, outcome: Outcome) {
        let (score, draws) = match outcome {
            Outcome::Win => (1.0, 0.0),
            Outcome::Draw => (0.5, 1.0),
            Outcome::Loss => (0.0, 0.0),
        };
        self.score += score;
        self.draws += draws;
        self.games += 1.0;
    }
}

/// Each game twice, a draw once won and once lost.
fn halved(games: &Games) -> Games {
    let mut halved = Games::new(games.players());
    for (south, north, count) in games.counts() {
        for _ in 0..2 * count.south + count.draws {
            halved.add(south, north, Outcome::Win);
        }
        for _ in 0..2 * count.north + count.draws {
            halved.add(south, north, Outcome::Loss);
        }
    }
    halved
}

impl Strength {
    fn tell(&self) {
        let Self {
            bot, constant, rating: [rating, margin], rating_by_score, score, draws, mean_loss_seeds: loss, ..
        } = self;
        let last = self.score_against_last.map_or_else(String::new, |score| format!("{score:.3}"));
        let rating = format!("{rating:.0} ± {margin:.0}");
        eprintln!(
            "{bot:<14} {constant:>8} {rating:>12} {rating_by_score:>8.0} {score:>7.3} {last:>8} {draws:>7.3} {loss:>7.3}"
        );
    }
}

fn tell(measured: &Measured, json: bool) -> anyhow::Result<()> {
    if !json {
        let Measured { games, side: [side, side_margin], draw_share: [share, share_margin], bots } = measured;
        eprintln!("{games} games of each against each; South is worth {side:.1} ± {side_margin:.1} points, of equals");
        eprintln!("{:.1} ± {:.1} % draw", 100.0 * share, 100.0 * share_margin);
        eprintln!(
            "{:<14} {:>8} {:>12} {:>8} {:>7} {:>8} {:>7} {:>7}",
            "bot", "constant", "rating", "by score", "score", "to last", "draws", "loss"
        );
        bots.iter().for_each(Strength::tell);
    }
    #[allow(clippy::print_stdout, reason = "the line of data")]
    {
        println!("{}", serde_json::to_string(measured)?);
    }
    Ok(())
}
