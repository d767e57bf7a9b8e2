//! Every closed list of words: the same in Rust, in the schema and on the pages.

use crate::spec::{Kind, first_column};
use modiar_protocol::server::{ChallengeEnd, ChallengeSide, Openings, SeekEnd};
use modiar_protocol::{ErrorCode, GameResult, GoodbyeReason, Termination};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// All variants of an enumeration, by a match that does not compile where one is missing.
macro_rules! all {
    ($name:ident { $($variant:ident),+ $(,)? }) => {{
        const fn complete(word: $name) -> bool {
            match word { $($name::$variant)|+ => true }
        }
        let all = [$($name::$variant),+];
        assert!(all.into_iter().all(complete));
        all
    }};
}

fn schema_words(kind: Kind, pointer: &str) -> Vec<String> {
    let words = kind.schema().pointer(pointer).unwrap_or_else(|| panic!("the schema has no {pointer}"));
    words.as_array().unwrap().iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The words that `all` is written as; each is read back as what it was.
fn words<T: Serialize + DeserializeOwned + PartialEq + Copy + std::fmt::Debug>(all: &[T]) -> Vec<String> {
    let word = |variant: &T| {
        let Value::String(word) = serde_json::to_value(variant).unwrap() else { panic!("{variant:?} is no word") };
        assert_eq!(serde_json::from_value::<T>(word.as_str().into()).unwrap(), *variant);
        word
    };
    all.iter().map(word).collect()
}

#[test]
fn error_codes() {
    let rust: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(rust, words(ErrorCode::ALL));
    assert_eq!(rust, schema_words(Kind::Server, "/$defs/error/properties/code/enum"));
    assert_eq!(rust, first_column("errors.md", "code"));
}

#[test]
fn goodbye_reasons() {
    let rust: Vec<&str> = GoodbyeReason::ALL.iter().map(|reason| reason.as_str()).collect();
    assert_eq!(rust, words(GoodbyeReason::ALL));
    assert_eq!(rust, schema_words(Kind::Server, "/$defs/goodbye/properties/reason/enum"));
}

#[test]
fn terminations() {
    let rust: Vec<&str> = Termination::ALL.iter().map(|termination| termination.as_str()).collect();
    assert_eq!(rust, words(Termination::ALL));
    assert_eq!(rust, schema_words(Kind::Server, "/$defs/ended/properties/termination/enum"));
    assert_eq!(rust, schema_words(Kind::Record, "/properties/termination/enum"));
    assert_eq!(rust, first_column("forfeits.md", "termination"));
}

#[test]
fn results() {
    let rust: Vec<&str> = GameResult::ALL.iter().map(|result| result.as_str()).collect();
    assert_eq!(rust, words(GameResult::ALL));
    assert_eq!(rust, schema_words(Kind::Server, "/$defs/ended/properties/result/enum"));
    assert_eq!(rust, schema_words(Kind::Record, "/properties/result/enum"));
}

#[test]
fn the_other_lists() {
    let seek_ends = all!(SeekEnd { Cancelled, Done, Draining, Penalised });
    assert_eq!(words(&seek_ends), schema_words(Kind::Server, "/$defs/seek_ended/properties/reason/enum"));
    let challenge_ends = all!(ChallengeEnd { Declined, Expired, Cancelled, Unavailable, Draining });
    assert_eq!(words(&challenge_ends), schema_words(Kind::Server, "/$defs/challenge_ended/properties/reason/enum"));
    let sides = words(&all!(ChallengeSide { South, North, Random }));
    assert_eq!(sides, schema_words(Kind::Server, "/$defs/challenged/properties/side/enum"));
    assert_eq!(sides, schema_words(Kind::Client, "/$defs/challenge/properties/side/enum"));
    let openings = all!(Openings { Start, Balanced });
    assert_eq!(words(&openings), schema_words(Kind::Server, "/$defs/pool/properties/openings/enum"));
    // A notice carries an error code; of these the schema lets pass the ones that are notices.
    for word in schema_words(Kind::Server, "/$defs/notice/properties/code/enum") {
        assert!(ErrorCode::ALL.iter().any(|code| code.as_str() == word), "{word}");
    }
}
