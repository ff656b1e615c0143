//! What a file says of itself: header, metadata and section table, without its pages.

use std::collections::BTreeMap;

use bloomrf_engine::format::container::{
    ABOUT_BYTES, ContainerRefusal, ENTRY_BYTES, HEADER_BYTES, Identity, Outline, PageSize, Part,
    Place,
};

use super::compound::Compound;
use super::entry::Entry;
use super::metadata::{self, Metadata};
use super::shape::Shape;
use super::write::{about, entry};
use super::{EntryFault, FILTER_FILE_BYTES_MAX, FileRefusal, SourcePosition, Stamp};
use crate::{Encoding, HashRule, Kind};

/// What a file says of itself. Its pages were not looked at: it may still be damaged.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Info {
    /// Which writing.
    pub stamp: Stamp,
    /// How encoded items are hashed.
    pub rule: HashRule,
    /// What the bytes of items are.
    pub encoding: Encoding,
    /// How far the source of the items had been read.
    pub source: Option<SourcePosition>,
    /// Free labels.
    pub labels: BTreeMap<String, String>,
    /// What makes one filter of several sections.
    pub compound: Option<Compound>,
    /// Its filters.
    pub sections: Vec<SectionInfo>,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Of the pages with a checksum each.
    pub page_size: PageSize,
}

/// What a file says of one filter in it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SectionInfo {
    /// Kind.
    pub kind: Kind,
    /// Bits, counters or buckets of an item.
    pub k: u32,
    /// Bits of the filter.
    pub bits: u64,
    /// Distinct items that it was made for; 0 where nobody knows.
    pub capacity: u64,
    /// The rate that it was made for.
    pub target_fpr: Option<f64>,
    /// Items that were new when they were inserted.
    pub inserted: u64,
    /// Set bits.
    pub ones: u64,
    /// Bytes of its payload.
    pub bytes: u64,
}

impl Info {
    /// What the file says that begins with `head` and is `file_bytes` long.
    /// [`Info::HEAD_BYTES`] of it are always enough.
    ///
    /// # Errors
    /// Where header or tables are none of a whole filter file.
    pub fn read(head: &[u8], file_bytes: u64) -> Result<Self, FileRefusal> {
        Ok(Tables::read(head, file_bytes)?.info)
    }

    /// Bytes at the start of a file that hold header and tables, whatever the file.
    pub const HEAD_BYTES: usize = HEADER_BYTES
        + bloomrf_engine::limits::METADATA_BYTES_MAX
        + SECTIONS_MAX as usize * ENTRY_BYTES
        + 8;
}

/// Header and tables of a file, checked.
pub(super) struct Tables {
    pub(super) outline: Outline,
    pub(super) entries: Vec<(Entry, Shape)>,
    pub(super) info: Info,
}

impl Tables {
    pub(super) fn read(head: &[u8], file_bytes: u64) -> Result<Self, FileRefusal> {
        let outline = Outline::read(head, FILTER_FILE_BYTES_MAX)?;
        let stamp = stamp(&outline)?;
        let sections = |most: u32| FileRefusal::Sections { found: outline.sections, most };
        if !(1..=SECTIONS_MAX).contains(&outline.sections) {
            return Err(sections(SECTIONS_MAX));
        }
        outline.check_length(file_bytes)?;
        let identity = head.first_chunk().map(Identity::of).ok_or(ContainerRefusal::Magic)?;
        let table = |place: Place, part: Part| {
            let bytes = place.of(head).ok_or(ContainerRefusal::Layout { part })?;
            identity.checked_table(part, bytes)
        };
        let Metadata { source, labels, compound } =
            metadata::read(table(outline.metadata(), Part::Metadata)?)?;
        let entries =
            read_entries(table(outline.section_table(), Part::Sections)?, outline.pages())?;
        let Some((first, _)) = entries.first() else { return Err(sections(SECTIONS_MAX)) };
        if compound.is_none() && entries.len() != 1 {
            return Err(sections(1));
        }
        let (rule, encoding) = (first.rule, first.encoding);
        if outline.about != about(stamp, rule) {
            return Err(ContainerRefusal::Reserved { part: Part::Header }.into());
        }
        let sections = entries.iter().map(|(entry, shape)| section(entry, *shape)).collect();
        let page_size = outline.page_size;
        let info = Info {
            stamp,
            rule,
            encoding,
            source,
            labels,
            compound,
            sections,
            file_bytes,
            page_size,
        };
        Ok(Tables { outline, entries, info })
    }
}

/// What the header says of this writing; refuses a file that holds no single filter.
fn stamp(outline: &Outline) -> Result<Stamp, FileRefusal> {
    let about: &[u8; ABOUT_BYTES] = &outline.about;
    let (state, contents) = (about[37], about[38]);
    match (state, contents) {
        (STATE_NONE, CONTENTS_FILTER) => {}
        (STATE_VERIFIED, 0) => return Err(FileRefusal::Batch),
        _ => return Err(FileRefusal::Contents { state, contents }),
    }
    let mut built_at = [0; 8];
    built_at.copy_from_slice(&about[48..56]);
    let built_at_us = i64::from_le_bytes(built_at);
    Ok(Stamp { uuid: outline.uuid, generation: outline.generation, built_at_us })
}

/// The entries, payloads one behind the other, nothing between or behind them.
fn read_entries(table: &[u8], pages: Place) -> Result<Vec<(Entry, Shape)>, FileRefusal> {
    let (chunks, _) = table.as_chunks::<ENTRY_BYTES>();
    let mut entries = Vec::with_capacity(chunks.len());
    let mut offset = pages.offset;
    for (section, bytes) in chunks.iter().enumerate() {
        let read = read_entry(bytes, &mut offset);
        let (entry, shape) = read.map_err(|fault| FileRefusal::Entry { section, fault })?;
        let is_same =
            |(last, _): &(Entry, Shape)| (last.rule, last.encoding) == (entry.rule, entry.encoding);
        if !entries.last().is_none_or(is_same) {
            return Err(FileRefusal::Entry { section, fault: EntryFault::Another });
        }
        entries.push((entry, shape));
    }
    if offset != pages.end() {
        return Err(ContainerRefusal::Layout { part: Part::Pages }.into());
    }
    Ok(entries)
}

fn read_entry(bytes: &[u8; ENTRY_BYTES], offset: &mut u64) -> Result<(Entry, Shape), EntryFault> {
    let read = Entry::read(bytes)?;
    let shape = Shape::parse(&read)?;
    let expected = entry(shape, read.rule, read.encoding, read.counts, offset);
    let mut again = Vec::with_capacity(ENTRY_BYTES);
    expected.write(&mut again);
    if again == bytes { Ok((expected, shape)) } else { Err(EntryFault::Place) }
}

fn section(entry: &Entry, shape: Shape) -> SectionInfo {
    SectionInfo {
        kind: shape.kind(),
        k: shape.k(),
        bits: shape.bits(),
        capacity: entry.counts.capacity,
        target_fpr: entry.counts.target_fpr,
        inserted: entry.counts.inserted,
        ones: entry.counts.ones,
        bytes: entry.place.bytes,
    }
}

/// Sections of one file.
pub(super) const SECTIONS_MAX: u32 = 4_096;
/// Byte 101: no batch, so no state of one.
pub(super) const STATE_NONE: u8 = 0;
/// Byte 101 of a batch's file.
const STATE_VERIFIED: u8 = 1;
/// Byte 102: a single filter.
pub(super) const CONTENTS_FILTER: u8 = 1;
