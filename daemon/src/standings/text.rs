//! What `modiar standings` tells people, within 100 columns.

use super::columns::{Column, WIDTH, percent, rating, seeds, table, version};
use super::table::{Score, Separated};
use super::{Build, Crosstable, Figure, History, Met, Row, Standings, Versus};
use crate::records::counted;
use std::collections::HashMap;
use std::fmt::Write as _;

/// How wide a name is, with the mark of a house bot.
const NAME: usize = 25;
const LEGEND: &str = "\
rating: the joint fit and its 95 % interval; open: the games do not bound it. Glicko-2: ± 2 rd,
and ? where that is provisional. South, North: score in %. late, ill., res.: games lost on time,
by an illegal move, by resignation. loss: accuracy, the mean exact loss a ply in seeds. *: house
bot; their mean is laid on that of their constant ratings, as well as games with them tell: where
these are few every interval is wide, and --versus tells two bots apart all the same.
";

impl Standings {
    /// The table, with what its columns mean and how many games it takes to tell bots apart.
    #[must_use]
    pub fn text(&self) -> String {
        let what = if self.rows.iter().any(|row| row.version.is_some()) { "versions" } else { "bots" };
        let mut text = format!(
            "Standings of pool '{}': {}, {} {what}.\n\
             Ranked by one joint fit over all games, the ranking to trust; Glicko-2 follows the newest games.\n\n",
            self.pool,
            counted(self.games, "rated game", "rated games"),
            self.players,
        );
        let rows: Vec<Vec<String>> = self.rows.iter().map(Row::cells).collect();
        text += &table(&COLUMNS, &rows);
        let _ = writeln!(text, "\n{}", self.odds());
        text += &self.separations();
        text + "\n" + LEGEND
    }

    fn odds(&self) -> String {
        let Figure { value, low, high } = self.side;
        format!(
            "To sit South is worth {value:+.0} ± {:.0} points; two equals of average strength draw {:.1} % of their games.",
            (high - low) / 2.0,
            100.0 * self.draw_share.value
        )
    }

    fn separations(&self) -> String {
        let told = |Separated { elo, games }: &Separated| {
            let games = games.map_or_else(|| "never enough".to_owned(), |games| games.to_string());
            format!("{elo} points {games}")
        };
        let told: Vec<String> = self.separated.iter().map(told).collect();
        format!("Games of two, in pairs with sides swapped, that tell them apart:\n{}.\n", told.join(", "))
    }
}

const COLUMNS: [Column; 11] = [
    Column::Figure("#", 5),
    Column::Text("bot", NAME),
    Column::Figure("rating", 11),
    Column::Figure("Glicko-2", 12),
    Column::Figure("games", 6),
    Column::Figure("South", 5),
    Column::Figure("North", 5),
    Column::Figure("late", 4),
    Column::Figure("ill.", 4),
    Column::Figure("res.", 4),
    Column::Figure("loss", 6),
];

impl Row {
    fn cells(&self) -> Vec<String> {
        let mark = if self.house { "*" } else { "" };
        let name = match &self.version {
            Some(told) => {
                let room = NAME.saturating_sub(self.bot.len() + 1).max(4);
                let name: String = self.bot.chars().take(NAME - room - 1).collect();
                format!("{name} {}", version(Some(told), room))
            }
            None => format!("{}{mark}", self.bot),
        };
        let glicko = self.glicko.zip(self.glicko_rd).map_or_else(
            || "-".to_owned(),
            |(glicko, rd)| format!("{glicko:.0} ± {:.0}{}", 2.0 * rd, if self.provisional { "?" } else { " " }),
        );
        vec![
            self.rank.to_string(),
            name,
            rating(self.rating, self.rating_low, self.rating_high, self.bounded),
            glicko,
            self.games.to_string(),
            percent(self.south_score),
            percent(self.north_score),
            self.time_forfeits.to_string(),
            self.illegal_moves.to_string(),
            self.resignations.to_string(),
            seeds(self.accuracy),
        ]
    }
}

