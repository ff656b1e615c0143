//! One chunk as the writer keeps it: its number, its newest version and the sums of its groups.

use std::sync::Arc;

use crate::filter::Filter;
use crate::seal::SealedBatch;
use crate::store::digest::ColumnDigest;
use crate::store::{CHUNK_SLOTS, Chunk, ColumnGroup, StoreStats};

/// A chunk.
#[derive(Debug)]
pub(super) struct Entry {
    /// Counted from the first one ever.
    pub(super) number: u64,
    pub(super) chunk: Arc<Chunk>,
    /// It was sliced, or split again, or cannot be: nothing more is done to it.
    pub(super) is_settled: bool,
    /// Bytes of its groups.
    pub(super) group_bytes: usize,
    /// Bytes of the largest one.
    pub(super) group_bytes_max: usize,
}

impl Entry {
    pub(super) fn new(number: u64) -> Self {
        let chunk = Arc::new(Chunk::default());
        Entry { number, chunk, is_settled: false, group_bytes: 0, group_bytes_max: 0 }
    }

    /// Puts a batch into the next slot, and says which.
    pub(super) fn add(&mut self, batch: Arc<SealedBatch>, digests: Arc<[ColumnDigest]>) -> usize {
        self.chunk = Arc::new(self.chunk.with(batch, digests));
        self.chunk.occupied().ilog2() as usize
    }

    /// Empties a slot; returns the groups that answer for no batch any more.
    pub(super) fn remove(&mut self, slot: usize) -> Vec<Arc<ColumnGroup>> {
        let mut chunk = self.chunk.without(slot);
        let mut idle = Vec::new();
        for ordinal in 0..chunk.columns().len() {
            let group = chunk.columns()[ordinal].group.clone();
            if let Some(group) = group.filter(|group| group.slots & chunk.occupied() == 0) {
                chunk = chunk.with_group(ordinal, None, []);
                idle.push(group);
            }
        }
        self.replace(chunk);
        idle
    }

    /// Another version of the chunk.
    pub(super) fn replace(&mut self, chunk: Chunk) {
        let bytes = || chunk.columns().iter().filter_map(|c| c.group()).map(ColumnGroup::bytes);
        self.group_bytes = bytes().sum();
        self.group_bytes_max = bytes().max().unwrap_or(0);
        self.chunk = Arc::new(chunk);
    }

    /// Empty slots that some group still holds bits of.
    pub(super) fn dead_slots(&self) -> u32 {
        let grouped = self.groups().fold(0, |slots, (_, group)| slots | group.slots);
        (grouped & !self.chunk.occupied()).count_ones()
    }

    /// The groups, with the ordinals of their columns.
    pub(super) fn groups(&self) -> impl Iterator<Item = (usize, &Arc<ColumnGroup>)> {
        let columns = self.chunk.columns().iter().enumerate();
        columns.filter_map(|(ordinal, column)| Some((ordinal, column.group.as_ref()?)))
    }

    /// Bytes of its plain filters.
    pub(super) fn plain_bytes(&self) -> usize {
        self.chunk.batches().map(|(_, batch)| super::own_bytes(batch)).sum()
    }

    pub(super) fn add_to(&self, stats: &mut StoreStats) {
        let occupied = self.chunk.occupied();
        for (_, group) in self.groups() {
            let dead = (group.slots & !occupied).count_ones() as usize;
            stats.groups += 1;
            stats.sliced_bytes += group.bytes() as u64;
            stats.dead_bytes += (group.bytes() / CHUNK_SLOTS * dead) as u64;
        }
        if stats.groups > 0 {
            let is_sliced = |batch: &SealedBatch| {
                batch.columns.iter().any(|column| matches!(column.filter, Filter::Sliced(_)))
            };
            let sliced = self.chunk.batches().filter(|(_, batch)| is_sliced(batch));
            stats.sliced_batches += sliced.count() as u64;
        }
    }
}
