//! The pages of messages against the schemas.

use super::tree::File;
use serde_json::Value;

const PAGES: &str = "spec/messages/";

/// What the schemas have without a page, and the other way round.
pub fn faults(files: &[File]) -> Vec<String> {
    let (client, server) = (types(files, "client"), types(files, "server"));
    let all: Vec<(&String, &str)> = client
        .iter()
        .map(|name| (name, "Client to server."))
        .chain(server.iter().map(|name| (name, "Server to client.")))
        .collect();
    let mut faults = Vec::new();
    for (name, direction) in &all {
        let path = format!("{PAGES}{name}.md");
        let Some(page) = files.iter().find(|file| file.path == path) else {
            faults.push(format!("{path}: is missing; the schema has a message {name}"));
            continue;
        };
        if !page.text.starts_with(&format!("# {name}\n")) {
            faults.push(format!("{path}:1: begin it with '# {name}'"));
        }
        if !page.text.lines().nth(2).is_some_and(|line| line.starts_with(direction)) {
            faults.push(format!("{path}:3: begin with '{direction}', as the schema has it"));
        }
        let index = files.iter().find(|file| file.path == "spec/README.md");
        if !index.is_some_and(|index| index.text.contains(&format!("[{name}](messages/{name}.md)"))) {
            faults.push(format!("spec/README.md: name the message {name} with a link to its page"));
        }
    }
    for page in files.iter().filter_map(|file| file.path.strip_prefix(PAGES)) {
        if !all.iter().any(|(name, _)| page.strip_suffix(".md") == Some(name)) {
            faults.push(format!("{PAGES}{page}: no schema has this message; add it there or remove the page"));
        }
    }
    faults
}

/// The messages of one schema.
fn types(files: &[File], side: &str) -> Vec<String> {
    let path = format!("spec/schema/{side}.schema.json");
    let schema = files.iter().find(|file| file.path == path).unwrap();
    let schema: Value = serde_json::from_str(&schema.text).unwrap();
    let name = |choice: &Value| choice["$ref"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let types: Vec<String> = schema["oneOf"].as_array().unwrap().iter().map(name).collect();
    assert!(types.len() > 10, "{path}: only {} messages were found", types.len());
    types
}
