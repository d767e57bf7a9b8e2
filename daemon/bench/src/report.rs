//! What is shown of the measurements: a table for people on stderr, one line of JSON on stdout.

use serde_json::{Map, Value, json};
use std::io::Write as _;

/// The middle one, or the mean of the middle two; 0 where there is none.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        length => f64::midpoint(values[(length - 1) / 2], values[length / 2]),
    }
}

/// The report: rows of a table, and the keys of the JSON line.
#[derive(Debug, Default)]
pub struct Report {
    rows: Vec<[String; 4]>,
    keys: Map<String, Value>,
}

impl Report {
    /// The head of the table.
    pub fn head(&mut self, cells: [&str; 4]) {
        self.rows.push(cells.map(str::to_owned));
    }

    /// A row: what is measured, two measurements and their ratio.
    pub fn row(&mut self, what: &str, one: f64, other: f64) {
        let ratio = if other > 0.0 { format!("{:.2}", one / other) } else { "-".to_owned() };
        self.rows.push([what.to_owned(), rounded(one).to_string(), rounded(other).to_string(), ratio]);
    }

    /// A row of one measurement.
    pub fn single(&mut self, what: &str, value: f64) {
        self.rows.push([what.to_owned(), rounded(value).to_string(), String::new(), String::new()]);
    }

    /// A key of the JSON line.
    pub fn key(&mut self, key: &str, value: impl Into<Value>) {
        self.keys.insert(key.to_owned(), value.into());
    }

    /// A number of the JSON line.
    pub fn number(&mut self, key: &str, value: f64) {
        self.key(key, json!(rounded(value)));
    }

    /// Writes both; the table unless only the JSON is wanted.
    pub fn write(&self, only_json: bool) -> anyhow::Result<()> {
        if !only_json {
            for [what, one, other, ratio] in &self.rows {
                eprintln!("{what:<34}{one:>14}{other:>14}{ratio:>9}");
            }
        }
        let mut stdout = std::io::stdout();
        writeln!(stdout, "{}", Value::Object(self.keys.clone()))?;
        Ok(stdout.flush()?)
    }
}

/// Three places: more would be noise.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
