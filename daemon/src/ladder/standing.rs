//! How a bot stands in a pool, and what a finished game makes of that (`ladder.transaction`).

use crate::house::Brain;
use modiar_ladder::{Outcome, Rating};
use modiar_protocol::server::RatingChange;
use modiar_protocol::{BotName, GameResult, Record, RecordSeat, SeatRating, Termination};
use modiar_rules::{BySide, Side};

/// Deviation and volatility of a house bot: of its strength all is known, and it never changes.
const ANCHOR_RD: f64 = 30.0;
const ANCHOR_VOLATILITY: f64 = 0.06;

/// A bot's rating in a pool, and its games there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Standing {
    /// Its rating.
    pub rating: Rating,
    /// Its games of this season.
    pub tally: Tally,
}

/// A bot's games in a pool, counted: every one stands in one of `south`, `north` and `none`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games as South.
    pub south: Score,
    /// Games as North.
    pub north: Score,
    /// Games without a result.
    pub none: u64,
    /// Of those lost, by time.
    pub time_forfeits: u64,
    /// Of those lost, by an illegal move.
    pub illegal_moves: u64,
    /// Of those lost, by resignation.
    pub resignations: u64,
}

/// Games on one side, by how they went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Won.
    pub won: u64,
    /// Drawn.
    pub drawn: u64,
    /// Lost.
    pub lost: u64,
}

impl Score {
    /// Games with a result.
    #[must_use]
    pub const fn games(self) -> u64 {
        self.won + self.drawn + self.lost
    }
}

impl Tally {
    /// All games that count.
    #[must_use]
    pub const fn games(self) -> u64 {
        self.south.games() + self.north.games() + self.none
    }

    fn count(&mut self, side: Side, outcome: Option<Outcome>, termination: Termination) {
        let score = match side {
            Side::South => &mut self.south,
            Side::North => &mut self.north,
        };
        match outcome {
            Some(Outcome::Win) => score.won += 1,
            Some(Outcome::Draw) => score.drawn += 1,
            Some(Outcome::Loss) => {
                score.lost += 1;
                match termination {
                    Termination::TimeForfeit => self.time_forfeits += 1,
                    Termination::IllegalMove => self.illegal_moves += 1,
                    Termination::Resignation => self.resignations += 1,
                    _ => {}
                }
            }
            None => self.none += 1,
        }
    }
}

/// The rating of a house bot, in every pool (`ladder.anchors`); none for who is none.
#[must_use]
pub fn anchor(name: &BotName) -> Option<Rating> {
    let brain = if name.is_house() { Brain::named(name.as_str()) } else { None };
    brain.map(|brain| Rating { rating: brain.rating(), rd: ANCHOR_RD, volatility: ANCHOR_VOLATILITY })
}

/// Whether a seat's bot has a rating in the game's pool: the pool is rated, and it is no guest (`record.ratings-read`).
#[must_use]
pub const fn is_marked(seat: &RecordSeat) -> bool {
    seat.rating.is_some()
}

/// Whether a game counts for the two: both have ratings, and it was rated or has no result (`ladder.counts`).
#[must_use]
pub fn counts(record: &Record) -> bool {
    let marked = is_marked(&record.south) && is_marked(&record.north);
    marked && (record.rated || record.result == GameResult::None)
}

/// How the two stand after a game that counts, from how they stood before it. One without a result changes no rating, and
/// no game changes that of a house bot.
#[must_use]
pub fn after(before: &BySide<Standing>, record: &Record) -> BySide<Standing> {
    let names = BySide::new(&record.south.name, &record.north.name);
    BySide::from_fn(|side| {
        let mut standing = before[side];
        let outcome = outcome(record.result, side);
        if let Some(outcome) = outcome.filter(|_| record.rated && anchor(names[side]).is_none()) {
            standing.rating = standing.rating.after(before[side.other()].rating, outcome);
        }
        standing.tally.count(side, outcome, record.termination);
        standing
    })
}

fn outcome(result: GameResult, side: Side) -> Option<Outcome> {
    let south = match result {
        GameResult::South => Outcome::Win,
        GameResult::Draw => Outcome::Draw,
        GameResult::North => Outcome::Loss,
        GameResult::None => return None,
    };
    Some(if side == Side::South { south } else { south.other() })
}

/// Writes a rating to a seat.
pub const fn put(seat: &mut RecordSeat, Rating { rating, rd, volatility }: Rating) {
    seat.rating = Some(rating);
    seat.rd = Some(rd);
    seat.volatility = Some(volatility);
}

/// The rating that a seat tells.
#[must_use]
pub fn rating_of(seat: &RecordSeat) -> Option<Rating> {
    Some(Rating { rating: seat.rating?, rd: seat.rd?, volatility: seat.volatility? })
}

/// A rating as records have it.
#[must_use]
pub const fn seat_rating(Rating { rating, rd, volatility }: Rating) -> SeatRating {
    SeatRating { rating, rd, volatility }
}

