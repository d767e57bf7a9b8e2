//! Parquet: typed columns, every one required, pages packed with zstd; a row group at a time waits in memory.

use super::column::{Head, Kind, Value};
use super::writer::RowWriter;
use ::parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use ::parquet::errors::{ParquetError, Result as ParquetResult};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{Type, TypePtr};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a group: what waits in memory is some 20 MB at most.
const GROUP_ROWS: usize = 32_768;

type File = Box<dyn Write + Send>;

pub(super) struct Parquet {
    file: SerializedFileWriter<File>,
    columns: Vec<Waiting>,
    rows: usize,
}

/// The values of a column that wait for their row group.
enum Waiting {
    Bool(Vec<bool>),
    /// The types of 8, 16 and 32 bits.
    Narrow(Vec<i32>),
    Wide(Vec<i64>),
    Float(Vec<f64>),
    /// One text after the other, and where each ends.
    Text(Vec<u8>, Vec<usize>),
}

impl Parquet {
    pub(super) fn new(heads: &[Head], file: File) -> io::Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(Default::default()))
            .set_created_by(crate::SERVER.to_owned())
            .build();
        let file = schema(heads).and_then(|schema| SerializedFileWriter::new(file, schema, Arc::new(properties)));
        Ok(Self {
            file: file.map_err(fault)?,
            columns: heads.iter().map(|head| Waiting::new(head.kind)).collect(),
            rows: 0,
        })
    }

    fn write_group(&mut self) -> ParquetResult<()> {
        if self.rows > 0 {
            let mut group = self.file.next_row_group()?;
            for column in &mut self.columns {
                column.write(&mut group)?;
            }
            group.close()?;
            self.rows = 0;
        }
        Ok(())
    }
}

/// What befell the file, as the system told it.
fn fault(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => error.downcast().map_or_else(io::Error::other, |error| *error),
        error => io::Error::other(error),
    }
}

impl RowWriter for Parquet {
    fn row(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.push(value)?;
        }
        self.rows += 1;
        if self.rows == GROUP_ROWS { self.rest() } else { Ok(()) }
    }

    fn rest(&mut self) -> io::Result<()> {
        self.write_group().map_err(fault)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.write_group().and_then(|()| self.file.close()).map_err(fault)?;
        Ok(())
    }
}

fn schema(heads: &[Head]) -> ParquetResult<TypePtr> {
    let fields = heads.iter().map(|head| field(head).map(Arc::new)).collect::<ParquetResult<_>>()?;
    Ok(Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?))
}

fn field(head: &Head) -> ParquetResult<Type> {
    let integer = |bit_width| Some(LogicalType::integer(bit_width, true));
    let (physical, logical) = match head.kind {
        Kind::Bool => (Physical::BOOLEAN, None),
        Kind::Int8 => (Physical::INT32, integer(8)),
        Kind::Int16 => (Physical::INT32, integer(16)),
        Kind::Int32 => (Physical::INT32, None),
        Kind::Int64 => (Physical::INT64, None),
        Kind::Float64 => (Physical::DOUBLE, None),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Time => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
    };
    Type::primitive_type_builder(head.name, physical)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(logical)
        .build()
}

impl Waiting {
    const fn new(kind: Kind) -> Self {
        match kind {
            Kind::Bool => Self::Bool(Vec::new()),
            Kind::Int8 | Kind::Int16 | Kind::Int32 => Self::Narrow(Vec::new()),
            Kind::Int64 | Kind::Time => Self::Wide(Vec::new()),
            Kind::Float64 => Self::Float(Vec::new()),
            Kind::Text => Self::Text(Vec::new(), Vec::new()),
        }
    }

    fn push(&mut self, value: &Value<'_>) -> io::Result<()> {
        match (self, value) {
            (Self::Bool(column), Value::Bool(value)) => column.push(*value),
            (Self::Narrow(column), Value::Int(value)) => {
                column.push(i32::try_from(*value).map_err(io::Error::other)?);
            }
            (Self::Wide(column), Value::Int(value) | Value::Time(value)) => column.push(*value),
            (Self::Float(column), Value::Float(value)) => column.push(*value),
            (Self::Text(texts, ends), Value::Text(value)) => {
                texts.extend_from_slice(value.as_bytes());
                ends.push(texts.len());
            }
            _ => return Err(io::Error::other("a value is not of its column's type")),
        }
        Ok(())
    }

    /// Writes the column and empties it.
    fn write(&mut self, group: &mut SerializedRowGroupWriter<'_, File>) -> ParquetResult<()> {
        match self {
            Self::Bool(column) => write_column::<BoolType>(group, column),
            Self::Narrow(column) => write_column::<Int32Type>(group, column),
            Self::Wide(column) => write_column::<Int64Type>(group, column),
            Self::Float(column) => write_column::<DoubleType>(group, column),
            Self::Text(texts, ends) => {
                let texts = ByteArray::from(std::mem::take(texts));
                let mut start = 0;
                let slice = |end| {
                    let text = texts.slice(start, end - start);
                    start = end;
                    text
                };
                write_column::<ByteArrayType>(group, &mut ends.drain(..).map(slice).collect())
            }
        }
    }
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &mut Vec<T::T>,
) -> ParquetResult<()> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, None, None)?;
        column.close()?;
    }
    values.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails at once

    use super::*;
    use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
    use std::fs::File;

    /// However long a table is, a group of it waits in memory.
    #[test]
    fn a_group_is_written_as_soon_as_it_is_full() {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let head = Head { name: "ply", kind: Kind::Int32, unit: "", meaning: "" };
        let mut table = Parquet::new(&[head], Box::new(File::create(&path).unwrap())).unwrap();
        for ply in 0..=GROUP_ROWS {
            table.row(&[Value::Int(i64::try_from(ply).unwrap())]).unwrap();
            assert_eq!(table.rows, (ply + 1) % GROUP_ROWS);
        }
        Box::new(table).finish().unwrap();
        let read = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let rows: Vec<i64> = read.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
        assert_eq!(rows, [GROUP_ROWS as i64, 1]);
    }

    #[test]
    fn a_value_of_another_type_is_refused() {
        let head = Head { name: "rated", kind: Kind::Bool, unit: "", meaning: "" };
        let mut table = Parquet::new(&[head], Box::new(io::sink())).unwrap();
        assert!(table.row(&[Value::Int(1)]).is_err());
    }
}
