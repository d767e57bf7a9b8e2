//! Numbers as every reader takes them: below 2^53, for many keep a number as a double.

use super::RowError;
use jiff::Timestamp;

/// The largest number that an export holds.
pub(super) const LARGEST: i64 = (1 << 53) - 1;

/// A count or a time of a record. What is larger than any that a server writes becomes [`LARGEST`].
pub(super) fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(LARGEST).min(LARGEST)
}

/// A count that fits 32 bits, for its text was read.
pub(super) fn narrow(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// A time of a record, in microseconds since 1970.
///
/// # Errors
/// It is no time.
pub(super) fn micros(text: &str) -> Result<i64, RowError> {
    let time: Timestamp = text.parse().map_err(|_| RowError::Time(text.to_owned()))?;
    Ok(time.as_microsecond())
}

/// A time as text files have it: RFC 3339, UTC, microseconds.
pub(super) fn time_text(us: i64) -> String {
    format!("{:.6}", Timestamp::from_microsecond(us).unwrap_or_default())
}
