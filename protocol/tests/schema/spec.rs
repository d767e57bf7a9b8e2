//! The specification as the tests read it.

use jsonschema::{Registry, Validator};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Which schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Client,
    Server,
    Record,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Client, Self::Server, Self::Record];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Record => "record",
        }
    }

    /// The schema itself.
    pub(crate) fn schema(self) -> &'static Value {
        static SCHEMAS: LazyLock<[Value; 3]> = LazyLock::new(|| {
            Kind::ALL.map(|kind| serde_json::from_str(&read(&format!("schema/{}.schema.json", kind.word()))).unwrap())
        });
        &SCHEMAS[self as usize]
    }

    /// What is wrong with `value` by the schema; nothing: it validates.
    pub(crate) fn faults(self, value: &Value) -> Option<String> {
        static VALIDATORS: LazyLock<[Validator; 3]> = LazyLock::new(|| Kind::ALL.map(validator));
        let mut faults = String::new();
        for error in VALIDATORS[self as usize].iter_errors(value) {
            write!(faults, "{error} at '{}'; ", error.instance_path()).unwrap();
        }
        (!faults.is_empty()).then_some(faults)
    }
}

fn validator(kind: Kind) -> Validator {
    let server = Kind::Server.schema();
    let registry = Registry::new().add(server["$id"].as_str().unwrap(), server).unwrap().prepare().unwrap();
    jsonschema::options().offline().with_registry(&registry).build(kind.schema()).unwrap()
}

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec")
}

/// A file of spec/.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(folder().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The files of a folder of spec/ with this ending: name without the ending, and text. Never none.
pub(crate) fn files(path: &str, ending: &str) -> Vec<(String, String)> {
    let mut names: Vec<String> = fs::read_dir(folder().join(path))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str().unwrap().strip_suffix(ending).map(str::to_owned))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "{path} is empty");
    names.into_iter().map(|name| (name.clone(), read(&format!("{path}/{name}{ending}")))).collect()
}

/// The examples of the message pages: page, kind, line.
pub(crate) fn page_examples() -> Vec<(String, Kind, String)> {
    let mut examples = Vec::new();
    for (page, text) in files("messages", ".md") {
        let kind = if text.contains("\nClient to server. ") { Kind::Client } else { Kind::Server };
        assert!(kind == Kind::Client || text.contains("\nServer to client. "), "{page} does not say whose it is");
        let blocks = text.split("```json\n").skip(1).map(|rest| rest.split("\n```").next().unwrap());
        let lines: Vec<_> = blocks.flat_map(str::lines).map(|line| (page.clone(), kind, line.to_owned())).collect();
        assert!(!lines.is_empty(), "{page} has no example");
        examples.extend(lines);
    }
    examples
}

/// The words in backquotes in the first column of a page's table, in order; several in a cell are several.
pub(crate) fn first_column(page: &str, header: &str) -> Vec<String> {
    let text = read(page);
    let rows = text.lines().skip_while(|line| !line.starts_with(&format!("| {header} |"))).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2).map(str::to_owned)).collect()
}