/// A rating that a record has.
#[must_use]
pub const fn rating_from(SeatRating { rating, rd, volatility }: SeatRating) -> Rating {
    Rating { rating, rd, volatility }
}

/// A rating as findings quote it.
#[must_use]
pub fn text(Rating { rating, rd, volatility }: Rating) -> String {
    format!("{rating} rd {rd} volatility {volatility}")
}

/// Equal to the bit.
#[must_use]
pub fn is_same(one: Rating, other: Rating) -> bool {
    let bits = |Rating { rating, rd, volatility }: Rating| [rating, rd, volatility].map(f64::to_bits);
    bits(one) == bits(other)
}

/// What a stored game did to the rating of a side, as it is told to it; none where it did nothing.
#[must_use]
pub fn change(record: &Record, side: Side) -> Option<RatingChange> {
    let seat = if side == Side::South { &record.south } else { &record.north };
    let after: BySide<SeatRating> = record.rating_after?.into();
    Some(RatingChange { before: seat.rating?, after: after[side].rating, rd: after[side].rd })
}

/// Whether two ratings are the same but for the last bits, which another build's arithmetic may make otherwise: by one part in
/// a million, or one step of the rounding (`ladder.one-build`).
#[must_use]
pub fn is_close(one: Rating, other: Rating) -> bool {
    let close = |one: f64, other: f64| (one - other).abs() <= 1e-6 * other.abs() + 1.5e-6;
    close(one.rating, other.rating) && close(one.rd, other.rd) && close(one.volatility, other.volatility)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        serde_json::from_str(include_str!("../../../spec/schema/examples/record/valid/repetition.json")).unwrap()
    }

    fn name(text: &str) -> BotName {
        BotName::new(text).unwrap()
    }

    /// `ladder.anchors`
    #[test]
    fn a_house_bot_is_what_it_is_whatever_it_plays() {
        let mut record = record();
        record.north.name = name("House-Level5");
        record.result = GameResult::South;
        let north = Standing { rating: anchor(&record.north.name).unwrap(), ..Standing::default() };
        assert_eq!((north.rating.rating, north.rating.rd), (Brain::Level(5).rating(), 30.0));
        let after = after(&BySide::new(Standing::default(), north), &record);
        assert_eq!(after.north.rating, north.rating);
        assert_eq!((after.north.tally.north.lost, after.south.tally.south.won), (1, 1));
        assert!(after.south.rating.rating > 1500.0);
        assert_eq!([anchor(&name("house-of-cards")), anchor(&name("Tanja"))], [None, None]);
    }

    /// `ladder.totals`: a draw of equals is the same for both, and a game without a result changes no rating.
    #[test]
    fn a_draw_is_symmetric_and_an_aborted_game_changes_nothing() {
        let (mut record, before) = (record(), BySide::<Standing>::default());
        record.north.name = name("Anna");
        (record.result, record.termination) = (GameResult::Draw, Termination::Repetition);
        let drawn = after(&before, &record);
        assert_eq!(drawn.south.rating, drawn.north.rating);
        assert_eq!(
            (drawn.south.tally.south, drawn.north.tally.north),
            (drawn.north.tally.north, drawn.south.tally.south)
        );
        (record.rated, record.result, record.termination) = (false, GameResult::None, Termination::Aborted);
        let aborted = after(&before, &record);
        assert_eq!(
            aborted,
            before.map(|standing| Standing { tally: Tally { none: 1, ..Tally::default() }, ..standing })
        );
        assert!(counts(&record), "it is counted all the same");
    }

    /// `ladder.counts`
    #[test]
    fn a_game_with_a_guest_and_a_casual_one_do_not_count() {
        let mut record = record();
        assert!(counts(&record));
        record.rated = false;
        assert!(!counts(&record), "a casual one");
        record.result = GameResult::None;
        assert!(counts(&record), "whatever was meant, it ended without a result");
        record.south.rating = None;
        assert!(!counts(&record), "a guest, or an unrated pool");
    }

    #[test]
    fn who_loses_by_time_a_pit_or_his_own_will_is_counted_so() {
        let (mut record, before) = (record(), BySide::<Standing>::default());
        record.result = GameResult::North;
        let mut told = Vec::new();
        for end in [Termination::TimeForfeit, Termination::IllegalMove, Termination::Resignation, Termination::Immobile]
        {
            record.termination = end;
            let BySide { south, north } = after(&before, &record).map(|standing| standing.tally);
            told.push([south.time_forfeits, south.illegal_moves, south.resignations]);
            assert_eq!([north.time_forfeits, north.illegal_moves, north.resignations], [0; 3], "{end}");
            assert_eq!((south.games(), south.south.lost, north.games(), north.north.won), (1, 1, 1, 1));
        }
        assert_eq!(told, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]);
    }
}
