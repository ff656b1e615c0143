//! Which frames of a batch a queue has seen: (lane, sequence) with digest, in fixed memory.

use crate::verify::Digest;

/// One DATA frame seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameEntry {
    /// Lane.
    pub lane: u8,
    /// Sequence within the lane.
    pub sequence: u32,
    /// Records in it.
    pub records: u16,
    /// H(payload).
    pub digest: Digest,
}

/// What became of a frame offered to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// First copy: its rows are to be inserted.
    New,
    /// An equal copy was seen: ignore.
    Duplicate,
    /// A differing copy was seen: the batch is refused.
    Conflict,
    /// No room: the batch is refused.
    Full,
}

/// A hash table of fixed capacity, allocated once.
#[derive(Clone, Debug)]
pub struct FrameTable {
    _private: (),
}

impl FrameTable {
    /// Room for `frames_max` frames.
    #[must_use]
    pub fn new(frames_max: usize) -> Self {
        let _ = frames_max;
        todo!("ingest")
    }

    /// Offers a frame.
    pub fn offer(&mut self, entry: FrameEntry) -> Offer {
        let _ = entry;
        todo!("ingest")
    }

    /// All frames, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &FrameEntry> + '_ {
        std::iter::from_fn(|| todo!("ingest"))
    }

    /// Number of frames.
    #[must_use]
    pub fn len(&self) -> usize {
        todo!("ingest")
    }

    /// True where no frame was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        todo!("ingest")
    }
}
