//! `asyncapi.json` tells what the schemas and the pages tell, as `AsyncAPI` 3.0 has it, and nothing else.

use crate::{Message, Sender, folder, json, links, messages, read};
use modiar_protocol::PROTOCOL;
use serde_json::{Map, Value, json};

const DOCUMENT: &str = "asyncapi.json";
/// Where the schemas say that they are: it stands for the folder of the document.
const BASE: &str = "https://modiar.example/spec/";

fn reference(to: &str) -> Value {
    json!({ "$ref": to })
}

/// A list of what the one channel carries.
fn carried<'a>(names: impl IntoIterator<Item = &'a str>) -> Value {
    names.into_iter().map(|name| reference(&format!("#/channels/connection/messages/{name}"))).collect()
}

fn by_name(messages: &[Message], tell: impl Fn(&Message) -> Value) -> Value {
    messages.iter().map(|message| (message.name.clone(), tell(message))).collect::<Map<_, _>>().into()
}

/// A message by its schema.
fn told(message: &Message) -> Value {
    let Message { sender, name, definition } = message;
    let mut told = json!({
        "name": name,
        "title": definition["title"],
        "summary": definition["description"],
        "payload": reference(&format!("{}#/$defs/{name}", sender.schema())),
        "externalDocs": { "url": format!("{BASE}messages/{name}.md") },
    });
    if definition["properties"].get("ref").is_some() {
        told["correlationId"] = reference("#/components/correlationIds/ref");
    }
    told
}

/// What the bot does with a message, and by its page is answered or has to answer.
fn operation(message: &Message) -> Value {
    let channel = reference("#/channels/connection");
    let action = if message.sender == Sender::Client { "send" } else { "receive" };
    let mut operation = json!({ "action": action, "channel": channel, "messages": carried([&*message.name]) });
    let page = message.page();
    let mut answers: Vec<&str> = Vec::new();
    for link in links(page.lines().find(|line| line.starts_with("Answer: ")).unwrap()) {
        let answer = link.strip_suffix(".md").filter(|name| !name.contains('/'));
        answers.extend(answer.filter(|answer| !answers.contains(answer)));
    }
    if message.sender == Sender::Client {
        answers.push("error");
    }
    if !answers.is_empty() {
        operation["reply"] = json!({ "channel": channel, "messages": carried(answers) });
    }
    operation
}

#[test]
fn every_message_is_told_as_the_schemas_and_pages_tell_it() {
    let (document, messages) = (json(DOCUMENT), messages());
    let channel = &document["channels"]["connection"]["messages"];
    for (what, there, expected) in [
        ("components.messages", &document["components"]["messages"], by_name(&messages, told)),
        ("operations", &document["operations"], by_name(&messages, operation)),
        (
            "channels.connection.messages",
            channel,
            by_name(&messages, |message| reference(&format!("#/components/messages/{}", message.name))),
        ),
    ] {
        let expected = expected.as_object().unwrap();
        for (name, message) in expected {
            assert_eq!(there.get(name), Some(message), "{DOCUMENT}: {what}.{name}");
        }
        let extra: Vec<_> = there.as_object().unwrap().keys().filter(|name| !expected.contains_key(*name)).collect();
        assert!(extra.is_empty(), "{DOCUMENT}: {what}: no schema has {extra:?}");
    }
}

#[test]
fn a_message_is_there_once() {
    // A reader of JSON keeps one of two equal keys; the text shows both.
    let text = read(DOCUMENT);
    for Message { sender, name, .. } in messages() {
        let payload = format!("{}#/$defs/{name}\"", sender.schema());
        assert_eq!(text.matches(&payload).count(), 1, "{DOCUMENT}: {payload}");
    }
}

/// Every value of this key, wherever it stands.
fn values<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get(key).and_then(Value::as_str));
            object.values().for_each(|value| values(value, key, found));
        }
        Value::Array(list) => list.iter().for_each(|value| values(value, key, found)),
        _ => {}
    }
}

