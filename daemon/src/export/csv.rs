//! CSV: a line of names, then a line a row; texts are quoted where they must be, lines end in `\n`.

use super::column::{Head, Value};
use super::number::time_text;
use super::writer::RowWriter;
use ::csv::{Writer, WriterBuilder};
use std::io::{self, Write};

pub(super) struct Csv(Writer<Box<dyn Write + Send>>);

impl Csv {
    pub(super) fn new(heads: &[Head], file: Box<dyn Write + Send>) -> io::Result<Self> {
        let mut writer = WriterBuilder::new().from_writer(file);
        writer.write_record(heads.iter().map(|head| head.name))?;
        Ok(Self(writer))
    }
}

impl RowWriter for Csv {
    fn row(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        for value in row {
            match value {
                Value::Bool(value) => self.0.write_field(if *value { "true" } else { "false" }),
                Value::Int(value) => self.0.write_field(value.to_string()),
                Value::Float(value) => self.0.write_field(format!("{value:?}")),
                Value::Text(value) => self.0.write_field(&**value),
                Value::Time(value) => self.0.write_field(time_text(*value)),
            }?;
        }
        self.0.write_record(None::<&[u8]>)?;
        Ok(())
    }

    fn rest(&mut self) -> io::Result<()> {
        self.0.flush()
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.0.flush()
    }
}
