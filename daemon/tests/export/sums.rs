//! A number for each column of a table, by which what a reader read is held against what was written.

use modiar::export::{Head, Kind, Table, heads};
use serde_json::{Map, Value, json};

/// A table as a reader is to find it: its rows, and for each column the sum, how many are true, the characters of all
/// texts together, or the sum of the times in microseconds since 1970.
pub fn expected(table: Table, rows: &[Value]) -> (usize, Map<String, Value>) {
    let of = |Head { name, kind, .. }: Head| {
        let values = rows.iter().map(|row| &row[name]);
        let sum = match kind {
            Kind::Bool => json!(values.filter(|value| **value == Value::Bool(true)).count()),
            Kind::Float64 => json!(values.map(|value| value.as_f64().unwrap()).sum::<f64>()),
            Kind::Text => json!(values.map(|value| value.as_str().unwrap().chars().count()).sum::<usize>()),
            Kind::Time => json!(values.map(micros).sum::<i64>()),
            _ => json!(values.map(|value| value.as_i64().unwrap()).sum::<i64>()),
        };
        (name.to_owned(), sum)
    };
    (rows.len(), heads(table, true).into_iter().map(of).collect())
}

fn micros(value: &Value) -> i64 {
    value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_microsecond()
}

/// Whether two such numbers are the same: integers are, others but for the order of their sum.
pub fn same(one: &Value, other: &Value) -> bool {
    match (one.as_i64(), other.as_i64()) {
        (Some(one), Some(other)) => one == other,
        _ => (one.as_f64().unwrap() - other.as_f64().unwrap()).abs() < 1e-6,
    }
}
