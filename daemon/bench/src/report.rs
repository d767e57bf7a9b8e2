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

/// Each round's ratio, but of those where there is nothing to divide by.
pub fn ratios(ones: &[f64], others: &[f64]) -> Vec<f64> {
    let rounds = ones.iter().zip(others).filter(|(_, other)| **other > 0.0);
    rounds.map(|(one, other)| one / other).collect()
}

/// What a row of two measurements shows.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The median of the first.
    pub one: f64,
    /// The median of the other.
    pub other: f64,
    /// The median of the rounds' ratios, which is not the ratio of the medians: two that were measured one after the other
    /// had the same machine.
    pub ratio: f64,
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

    /// A row: what is measured, the medians of two measurements of each round, and that of the rounds' ratios.
    pub fn row(&mut self, what: &str, ones: &[f64], others: &[f64]) -> Row {
        let middle = |values: &[f64]| median(values.iter().copied());
        let ratios = ratios(ones, others);
        let row = Row { one: middle(ones), other: middle(others), ratio: middle(&ratios) };
        let ratio = if ratios.is_empty() { "-".to_owned() } else { format!("{:.2}", row.ratio) };
        self.rows.push([what.to_owned(), rounded(row.one).to_string(), rounded(row.other).to_string(), ratio]);
        row
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The ratio of the medians, 20 to 10, is not the median of the ratios.
    #[test]
    fn the_table_and_the_json_show_one_ratio() {
        let mut report = Report::default();
        let row = report.row("cost", &[10.0, 20.0, 60.0], &[10.0, 30.0, 5.0]);
        assert_eq!((row.one, row.other, row.ratio), (20.0, 10.0, 1.0));
        assert_eq!(report.rows, [["cost", "20", "10", "1.00"].map(str::to_owned)]);
        report.row("nothing to divide by", &[1.0], &[0.0]);
        assert_eq!(report.rows[1][3], "-");
    }
}
