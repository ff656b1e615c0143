//! Bytes to a batch, in the order that `docs/FORMAT.md` prescribes. Nothing is believed: see the
//! head of [`super`].

use std::sync::Arc;

use super::container::{ENTRY_BYTES, Parts, Place};
use super::header::Header;
use super::section::Entry;
use super::shape::Shape;
use super::write::entry;
use super::{
    EntryFault, FileName, FileRefusal, LostSection, Origin, Part, Stored, metadata, payload, zones,
};
use crate::filter::{Filter, SealedColumn};
use crate::schema::{Column, Schema};
use crate::seal::SealedBatch;

/// Reads the file `name`.
///
/// # Errors
/// Where it is not a whole file of this name, origin and schema. A damaged filter is no error: it
/// is told in [`Stored::lost`].
pub fn decode(
    bytes: &[u8],
    name: &FileName,
    origin: &Origin,
    schema: &Schema,
) -> Result<Stored, FileRefusal> {
    let header = Header::read(bytes)?;
    header.check_identity(name, origin)?;
    if header.fingerprint != schema.fingerprint() || header.schema_version != schema.version() {
        return Err(FileRefusal::Schema { found: header.fingerprint });
    }
    let columns = schema.columns();
    let expected = columns.len() as u32 + 1;
    if header.sections != expected {
        return Err(FileRefusal::Sections { found: header.sections, expected });
    }
    let file = Parts::check(bytes, &header.outline())?;
    let hash = metadata::read(file.metadata, header.hash)?;
    let sections = read_table(file.table, &header, columns)?;
    file.check_gap()?;
    let (zone_map, filters) = match sections.split_first() {
        Some((zone_map, filters)) => (zone_map, filters),
        None => return Err(FileRefusal::Sections { found: 0, expected }),
    };
    let zones = file.payload(zone_map.place).and_then(|bytes| zones::read(bytes, columns));
    let zones = zones.map_err(|reason| FileRefusal::ZoneMap { reason })?;
    let mut lost = Vec::new();
    let mut sealed = Vec::with_capacity(columns.len());
    for (ordinal, ((flags, zone), section)) in zones.into_iter().zip(filters).enumerate() {
        let key_max = columns.get(ordinal).map_or(0, key_max);
        let filter = file
            .payload(section.place)
            .and_then(|bytes| payload::read(&section.shape, bytes, key_max));
        let filter = filter.unwrap_or_else(|reason| {
            lost.push(LostSection { ordinal, reason });
            Filter::None
        });
        sealed.push(Arc::new(SealedColumn { flags, zone, filter }));
    }
    let (batch, records) = (header.batch, header.records);
    let batch = SealedBatch { batch, records, hash, columns: sealed };
    Ok(Stored { batch, stamp: header.stamp(), lost })
}

/// An entry of the table, checked.
struct Section {
    shape: Shape,
    place: Place,
}

/// Reads the section table: the zone map, then one section per column, payloads one behind
/// the other, nothing between or behind them.
fn read_table(
    table: &[u8],
    header: &Header,
    columns: &[Column],
) -> Result<Vec<Section>, FileRefusal> {
    let (entries, _) = table.as_chunks::<ENTRY_BYTES>();
    let mut sections = Vec::with_capacity(entries.len());
    let mut offset = header.outline().pages().offset;
    for (index, bytes) in entries.iter().enumerate() {
        let column = index.checked_sub(1).map(|ordinal| columns.get(ordinal));
        let section = read_entry(index, bytes, column.flatten(), columns.len(), &mut offset)
            .map_err(|fault| FileRefusal::Entry { section: index, fault })?;
        sections.push(section);
    }
    if offset != header.outline().pages().end() {
        return Err(FileRefusal::Layout { part: Part::Pages });
    }
    Ok(sections)
}

fn read_entry(
    index: usize,
    bytes: &[u8; ENTRY_BYTES],
    column: Option<&Column>,
    columns: usize,
    offset: &mut u64,
) -> Result<Section, EntryFault> {
    let shape = Shape::parse(&Entry::read(bytes)?)?;
    let is_right = match column {
        None => shape == Shape::ZoneMap { columns: columns as u64 },
        Some(column) => shape.is_of(column.kind().key_class()),
    };
    if !is_right {
        return Err(EntryFault::Column);
    }
    let expected = entry(index, &shape, offset);
    let mut again = Vec::with_capacity(ENTRY_BYTES);
    expected.write(&mut again);
    if again != bytes {
        return Err(EntryFault::Place);
    }
    Ok(Section { shape, place: expected.place })
}

/// The largest key that a column can have; of wide keys no set is kept.
fn key_max(column: &Column) -> u64 {
    column.kind().key_bounds().map_or(u64::MAX, |(_, max)| max)
}
