//! `message.examples`: the examples of spec/ are read, or refused, by the schema and by the Rust types alike.

use crate::spec::{self, Kind, files, page_examples};
use modiar_protocol::{GameId, Record, ServerMessage, client};
use serde_json::Value;
use std::collections::BTreeSet;

/// Invalid examples that a Rust type reads all the same. What the server writes is typed field by field; that fields fit
/// each other, and the form of texts, is the schema's to say and the writer's to keep.
const READ_ALL_THE_SAME: &[(Kind, &str, &[&str])] = &[
    (
        Kind::Server,
        "fields do not fit each other",
        &[
            "ended-aborted-with-a-winner",
            "ended-aborted-with-rating",
            "ended-draw-by-resignation",
            "ended-illegal-move-without-detail",
            "ended-immobile-with-detail",
            "ended-none-by-immobile",
            "error-bad-field-without-field",
            "error-bad-protocol-without-supported",
            "error-illegal-move-without-game",
            "error-illegal-move-without-legal",
            "error-line-too-long-not-fatal",
            "error-stale-ply-without-game",
            "goodbye-handshake-with-ref",
            "seek-ended-done-with-message",
            "seek-ended-done-with-until",
            "seek-ended-penalised-without-until",
            "started-no-side",
            "started-side-and-spectator",
        ],
    ),
    (
        Kind::Server,
        "a number, list or flag narrower than its type",
        &[
            "challenged-expires-later",
            "seeking-waiting-zero",
            "started-ply-zero",
            "started-spectator-false",
            "turn-43-seeds",
            "turn-legal-empty",
            "turn-legal-twice",
            "welcome-65-missed",
            "welcome-game-twice",
            "welcome-protocol-2",
        ],
    ),
    (Kind::Server, "the form of a text for people", &["error-capital-letter", "error-empty-message"]),
    (
        Kind::Server,
        "null is read as absent; it is never written",
        &["error-ref-null", "started-player-rating-null", "turn-last-null", "welcome-token-null"],
    ),
    (Kind::Server, "an object is read from an array of its values; none is written", &["turn-captured-as-list"]),
    (
        Kind::Server,
        "a field that no message has is passed over, for a newer server may say more; none is written",
        &[
            "challenged-with-ref",
            "ended-with-ref",
            "moved-with-ref",
            "started-time-typo",
            "turn-with-ref",
            "welcome-limits-typo",
            "welcome-unknown-field",
        ],
    ),
    (
        Kind::Record,
        "fields do not fit each other",
        &[
            "aborted-with-a-winner",
            "guest-with-rating",
            "illegal-move-without-detail",
            "immobile-with-detail",
            "immobile-with-none",
            "immobile-with-unfinished-turn",
            "rated-with-a-guest",
            "rated-without-rating-after",
            "rating-without-rd",
            "unrated-with-rating-after",
        ],
    ),
    (Kind::Record, "a number narrower than its type", &["record-2", "seq-zero"]),
    (
        Kind::Record,
        "the form of a text",
        &[
            "ended-local-zone",
            "moves-with-pit-6",
            "prev-in-capitals",
            "prev-short",
            "server-without-version",
            "started-without-zone",
        ],
    ),
    (Kind::Record, "null is read as absent; it is never written", &["detail-null"]),
];

/// What clients say in the examples and no message has.
const IGNORED: [&str; 1] = ["comment"];

/// Reads the text as its Rust type, and writes it again.
fn read(kind: Kind, text: &str) -> Result<Value, String> {
    let written = match kind {
        Kind::Client => {
            let incoming = client::decode(text.as_bytes()).map_err(|error| error.to_string())?;
            return Ok(serde_json::to_value(incoming).unwrap());
        }
        Kind::Server => {
            let message: ServerMessage = serde_json::from_str(text).map_err(|error| error.to_string())?;
            let mut line = message.to_line();
            assert_eq!(line.pop(), Some(b'\n'));
            assert!(!line.contains(&b'\n'), "{text}");
            String::from_utf8(line).unwrap()
        }
        Kind::Record => serde_json::from_str::<Record>(text).map_err(|error| error.to_string())?.to_line().unwrap(),
    };
    Ok(serde_json::from_str(&written).unwrap())
}

/// Why a valid example is not read as it should be.
fn fault_of_valid(kind: Kind, text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).unwrap();
    if let Some(faults) = kind.faults(&value) {
        return Some(format!("the schema refuses it: {faults}"));
    }
    match read(kind, text) {
        Err(error) => Some(format!("it is not read: {error}")),
        // A client's line has more than is read: nulls, ignored fields, and ids of other forms, which nobody has.
        Ok(read) if kind == Kind::Client => {
            let said = value.as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
            let differs = said.filter(|(key, value)| match read.get(key.as_str()) {
                Some(read) => read != *value && read != GameId::NOWHERE.as_str(),
                None => !IGNORED.contains(&key.as_str()),
            });
            let differs: Vec<&str> = differs.map(|(key, _)| key.as_str()).collect();
            (!differs.is_empty()).then(|| format!("{} differ: {read}", differs.join(", ")))
        }
        Ok(read) => (read != value).then(|| format!("it is written back as {read}")),
    }
}

#[test]
fn the_examples_of_the_pages_are_read() {
    let examples = page_examples();
    let faults = examples.iter().filter_map(|(page, kind, line)| {
        let value: Value = serde_json::from_str(line).unwrap();
        if value["type"] != page.as_str() {
            return Some(format!("{page}: an example of another message: {line}"));
        }
        fault_of_valid(*kind, line).map(|fault| format!("{page}: {line}: {fault}"))
    });
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_example_of_the_record_page_is_read() {
    let page = spec::read("record.md");
    let example = page.split("```json\n").nth(1).unwrap().lines().next().unwrap();
    assert_eq!(fault_of_valid(Kind::Record, example), None);
    let record: Record = serde_json::from_str(example).unwrap();
    assert_eq!(record.to_line().unwrap(), example, "as the archive has it");
}

#[test]
fn valid_examples_are_read() {
    let mut faults = Vec::new();
    for kind in Kind::ALL {
        for (name, text) in files(&format!("schema/examples/{}/valid", kind.word()), ".json") {
            faults.extend(fault_of_valid(kind, &text).map(|fault| format!("{} {name}: {fault}", kind.word())));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn invalid_examples_are_refused() {
    let mut faults = Vec::new();
    let mut read_ones = BTreeSet::new();
    for kind in Kind::ALL {
        for (name, text) in files(&format!("schema/examples/{}/invalid", kind.word()), ".json") {
            let value: Value = serde_json::from_str(&text).unwrap();
            let name = format!("{}/{name}", kind.word());
            if kind.faults(&value).is_none() {
                faults.push(format!("{name}: the schema lets it pass"));
            }
            if read(kind, &text).is_ok() {
                read_ones.insert(name);
            }
        }
    }
    let listed: BTreeSet<String> = READ_ALL_THE_SAME
        .iter()
        .flat_map(|(kind, _, names)| names.iter().map(|name| format!("{}/{name}", kind.word())))
        .collect();
    faults.extend(read_ones.difference(&listed).map(|name| format!("{name}: it is read")));
    faults.extend(listed.difference(&read_ones).map(|name| format!("{name}: it is listed as read, and is refused")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
