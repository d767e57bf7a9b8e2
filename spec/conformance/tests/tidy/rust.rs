//! As much of Rust's grammar as the house rules need.

/// A function: where it begins, and how many lines it has from `fn` to its closing brace.
#[derive(Debug, PartialEq)]
pub struct Function {
    pub name: String,
    pub line: usize,
    pub lines: usize,
}

/// The text with every comment, string and character replaced by blanks, line by line as it was.
pub fn mask(text: &str) -> String {
    let text: Vec<char> = text.chars().collect();
    let (mut masked, mut at) = (String::new(), 0);
    while at < text.len() {
        if let Some(end) = literal_end(&text, at) {
            masked.extend(text[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
            at = end;
        } else {
            masked.push(text[at]);
            at += 1;
        }
    }
    masked
}

/// Where the comment or literal that begins at `at` ends, if one does.
fn literal_end(text: &[char], at: usize) -> Option<usize> {
    let next = |offset: usize| text.get(at + offset).copied();
    match (text[at], next(1)) {
        ('/', Some('/')) => Some(find(text, at, |rest| rest[0] == '\n')),
        ('/', Some('*')) => Some(block_comment_end(text, at)),
        ('"', _) => Some(string_end(text, at)),
        ('\'', _) => character_end(text, at),
        ('b' | 'c' | 'r', _) if at == 0 || !is_word(text[at - 1]) => prefixed_end(text, at),
        _ => None,
    }
}

fn find(text: &[char], from: usize, stop: impl Fn(&[char]) -> bool) -> usize {
    (from..text.len()).find(|at| stop(&text[*at..])).unwrap_or(text.len())
}

fn block_comment_end(text: &[char], mut at: usize) -> usize {
    let mut depth = 0;
    while at < text.len() {
        let step = if text[at..].starts_with(&['/', '*']) {
            depth += 1;
            2
        } else if text[at..].starts_with(&['*', '/']) {
            depth -= 1;
            2
        } else {
            1
        };
        at += step;
        if depth == 0 {
            break;
        }
    }
    at.min(text.len())
}

/// `open` is at the first quote.
fn string_end(text: &[char], open: usize) -> usize {
    let mut at = open + 1;
    while at < text.len() && text[at] != '"' {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

/// A character; `None` for a lifetime.
fn character_end(text: &[char], open: usize) -> Option<usize> {
    match (text.get(open + 1)?, text.get(open + 2)?) {
        ('\\', _) => Some(find(text, open + 3, |rest| rest[0] == '\'') + 1).map(|end| end.min(text.len())),
        (_, '\'') => Some(open + 3),
        _ => None,
    }
}

/// `b"…"`, `c"…"`, `b'…'`, `r"…"`, `br##"…"##`; `None` for a word that only begins so, `r#move` included.
fn prefixed_end(text: &[char], start: usize) -> Option<usize> {
    let mut at = start + usize::from(text[start] != 'r');
    if text.get(at) != Some(&'r') {
        return match text.get(at)? {
            '"' => Some(string_end(text, at)),
            '\'' => character_end(text, at),
            _ => None,
        };
    }
    at += 1;
    let hashes = text[at..].iter().take_while(|c| **c == '#').count();
    at += hashes;
    if text.get(at) != Some(&'"') {
        return None;
    }
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    Some((find(text, at + 1, |rest| rest.starts_with(&close)) + close.len()).min(text.len()))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The functions of a masked text that have a body.
pub fn functions(masked: &str) -> Vec<Function> {
    let starts = masked.match_indices("fn ").map(|(at, _)| at);
    starts.filter(|at| !masked[..*at].ends_with(is_word)).filter_map(|at| function(masked, at)).collect()
}

fn function(masked: &str, at: usize) -> Option<Function> {
    let name: String = masked[at + "fn ".len()..].chars().take_while(|c| is_word(*c) || *c == '#').collect();
    let end = item_end(masked, at)?;
    let has_body = masked[..end].ends_with('}');
    let line = line_of(masked, at);
    (has_body && !name.is_empty()).then(|| Function { name, line, lines: line_of(masked, end) - line + 1 })
}

/// The number of the line that holds this byte.
pub fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Behind the item that begins at `at`: behind its `;`, or the brace that closes its first.
fn item_end(masked: &str, at: usize) -> Option<usize> {
    let (mut depth, mut body) = (0_usize, false);
    for (offset, byte) in masked[at..].bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b'{' => {
                body |= depth == 0;
                depth += 1;
            }
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 && (byte == b';' || (body && byte == b'}')) {
            return Some(at + offset + 1);
        }
    }
    None
}

/// A masked text with what is only compiled for its tests replaced by blanks.
pub fn without_tests(masked: &str) -> String {
    const ATTRIBUTE: &str = "#[cfg(test)]";
    let mut rest = masked.to_owned();
    while let Some(at) = rest.find(ATTRIBUTE) {
        let end = item_end(&rest, at + ATTRIBUTE.len()).unwrap_or(rest.len());
        let blank: String = rest[at..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        rest.replace_range(at..end, &blank);
    }
    rest
}

#[test]
fn what_is_no_code_is_masked() {
    let cases = [
        ("a // fn {\nb", "a b"),
        ("/* { /* } */ { */ a", "a"),
        (r#"f("{ \" }")"#, "f( )"),
        (r##"f(r#"{ " }"#, b"{")"##, "f( , )"),
        ("m('{', '\\'', b'}', '\\u{7f}')", "m( , , , )"),
        ("fn f<'a>(x: &'a str, r#move: b) {}", "fn f<'a>(x: &'a str, r#move: b) {}"),
        ("letter\"{\"", "letter"),
        ("\"two\n{ lines\" a", "a"),
    ];
    for (text, code) in cases {
        let masked = mask(text);
        assert_eq!(masked.split_whitespace().collect::<Vec<_>>().join(" "), code, "{text}");
        let places = |text: &str| text.chars().map(|c| c == '\n').collect::<Vec<_>>();
        assert_eq!(places(&masked), places(text), "lines and columns stay: {text}");
    }
}

#[test]
fn functions_are_measured_from_fn_to_their_closing_brace() {
    let text = "trait A {\n    fn declared(&self);\n    fn given(\n        &self,\n        f: fn(u8),\n    ) -> [u8; 2] {\n        \
                if x { \"}\" }\n    }\n}\npub const fn short() {}\nfn r#move() { fn inner() {\n} }\n";
    let found: Vec<_> =
        functions(&mask(text)).into_iter().map(|Function { name, line, lines }| (name, line, lines)).collect();
    let expected = [("given", 3, 6), ("short", 10, 1), ("r#move", 11, 2), ("inner", 11, 2)];
    assert_eq!(found, expected.map(|(name, line, lines)| (name.to_owned(), line, lines)));
}

#[test]
fn what_only_tests_compile_is_left_out() {
    let text = "fn a() {}\n#[cfg(test)]\nuse b;\nfn c() {}\n#[cfg(test)]\nmod tests {\n    fn d() {}\n}\nfn e() {}\n";
    let names: Vec<_> = functions(&without_tests(&mask(text))).into_iter().map(|function| function.name).collect();
    assert_eq!(names, ["a", "c", "e"]);
    assert_eq!(without_tests(text).lines().count(), text.lines().count());
}
