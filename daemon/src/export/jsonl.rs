//! JSON lines: an object a row, every key in every row, in the order of the columns.

use super::column::{Head, Value};
use super::number::time_text;
use super::writer::RowWriter;
use std::io::{self, BufWriter, Write};

pub(super) struct Jsonl {
    names: Vec<&'static str>,
    file: BufWriter<Box<dyn Write + Send>>,
}

impl Jsonl {
    pub(super) fn new(heads: &[Head], file: Box<dyn Write + Send>) -> Self {
        Self { names: heads.iter().map(|head| head.name).collect(), file: BufWriter::new(file) }
    }
}

impl RowWriter for Jsonl {
    fn row(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        for (at, (name, value)) in self.names.iter().zip(row).enumerate() {
            write!(self.file, "{}\"{name}\":", if at == 0 { '{' } else { ',' })?;
            match value {
                Value::Bool(value) => write!(self.file, "{value}")?,
                Value::Int(value) => write!(self.file, "{value}")?,
                Value::Float(value) => write!(self.file, "{value:?}")?,
                Value::Text(value) => serde_json::to_writer(&mut self.file, &**value)?,
                Value::Time(value) => write!(self.file, "\"{}\"", time_text(*value))?,
            }
        }
        self.file.write_all(b"}\n")
    }

    fn rest(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.file.flush()
    }
}
