//! How an expected line matches one that came, and the variables that this binds.

use serde_json::{Map, Value};
use std::collections::HashMap;

/// The variables of a transcript and what they stand for.
#[derive(Debug, Default)]
pub(crate) struct Bindings(HashMap<String, Value>);

impl Bindings {
    /// Matches a whole line; binds the variables that are met first.
    ///
    /// # Errors
    /// Where and how it differs.
    pub(crate) fn match_line(&mut self, expected: &Map<String, Value>, line: &Value) -> Result<(), String> {
        self.match_object("", expected, line)
    }

    /// The message with its variables replaced.
    pub(crate) fn fill(&self, message: &Map<String, Value>) -> Value {
        self.fill_value(&Value::Object(message.clone()))
    }

    fn match_object(&mut self, path: &str, expected: &Map<String, Value>, came: &Value) -> Result<(), String> {
        let Value::Object(came) = came else { return Err(differ(path, "an object", came)) };
        for (key, expected) in expected {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            match came.get(key) {
                Some(value) if expected == "$absent" => return Err(differ(&path, "no such key", value)),
                None if expected == "$absent" => {}
                Some(value) => self.match_value(&path, expected, value)?,
                None => return Err(format!("'{path}' is missing, {expected} was awaited")),
            }
        }
        Ok(())
    }

    fn match_value(&mut self, path: &str, expected: &Value, came: &Value) -> Result<(), String> {
        match expected {
            Value::String(name) if name == "$any" => Ok(()),
            Value::String(name) if name.starts_with('$') => self.match_variable(path, name, came),
            Value::Object(expected) => self.match_object(path, expected, came),
            Value::Array(expected) => match came {
                Value::Array(came) if came.len() == expected.len() => {
                    let mut pairs = expected.iter().zip(came).enumerate();
                    pairs.try_for_each(|(at, (expected, came))| {
                        self.match_value(&format!("{path}[{at}]"), expected, came)
                    })
                }
                _ => Err(differ(path, &format!("an array of {}", expected.len()), came)),
            },
            _ if expected == came => Ok(()),
            _ => Err(differ(path, &expected.to_string(), came)),
        }
    }

    fn match_variable(&mut self, path: &str, name: &str, came: &Value) -> Result<(), String> {
        match self.0.get(name) {
            Some(value) if value == came => Ok(()),
            Some(value) => Err(differ(path, &format!("{value} ({name})"), came)),
            None => {
                self.0.insert(name.to_owned(), came.clone());
                Ok(())
            }
        }
    }

    fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(name) => self.0.get(name).unwrap_or(value).clone(),
            Value::Array(values) => values.iter().map(|value| self.fill_value(value)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(key, value)| (key.clone(), self.fill_value(value))).collect())
            }
            _ => value.clone(),
        }
    }
}

fn differ(path: &str, awaited: &str, came: &Value) -> String {
    format!("'{path}' is {came}, {awaited} was awaited")
}

/// Every text in these fields that begins with `$`.
pub(crate) fn variables(fields: &Map<String, Value>) -> Vec<&str> {
    fn collect<'a>(value: &'a Value, names: &mut Vec<&'a str>) {
        match value {
            Value::String(text) if text.starts_with('$') => names.push(text),
            Value::Array(values) => values.iter().for_each(|value| collect(value, names)),
            Value::Object(fields) => fields.values().for_each(|value| collect(value, names)),
            _ => {}
        }
    }
    let mut names = Vec::new();
    fields.values().for_each(|value| collect(value, &mut names));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn matches(bindings: &mut Bindings, expected: &Value, came: &Value) -> Result<(), String> {
        bindings.match_line(expected.as_object().unwrap(), came)
    }

    #[test]
    fn what_matches() {
        for (expected, came) in [
            (json!({}), json!({"a": 1})),
            (json!({"a": 1}), json!({"a": 1, "b": 2})),
            (json!({"a": {"b": 1}}), json!({"a": {"b": 1, "c": 2}})),
            (json!({"a": [1, {"b": 1}]}), json!({"a": [1, {"b": 1, "c": 2}]})),
            (json!({"a": "$any"}), json!({"a": null})),
            (json!({"a": "$absent"}), json!({})),
            (json!({"a": {"b": "$absent"}}), json!({"a": {}})),
            (json!({"a": "$v", "b": "$v"}), json!({"a": [1], "b": [1]})),
            (json!({"a": null}), json!({"a": null})),
        ] {
            assert_eq!(matches(&mut Bindings::default(), &expected, &came), Ok(()), "{expected} {came}");
        }
    }

    #[test]
    fn what_does_not_match_and_where() {
        for (expected, came, place) in [
            (json!({"a": 1}), json!({"a": 2}), "'a' is 2"),
            (json!({"a": 1}), json!({"a": 1.0}), "'a' is 1.0"),
            (json!({"a": 1}), json!({"a": "1"}), "'a' is \"1\""),
            (json!({"a": 1}), json!({}), "'a' is missing"),
            (json!({"a": null}), json!({}), "'a' is missing"),
            (json!({"a": "$any"}), json!({}), "'a' is missing"),
            (json!({"a": "$absent"}), json!({"a": null}), "'a' is null"),
            (json!({"a": {"b": "$absent"}}), json!({"a": {"b": 1}}), "'a.b' is 1"),
            (json!({"a": {"b": "$absent"}}), json!({"a": 1}), "'a' is 1"),
            (json!({"a": [1]}), json!({"a": [1, 2]}), "an array of 1"),
            (json!({"a": [1, 2]}), json!({"a": [1]}), "an array of 2"),
            (json!({"a": [1, {"b": 2}]}), json!({"a": [1, {"b": 3}]}), "'a[1].b' is 3"),
            (json!({"a": {}}), json!({"a": []}), "'a' is []"),
            (json!({"a": []}), json!({"a": {}}), "'a' is {}"),
            (json!({"a": "$v", "b": "$v"}), json!({"a": 1, "b": 2}), "'b' is 2"),
            (json!({}), json!([]), "an object"),
        ] {
            let fault = matches(&mut Bindings::default(), &expected, &came).unwrap_err();
            assert!(fault.contains(place), "{expected} {came}: {fault}");
        }
    }

    #[test]
    fn a_variable_keeps_its_first_value_and_is_sent() {
        let mut bindings = Bindings::default();
        matches(&mut bindings, &json!({"bot": {"name": "$a"}, "n": "$n"}), &json!({"bot": {"name": "x"}, "n": 7}))
            .unwrap();
        assert!(matches(&mut bindings, &json!({"from": "$a"}), &json!({"from": "y"})).is_err());
        matches(&mut bindings, &json!({"from": "$a"}), &json!({"from": "x"})).unwrap();
        let message = json!({"to": "$a", "list": ["$n", {"deep": "$a"}], "$a": "plain", "other": true});
        assert_eq!(
            bindings.fill(message.as_object().unwrap()),
            json!({"to": "x", "list": [7, {"deep": "x"}], "$a": "plain", "other": true})
        );
    }
}
