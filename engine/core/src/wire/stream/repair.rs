//! What a node asks for when frames of a batch were lost, and one frame sent again.
//!
//! Hot path: no lock, no syscall. Counts are compared with their limits, and with the bytes
//! present, before memory is reserved for them.

use super::{Reader, StreamError, Writer, parse_bool};
use crate::identity::BatchId;
use crate::limits::{
    FRAME_BYTES_MAX, FRAMES_PER_BATCH_MAX, LANES_MAX, REPAIR_FRAMES_MAX, REPAIR_RANGES_MAX,
};
use crate::wire::frame;

/// Consecutive DATA frames of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRange {
    /// Lane.
    pub lane: u8,
    /// First sequence.
    pub first: u32,
    /// Frames, at least 1.
    pub count: u32,
}

/// Frames of a batch to be sent again: DATA frames, and a CLOSE frame if asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Batch.
    pub batch: BatchId,
    /// Whether a CLOSE frame is missing too.
    pub close: bool,
    /// DATA frames, ascending by (lane, first), with a gap between two of one lane.
    pub ranges: Vec<FrameRange>,
}

impl FrameRange {
    /// The sequence after the last one.
    fn end(&self) -> u64 {
        u64::from(self.first) + u64::from(self.count)
    }

    fn is_within_limits(&self) -> bool {
        usize::from(self.lane) < LANES_MAX
            && self.count > 0
            && self.end() <= FRAMES_PER_BATCH_MAX as u64
    }

    /// Whether it comes after `before`, with a frame between them where they are of one lane.
    fn follows(&self, before: &Self) -> bool {
        (self.lane, u64::from(self.first)) > (before.lane, before.end())
    }
}

impl Missing {
    /// DATA frames asked for.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.ranges.iter().map(|range| u64::from(range.count)).sum()
    }

    /// Whether it keeps the limits and asks for something, in the one order that there is.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        (self.close || !self.ranges.is_empty())
            && self.ranges.len() <= REPAIR_RANGES_MAX
            && self.ranges.iter().all(FrameRange::is_within_limits)
            && self.ranges.windows(2).all(|pair| pair[1].follows(&pair[0]))
            && self.frames() <= REPAIR_FRAMES_MAX as u64
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        assert!(self.is_sound(), "a request that no SCC would take");
        w.u64(self.batch);
        w.u8(u8::from(self.close));
        w.u16(self.ranges.len() as u16);
        for FrameRange { lane, first, count } in &self.ranges {
            w.u8(*lane);
            w.u32(*first);
            w.u32(*count);
        }
    }

    pub(super) fn parse(r: &mut Reader<'_>) -> Result<Self, StreamError> {
        let batch = r.u64()?;
        let close = parse_bool(r)?;
        let count = usize::from(r.u16()?);
        if count > REPAIR_RANGES_MAX {
            return Err(StreamError::Field);
        }
        if r.len() != count * RANGE_BYTES {
            return Err(StreamError::Length);
        }
        let mut ranges = Vec::with_capacity(count);
        for _ in 0..count {
            ranges.push(FrameRange { lane: r.u8()?, first: r.u32()?, count: r.u32()? });
        }
        let missing = Missing { batch, close, ranges };
        if missing.is_sound() { Ok(missing) } else { Err(StreamError::Field) }
    }
}

/// The bytes of a Frame message: whatever is in them, they are no longer than a frame may be.
pub(super) fn parse_frame(r: &mut Reader<'_>) -> Result<Vec<u8>, StreamError> {
    if !(frame::HEADER_BYTES..=FRAME_BYTES_MAX).contains(&r.len()) {
        return Err(StreamError::Length);
    }
    Ok(r.take(r.len())?.to_vec())
}

const RANGE_BYTES: usize = 9;
