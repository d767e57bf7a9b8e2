//! The vectors of `spec/vectors`, read as loose JSON.

use std::fs;
use std::path::Path;

use modiar_rules::{BySide, EndRules, Pit, PitSet};
use serde_json::Value;

fn read(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors");
    let path = folder.join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A file that is one JSON value.
pub(crate) fn json(file: &str) -> Value {
    serde_json::from_str(&read(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// A file with a JSON object a line; never none, so that a loop over it tests something.
pub(crate) fn lines(file: &str) -> Vec<Value> {
    let parse = |(nth, line)| serde_json::from_str(line).unwrap_or_else(|error| panic!("{file}:{}: {error}", nth + 1));
    let cases: Vec<Value> = read(file).lines().enumerate().map(parse).collect();
    assert!(!cases.is_empty(), "{file} is empty");
    cases
}

pub(crate) fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or_else(|| panic!("no text {field} in {case}"))
}

pub(crate) fn number<N: TryFrom<u64>>(value: &Value) -> N {
    let number = value.as_u64().unwrap_or_else(|| panic!("{value} is no number"));
    N::try_from(number).unwrap_or_else(|_| panic!("{value} is out of range"))
}

pub(crate) fn pit(value: &Value) -> Pit {
    Pit::new(number(value)).unwrap()
}

pub(crate) fn pit_set(value: &Value) -> PitSet {
    value.as_array().unwrap().iter().map(pit).collect()
}

pub(crate) fn pits(value: &Value) -> [u8; 6] {
    let pits: Vec<u8> = value.as_array().unwrap().iter().map(number).collect();
    pits.try_into().unwrap()
}

/// `{"south":…,"north":…}`.
pub(crate) fn by_side(value: &Value) -> BySide<u8> {
    BySide::new(number(&value["south"]), number(&value["north"]))
}

pub(crate) fn end_rules(value: &Value) -> EndRules {
    EndRules {
        repetition: number(&value["repetition"]),
        quiet_plies: number(&value["quiet_plies"]),
        majority: value["majority"].as_bool().unwrap(),
    }
}
