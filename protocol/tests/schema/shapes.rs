//! What the Rust types write validates, and they write the fields that the schema has: no more, no fewer, and those left
//! out at times that it lets be left out (`message.server-schema`, `record.schema`).

use crate::spec::Kind;
use crate::{client_samples, server_samples};
use modiar_protocol::{ServerMessage, client};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The keys that were met in the objects of one place in the schema.
#[derive(Default)]
struct Met {
    ever: BTreeSet<String>,
    always: Option<BTreeSet<String>>,
}

/// Walks values along their schema. A place is the schema's word and the pointer to the object's description in it.
#[derive(Default)]
struct Walk {
    met: BTreeMap<(&'static str, String), Met>,
}

impl Walk {
    fn value(&mut self, kind: Kind, pointer: &str, value: &Value) {
        let schema = kind.schema().pointer(pointer).unwrap();
        if let Some(reference) = schema["$ref"].as_str() {
            let (file, pointer) = reference.split_once('#').unwrap();
            let kind = if file.is_empty() { kind } else { Kind::Server };
            return self.value(kind, pointer, value);
        }
        if let Some(items) = schema.get("items") {
            assert!(items.is_object());
            for item in value.as_array().unwrap() {
                self.value(kind, &format!("{pointer}/items"), item);
            }
        }
        let Some(properties) = schema["properties"].as_object() else {
            if schema["additionalProperties"].is_object() {
                for value in value.as_object().unwrap().values() {
                    self.value(kind, &format!("{pointer}/additionalProperties"), value);
                }
            }
            return;
        };
        let object = value.as_object().unwrap();
        let keys: BTreeSet<String> = object.keys().cloned().collect();
        let met = self.met.entry((kind.word(), pointer.to_owned())).or_default();
        met.ever.extend(keys.iter().cloned());
        met.always = Some(met.always.take().map_or_else(|| keys.clone(), |always| &always & &keys));
        for (key, value) in object {
            assert!(properties.contains_key(key), "{} has no '{key}' at {pointer}", kind.word());
            self.value(kind, &format!("{pointer}/properties/{key}"), value);
        }
    }

    /// Compares with what the schema says of each object that it describes outside conditions.
    fn compare(&self, kind: Kind, left_out_when_read: bool) -> Vec<String> {
        let mut places = BTreeSet::new();
        describe(kind.schema(), "", &mut places);
        let mut faults = Vec::new();
        for pointer in places {
            let schema = kind.schema().pointer(&pointer).unwrap();
            let Some(met) = self.met.get(&(kind.word(), pointer.clone())) else {
                faults.push(format!("{} {pointer}: no sample shows it", kind.word()));
                continue;
            };
            let properties: BTreeSet<String> = schema["properties"].as_object().unwrap().keys().cloned().collect();
            if met.ever != properties {
                faults.push(format!("{} {pointer}: written {:?}, schema {properties:?}", kind.word(), met.ever));
            }
            let required = schema["required"].as_array().unwrap();
            let required: BTreeSet<String> = required.iter().map(|key| key.as_str().unwrap().to_owned()).collect();
            let always = met.always.clone().unwrap();
            let fits = if left_out_when_read { required.is_subset(&always) } else { required == always };
            if !fits {
                faults.push(format!("{} {pointer}: always written {always:?}, required {required:?}", kind.word()));
            }
        }
        faults
    }
}

/// The pointers to every object with properties, those in conditions left out.
fn describe(schema: &Value, pointer: &str, places: &mut BTreeSet<String>) {
    let Some(object) = schema.as_object() else { return };
    if object.contains_key("properties") && object.get("type").is_some_and(|kind| kind == "object") {
        places.insert(pointer.to_owned());
    }
    for (key, value) in object {
        match key.as_str() {
            "$defs" | "properties" => {
                for (name, value) in value.as_object().unwrap() {
                    describe(value, &format!("{pointer}/{key}/{name}"), places);
                }
            }
            "items" | "additionalProperties" => describe(value, &format!("{pointer}/{key}"), places),
            _ => {}
        }
    }
}

/// The messages that a schema knows.
fn types(kind: Kind) -> BTreeSet<String> {
    let messages = kind.schema()["oneOf"].as_array().unwrap().iter();
    messages.map(|message| message["$ref"].as_str().unwrap().strip_prefix("#/$defs/").unwrap().to_owned()).collect()
}

/// Validates the values, and walks them; the types of messages among them.
fn check(kind: Kind, values: &[Value], walk: &mut Walk) -> BTreeSet<String> {
    let mut types = BTreeSet::new();
    for value in values {
        assert_eq!(kind.faults(value), None, "{value}");
        let word = value["type"].as_str().unwrap();
        walk.value(kind, &format!("/$defs/{word}"), value);
        types.insert(word.to_owned());
    }
    types
}

#[test]
fn client_messages_have_the_schema_s_fields() {
    let samples = client_samples::samples();
    let values: Vec<Value> = samples.iter().map(|sample| serde_json::to_value(sample).unwrap()).collect();
    let mut walk = Walk::default();
    assert_eq!(check(Kind::Client, &values, &mut walk), types(Kind::Client));
    // Defaults are written out, so that required fields are not the only ones that are always there.
    assert_eq!(walk.compare(Kind::Client, true), Vec::<String>::new());
    for (sample, value) in samples.iter().zip(&values) {
        assert_eq!(client::decode(value.to_string().as_bytes()).as_ref(), Ok(sample));
    }
}

#[test]
fn server_messages_and_records_have_the_schema_s_fields() {
    let samples = server_samples::messages();
    let lines: Vec<Vec<u8>> = samples.iter().map(ServerMessage::to_line).collect();
    let values: Vec<Value> = lines.iter().map(|line| serde_json::from_slice(line).unwrap()).collect();
    let mut walk = Walk::default();
    assert_eq!(check(Kind::Server, &values, &mut walk), types(Kind::Server));
    for (sample, line) in samples.iter().zip(&lines) {
        assert_eq!(serde_json::from_slice::<ServerMessage>(line).as_ref().ok(), Some(sample));
    }
    for record in server_samples::records() {
        let value: Value = serde_json::from_str(&record.to_line().unwrap()).unwrap();
        assert_eq!(Kind::Record.faults(&value), None, "{value}");
        walk.value(Kind::Record, "", &value);
    }
    let faults = [walk.compare(Kind::Server, false), walk.compare(Kind::Record, false)].concat();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
