//! The questions of `spec/vectors/quiz.jsonl`, and how an answer is compared with the right one.

use crate::minutes::without_controls;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const FILE: &str = include_str!("../../../vectors/quiz.jsonl");
/// As much of another program's text is told.
const TOLD_CHARS: usize = 600;

/// A line of the file.
#[derive(Deserialize)]
pub(super) struct Case {
    pub(super) check: String,
    pub(super) clause: String,
    pub(super) reason: String,
    /// What is right.
    pub(super) answer: Value,
    #[serde(flatten)]
    asked: Asked,
}

/// What a program is asked, in both forms of a position.
#[derive(Deserialize, Serialize)]
struct Asked {
    question: u64,
    position: String,
    pits: Value,
    captured: BySide,
    side: String,
    ply: u64,
}

#[derive(Deserialize, Serialize)]
struct BySide {
    south: u64,
    north: u64,
}

/// Every question, in their order. That each line of the file is one, a test holds.
pub(super) fn cases() -> Vec<Case> {
    FILE.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

impl Case {
    pub(super) const fn number(&self) -> u64 {
        self.asked.question
    }

    /// The question as it is sent, but for the end of its line.
    pub(super) fn question(&self) -> String {
        // Numbers, texts and values that were read: writing them cannot fail.
        serde_json::to_string(&self.asked).unwrap_or_default()
    }

    /// What of an answer is not as it should be, the first of it.
    pub(super) fn differs(&self, answer: &Map<String, Value>) -> Option<String> {
        let (field, right) =
            self.answer.as_object()?.iter().find(|(field, right)| !holds(answer.get(*field), right))?;
        // The fields of an answer in their order: `after` says little where `legal` is another list.
        let legal = &self.answer["legal"];
        if !holds(answer.get("legal"), legal) {
            return Some("legal".to_owned());
        }
        let (told, right) = (answer.get(field).and_then(Value::as_array), right.as_array());
        Some(match told.zip(right) {
            Some((told, right)) => after(told, right, legal),
            None => field.clone(),
        })
    }
}

/// Which of the positions of `after` differs, and wherein.
fn after(told: &[Value], right: &[Value], legal: &Value) -> String {
    if told.len() != right.len() {
        return format!("after: {} positions, for {} legal pits", told.len(), right.len());
    }
    let at = told.iter().zip(right).position(|(told, right)| !holds(Some(told), right)).unwrap_or_default();
    let fields = right[at].as_object().into_iter().flatten();
    let wrong = fields.filter(|(field, right)| !holds(told[at].get(field), right)).map(|(field, _)| field.as_str());
    format!("after pit {}: {}", legal[at], wrong.collect::<Vec<_>>().join(", "))
}

/// Whether what was told is what is right, fields apart that nobody asked for.
fn holds(told: Option<&Value>, right: &Value) -> bool {
    match (told, right) {
        (Some(Value::Object(told)), Value::Object(right)) => {
            right.iter().all(|(field, right)| holds(told.get(field), right))
        }
        (Some(Value::Array(told)), Value::Array(right)) => {
            told.len() == right.len() && told.iter().zip(right).all(|(told, right)| holds(Some(told), right))
        }
        (told, right) => told == Some(right),
    }
}

/// The beginning of another program's text, in characters that move no cursor.
pub(super) fn clipped(text: &str) -> String {
    let mut told = without_controls(&text.chars().take(TOLD_CHARS).collect::<String>());
    if text.chars().nth(TOLD_CHARS).is_some() {
        told.push('…');
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn case() -> Case {
        let told = json!({
            "question": 1, "check": "plain", "clause": "rules.sow.every-pit", "reason": "none", "position": "", "pits": [],
            "captured": {"south": 0, "north": 0}, "side": "south", "ply": 3,
            "answer": {"legal": [0, 2], "after": [{"pits": [1], "side": "north"}, {"pits": [2], "side": "north"}]},
        });
        serde_json::from_value(told).unwrap()
    }

    fn differs(answer: &Value) -> Option<String> {
        case().differs(answer.as_object().unwrap())
    }

    #[test]
    fn every_line_is_a_question_of_a_check() {
        let cases = cases();
        assert_eq!(cases.len(), FILE.lines().count());
        for case in &cases {
            assert!(crate::quiz::checks().any(|check| check.name == case.check), "{}", case.check);
        }
    }

    #[test]
    fn what_nobody_asked_for_is_ignored() {
        let after = json!([{"pits": [1], "side": "north", "taken": 0}, {"side": "north", "pits": [2]}]);
        assert_eq!(differs(&json!({"after": after, "legal": [0, 2], "score": null, "question": 1})), None);
    }

    #[test]
    fn what_differs_is_named() {
        let after = |pits: Value, side: &str| json!([{"pits": [1], "side": "north"}, {"pits": pits, "side": side}]);
        for (answer, what) in [
            (json!({}), "legal"),
            (json!({"legal": [2, 0], "after": []}), "legal"),
            (json!({"legal": "0 2", "after": []}), "legal"),
            (json!({"legal": [0, 2]}), "after"),
            (json!({"legal": [0, 2], "after": {}}), "after"),
            (json!({"legal": [0, 2], "after": [1]}), "after: 1 positions, for 2 legal pits"),
            (json!({"legal": [0, 2], "after": [1, 2]}), "after pit 0: pits, side"),
            (json!({"legal": [0, 2], "after": after(json!([3]), "north")}), "after pit 2: pits"),
            (json!({"legal": [0, 2], "after": after(json!([2.5]), "n")}), "after pit 2: pits, side"),
        ] {
            assert_eq!(differs(&answer).as_deref(), Some(what), "{answer}");
        }
    }

    #[test]
    fn what_is_told_is_short_and_moves_no_cursor() {
        assert_eq!(clipped("a \u{1b}[2J \"b\""), "a \\u{1b}[2J \"b\"");
        assert_eq!(clipped(&"x".repeat(TOLD_CHARS + 1)).chars().count(), TOLD_CHARS + 1);
    }
}
