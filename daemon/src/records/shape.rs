//! Whether a line of JSON has the shape of a record: what the reader takes all the same, as a list in the place of an object.

use modiar_protocol::Record;
use serde_json::Value;

/// What of a line is not shaped as the record that was read from it.
pub(super) fn misshapen(line: &[u8], record: &Record) -> Option<String> {
    let (found, wanted) = (serde_json::from_slice(line).ok()?, serde_json::to_value(record).ok()?);
    differing(&found, &wanted, "")
}

fn differing(found: &Value, wanted: &Value, path: &str) -> Option<String> {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => found.iter().find_map(|(key, value)| {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            wanted.get(key).map_or_else(|| Some(path.clone()), |wanted| differing(value, wanted, &path))
        }),
        // A set, whose order and doubles the reader passes over.
        (Value::Array(found), Value::Array(wanted)) if path == "detail.legal" => {
            (found != wanted).then(|| path.to_owned())
        }
        (Value::Object(_) | Value::Array(_) | Value::Null, _) | (_, Value::Object(_) | Value::Array(_)) => {
            let both_lists = found.is_array() && wanted.is_array();
            (!both_lists).then(|| if path.is_empty() { "the line".to_owned() } else { path.to_owned() })
        }
        _ => None,
    }
}