#[test]
fn every_reference_and_every_page_is_there() {
    let document = json(DOCUMENT);
    let (mut references, mut pages) = (Vec::new(), Vec::new());
    values(&document, "$ref", &mut references);
    values(&document, "url", &mut pages);
    assert!(references.len() > 100 && pages.len() > 20, "{} and {}", references.len(), pages.len());
    for reference in references {
        let (file, pointer) = reference.split_once('#').unwrap();
        let target = if file.is_empty() { document.clone() } else { json(file) };
        assert!(target.pointer(pointer).is_some(), "{DOCUMENT}: {reference} leads nowhere");
    }
    for page in pages {
        let path = page.strip_prefix(BASE).unwrap_or_else(|| panic!("{DOCUMENT}: {page} is not of this folder"));
        assert!(folder().join(path).is_file(), "{DOCUMENT}: {page} leads nowhere");
    }
}

/// Asserts that an object has these fields, perhaps those, and no other; an object is its value, for the next look.
fn fields<'a>(at: &str, value: &'a Value, required: &[&str], optional: &[&str]) -> &'a Map<String, Value> {
    let object = value.as_object().unwrap_or_else(|| panic!("{DOCUMENT}: {at} is no object"));
    for field in required {
        assert!(object.contains_key(*field), "{DOCUMENT}: {at} lacks {field}");
    }
    for field in object.keys() {
        let known = required.contains(&&**field) || optional.contains(&&**field);
        assert!(known, "{DOCUMENT}: {at} has {field}, which is not looked at");
    }
    object
}

/// Asserts that a name is one that `AsyncAPI` lets stand in a reference.
fn named(name: &str) {
    let fits = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    assert!(fits, "{DOCUMENT}: '{name}' is no name");
}

/// What `AsyncAPI` 3.0 asks of the parts that this document has.
#[test]
fn the_document_has_the_form_of_asyncapi() {
    const DOCS: &str = "externalDocs";
    let document = json(DOCUMENT);
    let top = ["asyncapi", "id", "info", "defaultContentType", "servers", "channels", "operations", "components"];
    fields("the document", &document, &top, &[]);
    assert_eq!(document["asyncapi"], "3.0.0");
    assert_eq!(document["id"], format!("{BASE}{DOCUMENT}"));
    assert_eq!(document["defaultContentType"], "application/json");

    let info = &document["info"];
    fields("info", info, &["title", "version"], &["description", "license", DOCS]);
    fields("info.license", &info["license"], &["name"], &[]);
    assert_eq!(info["version"], PROTOCOL.to_string());

    let servers = fields("servers", &document["servers"], &["tcp", "tls", "websocket"], &[]);
    for (name, server) in servers {
        fields(name, server, &["host", "protocol"], &["pathname", "summary", DOCS]);
    }
    for (name, host, protocol) in [("tcp", 6634, "tcp"), ("tls", 6634, "tls"), ("websocket", 6635, "ws")] {
        assert_eq!(servers[name]["host"], format!("localhost:{host}"));
        assert_eq!(servers[name]["protocol"], protocol);
    }
    assert_eq!(servers["websocket"]["pathname"], "/ws");

    let channels = fields("channels", &document["channels"], &["connection"], &[]);
    let channel = fields("the channel", &channels["connection"], &["messages"], &["address", "title", "summary", DOCS]);
    assert!(channel["address"].is_null(), "a line protocol has no address but its server's");

    let parts = fields("components", &document["components"], &["messages", "correlationIds"], &[]);
    let marks = fields("correlationIds", &parts["correlationIds"], &["ref"], &[]);
    fields("ref", &marks["ref"], &["location"], &["description"]);
    assert_eq!(marks["ref"]["location"], "$message.payload#/ref");
    for (name, message) in parts["messages"].as_object().unwrap() {
        named(name);
        fields(name, message, &["name", "title", "summary", "payload", DOCS], &["correlationId"]);
    }
    for (name, operation) in document["operations"].as_object().unwrap() {
        named(name);
        fields(name, operation, &["action", "channel", "messages"], &["reply"]);
        assert!(["send", "receive"].contains(&operation["action"].as_str().unwrap()), "{DOCUMENT}: {name}");
    }
    let mut docs = Vec::new();
    values(&document, "url", &mut docs);
    assert!(docs.iter().all(|url| url.starts_with("https://")), "an address is written in full");
}
