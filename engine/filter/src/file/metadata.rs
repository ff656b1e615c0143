//! The metadata of a filter: how far its source was read, and labels.

use std::collections::BTreeMap;

use bloomrf_engine::format::container::{CRITICAL, Items, TRAILER_BYTES, write_item};
use bloomrf_engine::limits::METADATA_BYTES_MAX;

use super::compound::Compound;
use super::source::{labels_from_cbor, labels_to_cbor};
use super::{EncodeError, FileRefusal, SourcePosition};

/// What the metadata say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Metadata {
    pub(super) source: Option<SourcePosition>,
    pub(super) labels: BTreeMap<String, String>,
    /// What makes one filter of several sections.
    pub(super) compound: Option<Compound>,
}

/// The items, without a trailer.
pub(super) fn encode(
    source: Option<&SourcePosition>,
    labels: &BTreeMap<String, String>,
    compound: Option<&Compound>,
) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::new();
    if let Some(source) = source {
        write_item(TAG_SOURCE, &source.to_cbor(), &mut out);
    }
    if !labels.is_empty() {
        write_item(TAG_LABELS, &labels_to_cbor(labels), &mut out);
    }
    if let Some(compound) = compound {
        write_item(TAG_COMPOUND, &compound.encode(), &mut out);
    }
    let (bytes, most) = (out.len(), METADATA_BYTES_MAX - TRAILER_BYTES);
    if bytes <= most { Ok(out) } else { Err(EncodeError::Metadata { bytes, most }) }
}

/// Reads metadata whose checksum is right.
pub(super) fn read(bytes: &[u8]) -> Result<Metadata, FileRefusal> {
    let mut metadata = Metadata::default();
    let mut last = None;
    for item in Items::of(bytes) {
        let (tag, value) = item?;
        let malformed = FileRefusal::Metadata { tag };
        // Ascending, so that nothing is said twice.
        if last.is_some_and(|last| last >= tag) {
            return Err(malformed);
        }
        last = Some(tag);
        match tag {
            TAG_SOURCE => {
                let source = SourcePosition::from_cbor(value).map_err(|_| malformed)?;
                metadata.source = Some(source);
            }
            TAG_LABELS => metadata.labels = labels_from_cbor(value).map_err(|_| malformed)?,
            TAG_COMPOUND => metadata.compound = Some(Compound::read(value).ok_or(malformed)?),
            _ if tag & CRITICAL != 0 => return Err(malformed),
            _ => {}
        }
    }
    Ok(metadata)
}

const TAG_SOURCE: u16 = 2;
const TAG_LABELS: u16 = 3;
const TAG_COMPOUND: u16 = CRITICAL | 5;
