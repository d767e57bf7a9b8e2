//! How strong the house bots are: each against the next, from balanced openings, sides swapped.

use anyhow::Context as _;
use clap::Args;
use modiar::dice::Dice;
use modiar::house::Brain;
use modiar_oracle::{Opening, Table, balanced_openings, solve};
use modiar_rules::{BySide, EndRules, Line, Side};
use serde::Serialize;

/// The options of `house`.
#[derive(Debug, Args)]
pub struct Houses {
    /// Games of each bot against the next
    #[arg(long, default_value_t = 20_000)]
    games: usize,
    /// Only the line of JSON
    #[arg(long)]
    json: bool,
}

/// A bot among its neighbours.
#[derive(Debug, Serialize)]
struct Strength {
    bot: String,
    /// Points of Elo above the bot before it, and half the width of the 95 % interval.
    above_last: Option<[f64; 2]>,
    /// Seeds given away a ply, against its neighbours.
    mean_loss_seeds: f64,
}

/// What one bot did in its games.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    score: f64,
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
        let openings = balanced_openings(&table);
        let mut accounts = [Account::default(); Brain::ALL.len()];
        let mut steps = [None; Brain::ALL.len()];
        let mut dice = Dice::new(1);
        for (at, two) in Brain::ALL.windows(2).enumerate() {
            let [weaker, stronger] = meet(&table, &openings, [two[0], two[1]], self.games, &mut dice)?;
            steps[at + 1] = Some(elo(stronger.score, self.games));
            accounts[at] = accounts[at].and(weaker);
            accounts[at + 1] = accounts[at + 1].and(stronger);
        }
        let strengths = Brain::ALL.iter().zip(accounts).zip(steps).map(|((brain, account), above_last)| Strength {
            bot: brain.name(),
            above_last,
            mean_loss_seeds: account.loss as f64 / f64::from(account.plies),
        });
        tell(&strengths.collect::<Vec<_>>(), self.json)
    }
}

impl Account {
    const fn and(self, other: Self) -> Self {
        Self { score: self.score + other.score, loss: self.loss + other.loss, plies: self.plies + other.plies }
    }
}

/// So many games of two, in pairs from one opening.
fn meet(
    table: &Table,
    openings: &[Opening],
    two: [Brain; 2],
    games: usize,
    dice: &mut Dice,
) -> anyhow::Result<[Account; 2]> {
    let mut accounts = [Account::default(); 2];
    for game in 0..games {
        let opening = &openings[(game / 2) % openings.len()];
        let south = game % 2;
        let mut line = Line::replay(EndRules::default(), opening.moves.iter().copied())?;
        let players = BySide::new(south, 1 - south);
        while line.ending().is_none() {
            let position = line.position();
            let player = players[position.side()];
            let pit = two[player].choose(table, &position, dice).context("no pit was chosen")?;
            let judgement = table.judge(&position, pit).context("a pit is not legal")?;
            accounts[player].loss += i64::from(judgement.loss());
            accounts[player].plies += 1;
            line.play(pit).map_err(|refusal| anyhow::anyhow!("{refusal:?}"))?;
        }
        match line.winner() {
            Some(side) => accounts[players[side]].score += 1.0,
            None => Side::ALL.iter().for_each(|side| accounts[players[*side]].score += 0.5),
        }
    }
    Ok(accounts)
}

/// The difference that a score means, and half the width of its 95 % interval.
fn elo(score: f64, games: usize) -> [f64; 2] {
    // Never all or nothing, which no difference explains.
    let games = games as f64;
    let share = (score / games).clamp(0.5 / games, 1.0 - 0.5 / games);
    let difference = |share: f64| 400.0 * (share / (1.0 - share)).log10();
    let error = 1.96 * (share * (1.0 - share) / games).sqrt();
    let [low, high] =
        [share - error, share + error].map(|share| difference(share.clamp(0.5 / games, 1.0 - 0.5 / games)));
    [difference(share), (high - low) / 2.0]
}

fn tell(strengths: &[Strength], json: bool) -> anyhow::Result<()> {
    if !json {
        eprintln!("{:<14} {:>16} {:>10}", "bot", "Elo above last", "loss a ply");
        for Strength { bot, above_last, mean_loss_seeds } in strengths {
            let above = above_last.map_or_else(String::new, |[by, error]| format!("{by:.0} ± {error:.0}"));
            eprintln!("{bot:<14} {above:>16} {mean_loss_seeds:>10.2}");
        }
    }
    #[allow(clippy::print_stdout, reason = "the line of data")]
    {
        println!("{}", serde_json::to_string(strengths)?);
    }
    Ok(())
}
