//! Finished games as tables: a row a game and a row a ply, in CSV, JSON lines and Parquet (`record.tables`).
//!
//! `column` says once what a column is; `games`, `plies` and `values` list them; the writers know rows and heads alone.

mod column;
mod csv;
mod games;
mod jsonl;
mod months;
mod number;
#[cfg(feature = "parquet")]
mod parquet;
mod plies;
mod schema;
mod table;
mod values;
mod writer;

pub use column::{Head, Kind, Value};
pub use months::Months;
pub use table::{RowError, Rows, Table, heads, rows};
pub use writer::{Format, RowWriter, open};

/// The version of the tables: another one where a column is added or changed.
pub const SCHEMA_VERSION: i16 = 1;
