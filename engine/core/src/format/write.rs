//! A batch to bytes.

use super::container::{
    ALIGNMENT, ENTRY_BYTES, NO_COLUMN, Outline, Place, TRAILER_BYTES, assemble, pad,
};
use super::header::Header;
use super::section::Entry;
use super::shape::Shape;
use super::{EncodeError, Origin, PageSize, Stamp, metadata, payload, zones};
use crate::filter::Filter;
use crate::limits::{COLUMNS_MAX, FILE_BYTES_MAX, RECORDS_PER_BATCH_MAX};
use crate::seal::SealedBatch;

/// The file of a verified batch. Equal input gives equal bytes.
///
/// # Errors
/// Where a filter lies in a group (it must be taken out of there first), contradicts itself, or the
/// file would be longer than any may be.
pub fn encode(batch: &SealedBatch, origin: &Origin, stamp: &Stamp) -> Result<Vec<u8>, EncodeError> {
    encode_paged(batch, origin, stamp, PageSize::default())
}

/// [`encode`] with checksums of pages of another size.
///
/// # Errors
/// Those of [`encode`].
pub fn encode_paged(
    batch: &SealedBatch,
    origin: &Origin,
    stamp: &Stamp,
    page_size: PageSize,
) -> Result<Vec<u8>, EncodeError> {
    let shapes = shapes(batch)?;
    let payloads = shapes.iter().map(|shape| shape.bytes().next_multiple_of(ALIGNMENT));
    let header = Header {
        features: Default::default(),
        sections: shapes.len() as u32,
        uuid: stamp.uuid,
        generation: stamp.generation,
        cluster: origin.cluster,
        batch: batch.batch,
        fingerprint: origin.fingerprint,
        schema_version: origin.schema_version,
        hash: batch.hash.algorithm,
        records: batch.records,
        built_at_us: stamp.built_at_us,
        seed: stamp.seed,
        metadata_bytes: (metadata::BYTES + TRAILER_BYTES) as u64,
        pages_bytes: payloads.sum(),
        page_size,
    };
    let outline = header.outline();
    let bytes = outline.sums().end();
    if bytes > FILE_BYTES_MAX {
        return Err(EncodeError::TooLong { bytes });
    }
    let mut items = Vec::with_capacity(metadata::BYTES);
    metadata::write(&batch.hash, &mut items);
    let table = table(&outline, &shapes);
    assemble(&outline, &items, &table, |out| write_pages(batch, out))
}

/// The zone map, then the filter of each column.
fn shapes(batch: &SealedBatch) -> Result<Vec<Shape>, EncodeError> {
    let count = batch.columns.len();
    if count == 0 || count > COLUMNS_MAX {
        return Err(EncodeError::Columns { count });
    }
    if batch.records > RECORDS_PER_BATCH_MAX {
        return Err(EncodeError::Records { records: batch.records });
    }
    let mut shapes = Vec::with_capacity(count + 1);
    shapes.push(Shape::ZoneMap { columns: count as u64 });
    for (ordinal, column) in batch.columns.iter().enumerate() {
        if matches!(column.filter, Filter::Sliced(_)) {
            return Err(EncodeError::Sliced { ordinal });
        }
        shapes.push(Shape::of(column).ok_or(EncodeError::Filter { ordinal })?);
    }
    Ok(shapes)
}

fn table(outline: &Outline, shapes: &[Shape]) -> Vec<u8> {
    let mut out = Vec::with_capacity(shapes.len() * ENTRY_BYTES);
    let mut offset = outline.pages().offset;
    for (index, shape) in shapes.iter().enumerate() {
        entry(index, shape, &mut offset).write(&mut out);
    }
    debug_assert_eq!(out.len(), shapes.len() * ENTRY_BYTES, "entries of one size");
    out
}

/// Entry number `index`, whose payload begins at `offset`, if it has one; `offset` becomes that of
/// the next payload.
pub(super) fn entry(index: usize, shape: &Shape, offset: &mut u64) -> Entry {
    let mut entry = Entry::new(match index {
        0 => NO_COLUMN,
        _ => index as u16 - 1,
    });
    shape.fill(&mut entry);
    let bytes = shape.bytes();
    if bytes > 0 {
        entry.place = Place { offset: *offset, bytes };
        *offset += bytes.next_multiple_of(ALIGNMENT);
    }
    entry
}

fn write_pages(batch: &SealedBatch, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    for (ordinal, column) in batch.columns.iter().enumerate() {
        zones::write(ordinal, column, out)?;
    }
    pad(out);
    for column in &batch.columns {
        payload::write(&column.filter, out);
        pad(out);
    }
    Ok(())
}
