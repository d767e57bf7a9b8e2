//! Functions in Python, by their indentation.

use super::rust::Function;

/// The functions of a text. A text in three quotes that reaches the margin ends its function too soon.
pub fn functions(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let start = |(at, line): (usize, &&str)| {
        let code = line.trim_start();
        let name = code.strip_prefix("async ").unwrap_or(code).strip_prefix("def ")?;
        Some((at, line.len() - code.len(), name.split('(').next()?.to_owned()))
    };
    let starts: Vec<_> = lines.iter().enumerate().filter_map(start).collect();
    starts
        .into_iter()
        .map(|(at, indentation, name)| {
            let inside = |line: &&str| {
                let code = line.trim_start();
                // The parenthesis that closes a signature of several lines stands where `def` does.
                code.is_empty() || code.starts_with(')') || line.len() - code.len() > indentation
            };
            let body: Vec<_> = lines[at + 1..].iter().take_while(|line| inside(line)).collect();
            let blank = body.iter().rev().take_while(|line| line.trim().is_empty()).count();
            Function { name, line: at + 1, lines: 1 + body.len() - blank }
        })
        .collect()
}

#[test]
fn python_functions_end_where_their_indentation_does() {
    let text = "def a(\n    b,\n) -> None:\n    def c():\n        pass\n\n    return\n\n\nclass D:\n    async def e(self):\n        \
                pass\n\n    x = 1\n";
    let found: Vec<_> = functions(text).into_iter().map(|Function { name, line, lines }| (name, line, lines)).collect();
    assert_eq!(
        found,
        [("a", 1, 7), ("c", 4, 2), ("e", 11, 2)].map(|(name, line, lines)| (name.to_owned(), line, lines))
    );
}
