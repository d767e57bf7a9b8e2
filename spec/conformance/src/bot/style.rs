//! How a message is written: as the server does, or in another way that JSON and the protocol allow.

use super::link::Pace;
use serde_json::Value;
use std::fmt::Write as _;

/// A way to write lines.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// What is done to a message before.
    pub(crate) change: fn(&mut Value),
    /// Blanks wherever JSON allows them.
    pub(crate) blanks: bool,
    /// Keys from the last to the first.
    pub(crate) reversed: bool,
    /// Every character of a text as an escape.
    pub(crate) escapes: bool,
    /// What ends a line.
    pub(crate) end: &'static str,
    /// How the bytes leave.
    pub(crate) pace: Pace,
}

impl Style {
    /// As the server writes.
    pub(crate) const PLAIN: Self =
        Self { change: |_| {}, blanks: false, reversed: false, escapes: false, end: "\n", pace: Pace::Whole };

    /// The message as a line.
    pub(crate) fn line(&self, message: &Value) -> String {
        let (mut message, mut line) = (message.clone(), String::new());
        (self.change)(&mut message);
        self.value(&message, &mut line);
        line + self.end
    }

    fn value(&self, value: &Value, line: &mut String) {
        match value {
            Value::Object(fields) => {
                let mut keys: Vec<&String> = fields.keys().collect();
                // As the server does: the type first.
                keys.sort_by_key(|key| (*key != "type", *key));
                if self.reversed {
                    keys.reverse();
                }
                self.list(line, ['{', '}'], keys, |key, line| {
                    self.text(key, line);
                    self.gap(line);
                    line.push(':');
                    self.gap(line);
                    self.value(&fields[key], line);
                });
            }
            Value::Array(values) => self.list(line, ['[', ']'], values, |value, line| self.value(value, line)),
            Value::String(text) => self.text(text, line),
            other => line.push_str(&other.to_string()),
        }
    }

    fn list<T>(
        &self,
        line: &mut String,
        [open, close]: [char; 2],
        items: impl IntoIterator<Item = T>,
        one: impl Fn(T, &mut String),
    ) {
        line.push(open);
        self.gap(line);
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                line.push(',');
                self.gap(line);
            }
            one(item, line);
        }
        self.gap(line);
        line.push(close);
    }

    fn gap(&self, line: &mut String) {
        if self.blanks {
            line.push_str(" \t ");
        }
    }

    fn text(&self, text: &str, line: &mut String) {
        if self.escapes {
            line.push('"');
            for unit in text.encode_utf16() {
                // Writing to memory cannot fail.
                let _ = write!(line, "\\u{unit:04x}");
            }
            line.push('"');
        } else {
            line.push_str(&Value::from(text).to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_message_is_the_same_in_every_style() {
        let message = json!({"type": "turn", "legal": [0, 2], "last": {"ply": 1}, "name": "ä\"🌱", "none": []});
        let plain = Style::PLAIN.line(&message);
        assert_eq!(
            plain,
            "{\"type\":\"turn\",\"last\":{\"ply\":1},\"legal\":[0,2],\"name\":\"ä\\\"🌱\",\"none\":[]}\n"
        );
        let styles = [
            Style { blanks: true, ..Style::PLAIN },
            Style { reversed: true, end: "\r\n", ..Style::PLAIN },
            Style { escapes: true, blanks: true, ..Style::PLAIN },
        ];
        for style in styles {
            let line = style.line(&message);
            assert_ne!(line, plain);
            assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), message, "{line}");
        }
    }
}
