//! 64 slots that share one `live` mask: the only authority on what may be consulted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::seal::SealedBatch;

/// Slots of a chunk; slot b is the same batch in every column.
pub const CHUNK_SLOTS: usize = 64;

/// A chunk. Slots never change once written; a verdict or an eviction is one atomic operation.
#[derive(Debug)]
pub struct Chunk {
    live: AtomicU64,
    slots: Vec<Option<Arc<SealedBatch>>>,
}

impl Chunk {
    /// Which slots may be consulted: verified and not evicted. Load it once per lookup.
    #[must_use]
    pub fn live(&self) -> u64 {
        self.live.load(Ordering::Acquire)
    }

    /// The batch in a slot.
    #[must_use]
    pub fn slot(&self, slot: usize) -> Option<&Arc<SealedBatch>> {
        self.slots.get(slot).and_then(Option::as_ref)
    }
}
