//! The payload of a filter: its words, little-endian.

use bloomrf_engine::format::SectionRefusal;
use bloomrf_kernels::{Kernel, words};

use super::entry::Counts;
use super::shape::Shape;
use crate::{AnyFilter, Blocked, Classic, Counting, Cuckoo, Imported, SplitBlock};

/// Reads the payload of a filter of this shape; `bytes` are as many as the shape says.
pub(super) fn read(
    shape: Shape,
    counts: &Counts,
    bytes: &[u8],
) -> Result<AnyFilter, SectionRefusal> {
    if bytes.len() as u64 != shape.bytes() {
        return Err(SectionRefusal::Bits);
    }
    let (chunks, _) = bytes.as_chunks::<8>();
    let words: Vec<u64> = chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect();
    if words::ones(Kernel::best(), &words) != counts.ones {
        return Err(SectionRefusal::Bits);
    }
    let Counts { capacity, inserted, .. } = *counts;
    let filter = match shape {
        Shape::Classic { k, bits } => {
            Classic::from_parts(k.into(), bits, words, capacity, inserted).map(AnyFilter::from)
        }
        Shape::SplitBlock { .. } => {
            SplitBlock::from_parts(words, capacity, inserted).map(AnyFilter::from)
        }
        Shape::Blocked { k, .. } => {
            Blocked::from_parts(k.into(), words, capacity, inserted).map(AnyFilter::from)
        }
        Shape::Counting { k, .. } => {
            Counting::from_parts(k.into(), words, capacity, inserted).map(AnyFilter::from)
        }
        Shape::Cuckoo { .. } => Cuckoo::from_parts(words, capacity, inserted).map(AnyFilter::from),
        Shape::Imported { rule, k, bits } => {
            Imported::from_parts(rule, k.into(), bits, words, capacity, inserted)
                .map(AnyFilter::from)
        }
    };
    filter.ok_or(SectionRefusal::Bits)
}
