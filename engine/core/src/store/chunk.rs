//! 64 slots that share one `live` mask: the only authority on what may be consulted.

use std::sync::Arc;

use super::column::{self, ChunkColumn, ColumnGroup};
use super::digest::ColumnDigest;
use super::live::LiveMask;
use crate::filter::SealedColumn;
use crate::seal::SealedBatch;

/// Slots of a chunk; slot b is the same batch in every column.
pub const CHUNK_SLOTS: usize = 64;

/// One version of a chunk. Its slots never change; a new version (one slot more, or one slot
/// emptied) shares the `live` mask, so that a verdict is one atomic operation for all of them.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    live: LiveMask,
    slots: Vec<Option<Arc<SealedBatch>>>,
    /// One per slot and column; those of an emptied slot mean nothing.
    digests: Vec<Arc<[ColumnDigest]>>,
    occupied: u64,
    columns: Vec<ChunkColumn>,
}

impl Chunk {
    /// Which slots may be consulted: verified, not evicted, and held by this version. Load it
    /// once per lookup.
    #[must_use]
    pub fn live(&self) -> u64 {
        self.live.of(self.occupied)
    }

    /// The batch in a slot.
    #[must_use]
    pub fn slot(&self, slot: usize) -> Option<&Arc<SealedBatch>> {
        self.slots.get(slot).and_then(Option::as_ref)
    }

    /// Which slots hold a batch, live or not.
    #[must_use]
    pub fn occupied(&self) -> u64 {
        self.occupied
    }

    /// One per schema column: zone maps, flags and groups of all slots.
    #[must_use]
    pub fn columns(&self) -> &[ChunkColumn] {
        &self.columns
    }

    /// To plant faults in.
    #[cfg(test)]
    pub(super) fn columns_mut(&mut self) -> &mut [ChunkColumn] {
        &mut self.columns
    }

    /// Whether every slot has been used, emptied ones included.
    pub(super) fn is_full(&self) -> bool {
        self.slots.len() == CHUNK_SLOTS
    }

    /// The slots in use, with their batches.
    pub(super) fn batches(&self) -> impl Iterator<Item = (usize, &Arc<SealedBatch>)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(slot, batch)| Some((slot, batch.as_ref()?)))
    }

    /// The column of the batch in a slot.
    pub(super) fn sealed(&self, slot: usize, ordinal: usize) -> Option<&Arc<SealedColumn>> {
        self.slot(slot)?.columns.get(ordinal)
    }

    /// The digests of a column in a slot.
    pub(super) fn digest(&self, slot: usize, ordinal: usize) -> Option<ColumnDigest> {
        self.digests.get(slot)?.get(ordinal).copied()
    }

    /// The next version, with one batch more; its live bit is 0.
    pub(super) fn with(&self, batch: Arc<SealedBatch>, digests: Arc<[ColumnDigest]>) -> Self {
        assert!(self.slots.len() < CHUNK_SLOTS, "a full chunk takes no batch");
        let mut next = self.clone();
        let slot = next.slots.len();
        next.occupied |= 1 << slot;
        column::add_slot(&mut next.columns, slot, &batch.columns);
        next.slots.push(Some(batch));
        next.digests.push(digests);
        next
    }

    /// The next version, with one slot emptied. The slot stays dead for ever.
    pub(super) fn without(&self, slot: usize) -> Self {
        let mut next = self.clone();
        next.occupied &= !(1 << slot);
        next.slots[slot] = None;
        next
    }

    /// The next version, with another group (or none) in a column, and other versions of the same
    /// batches in their slots.
    pub(super) fn with_group(
        &self,
        ordinal: usize,
        group: Option<Arc<ColumnGroup>>,
        batches: impl IntoIterator<Item = (usize, Arc<SealedBatch>)>,
    ) -> Self {
        let mut next = self.clone();
        if let Some(column) = next.columns.get_mut(ordinal) {
            column.group = group;
        }
        for (slot, batch) in batches {
            assert!(next.occupied >> slot & 1 == 1, "an empty slot stays empty");
            next.slots[slot] = Some(batch);
        }
        next
    }

    /// The same version, with another digest of the filter of a column in a slot: it was folded.
    pub(super) fn set_filter_digest(&mut self, slot: usize, ordinal: usize, filter: u64) {
        if let Some(digest) = self.digests.get_mut(slot)
            && digest.get(ordinal).is_some_and(|digest| digest.filter != filter)
            && let Some(digest) = Arc::make_mut(digest).get_mut(ordinal)
        {
            digest.filter = filter;
        }
    }

    /// Marks a slot as verified.
    pub(super) fn raise(&self, slot: usize) {
        self.live.raise(slot);
    }

    /// Marks a slot as not to be consulted any more.
    pub(super) fn lower(&self, slot: usize) {
        self.live.lower(slot);
    }
}
