//! The forms of a record's texts.

use jiff::Timestamp;

/// `modiar/0.1.0`, and what a build may add without spaces.
pub(super) fn is_server(text: &str) -> bool {
    let Some(build) = text.strip_prefix("modiar/") else { return false };
    let [major, minor, rest] = build.splitn(3, '.').collect::<Vec<_>>()[..] else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let begins = rest.starts_with(|first: char| first.is_ascii_digit());
    is_number(major) && is_number(minor) && begins && !build.contains(char::is_whitespace)
}

/// An instant in UTC, in the one form that sorts as time does.
pub(super) fn is_instant(text: &str) -> bool {
    let Some((seconds, rest)) = text.split_at_checked("2026-11-30T12:00:00".len()) else { return false };
    let form = seconds.bytes().zip(*b"0000-00-00T00:00:00").all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        mark => byte == mark,
    });
    let are_digits = |text: &str| (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let fraction = rest.strip_suffix('Z').and_then(|rest| rest.strip_prefix('.'));
    form && (rest == "Z" || fraction.is_some_and(are_digits)) && text.parse::<Timestamp>().is_ok()
}
