//! The batches a lookup asks about: ranges, or a list of deltas that keeps order and duplicates.
//!
//! Hot path: a range is never expanded; a list reserves 8 bytes per byte received at most.

use super::LookupError;
use crate::identity::BatchId;
use crate::limits::CANDIDATES_MAX;
use crate::wire::cursor::{Reader, Writer};

const KIND_RANGES: u8 = 1;
const KIND_LIST: u8 = 2;
const RANGE_BYTES: usize = 12;

/// `first .. first + count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdRange {
    /// First id.
    pub first: BatchId,
    /// Number of ids; `first + count` does not overflow.
    pub count: u32,
}

/// The batches a lookup asks about, in the order sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// `first .. first + count`.
    Range {
        /// First id.
        first: BatchId,
        /// Number of ids; `first + count` does not overflow.
        count: u32,
    },
    /// Several ranges, one after the other; they may overlap and go in any order. A single one
    /// arrives as `Range`.
    Ranges(Vec<IdRange>),
    /// Any ids, any order, duplicates allowed (delta-coded on the wire).
    List(Vec<BatchId>),
}

impl Candidates {
    /// These ids in this order: a range where they ascend without a gap (far shorter on the
    /// wire), else a list.
    #[must_use]
    pub fn of(ids: &[BatchId]) -> Self {
        let gapless = ids.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
        match (ids.first(), u32::try_from(ids.len())) {
            // A range does not reach the last id of all.
            (Some(&first), Ok(count)) if gapless && first.checked_add(count.into()).is_some() => {
                Self::Range { first, count }
            }
            _ => Self::List(ids.to_vec()),
        }
    }

    /// Number of candidates.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Range { count, .. } => *count as usize,
            Self::Ranges(ranges) => ranges.iter().map(|r| r.count as usize).sum(),
            Self::List(ids) => ids.len(),
        }
    }

    /// True where nothing is asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ids in the order sent.
    pub fn iter(&self) -> impl Iterator<Item = BatchId> + '_ {
        let (one, ranges, ids): (_, &[IdRange], &[BatchId]) = match self {
            Self::Range { first, count } => {
                (Some(IdRange { first: *first, count: *count }), &[], &[])
            }
            Self::Ranges(ranges) => (None, ranges, &[]),
            Self::List(ids) => (None, &[], ids),
        };
        let ranges = one.into_iter().chain(ranges.iter().copied());
        let ranged = ranges.flat_map(|r| (0..u64::from(r.count)).map(move |i| r.first + i));
        ranged.chain(ids.iter().copied())
    }

    /// Its number in the request's header.
    pub(super) fn kind(&self) -> u8 {
        match self {
            Self::Range { .. } | Self::Ranges(_) => KIND_RANGES,
            Self::List(_) => KIND_LIST,
        }
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        match self {
            Self::Range { first, count } => encode_range(w, *first, *count),
            Self::Ranges(ranges) => ranges.iter().for_each(|r| encode_range(w, r.first, r.count)),
            Self::List(ids) => {
                let mut previous = 0u64;
                for &id in ids {
                    encode_delta(w, id.wrapping_sub(previous).cast_signed());
                    previous = id;
                }
            }
        }
    }

    /// Reads the candidate section; it must hold exactly `count` ids.
    pub(super) fn parse(kind: u8, count: u32, bytes: &[u8]) -> Result<Self, LookupError> {
        if count as usize > CANDIDATES_MAX {
            return Err(LookupError::Limit);
        }
        match kind {
            KIND_RANGES => parse_ranges(count, bytes),
            KIND_LIST => parse_list(count as usize, bytes),
            _ => Err(LookupError::Candidates),
        }
    }
}

fn encode_range(w: &mut Writer<'_>, first: BatchId, count: u32) {
    w.u64(first);
    w.u32(count);
}

fn parse_ranges(count: u32, bytes: &[u8]) -> Result<Candidates, LookupError> {
    let (chunks, []) = bytes.as_chunks::<RANGE_BYTES>() else {
        return Err(LookupError::Candidates);
    };
    let mut ranges = Vec::with_capacity(chunks.len());
    let mut total = 0u64;
    for chunk in chunks {
        let mut r = Reader::new(chunk);
        let range = IdRange { first: r.u64()?, count: r.u32()? };
        if range.first.checked_add(u64::from(range.count)).is_none() {
            return Err(LookupError::Candidates);
        }
        total += u64::from(range.count);
        ranges.push(range);
    }
    if total != u64::from(count) {
        return Err(LookupError::Candidates);
    }
    Ok(match ranges[..] {
        [IdRange { first, count }] => Candidates::Range { first, count },
        _ => Candidates::Ranges(ranges),
    })
}

fn parse_list(count: usize, bytes: &[u8]) -> Result<Candidates, LookupError> {
    // Every id takes at least one byte, so a count that the bytes cannot hold reserves nothing.
    if count > bytes.len() {
        return Err(LookupError::Limit);
    }
    let mut ids = Vec::with_capacity(count);
    let mut r = Reader::new(bytes);
    let mut previous = 0u64;
    for _ in 0..count {
        previous = previous.wrapping_add(parse_delta(&mut r)?.cast_unsigned());
        ids.push(previous);
    }
    if r.is_empty() { Ok(Candidates::List(ids)) } else { Err(LookupError::Candidates) }
}

/// Zigzag, then LEB128.
fn encode_delta(w: &mut Writer<'_>, delta: i64) {
    let mut rest = ((delta << 1) ^ (delta >> 63)).cast_unsigned();
    while rest >= 0x80 {
        w.u8(rest as u8 | 0x80);
        rest >>= 7;
    }
    w.u8(rest as u8);
}

/// The only accepted form of a number is its shortest.
fn parse_delta(r: &mut Reader<'_>) -> Result<i64, LookupError> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = r.u8().map_err(|_| LookupError::Candidates)?;
        let bits = u64::from(byte & 0x7f);
        let past_the_end = shift == 63 && byte > 1;
        let overlong = shift > 0 && byte == 0;
        if past_the_end || overlong {
            return Err(LookupError::Candidates);
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed());
        }
    }
    Err(LookupError::Candidates)
}
