//! Schema files: TOML and JSON by serde, then one strict check with exact messages.

use serde::{Deserialize, Serialize};

use super::check;
use super::{ByteOrder, Column, ColumnType, Schema};
use crate::limits::{COLUMNS_MAX, NAME_BYTES_MAX, RECORD_BYTES_MAX, SCHEMA_TEXT_BYTES_MAX};

/// Why a schema was refused: what was wrong, where, what was expected.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// Not TOML or JSON of the right shape.
    #[error("schema file: {0}")]
    Syntax(String),
    /// Longer than any schema needs to be.
    #[error("schema file: {bytes} bytes long, at most {SCHEMA_TEXT_BYTES_MAX} are read")]
    TooLong {
        /// Length of the text.
        bytes: usize,
    },
    /// The schema's or a column's name cannot be written in a query.
    #[error(
        "{what} name {name:?}: expected 1 to {NAME_BYTES_MAX} characters, \
         a-z, 0-9 and _, not starting with a digit"
    )]
    Name {
        /// `schema` or `column N`.
        what: String,
        /// What stands there.
        name: String,
    },
    /// No `[[columns]]`.
    #[error("schema has no columns: expected 1 to {COLUMNS_MAX} [[columns]] entries")]
    NoColumns,
    /// Too many `[[columns]]`.
    #[error("schema has {count} columns: expected at most {COLUMNS_MAX}")]
    TooManyColumns {
        /// Columns in the file.
        count: usize,
    },
    /// Two columns share a name.
    #[error("column {name:?} is defined twice, as columns {first} and {second} (from 0)")]
    DuplicateName {
        /// The name.
        name: String,
        /// Ordinal of the first.
        first: usize,
        /// Ordinal of the second.
        second: usize,
    },
    /// No such type.
    #[error("column {column:?}: unknown type {found:?}: {expected}")]
    Type {
        /// Name of the column.
        column: String,
        /// What stands there.
        found: String,
        /// The types there are.
        expected: super::UnknownType,
    },
    /// `order` on a type whose byte order is fixed.
    #[error(
        "column {column:?}: type {kind} has no byte order (addresses are in network order): \
         remove `order`"
    )]
    Order {
        /// Name of the column.
        column: String,
        /// Its type.
        kind: ColumnType,
    },
    /// The cell lies in the null bitmap.
    #[error(
        "column {column:?} starts at byte {offset}: the null bitmap of {nullable} nullable \
         columns takes bytes 0..{bitmap_bytes}, expected an offset of at least {bitmap_bytes}"
    )]
    OverlapsNullBitmap {
        /// Name of the column.
        column: String,
        /// Its offset.
        offset: u64,
        /// Nullable columns of the schema.
        nullable: usize,
        /// Bytes of the null bitmap.
        bitmap_bytes: usize,
    },
    /// Two cells overlap.
    #[error(
        "column {second:?} starts at byte {offset}, inside column {first:?} which takes bytes \
         {first_start}..{first_end}: expected an offset of at least {first_end}"
    )]
    Overlap {
        /// Name of the column that lies lower.
        first: String,
        /// Its first byte.
        first_start: usize,
        /// The byte after its last.
        first_end: usize,
        /// Name of the column that starts inside it.
        second: String,
        /// Offset of the second.
        offset: usize,
    },
    /// A cell ends past `record_bytes`.
    #[error(
        "column {column:?} of type {kind} takes bytes {offset}..{end}, past the record's \
         {record_bytes} bytes: expected record_bytes of at least {end}"
    )]
    PastRecord {
        /// Name of the column.
        column: String,
        /// Its type.
        kind: ColumnType,
        /// Its offset.
        offset: usize,
        /// The byte after its last.
        end: usize,
        /// The record's size.
        record_bytes: usize,
    },
    /// A record would not fit a frame.
    #[error("{what} {bytes}: a record has 1 to {RECORD_BYTES_MAX} bytes")]
    RecordTooLong {
        /// `record_bytes` or the column that ends too late.
        what: String,
        /// Bytes asked for.
        bytes: u64,
    },
}

/// A schema as the file spells it.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SchemaFile {
    pub(super) name: String,
    pub(super) version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) record_bytes: Option<u64>,
    #[serde(default)]
    pub(super) columns: Vec<ColumnEntry>,
}

/// A column as the file spells it.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColumnEntry {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) order: Option<ByteOrder>,
    #[serde(default)]
    pub(super) nullable: bool,
}

pub(super) fn from_toml(text: &str) -> Result<Schema, SchemaError> {
    bound(text)?;
    let file = toml::from_str(text).map_err(|e| SchemaError::Syntax(e.to_string()))?;
    check::check(file)
}

pub(super) fn from_json(text: &str) -> Result<Schema, SchemaError> {
    bound(text)?;
    let file = serde_json::from_str(text).map_err(|e| SchemaError::Syntax(e.to_string()))?;
    check::check(file)
}

pub(super) fn to_json(schema: &Schema) -> serde_json::Value {
    let file = SchemaFile {
        name: schema.name.clone(),
        version: schema.version,
        record_bytes: Some(schema.record_bytes as u64),
        columns: schema.columns.iter().map(entry).collect(),
    };
    serde_json::to_value(file).expect("strings, numbers and booleans are always JSON")
}

fn entry(column: &Column) -> ColumnEntry {
    ColumnEntry {
        name: column.name.clone(),
        kind: column.kind.to_string(),
        offset: Some(column.offset as u64),
        order: column.kind.has_order().then_some(column.order),
        nullable: column.is_nullable(),
    }
}

fn bound(text: &str) -> Result<(), SchemaError> {
    if text.len() > SCHEMA_TEXT_BYTES_MAX {
        return Err(SchemaError::TooLong { bytes: text.len() });
    }
    Ok(())
}
