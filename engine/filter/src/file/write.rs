//! A filter to bytes.

use bloomrf_engine::format::container::{
    ABOUT_BYTES, ALIGNMENT, Features, Outline, PageSize, Place, TRAILER_BYTES, assemble, pad,
};

use super::entry::{Counts, Entry, is_rate};
use super::info::{CONTENTS_FILTER, STATE_NONE};
use super::section::sections;
use super::shape::Shape;
use super::{EncodeError, FILTER_FILE_BYTES_MAX, Stamp, StoredFilter, codes, metadata};
use crate::{Encoding, HashRule};

/// The file of a filter. Equal input gives equal bytes: draw the stamp's uuid anew for each file.
///
/// # Errors
/// Where source position and labels are too long, the target rate is none, or the file would be
/// longer than any may be.
pub fn encode(stored: &StoredFilter) -> Result<Vec<u8>, EncodeError> {
    encode_paged(stored, PageSize::default())
}

/// [`encode`] with checksums of pages of another size.
///
/// # Errors
/// Those of [`encode`].
pub fn encode_paged(stored: &StoredFilter, page_size: PageSize) -> Result<Vec<u8>, EncodeError> {
    let StoredFilter { rule, encoding, stamp, .. } = stored;
    if let Some(fpr) = stored.target_fpr.filter(|fpr| !is_rate(*fpr)) {
        return Err(EncodeError::Rate(fpr));
    }
    let (sections, compound) = sections(stored);
    if sections.iter().any(|section| !section.shape.is_of(*rule)) {
        return Err(EncodeError::Rule { rule: *rule });
    }
    let metadata = metadata::encode(stored.source.as_ref(), &stored.labels, compound.as_ref())?;
    let payloads = sections.iter().map(|s| s.shape.bytes().next_multiple_of(ALIGNMENT));
    let outline = Outline {
        features: Features::default(),
        sections: sections.len() as u32,
        uuid: stamp.uuid,
        generation: stamp.generation,
        about: about(*stamp, *rule),
        metadata_bytes: (metadata.len() + TRAILER_BYTES) as u64,
        pages_bytes: payloads.sum(),
        page_size,
    };
    let bytes = outline.sums().end();
    if bytes > FILTER_FILE_BYTES_MAX {
        return Err(EncodeError::TooLong { bytes, most: FILTER_FILE_BYTES_MAX });
    }
    let mut table = Vec::new();
    let mut offset = outline.pages().offset;
    for section in &sections {
        entry(section.shape, *rule, *encoding, section.counts, &mut offset).write(&mut table);
    }
    assemble(&outline, &metadata, &table, |out| {
        for section in &sections {
            section.write(out);
            pad(out);
        }
        Ok(())
    })
}

/// Bytes 64 to 127 of the header: nothing of a batch.
pub(super) fn about(stamp: Stamp, rule: HashRule) -> [u8; ABOUT_BYTES] {
    let mut about = [0; ABOUT_BYTES];
    (about[37], about[38]) = (STATE_NONE, CONTENTS_FILTER);
    about[48..56].copy_from_slice(&stamp.built_at_us.to_le_bytes());
    about[56..64].copy_from_slice(&codes::of_rule(rule).seed.to_le_bytes());
    about
}

/// The entry of a filter whose payload begins at `offset`; `offset` becomes that of the next.
pub(super) fn entry(
    shape: Shape,
    rule: HashRule,
    encoding: Encoding,
    counts: Counts,
    offset: &mut u64,
) -> Entry {
    let place = Place { offset: *offset, bytes: shape.bytes() };
    *offset += place.bytes.next_multiple_of(ALIGNMENT);
    let mut entry = Entry { kind: 0, rule, encoding, k: 0, count: 0, place, counts };
    shape.fill(&mut entry);
    entry
}
