//! The fold over the stored games and the events between them: ratings and meetings from nothing.

use super::event::{Carry, Event, Happening};
use super::ratings::Row;
use super::standing::{
    Standing, Tally, after, anchor, counts, is_close, is_marked, is_same, rating_from, rating_of, text,
};
use modiar_ladder::Rating;
use modiar_protocol::{BotName, Record, RecordSeat, SeatRating};
use modiar_rules::{BySide, Side};
use std::collections::HashMap;

/// How often two bots have met in a pool, in games that count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// The pool.
    pub pool: String,
    /// The two names in lower case, the lower one first.
    pub two: [String; 2],
    /// Games that began from an opening.
    pub openings: u64,
    /// Games in which the first of the two was South, less the others.
    pub southward: i64,
    /// The place of the last.
    pub last: u64,
}

impl Meeting {
    /// What one game adds.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        let [south, north] = [&record.south, &record.north].map(|seat| seat.name.as_str().to_ascii_lowercase());
        let is_first = south <= north;
        Self {
            pool: record.pool.clone(),
            two: if is_first { [south, north] } else { [north, south] },
            openings: u64::from(!record.opening.is_empty()),
            southward: if is_first { 1 } else { -1 },
            last: record.seq,
        }
    }

    /// Adds a later one of the same two.
    pub const fn add(&mut self, later: &Self) {
        self.openings += later.openings;
        self.southward += later.southward;
        self.last = later.last;
    }
}

/// The state after some games and events, in their order.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    /// By pool.
    standings: HashMap<String, HashMap<BotName, Standing>>,
    meetings: HashMap<(String, [String; 2]), Meeting>,
}

impl Fold {
    /// Takes the next game; what the record says of ratings that is not so, for each side.
    pub fn game(&mut self, record: &Record) -> Vec<String> {
        let mut faults = Vec::new();
        let seats = BySide::new(&record.south, &record.north);
        let before = BySide::from_fn(|side| self.before(record, seats[side]));
        for side in Side::ALL.into_iter().filter(|side| is_marked(seats[*side])) {
            if !rating_of(seats[side]).is_some_and(|told| is_same(told, before[side].rating)) {
                faults.push(format!("{side} had {} before it, not {}", text(before[side].rating), told(seats[side])));
            }
        }
        if !counts(record) {
            return faults;
        }
        let mut after = after(&before, record);
        if let Some(told) = record.rating_after.map(BySide::<SeatRating>::from).filter(|_| record.rated) {
            for side in Side::ALL {
                after[side].rating = settle(record, side, after[side].rating, told[side], &mut faults);
            }
        }
        let pool = self.standings.entry(record.pool.clone()).or_default();
        for side in Side::ALL {
            pool.insert(seats[side].name.clone(), after[side]);
        }
        let meeting = Meeting::of(record);
        let key = (meeting.pool.clone(), meeting.two.clone());
        self.meetings.entry(key).and_modify(|met| met.add(&meeting)).or_insert(meeting);
        faults
    }

    /// Takes the next event.
    pub fn event(&mut self, event: &Event) {
        match &event.happening {
            Happening::Season(_, carry) => {
                for pool in self.standings.values_mut() {
                    pool.retain(|name, standing| carry_over(name, standing, *carry));
                }
            }
            Happening::Removal(name) => {
                for pool in self.standings.values_mut() {
                    pool.remove(name);
                }
                let folded = name.as_str().to_ascii_lowercase();
                self.meetings.retain(|(_, two), _| !two.contains(&folded));
            }
        }
    }

    /// How all bots stand, by pool and name.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let row = |pool: &String, (bot, standing): (&BotName, &Standing)| Row {
            pool: pool.clone(),
            bot: bot.clone(),
            standing: *standing,
        };
        let mut rows: Vec<Row> =
            self.standings.iter().flat_map(|(pool, bots)| bots.iter().map(move |bot| row(pool, bot))).collect();
        rows.sort_by_cached_key(Row::key);
        rows
    }

    /// All meetings, by pool and names.
    #[must_use]
    pub fn meetings(&self) -> Vec<Meeting> {
        let mut meetings: Vec<Meeting> = self.meetings.values().cloned().collect();
        meetings.sort_by(|one, other| (&one.pool, &one.two).cmp(&(&other.pool, &other.two)));
        meetings
    }

    fn before(&self, record: &Record, seat: &RecordSeat) -> Standing {
        let stands = self.standings.get(&record.pool).and_then(|pool| pool.get(&seat.name));
        let mut standing = stands.copied().unwrap_or_default();
        if let Some(anchor) = anchor(&seat.name) {
            // Another build may have taken the house bots for stronger or weaker.
            standing.rating = rating_of(seat).filter(|_| record.server != crate::SERVER).unwrap_or(anchor);
        }
        standing
    }
}

/// What a season leaves of a standing; whether anything. The counts start anew.
pub fn carry_over(name: &BotName, standing: &mut Standing, carry: Carry) -> bool {
    standing.tally = Tally::default();
    if anchor(name).is_none() {
        standing.rating = standing.rating.carried();
    }
    carry == Carry::Half
}

/// The rating after a game: the step's, to the bit, or where another build made the record its own, which is close.
fn settle(record: &Record, side: Side, step: Rating, told: SeatRating, faults: &mut Vec<String>) -> Rating {
    let told = rating_from(told);
    if record.server != crate::SERVER && is_close(told, step) {
        return told;
    }
    if !is_same(told, step) {
        faults.push(format!("{side} has {} after it, not {}", text(step), text(told)));
    }
    step
}

fn told(seat: &RecordSeat) -> String {
    rating_of(seat).map_or_else(|| "a part of a rating".to_owned(), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use modiar_protocol::GameResult;

    /// `ladder.meetings`
    #[test]
    fn meetings_count_openings_and_sides_of_games_that_count() {
        let mut record: Record =
            serde_json::from_str(include_str!("../../../spec/schema/examples/record/valid/repetition.json")).unwrap();
        let mut fold = Fold::default();
        let mut play = |seq, is_swapped: bool, opening: &str, rated| {
            record.seq = seq;
            let [south, north] = if is_swapped { ["Zoe", "anna"] } else { ["anna", "Zoe"] };
            (record.south.name, record.north.name) = (BotName::new(south).unwrap(), BotName::new(north).unwrap());
            (record.opening, record.rated, record.result) = (opening.to_owned(), rated, GameResult::South);
            fold.game(&record);
        };
        play(1, false, "24", true);
        play(2, true, "24", true);
        play(3, false, "", true);
        play(4, false, "24", false);
        let two = ["anna", "zoe"].map(str::to_owned);
        let meeting = Meeting { pool: "blitz".to_owned(), two, openings: 2, southward: 1, last: 3 };
        assert_eq!(fold.meetings(), [meeting]);
        assert_eq!(fold.rows().len(), 2);
        let removed = Happening::Removal(BotName::new("ZOE").unwrap());
        fold.event(&Event { seq: 4, at: String::new(), happening: removed });
        assert_eq!((fold.meetings().len(), fold.rows().len()), (0, 1));
    }
}
