//! What was said both ways, as it is told of a check that failed.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::Instant;

/// So many of the last lines are told, each cut to so many characters.
const TOLD_LINES: usize = 14;
const TOLD_CHARS: usize = 320;

/// The last lines both ways, each with its time in ms since the first look.
#[derive(Debug)]
pub(crate) struct Minutes {
    said: VecDeque<String>,
    since: Instant,
    /// Makes secrets unreadable.
    hide: fn(&str) -> Cow<'_, str>,
}

impl Minutes {
    pub(crate) fn new(hide: fn(&str) -> Cow<'_, str>) -> Self {
        Self { said: VecDeque::new(), since: Instant::now(), hide }
    }

    /// `who` said this.
    pub(crate) fn note(&mut self, who: &str, text: &str) {
        let ms = self.since.elapsed().as_millis();
        if self.said.len() == TOLD_LINES {
            self.said.pop_front();
        }
        let text = cut(&(self.hide)(text));
        self.said.push_back(format!("{ms:>6} ms  {who:<7}  {text}"));
    }

    /// `who` sent these bytes.
    pub(crate) fn note_bytes(&mut self, who: &str, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.note(who, text.strip_suffix('\n').unwrap_or(text)),
            Err(_) => self.note(who, &bytes.escape_ascii().to_string()),
        }
    }

    /// The lines, the oldest first.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.said.iter().cloned().collect()
    }
}

/// As much of another program's text as is told.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(TOLD_CHARS) {
        Some((end, _)) => format!("{}… ({} bytes)", without_controls(&text[..end]), text.len()),
        None => without_controls(text),
    }
}

/// Another program's text, quotes left as they are: its bytes move no cursor here.
pub(crate) fn without_controls(text: &str) -> String {
    text.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'")
}

/// The text without the values of `token` and `resume` in it, wherever they stand, whole line or not.
pub(crate) fn hide_secrets(text: &str) -> Cow<'_, str> {
    let mut told = Cow::Borrowed(text);
    for (key, word) in [("\"token\"", "(token)"), ("\"resume\"", "(resume)")] {
        if told.contains(key) {
            told = Cow::Owned(without_values(&told, key, word));
        }
    }
    told
}

fn without_values(text: &str, key: &str, word: &str) -> String {
    let mut parts = text.split(key);
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        told.push_str(key);
        let value = part.trim_start_matches([' ', '\t', ':']);
        match value.strip_prefix('"') {
            Some(value) => {
                told.push_str(":\"");
                told.push_str(word);
                told.push_str(&value[value.find('"').unwrap_or(value.len())..]);
            }
            None => told.push_str(part),
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_in_whole_lines_and_others() {
        for (text, told) in [
            (r#"{"type":"pong"}"#, r#"{"type":"pong"}"#),
            (r#"{"token":"modiar-1","resume":"modiar-2"}"#, r#"{"token":"(token)","resume":"(resume)"}"#),
            (r#"{"resume" : "modiar-2","x":1}"#, r#"{"resume":"(resume)","x":1}"#),
            (r#"{"resume":"modi"#, r#"{"resume":"(resume)"#),
            (r#"{"resume":null} {"resume":"a"}"#, r#"{"resume":null} {"resume":"(resume)"}"#),
        ] {
            assert_eq!(hide_secrets(text), told);
        }
    }

    #[test]
    fn the_last_lines_are_kept_and_cut() {
        let mut minutes = Minutes::new(hide_secrets);
        for number in 0..20 {
            minutes.note("a >", &number.to_string());
        }
        minutes.note_bytes("a >", b"\xff\"\n");
        minutes.note_bytes("a >", &b"\"\x07\n".repeat(200));
        let lines = minutes.lines();
        assert_eq!(lines.len(), TOLD_LINES);
        assert!(lines[0].ends_with("ms  a >      8"), "{lines:?}");
        assert!(lines[12].contains("xff"), "{lines:?}");
        assert!(lines[13].contains("\"\\u{7}\\n") && lines[13].ends_with("… (599 bytes)"), "{lines:?}");
    }
}
