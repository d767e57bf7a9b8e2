//! What a column of an export is: its name, type, unit and meaning, and how its value is read from a row, in one place.

use serde::Serialize;
use std::borrow::Cow;

/// How a column's value is read from a row of `T`; the variant is the column's type, so that the two cannot disagree.
pub(super) enum Read<T: 'static> {
    Bool(fn(&T) -> bool),
    Int8(fn(&T) -> i8),
    Int16(fn(&T) -> i16),
    Int32(fn(&T) -> i32),
    Int64(fn(&T) -> i64),
    Float64(fn(&T) -> f64),
    Text(for<'a> fn(&'a T) -> Cow<'a, str>),
    /// Microseconds since 1970 in UTC.
    Time(fn(&T) -> i64),
}

/// A column of a table whose rows are made of `T`.
pub(super) struct Column<T: 'static> {
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    read: Read<T>,
}

/// A column; `unit` is empty where a value has none.
pub(super) const fn column<T>(
    name: &'static str,
    unit: &'static str,
    read: Read<T>,
    meaning: &'static str,
) -> Column<T> {
    Column { name, unit, meaning, read }
}

impl<T> Column<T> {
    /// What is told of it beside its values.
    pub(super) const fn head(&self) -> Head {
        let kind = match self.read {
            Read::Bool(_) => Kind::Bool,
            Read::Int8(_) => Kind::Int8,
            Read::Int16(_) => Kind::Int16,
            Read::Int32(_) => Kind::Int32,
            Read::Int64(_) => Kind::Int64,
            Read::Float64(_) => Kind::Float64,
            Read::Text(_) => Kind::Text,
            Read::Time(_) => Kind::Time,
        };
        Head { name: self.name, kind, unit: self.unit, meaning: self.meaning }
    }

    /// Its value in `row`.
    pub(super) fn value<'a>(&self, row: &'a T) -> Value<'a> {
        match self.read {
            Read::Bool(read) => Value::Bool(read(row)),
            Read::Int8(read) => Value::Int(read(row).into()),
            Read::Int16(read) => Value::Int(read(row).into()),
            Read::Int32(read) => Value::Int(read(row).into()),
            Read::Int64(read) => Value::Int(read(row)),
            Read::Float64(read) => Value::Float(read(row)),
            Read::Text(read) => Value::Text(read(row)),
            Read::Time(read) => Value::Time(read(row)),
        }
    }
}

/// What is told of a column beside its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Head {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The unit of its values, empty where they have none.
    pub unit: &'static str,
    /// What it says.
    pub meaning: &'static str,
}

/// The type of a column, by the name that `schema.json` gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Kind {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    Float64,
    #[serde(rename = "string")]
    Text,
    /// A moment in UTC, to the microsecond.
    #[serde(rename = "timestamp")]
    Time,
}

impl Kind {
    /// The name in `schema.json` and in `spec/record.md`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Float64 => "float64",
            Self::Text => "string",
            Self::Time => "timestamp",
        }
    }
}

/// A value of a row. There is no null: where nothing is to be said it is `false`, 0 or the empty text.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// Of a [`Kind::Bool`].
    Bool(bool),
    /// Of any integer type, within it.
    Int(i64),
    /// Of a [`Kind::Float64`]; finite.
    Float(f64),
    /// Of a [`Kind::Text`].
    Text(Cow<'a, str>),
    /// Of a [`Kind::Time`], in microseconds since 1970.
    Time(i64),
}
