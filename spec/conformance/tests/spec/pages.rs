//! Every message, field, word and state has its place on a page, and every file of data its own.

use crate::{folder, json, links, messages, read, spans, table};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[test]
fn every_field_of_a_message_has_its_row() {
    for message in messages() {
        let (name, page) = (&message.name, message.page());
        let required = message.definition["required"].as_array().unwrap();
        let fields = message.definition["properties"].as_object().unwrap().keys();
        let expected: BTreeMap<&str, bool> =
            fields.map(|field| (&**field, required.iter().any(|one| one == field))).collect();
        let mut told = BTreeMap::new();
        for row in table(&page, "| Field |") {
            let always = ["required", "always"].contains(&row[3]);
            for field in spans(row[0]) {
                assert_eq!(told.insert(field, always), None, "messages/{name}.md: {field} has two rows");
            }
        }
        assert_eq!(told, expected, "messages/{name}.md: the fields, and whether each is always there");
    }
}

/// The names of fields and the words that a part of a schema can hold; `file` is the schema's own name.
fn words(file: &str, part: &Value, found: &mut BTreeSet<String>) {
    if let Some((other, inner)) = part["$ref"].as_str().and_then(|reference| reference.split_once('#')) {
        let file = if other.is_empty() { file } else { other };
        let schema = json(&format!("schema/{file}"));
        let inner = schema.pointer(inner).unwrap();
        // A message within a message is told on its own page.
        if inner["properties"].get("type").is_none() {
            words(file, inner, found);
        }
    }
    found.extend(part["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
    for (name, inner) in part["properties"].as_object().into_iter().flatten() {
        found.insert(name.clone());
        words(file, inner, found);
    }
    for inner in ["items", "additionalProperties", "anyOf", "oneOf"].into_iter().filter_map(|key| part.get(key)) {
        match inner {
            Value::Array(choices) => choices.iter().for_each(|choice| words(file, choice, found)),
            one => words(file, one, found),
        }
    }
}

/// Asserts that a page tells every word of a schema's part, or a page of its folder that it links to does.
fn tells(path: &str, file: &str, part: &Value) {
    let page = read(path);
    let linked = links(&page).into_iter().map(|link| link.split('#').next().unwrap());
    let linked = linked.filter(|link| !link.is_empty()).map(|link| Path::new(path).with_file_name(link));
    let linked: Vec<String> = linked.map(|page| read(page.to_str().unwrap())).collect();
    let told: BTreeSet<String> = linked.iter().chain([&page]).flat_map(|text| spans(text)).map(str::to_owned).collect();
    let mut needed = BTreeSet::new();
    words(file, part, &mut needed);
    let missing: Vec<_> = needed.difference(&told).collect();
    assert!(missing.is_empty(), "spec/{path} does not tell {missing:?}");
}

#[test]
fn every_word_of_a_message_and_of_the_record_is_on_its_page() {
    for message in messages() {
        let file = message.sender.schema().trim_start_matches("schema/");
        tells(&format!("messages/{}.md", message.name), file, &message.definition);
    }
    tells("record.md", "record.schema.json", &json("schema/record.schema.json"));
}

/// The states of the server's session, and what the page calls them.
const STATES: [(&str, &str); 3] = [("Greeting", "awaiting hello"), ("Welcome", "welcomed"), ("Gone", "gone")];

#[test]
fn the_page_draws_every_state_of_a_session() {
    let machine = read("../daemon/src/session/machine.rs");
    let states = machine.split("\nenum State {\n").nth(1).unwrap().split("\n}").next().unwrap();
    let states = states.lines().map(|line| line.trim().split([' ', ',']).next().unwrap());
    assert!(
        states.eq(STATES.map(|(state, _)| state)),
        "tell the states of the session's machine here and in session.md"
    );
    let page = read("session.md");
    let drawing = page.split("```").nth(1).unwrap();
    let boxes: Vec<&str> = drawing.lines().find(|line| line.contains("awaiting hello")).unwrap().split('│').collect();
    let drawn: Vec<&str> = boxes.iter().skip(1).step_by(2).map(|drawn| drawn.trim()).collect();
    assert_eq!(drawn, STATES.map(|(_, drawn)| drawn));
}

#[test]
fn every_file_of_vectors_is_explained() {
    let page = read("vectors/README.md");
    let names =
        folder().join("vectors").read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<String> = names.filter(|name| name != "README.md").collect();
    let listed = table(&page, "| file |").into_iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
    assert_eq!(files, listed, "vectors/README.md: the table");
    let explained = page.lines().filter_map(|line| line.strip_prefix("## ")).map(str::to_owned).collect();
    assert_eq!(files, explained, "vectors/README.md: the sections");
}
