//! Schemas: how a fixed-size record is laid out, and which key each cell stands for.
//!
//! A schema file is TOML (or JSON of the same shape); unknown keys are errors:
//!
//! ```toml
//! name = "flows"              # for people; a-z, 0-9, _
//! version = 3                 # part of the fingerprint
//! record_bytes = 64           # optional: the end of the last column
//!
//! [[columns]]
//! name = "start"
//! type = "timestamp(ms)"      # u8..u64, i8..i64, bool, f32, f64, timestamp(s|ms|us|ns),
//!                             # ipv4, ipv6, mac, uuid, bytes(N)
//! offset = 8                  # optional: right behind the column before, or the null bitmap
//! order = "big"               # optional: little; only for numbers of more than one byte
//! nullable = true             # optional: false
//! ```
//!
//! Nullable columns have one bit each in a bitmap at the record's start, in column order, LSB
//! first; a set bit is null. Invariants of a [`Schema`]: every cell lies within the record, no
//! two cells overlap, none overlaps the bitmap, names are unique, sizes are within
//! [`crate::limits`].

mod cell;
mod check;
mod column;
mod fingerprint;
mod keys;
mod packet;
mod parse;
mod type_text;

pub use cell::CellKey;
pub use column::{ByteOrder, Column, ColumnType, KeyClass, TimeUnit};
pub use keys::{Fit, KEY_MAP_VERSION, f32_key, f64_key, signed_key};
pub use packet::{PACKET_RECORD_BYTES, PacketFields};
pub use parse::SchemaError;
pub use type_text::UnknownType;

use crate::identity::Fingerprint;

/// A checked schema. Immutable; share it in an `Arc`.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    name: String,
    version: u32,
    record_bytes: usize,
    columns: Vec<Column>,
    fingerprint: Fingerprint,
}

impl Schema {
    /// Parses and checks a TOML schema file; the error names key, column and what was expected.
    pub fn from_toml(text: &str) -> Result<Self, SchemaError> {
        parse::from_toml(text)
    }

    /// Parses and checks a JSON schema.
    pub fn from_json(text: &str) -> Result<Self, SchemaError> {
        parse::from_json(text)
    }

    /// The schema as JSON that [`Schema::from_json`] reads back to an equal schema.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        parse::to_json(self)
    }

    /// The built-in schema `packet`: one record per captured packet.
    #[must_use]
    pub fn packet() -> Self {
        packet::schema()
    }

    /// Name, for people.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Version; part of the fingerprint.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Bytes of a record, null bitmap and padding included.
    #[must_use]
    pub fn record_bytes(&self) -> usize {
        self.record_bytes
    }

    /// Columns in order; a column's ordinal is its index.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Ordinal of the column named `name`.
    #[must_use]
    pub fn ordinal(&self, name: &str) -> Option<u16> {
        self.columns.iter().position(|c| c.name() == name).map(|i| i as u16)
    }

    /// Hash of the canonical form.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Bytes of the null bitmap at the record's start: one bit per nullable column, in column
    /// order, LSB first; a set bit is null.
    #[must_use]
    pub fn null_bitmap_bytes(&self) -> usize {
        self.columns.iter().filter(|c| c.is_nullable()).count().div_ceil(8)
    }
}

#[cfg(test)]
mod tests;
