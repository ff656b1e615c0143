//! The `live` mask of a chunk: one bit for each slot, shared by all versions of the chunk, so that
//! a verdict or an eviction is one atomic operation for all readers.
//!
//! Run as it is by `tools/models`. What makes a bit safe to believe is not its ordering: a reader
//! has the version, and so the batch, from the snapshot it loaded, and bits of slots that its
//! version does not hold are masked. Release and acquire are kept so that whoever sees a bit also
//! sees what the writer did before; a relaxed one would cost the same here.

use crate::sync::{Arc, AtomicU64, order};

/// The mask, as the writer and all versions of one chunk share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveMask {
    bits: Arc<AtomicU64>,
}

impl LiveMask {
    /// The live slots among those that a version holds. Load it once per lookup.
    pub(crate) fn of(&self, occupied: u64) -> u64 {
        self.bits.load(order::live_load()) & occupied
    }

    /// Marks a slot as verified.
    pub(crate) fn raise(&self, slot: usize) {
        self.bits.fetch_or(1 << slot, order::live_change());
    }

    /// Marks a slot as not to be consulted any more.
    pub(crate) fn lower(&self, slot: usize) {
        self.bits.fetch_and(!(1 << slot), order::live_change());
    }
}
