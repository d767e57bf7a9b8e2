//! What holds for every line of a server, whatever it says.

use modiar_protocol::ServerMessage;
use serde_json::{Value, json};

/// The longest line, its newline included (`transport.server-line-limit`).
const LINE: usize = 16_384;

/// What is wrong with the manner of a server's line, if anything (`transport.server-output`, `errors.message`).
pub(crate) fn fault(line: &str) -> Option<String> {
    if line.len() + 1 > LINE {
        return Some(format!("a line of {} bytes is above {LINE} (transport.server-line-limit)", line.len() + 1));
    }
    // A line that is no JSON at all is told as such where it is read.
    let value: Value = serde_json::from_str(line).ok()?;
    if !is_compact(line) {
        return Some("the line is not compact JSON (transport.server-output)".to_owned());
    }
    if has_null(&value) {
        return Some("a value is null (transport.server-output)".to_owned());
    }
    let message = value["message"].as_str().filter(|_| value["type"] == "error");
    if let Some(message) = message.filter(|message| message.chars().next().is_none_or(char::is_uppercase)) {
        return Some(format!("the message '{message}' is empty or begins with a capital letter (errors.message)"));
    }
    misread(line, &value["type"])
}

/// Why the line is none of the messages that this version knows; a type of a later one is nobody's fault.
fn misread(line: &str, kind: &Value) -> Option<String> {
    let error = ServerMessage::read(line.as_bytes()).err()?;
    let of_kind = ServerMessage::read(json!({ "type": kind }).to_string().as_bytes());
    let is_later = of_kind.is_err_and(|error| error.to_string().starts_with("unknown variant"));
    (!is_later).then(|| format!("the line breaks the schema: {error} (message.server-schema)"))
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.iter().any(has_null),
        Value::Object(fields) => fields.values().any(has_null),
        _ => false,
    }
}

/// Begins with its object, and has no white space outside texts.
fn is_compact(line: &str) -> bool {
    let (mut quoted, mut escaped) = (false, false);
    line.starts_with('{')
        && line.bytes().all(|byte| {
            let fits = quoted || !byte.is_ascii_whitespace();
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                _ => {}
            }
            fits
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_lines_have_no_fault() {
        for line in [
            r#"{"type":"pong","time_ms":1}"#,
            r#"{"type":"error","code":"bad_json","message":"a \" b","fatal":false}"#,
            r#"{"type":"error","code":"bad_json","message":"'X' is no name","fatal":false}"#,
            r#"{"type":"of_later","message":7}"#,
        ] {
            assert_eq!(fault(line), None, "{line}");
        }
    }

    #[test]
    fn faults_are_named() {
        let long = format!(r#"{{"type":"notice","message":"{}"}}"#, "x".repeat(LINE));
        let lines = [
            (long.as_str(), "server-line-limit"),
            (r#"{"type": "pong"}"#, "server-output"),
            ("{\"type\":\"pong\"}\r", "server-output"),
            (r#"{"type":"error","message":"Bad"}"#, "errors.message"),
            (r#"{"type":"error","message":""}"#, "errors.message"),
            (r#"{"type":"pong","time_ms":1,"more":[{"x":null}]}"#, "server-output"),
            (r#"{"type":"pong","time_ms":"yesterday"}"#, "server-schema"),
            (r#"{"type":"pong","time_ms":1,"time_ms":1}"#, "server-schema"),
            (r#"{"type":"pong","type":"pong","time_ms":1}"#, "server-schema"),
            (r#"{"type":"error","code":"of_later","message":"x","fatal":false}"#, "server-schema"),
            (r#"{"type":7}"#, "server-schema"),
        ];
        for (line, clause) in lines {
            assert!(fault(line).is_some_and(|fault| fault.contains(clause)), "{clause}");
        }
    }
}
