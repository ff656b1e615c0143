//! The canonical form of a schema, byte by byte as `docs/WIRE.md` states it, and its hash.
//!
//! Invariant: whatever a stored key or the layout of a record depends on is in it; the schema's
//! name is for people and left out. A change of the form is a change of every fingerprint.

use xxhash_rust::xxh3::xxh3_64;

use super::keys::KEY_MAP_VERSION;
use super::{ByteOrder, Column, ColumnType, TimeUnit};
use crate::identity::Fingerprint;

/// The rules that every stored key depends on, beside the schema itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// 1: fixed text and bytes are padded right with zero bytes.
    pub(super) padding: u32,
    /// 1: null bitmap at the record's start, LSB first, in column order, a set bit is null.
    pub(super) nulls: u32,
    /// [`KEY_MAP_VERSION`].
    pub(super) key_map: u32,
}

impl Rules {
    /// The rules of this version.
    pub(super) const CURRENT: Self = Self { padding: 1, nulls: 1, key_map: KEY_MAP_VERSION };
}

const NOT_NULLABLE: u16 = u16::MAX;

pub(super) fn fingerprint(
    rules: Rules,
    version: u32,
    record_bytes: usize,
    columns: &[Column],
) -> Fingerprint {
    Fingerprint(xxh3_64(&canonical_bytes(rules, version, record_bytes, columns)))
}

fn canonical_bytes(rules: Rules, version: u32, record_bytes: usize, columns: &[Column]) -> Vec<u8> {
    let mut out = Vec::with_capacity(32 + columns.len() * 32);
    for number in [rules.padding, rules.nulls, rules.key_map, version, record_bytes as u32] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&(columns.len() as u16).to_le_bytes());
    for column in columns {
        let (code, parameter) = type_code(column.kind);
        out.extend_from_slice(&(column.name.len() as u16).to_le_bytes());
        out.extend_from_slice(column.name.as_bytes());
        out.push(code);
        out.extend_from_slice(&parameter.to_le_bytes());
        out.extend_from_slice(&(column.offset as u32).to_le_bytes());
        out.push(u8::from(column.order == ByteOrder::Big));
        out.extend_from_slice(&column.null_bit.unwrap_or(NOT_NULLABLE).to_le_bytes());
    }
    out
}

fn type_code(kind: ColumnType) -> (u8, u16) {
    match kind {
        ColumnType::U8 => (1, 0),
        ColumnType::U16 => (2, 0),
        ColumnType::U32 => (3, 0),
        ColumnType::U64 => (4, 0),
        ColumnType::I8 => (5, 0),
        ColumnType::I16 => (6, 0),
        ColumnType::I32 => (7, 0),
        ColumnType::I64 => (8, 0),
        ColumnType::Bool => (9, 0),
        ColumnType::F32 => (10, 0),
        ColumnType::F64 => (11, 0),
        ColumnType::Timestamp(unit) => (
            12,
            match unit {
                TimeUnit::S => 0,
                TimeUnit::Ms => 3,
                TimeUnit::Us => 6,
                TimeUnit::Ns => 9,
            },
        ),
        ColumnType::Ipv4 => (13, 0),
        ColumnType::Ipv6 => (14, 0),
        ColumnType::Mac => (15, 0),
        ColumnType::Uuid => (16, 0),
        ColumnType::Bytes(n) => (17, n),
    }
}
