//! The ratings of a file's records, from each bot's game to its next: what can be said where the ladder's events are not known,
//! and games may be left out (`record.rating-chain`).

use super::counted;
use crate::ladder::{anchor, is_marked, is_same, rating_from, rating_of, text};
use modiar_ladder::Rating;
use modiar_protocol::{BotName, Record, SeatRating};
use modiar_rules::{BySide, Side};
use std::collections::HashMap;

/// Each bot's rating after its last game in a pool.
#[derive(Debug, Default)]
pub(super) struct Chain {
    last: HashMap<(String, BotName), (u64, Rating)>,
    /// The place from which on no game is missing; 0 where none is.
    whole_from: u64,
    /// Ratings before a game that nothing is known to be compared with.
    unchecked: u64,
}

impl Chain {
    /// Games are missing before this place.
    pub(super) const fn interrupted(&mut self, seq: u64) {
        self.whole_from = seq;
    }

    /// Takes the next record; what of its ratings does not follow.
    pub(super) fn check(&mut self, record: &Record) -> Vec<String> {
        let mut faults = Vec::new();
        for (side, seat) in Side::ALL.into_iter().zip([&record.south, &record.north]) {
            let Some(before) = rating_of(seat).filter(|_| is_marked(seat) && anchor(&seat.name).is_none()) else {
                continue;
            };
            let key = (record.pool.clone(), seat.name.clone());
            match self.last.get(&key) {
                Some((seq, last)) if *seq >= self.whole_from => {
                    if !may_follow(*last, before) {
                        faults.push(format!("{side} had {} before it, after {}", text(before), text(*last)));
                    }
                }
                None if self.whole_from == 0 => {
                    if !is_same(before, Rating::default()) {
                        faults.push(format!("{side} had {} before its first game", text(before)));
                    }
                }
                _ => self.unchecked += 1,
            }
            let after = record.rating_after.map(|after| rating_from(BySide::<SeatRating>::from(after)[side]));
            self.last.insert(key, (record.seq, after.unwrap_or(before)));
        }
        faults
    }

    /// What was not compared.
    pub(super) fn note(&self) -> Option<String> {
        let ratings = counted(self.unchecked, "rating", "ratings");
        (self.unchecked > 0).then(|| format!("{ratings} not checked against an earlier game: some between are missing"))
    }
}

/// Whether a rating may stand after another without a game between: nothing happened, or the bot began anew, or seasons carried
/// it over.
fn may_follow(last: Rating, before: Rating) -> bool {
    let mut carried = last;
    while !is_same(carried, before) {
        let next = carried.carried();
        if is_same(next, carried) {
            return is_same(before, Rating::default());
        }
        carried = next;
    }
    true
}
