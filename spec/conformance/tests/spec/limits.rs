//! `limits.md` tells every limit of the protocol's crate, with its figure.

use crate::read;
use modiar_protocol::limits::*;
use std::collections::BTreeSet;
use std::time::Duration;

/// A figure in the unit that the page has it in: seconds, of a time.
trait Figure {
    fn figure(self) -> u64;
}

macro_rules! whole {
    ($($kind:ty)+) => {$(
        impl Figure for $kind {
            fn figure(self) -> u64 {
                u64::try_from(self).unwrap()
            }
        }
    )+};
}
whole!(u16 u32 u64 usize i64);

impl Figure for Duration {
    fn figure(self) -> u64 {
        self.as_secs()
    }
}

/// Each limit by name, its figure, and the page's words, in which `#` stands for the figure. What is made of other limits, or
/// is none for house bots, is told without one.
macro_rules! told {
    ($($name:ident: $words:literal,)+) => {
        vec![$((stringify!($name), $name.figure(), $words),)+]
    };
}

fn told() -> Vec<(&'static str, u64, &'static str)> {
    told! {
        CLIENT_LINE_BYTES: "| line from a client | # bytes",
        SERVER_LINE_BYTES: "| line from the server | # bytes",
        STARTED_BYTES: "its `started` keeps to the line",
        BOUNDED_QUIET_PLIES: "where `quiet_plies` is 0 or above # |",
        BOUNDED_PLIES: "that is\n# plies",
        NESTING: "| nesting of a line | # levels",
        REF_CHARS: "| `ref` | # characters",
        REF_INTEGER: "±(2^53 − 1)",
        TEXT_CHARS: "| `client`, `version` | # characters",
        BAN_REASON_CHARS: "| reason of a ban | # characters",
        OWNER_CHARS: "| owner of a bot | # characters",
        SERIES_GAMES: "| `games` of a hello or a challenge | 1 to # |",
        GAMES_AT_ONCE: "welcome, which is at most #.",
        HOUSE_GAMES: "| games of a house bot at once | # |",
        HOUSE_MESSAGES: "No rate holds for it",
        MESSAGES_PER_SECOND: "| messages | # a second",
        MESSAGE_BURST: "a second, burst of # |",
        FLOOD_MESSAGES: "| limited messages | # in ",
        FLOOD_WINDOW: "| limited messages | 100 in # s |",
        FAILED_LOGINS_PER_MINUTE: "| wrong tokens from one address | # within a minute |",
        REGISTRATIONS_PER_HOUR: "| names registered from one address | # within an hour |",
        ADDRESSES_REMEMBERED: "| addresses of which these are known | # |",
        REGISTRATION: "| storing a registered name | # s |",
        HANDSHAKE: "| time to a hello | # s |",
        HANDSHAKE_BAD_LINES: "| bad lines before welcome | #, ",
        OUTPUT_BYTES: "| waiting output | # bytes |",
        GAME_LINES_BYTES: "what 64 games that start together say at once, behind the longest line",
        LEAST_OUTPUT_BYTES: "Waiting output is never below # bytes",
        HOUSE_OUTPUT_BYTES: "as much output waits for it as all its\n  games say at once",
        WRITE_DEADLINE: "| one write | # s |",
        GOODBYE: "| reading the goodbye | # s |",
        FIRST_PLY: "| first ply of a side | min(remaining, # s)",
        MESSAGE_CHARS: "| text for people in a message of the server | # characters |",
        CHALLENGE: "| life of a challenge | # s |",
        CHALLENGE_AGAIN: "each within # s of the one before",
        REMEMBERED_GAMES: "| ended games remembered for a bot | # |",
        MISSED_GAMES: "| missed results in welcome | #, ",
        MISSED_WINDOW: "newest of the last # s |",
        GUEST_KEPT: "| resume token of a guest that left | at least # s |",
        GUESTS_KEPT: "| guests that left and can come back | # |",
        TOLD_GAMES: "| the # newest of the last",
        PAIRS_REMEMBERED: "| pairs of bots whose meetings a pool remembers | # |",
        WATCHES: "| games that a connection watches | # |",
        SPECTATORS: "| spectators of a game | # |",
        CHALLENGES: "| challenges of a connection that are open, made and received | # |",
        WAITING_ANSWERS: "| messages for one game that wait for its result to be stored | # |",
    }
}

/// `14700` as the page writes it: `14,700`.
fn figure(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

#[test]
fn the_page_tells_every_limit() {
    let page = read("limits.md");
    for (name, number, words) in told() {
        let words = words.replace('#', &figure(number));
        assert!(page.contains(&words), "spec/limits.md: say of {name}: {words}");
    }
}

#[test]
fn every_limit_is_looked_at() {
    let source = read("../protocol/src/limits.rs");
    let names = source.lines().filter_map(|line| line.strip_prefix("pub const ")?.split_once(':'));
    let names: BTreeSet<&str> = names.map(|(name, _)| name).collect();
    assert_eq!(names, told().iter().map(|(name, ..)| *name).collect());
}
