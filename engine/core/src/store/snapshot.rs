//! What a lookup sees: an immutable list of chunks and the order of ids in them.

use std::sync::Arc;

use super::Chunk;
use crate::identity::BatchId;

/// Where a batch lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of the chunk.
    pub chunk: u32,
    /// Slot in it.
    pub slot: u32,
}

/// An immutable view of the store. Held for the length of one lookup.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    chunks: Vec<Arc<Chunk>>,
}

impl Snapshot {
    /// The chunks.
    #[must_use]
    pub fn chunks(&self) -> &[Arc<Chunk>] {
        &self.chunks
    }

    /// Where `batch` lies, if the store holds it (live or not).
    #[must_use]
    pub fn place(&self, batch: BatchId) -> Option<Place> {
        let _ = batch;
        todo!("store")
    }
}
