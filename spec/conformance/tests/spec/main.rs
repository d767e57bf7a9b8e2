//! The specification as a whole: pages, schemas, vectors, the `AsyncAPI` document and the book say one thing.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod asyncapi;
mod book;
mod clock;
mod limits;
mod pages;

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Who sends a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sender {
    Client,
    Server,
}

impl Sender {
    const BOTH: [Self; 2] = [Self::Client, Self::Server];

    /// Its schema, as a path from spec/.
    const fn schema(self) -> &'static str {
        match self {
            Self::Client => "schema/client.schema.json",
            Self::Server => "schema/server.schema.json",
        }
    }
}

/// A message, as the schema has it.
struct Message {
    sender: Sender,
    name: String,
    definition: Value,
}

impl Message {
    fn page(&self) -> String {
        read(&format!("messages/{}.md", self.name))
    }
}

/// The messages of both sides, in the schemas' order.
fn messages() -> Vec<Message> {
    let of = |sender: Sender| {
        let schema = json(sender.schema());
        let choices = schema["oneOf"].as_array().unwrap().iter();
        let names = choices.map(|choice| choice["$ref"].as_str().unwrap().strip_prefix("#/$defs/").unwrap());
        let message = |name: &str| Message { sender, name: name.to_owned(), definition: schema["$defs"][name].clone() };
        names.map(message).collect::<Vec<_>>()
    };
    let messages: Vec<Message> = Sender::BOTH.into_iter().flat_map(of).collect();
    assert!(messages.len() > 20, "only {} messages were found", messages.len());
    messages
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// A file of spec/.
fn read(path: &str) -> String {
    fs::read_to_string(folder().join(path)).unwrap_or_else(|error| panic!("spec/{path}: {error}"))
}

fn json(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap_or_else(|error| panic!("spec/{path}: {error}"))
}

/// The rows of the table whose head begins so, as cells.
fn table<'a>(page: &'a str, head: &str) -> Vec<Vec<&'a str>> {
    let rows = page.lines().skip_while(|line| !line.starts_with(head)).skip(2).take_while(|line| line.starts_with('|'));
    let rows: Vec<_> = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect();
    assert!(!rows.is_empty(), "no table begins {head}");
    rows
}

/// The words of a text that stand in backquotes.
fn spans(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The targets of a text's links.
fn links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)).collect()
}
