//! The messages of a library, held to `spec/schema`: its examples, and every word that the schema has.

use crate::driver::Driver;
use crate::sdk::{Sdk, project};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn schema() -> PathBuf {
    project().join("spec/schema")
}

fn json_of(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The valid examples of one direction.
fn examples(of: &str) -> Vec<Value> {
    let folder = std::fs::read_dir(schema().join("examples").join(of).join("valid")).unwrap();
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 20, "{of} has {} examples", paths.len());
    paths.iter().map(|path| json_of(path)).collect()
}

/// Every name of a field, and every word that a field may have.
pub fn words() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for file in ["client.schema.json", "server.schema.json"] {
        gather(&json_of(&schema().join(file)), &mut words);
    }
    assert!(words.len() > 140, "the schemas have {} words", words.len());
    words
}

/// Those of them that the library's wire file does not have.
pub fn named(sdk: &Sdk) -> Vec<String> {
    let words = words();
    let wire: String = sdk.wire().iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let known: BTreeSet<String> = wire.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(snake).collect();
    let missing = words.iter().filter(|word| !known.contains(*word));
    missing.map(|word| format!("the wire file does not know {word:?}, which spec/schema has")).collect()
}

/// A name as the wire has it, however the language spells it.
fn snake(name: &str) -> String {
    let mut text = String::new();
    for (at, c) in name.char_indices() {
        if at > 0 && c.is_ascii_uppercase() && !name.contains('_') {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// The names of fields, and the words that a field may have.
fn gather(schema: &Value, words: &mut BTreeSet<String>) {
    match schema {
        Value::Object(object) => {
            for (key, value) in object {
                match (key.as_str(), value) {
                    ("properties", Value::Object(fields)) => words.extend(fields.keys().cloned()),
                    ("enum", Value::Array(all)) => {
                        words.extend(all.iter().filter_map(Value::as_str).map(str::to_owned));
                    }
                    ("const", Value::String(word)) => drop(words.insert(word.clone())),
                    _ => {}
                }
                gather(value, words);
            }
        }
        Value::Array(array) => array.iter().for_each(|value| gather(value, words)),
        _ => {}
    }
}

/// What of the examples the library reads or writes otherwise.
pub fn found(driver: &mut Driver) -> Vec<String> {
    let mut found = Vec::new();
    for bytes in [1, 7, 100_000] {
        found.extend(decoded_in_parts(driver, bytes));
    }
    let words = words();
    found.extend(examples("client").iter().filter_map(|message| encoded(driver, message, &words).err()));
    found
}

/// The line that the library makes of a message. It may leave out what it does not know, and what is as good as absent.
pub fn encoded(driver: &mut Driver, message: &Value, words: &BTreeSet<String>) -> Result<String, String> {
    let answer = driver.ask(&json!({"op": "encode", "message": message}));
    let line = answer["line"].as_str().unwrap_or_default();
    let said = line.strip_suffix('\n').and_then(|line| serde_json::from_str::<Value>(line).ok()).unwrap_or_default();
    let differs = told(message).as_object().unwrap().iter().any(|(key, value)| match &said[key] {
        // A text that is no id is nothing to ask of a type that holds ids.
        _ if key == "game" && value == "nothing" => false,
        Value::Null => *value != false && *value != "" && words.contains(key),
        other => other != value,
    });
    if differs || line.matches('\n').count() != 1 || line.contains(": ") {
        return Err(format!("{message}\n  is encoded {answer}"));
    }
    Ok(line.to_owned())
}

/// All server messages in a row, so many bytes at a time, among lines that are to be ignored.
fn decoded_in_parts(driver: &mut Driver, bytes: usize) -> Vec<String> {
    let examples = examples("server");
    let mut stream = String::new();
    for (number, message) in examples.iter().enumerate() {
        let mut message = message.clone();
        message["a_field_of_later"] = json!({"x": [1e300, null, {"type": "turn"}]});
        let more = ["\n", "\r\n", "\n\n\r\n", "\n{\"type\":\"of_later\",\"x\":1}\n", "\n[1]\n", "\nno json\n"];
        write!(stream, "{message}{}", more[number % more.len()]).unwrap();
    }
    let chunks: Vec<String> = stream.as_bytes().chunks(bytes).map(hex).collect();
    let answer = driver.ask(&json!({"op": "decode", "chunks": chunks}));
    let Some(messages) = answer["messages"].as_array() else { return vec![format!("decode is answered {answer}")] };
    let known: Vec<&Value> = messages.iter().filter(|message| message["type"] != "of_later").collect();
    if known.len() != examples.len() {
        return vec![format!("of {} messages {} were decoded, {bytes} bytes at a time", examples.len(), known.len())];
    }
    let differing = examples.iter().zip(known).filter(|(example, came)| !holds(came, &told(example)));
    differing.map(|(example, came)| format!("{example}\n  is decoded {came}")).collect()
}

/// Bytes as the drivers take them.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// A message without what is null.
pub fn told(message: &Value) -> Value {
    let mut message = message.clone();
    message.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    message
}

/// Whether a value has all that is wanted; what is false may be absent.
pub fn holds(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(fields), Value::Object(wanted)) => wanted.iter().all(|(key, wanted)| match fields.get(key) {
            Some(value) => holds(value, wanted),
            None => *wanted == false,
        }),
        (Value::Array(values), Value::Array(wanted)) => {
            values.len() == wanted.len() && values.iter().zip(wanted).all(|(value, wanted)| holds(value, wanted))
        }
        // A rating of 1500.0 is one of 1500.
        (Value::Number(value), Value::Number(wanted)) => value.as_f64() == wanted.as_f64(),
        _ => value == wanted,
    }
}
