//! The zone map of a batch: flags and bounds of every column, 48 bytes each.
//!
//! Without it a column may not be asked, so what does not hold together refuses the file.

use bloomrf_kernels::Zone;

use super::{EncodeError, SectionRefusal};
use crate::filter::{ColumnFlags, ColumnZone, SealedColumn};
use crate::schema::{Column, KeyClass};
use crate::wire::cursor::{Reader, Short, Writer};

/// Bytes of one column.
pub(super) const ZONE_BYTES: usize = 48;

/// Flags and zone map of a column.
pub(super) type ColumnBounds = (ColumnFlags, ColumnZone);

/// Appends flags and bounds of the column number `ordinal`.
pub(super) fn write(
    ordinal: usize,
    column: &SealedColumn,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let (class, bounds) = match &column.zone {
        ColumnZone::Narrow(zone) => {
            (NARROW, zone.bounds().map(|(min, max)| (min.into(), max.into())))
        }
        ColumnZone::Wide(zone) => (WIDE, zone.bounds()),
    };
    if bounds.is_some() != column.flags.has_value {
        return Err(EncodeError::ZoneMap { ordinal });
    }
    put(class, column.flags, bounds, out);
    Ok(())
}

fn put(class: u8, flags: ColumnFlags, bounds: Option<(u128, u128)>, out: &mut Vec<u8>) {
    let (min, max) = bounds.unwrap_or((0, 0));
    let mut w = Writer::new(out);
    w.u8(class);
    w.u8(u8::from(flags.has_value) | u8::from(flags.has_null) << 1 | u8::from(flags.has_nan) << 2);
    w.zeros(14);
    w.u128(min);
    w.u128(max);
}

/// Reads the zone map of `columns`; `bytes` are as many as there are columns.
pub(super) fn read(bytes: &[u8], columns: &[Column]) -> Result<Vec<ColumnBounds>, SectionRefusal> {
    let (entries, _) = bytes.as_chunks::<ZONE_BYTES>();
    if entries.len() != columns.len() {
        return Err(SectionRefusal::Bits);
    }
    entries.iter().zip(columns).map(|(entry, column)| read_one(entry, column)).collect()
}

fn read_one(entry: &[u8; ZONE_BYTES], column: &Column) -> Result<ColumnBounds, SectionRefusal> {
    let (class, flags, min, max) =
        parse(&mut Reader::new(entry)).map_err(|Short| SectionRefusal::Bits)?;
    let flags = ColumnFlags {
        has_value: flags & 1 != 0,
        has_null: flags & 2 != 0,
        has_nan: flags & 4 != 0,
    };
    let bounds = flags.has_value.then_some((min, max));
    let mut again = Vec::with_capacity(ZONE_BYTES);
    put(class, flags, bounds, &mut again);
    if again != entry {
        return Err(SectionRefusal::Bits);
    }
    let is_possible = (column.is_nullable() || !flags.has_null)
        && (column.kind().is_float() || !flags.has_nan)
        && min <= max
        && bounds.is_none_or(|(min, max)| may_hold(column, min) && may_hold(column, max));
    if !is_possible {
        return Err(SectionRefusal::Domain);
    }
    let zone = match (class, column.kind().key_class()) {
        (NARROW, KeyClass::Narrow { .. }) => {
            // Checked against the column's keys, which fit.
            ColumnZone::Narrow(zone_of(bounds.map(|(min, max)| (min as u64, max as u64))))
        }
        (WIDE, KeyClass::Wide { .. }) => ColumnZone::Wide(zone_of(bounds)),
        _ => return Err(SectionRefusal::Domain),
    };
    Ok((flags, zone))
}

fn parse(r: &mut Reader<'_>) -> Result<(u8, u8, u128, u128), Short> {
    let (class, flags) = (r.u8()?, r.u8()?);
    r.take(14)?;
    Ok((class, flags, r.u128()?, r.u128()?))
}

/// Whether a cell of the column may have this key.
fn may_hold(column: &Column, key: u128) -> bool {
    match (column.kind().key_bounds(), column.kind().key_class()) {
        (Some((low, high)), _) => (u128::from(low)..=u128::from(high)).contains(&key),
        // Shorter values are padded right with zeros.
        (None, KeyClass::Wide { bytes }) => {
            let padding = 128u32.saturating_sub(u32::from(bytes) * 8);
            key.trailing_zeros() >= padding
        }
        (None, KeyClass::Narrow { .. }) => false,
    }
}

fn zone_of<K: Copy + Ord>(bounds: Option<(K, K)>) -> Zone<K> {
    let mut zone = Zone::default();
    if let Some((min, max)) = bounds {
        zone.insert(min);
        zone.insert(max);
    }
    zone
}

const NARROW: u8 = 1;
const WIDE: u8 = 2;
