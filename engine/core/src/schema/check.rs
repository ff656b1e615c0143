//! The one strict check between a schema file and a [`Schema`].

use super::fingerprint::{Rules, fingerprint};
use super::parse::{ColumnEntry, SchemaError, SchemaFile};
use super::{ByteOrder, Column, ColumnType, Schema};
use crate::limits::{COLUMNS_MAX, NAME_BYTES_MAX, RECORD_BYTES_MAX};

pub(super) fn check(file: SchemaFile) -> Result<Schema, SchemaError> {
    check_name(|| "schema".to_owned(), &file.name)?;
    match file.columns.len() {
        0 => return Err(SchemaError::NoColumns),
        count if count > COLUMNS_MAX => return Err(SchemaError::TooManyColumns { count }),
        _ => {}
    }
    check_names(&file.columns)?;
    let columns = place(&file.columns)?;
    let end = columns.iter().map(end_of).max().unwrap_or(0);
    let record_bytes = match file.record_bytes {
        None => end,
        Some(bytes) if bytes > RECORD_BYTES_MAX as u64 => {
            return Err(SchemaError::RecordTooLong { what: "record_bytes".to_owned(), bytes });
        }
        Some(bytes) => bytes as usize,
    };
    check_overlaps(&columns)?;
    if let Some(column) = columns.iter().find(|c| end_of(c) > record_bytes) {
        return Err(SchemaError::PastRecord {
            column: column.name.clone(),
            kind: column.kind,
            offset: column.offset,
            end: end_of(column),
            record_bytes,
        });
    }
    Ok(Schema {
        name: file.name,
        version: file.version,
        record_bytes,
        fingerprint: fingerprint(Rules::CURRENT, file.version, record_bytes, &columns),
        columns,
    })
}

/// Types, offsets and null bits of all columns; every cell ends within `RECORD_BYTES_MAX`.
fn place(entries: &[ColumnEntry]) -> Result<Vec<Column>, SchemaError> {
    let nullable = entries.iter().filter(|e| e.nullable).count();
    let bitmap_bytes = nullable.div_ceil(8);
    let mut columns = Vec::with_capacity(entries.len());
    let mut next_offset = bitmap_bytes as u64;
    let mut next_bit = 0;
    for entry in entries {
        let kind: ColumnType = entry.kind.parse().map_err(|expected| SchemaError::Type {
            column: entry.name.clone(),
            found: entry.kind.clone(),
            expected,
        })?;
        if entry.order.is_some() && !kind.has_order() {
            return Err(SchemaError::Order { column: entry.name.clone(), kind });
        }
        let offset = entry.offset.unwrap_or(next_offset);
        if offset < bitmap_bytes as u64 {
            return Err(SchemaError::OverlapsNullBitmap {
                column: entry.name.clone(),
                offset,
                nullable,
                bitmap_bytes,
            });
        }
        let end = offset.saturating_add(kind.width() as u64);
        if end > RECORD_BYTES_MAX as u64 {
            let what = format!("column {:?} of type {kind} ends at byte", entry.name);
            return Err(SchemaError::RecordTooLong { what, bytes: end });
        }
        next_offset = end;
        let null_bit = entry.nullable.then_some(next_bit);
        next_bit += u16::from(entry.nullable);
        columns.push(Column {
            name: entry.name.clone(),
            offset: offset as usize,
            kind,
            order: entry.order.unwrap_or(ByteOrder::Little),
            null_bit,
        });
    }
    Ok(columns)
}

fn check_names(entries: &[ColumnEntry]) -> Result<(), SchemaError> {
    for (second, entry) in entries.iter().enumerate() {
        check_name(|| format!("column {second}"), &entry.name)?;
        if let Some(first) = entries[..second].iter().position(|e| e.name == entry.name) {
            return Err(SchemaError::DuplicateName { name: entry.name.clone(), first, second });
        }
    }
    Ok(())
}

fn check_name(what: impl Fn() -> String, name: &str) -> Result<(), SchemaError> {
    let starts = name.bytes().next().is_some_and(|b| b == b'_' || b.is_ascii_lowercase());
    let rest = |b: u8| b == b'_' || b.is_ascii_lowercase() || b.is_ascii_digit();
    if starts && name.len() <= NAME_BYTES_MAX && name.bytes().all(rest) {
        return Ok(());
    }
    let shown = name.chars().take(NAME_BYTES_MAX + 1).collect();
    Err(SchemaError::Name { what: what(), name: shown })
}

fn check_overlaps(columns: &[Column]) -> Result<(), SchemaError> {
    let mut by_offset: Vec<&Column> = columns.iter().collect();
    by_offset.sort_by_key(|c| c.offset);
    for pair in by_offset.windows(2) {
        let [first, second] = pair else { continue };
        if second.offset < end_of(first) {
            return Err(SchemaError::Overlap {
                first: first.name.clone(),
                first_start: first.offset,
                first_end: end_of(first),
                second: second.name.clone(),
                offset: second.offset,
            });
        }
    }
    Ok(())
}

fn end_of(column: &Column) -> usize {
    column.offset + column.kind.width()
}
