//! What holds for every line of a server, whatever it says.

use serde_json::Value;

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
    let message = value["message"].as_str().filter(|_| value["type"] == "error")?;
    let starts_well = message.chars().next().is_some_and(|first| !first.is_uppercase());
    (!starts_well).then(|| format!("the message '{message}' is empty or begins with a capital letter (errors.message)"))
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
            r#"{"type":"error","message":"a \" b"}"#,
            r#"{"type":"error","message":"'X' is no name"}"#,
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
        ];
        for (line, clause) in lines {
            assert!(fault(line).is_some_and(|fault| fault.contains(clause)), "{clause}");
        }
    }
}
