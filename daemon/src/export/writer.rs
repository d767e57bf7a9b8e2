//! What takes rows, and the forms that there are.

use super::column::{Head, Value};
use super::{csv, jsonl};
use std::io::{self, Write};

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Format {
    Jsonl,
    Csv,
    Parquet,
}

impl Format {
    /// Its name, which is also the ending of its files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }
}

/// Writes the rows of one table to one file.
pub trait RowWriter {
    /// Takes a row: a value for each column, of its type.
    ///
    /// # Errors
    /// The file cannot be written, or the row does not fit the columns.
    fn row(&mut self, row: &[Value<'_>]) -> io::Result<()>;

    /// Writes what waits in memory.
    ///
    /// # Errors
    /// The file cannot be written.
    fn rest(&mut self) -> io::Result<()>;

    /// Ends the file.
    ///
    /// # Errors
    /// The file cannot be written.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Begins a table of these columns.
///
/// # Errors
/// The file cannot be written, or this program was built without its form.
pub fn open(format: Format, heads: &[Head], file: Box<dyn Write + Send>) -> io::Result<Box<dyn RowWriter>> {
    Ok(match format {
        Format::Jsonl => Box::new(jsonl::Jsonl::new(heads, file)),
        Format::Csv => Box::new(csv::Csv::new(heads, file)?),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(super::parquet::Parquet::new(heads, file)?),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            let told = "this program was built without its feature parquet; choose csv or jsonl";
            return Err(io::Error::new(io::ErrorKind::Unsupported, told));
        }
    })
}