impl Crosstable {
    /// Points and games of each against each, so many opponents side by side as have room.
    #[must_use]
    pub fn text(&self) -> String {
        /// What a cell takes, the space before it included.
        const CELL: usize = 12;
        let met: HashMap<(&str, &str), &Met> =
            self.met.iter().map(|met| ((met.bot.as_str(), met.opponent.as_str()), met)).collect();
        let last = self.from + self.bots.len().saturating_sub(1);
        let mut text =
            format!("Points of games in pool '{}', ranks {} to {last} of {}.\n", self.pool, self.from, self.players);
        let numbered: Vec<(usize, &String)> = (self.from..).zip(&self.bots).collect();
        for block in numbered.chunks((WIDTH - NAME - 6) / CELL) {
            let head: String = block.iter().map(|(rank, _)| format!("{rank:>CELL$}")).collect();
            let _ = writeln!(text, "\n{:>5} {:<NAME$}{head}", "#", "bot");
            for (rank, bot) in &numbered {
                let cell = |(_, other): &(usize, &String)| {
                    let met = met.get(&(bot.as_str(), other.as_str()));
                    let told = met.map_or_else(|| "-".to_owned(), |met| format!("{}/{}", met.points, met.games));
                    format!("{:>CELL$}", if bot == other { String::new() } else { told })
                };
                let cells: String = block.iter().map(cell).collect();
                let _ = writeln!(text, "{}", format!("{rank:>5} {bot:<NAME$}{cells}").trim_end());
            }
        }
        text
    }
}

impl Versus {
    /// The score by side, what the fit says, and the last games.
    #[must_use]
    pub fn text(&self) -> String {
        let Figure { value, low, high } = self.difference;
        let place = if value < 0.0 { "below" } else { "above" };
        let mut text = format!("{} against {} in pool '{}'\n\n", self.bot, self.opponent, self.pool);
        text += &self.scores();
        let _ = write!(
            text,
            "\nBy one joint fit over all games of the pool {} is {:.0} ± {:.0} points {place} {};\n\
             it is the stronger with a likelihood of {:.1} %.\n",
            self.bot,
            value.abs(),
            (high - low) / 2.0,
            self.opponent,
            100.0 * self.superiority
        );
        if !self.last.is_empty() {
            text += "\nThe last games, the newest last:\n";
        }
        for game in &self.last {
            let _ = writeln!(
                text,
                "{}  {}  {:<5}  {:<4}  {}",
                game.game, game.ended, game.side, game.result, game.termination
            );
        }
        text
    }

    fn scores(&self) -> String {
        let columns = [
            Column::Text("", 9),
            Column::Figure("games", 7),
            Column::Figure("won", 7),
            Column::Figure("drawn", 7),
            Column::Figure("lost", 7),
            Column::Figure("score %", 8),
        ];
        let row = |(name, score): (&str, Score)| {
            let Score { games, wins, draws, losses, score } = score;
            let counts = [games, wins, draws, losses].map(|count| count.to_string());
            [name.to_owned()].into_iter().chain(counts).chain([percent(score)]).collect()
        };
        let rows = [("as South", self.south), ("as North", self.north), ("all", self.all)];
        table(&columns, &rows.map(row))
    }
}

impl History {
    /// A line a version.
    #[must_use]
    pub fn text(&self) -> String {
        let columns = [
            Column::Text("version", 24),
            Column::Text("first game ended", 19),
            Column::Figure("games", 7),
            Column::Figure("score %", 7),
            Column::Figure("rating", 12),
            Column::Figure("stronger %", 10),
            Column::Figure("loss", 6),
        ];
        let rows: Vec<Vec<String>> = self.versions.iter().map(Build::cells).collect();
        format!(
            "{} in pool '{}', version by version, each as a player of its own in one joint fit.\n\
             stronger: the likelihood that it is stronger than the version before it.\n\n{}",
            self.bot,
            self.pool,
            table(&columns, &rows)
        )
    }
}

impl Build {
    fn cells(&self) -> Vec<String> {
        let first = self.first_ended.as_deref().unwrap_or_default();
        vec![
            version(self.version.as_deref(), 24),
            // To the second, without the zone, which is UTC everywhere.
            first.chars().take(19).flat_map(char::escape_debug).collect(),
            self.games.to_string(),
            percent(self.score),
            rating(self.rating, self.rating_low, self.rating_high, self.bounded),
            percent(self.superiority),
            seeds(self.accuracy),
        ]
    }
}
