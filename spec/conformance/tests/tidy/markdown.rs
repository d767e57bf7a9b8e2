//! Links and anchors of Markdown pages.

use std::collections::BTreeMap;

/// Lines outside fenced blocks, with their numbers.
pub fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((at + 1, line))
    })
}

/// A line without its code spans, and these spans.
pub fn code_spans(line: &str) -> (String, Vec<&str>) {
    let pieces: Vec<&str> = line.split('`').collect();
    let spans = pieces.iter().skip(1).step_by(2).copied().collect();
    (pieces.iter().step_by(2).copied().collect::<Vec<_>>().join("``"), spans)
}

/// The targets of links, with the lines they stand on.
pub fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        let (line, _) = code_spans(line);
        for piece in line.split("](").skip(1) {
            let target = piece.split_once(')').map_or(piece, |(target, _)| target);
            links.push((number, target.to_owned()));
        }
        if line.starts_with('[')
            && let Some((_, target)) = line.split_once("]: ")
        {
            links.push((number, target.trim().to_owned()));
        }
    }
    links
}

/// The anchors of a page's headings, as GitHub makes them.
pub fn anchors(text: &str) -> Vec<String> {
    let mut seen = BTreeMap::<String, usize>::new();
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    headings
        .map(|(_, line)| {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            let slug: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
            let before = seen.entry(slug.clone()).or_default();
            *before += 1;
            if *before == 1 { slug } else { format!("{slug}-{}", *before - 1) }
        })
        .collect()
}

#[test]
fn links_in_code_are_no_links() {
    let text = "[a](b.md) and [c](d.md#e)\n```\n[f](g.md)\n```\n`[h](i.md)` [`j`](k.md)\n[l]: m.md\n";
    let found: Vec<_> = links(text).into_iter().map(|(line, target)| format!("{line} {target}")).collect();
    assert_eq!(found, ["1 b.md", "1 d.md#e", "5 k.md", "6 m.md"]);
}

#[test]
fn anchors_are_those_of_github() {
    let text = "# Your first bot: five `minutes`\n## Names\n```sh\n# none\n```\n## Names\n";
    assert_eq!(anchors(text), ["your-first-bot-five-minutes", "names", "names-1"]);
}
