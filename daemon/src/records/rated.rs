//! The ratings on one record.

use super::verify::{Fault, ensure};
use crate::ladder::{Standing, after, is_close, is_same, rating_from, rating_of, text};
use modiar_protocol::limits::TEXT_CHARS;
use modiar_protocol::{GameResult, Record, RecordSeat, SeatRating};
use modiar_rules::{BySide, Side};

/// Ratings stand on a record exactly if it was rated, and only what has a result is (`record.rating-after`).
pub(super) fn verify_rated(record: &Record) -> Result<(), Fault> {
    ensure(record.rated == record.rating_after.is_some(), || {
        format!("rated is {} and ratings after it are {}", record.rated, if record.rated { "missing" } else { "there" })
    })?;
    ensure(!record.rated || record.result != GameResult::None, || "it is rated and has no result".into())?;
    let guests = record.south.guest || record.north.guest;
    ensure(!record.rated || !guests, || "it is rated, and a guest played it".into())?;
    let after = record.rating_after.iter().flat_map(|after| [&after.south, &after.north]);
    let below = after.clone().any(|after| after.rd < 0.0 || after.volatility < 0.0);
    ensure(!below, || "an rd or a volatility after it is below 0".into())?;
    let had = record.south.rating.is_some() && record.north.rating.is_some();
    ensure(!record.rated || had, || "it is rated, and a bot had no rating before it".into())?;
    for (side, seat) in Side::ALL.into_iter().zip([&record.south, &record.north]) {
        verify_seat(side, seat)?;
    }
    verify_step(record)
}

/// What the game made of the ratings before it (`ladder.rating`, `ladder.one-build`).
fn verify_step(record: &Record) -> Result<(), Fault> {
    let before = [&record.south, &record.north].map(|seat| rating_of(seat).unwrap_or_default());
    let before = before.map(|rating| Standing { rating, ..Standing::default() });
    for side in Side::ALL.into_iter().filter(|_| record.rated) {
        let rating = before[usize::from(side == Side::North)].rating;
        ensure(rating.is_possible(), || format!("{side} had {} before it, which no games lead to", text(rating)))?;
    }
    let Some(told) = record.rating_after.map(BySide::<SeatRating>::from) else { return Ok(()) };
    let step = after(&BySide::new(before[0], before[1]), record);
    for side in Side::ALL {
        let (step, told) = (step[side].rating, rating_from(told[side]));
        let holds = if record.server == crate::SERVER { is_same(told, step) } else { is_close(told, step) };
        ensure(holds, || format!("{side} has {} after it by its ratings before it, not {}", text(step), text(told)))?;
    }
    Ok(())
}

/// A rating is whole, and no guest has one.
fn verify_seat(side: Side, seat: &RecordSeat) -> Result<(), Fault> {
    let parts = [seat.rating, seat.rd, seat.volatility];
    let has = parts.iter().filter(|part| part.is_some()).count();
    ensure(has == 0 || has == parts.len(), || format!("{side} has {has} of rating, rd and volatility"))?;
    ensure(has == 0 || !seat.guest, || format!("{side} is a guest and has a rating"))?;
    let below = [seat.rd, seat.volatility].iter().flatten().any(|part| *part < 0.0);
    ensure(!below, || format!("{side} has an rd or a volatility below 0"))?;
    let is_label = |text: &String| text.chars().count() <= TEXT_CHARS && !text.chars().any(char::is_control);
    ensure(seat.version.as_ref().is_none_or(is_label), || {
        format!("the version of {side} is longer than {TEXT_CHARS} characters or has control characters")
    })
}
