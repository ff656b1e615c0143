//! Bytes: what counts against the arena, what is kept free, and how room is made.
//!
//! Counted until nobody can reach it: plain filters, groups with their dead slots, the group at
//! work, and what readers' snapshots still hold of all these. Where groups are in use, the bytes of
//! one column of one chunk are kept free, so that it can be sliced or split beside what there is.

use std::sync::Arc;

use super::{Store, Work, own_bytes, steps};
use crate::filter::SealedColumn;
use crate::identity::BatchId;
use crate::seal::SealedBatch;
use crate::store::current::Retired;
use crate::store::shape::GroupShape;
use crate::store::{Absence, CHUNK_SLOTS, ColumnGroup};

/// Something that the store gave up and a reader may still hold.
#[derive(Debug)]
pub(super) enum Retiring {
    Column(Retired<SealedColumn>),
    Group(Retired<ColumnGroup>),
}

impl Retiring {
    /// A column with a plain filter; nothing to count in others.
    pub(super) fn column(column: &Arc<SealedColumn>) -> Option<Self> {
        let bytes = column.filter.own_bytes();
        (bytes > 0).then(|| Retiring::Column(Retired::new(bytes, column)))
    }

    pub(super) fn group(group: &Arc<ColumnGroup>) -> Self {
        Retiring::Group(Retired::new(group.bytes(), group))
    }

    fn bytes(&self) -> usize {
        match self {
            Retiring::Column(column) => column.bytes(),
            Retiring::Group(group) => group.bytes(),
        }
    }
}

impl Store {
    /// Everything that counts against the arena.
    pub(super) fn bytes(&self) -> usize {
        let groups: usize = self.chunks.iter().map(|entry| entry.group_bytes).sum();
        self.plain_bytes + groups + self.work_bytes + self.retired_bytes()
    }

    /// Bytes of the arena that are free.
    pub(super) fn free_bytes(&self) -> usize {
        self.config.arena_bytes.saturating_sub(self.bytes())
    }

    /// Bytes that a chunk may take to be sliced: an eighth of the arena.
    pub(super) fn chunk_bytes_max(&self) -> usize {
        self.config.arena_bytes / CHUNK_PART
    }

    /// Bytes to keep free for slicing or splitting one column: those of the largest group there
    /// is, or of the largest there will be if the next batches are like the newest.
    pub(super) fn reserve_bytes(&self) -> usize {
        let largest = self.chunks.iter().map(|entry| entry.group_bytes_max).max().unwrap_or(0);
        let coming = self.held.back().map_or(0, |newest| self.group_bytes_like(&newest.batch));
        largest.max(coming).saturating_sub(self.work_bytes)
    }

    /// Bytes of the largest group of a chunk of batches like this one; 0 where there will be none.
    pub(super) fn group_bytes_like(&self, batch: &SealedBatch) -> usize {
        let chunk_bytes = batch.filter_bytes() * CHUNK_SLOTS;
        if chunk_bytes > self.chunk_bytes_max() {
            return 0;
        }
        let shape = |column: &Arc<SealedColumn>| GroupShape::of(&column.filter);
        let groups = batch.columns.iter().filter_map(shape).map(|s| s.bytes());
        groups.max().unwrap_or(0).min(chunk_bytes + chunk_bytes / 2)
    }

    /// By how much `bytes` more would pass the arena, the reserve kept free.
    fn short_by(&self, bytes: usize) -> usize {
        (self.bytes() + bytes + self.reserve_bytes()).saturating_sub(self.config.arena_bytes)
    }

    /// Makes room for a batch of `bytes`. Chunks with many dead slots are split first; then the
    /// oldest are evicted, but no more than the new batch itself needs, and what their slots held
    /// in groups is freed by splitting those. What readers hold is freed by their next lookup, not
    /// by emptying the store.
    pub(super) fn make_room(&mut self, bytes: usize) -> Vec<BatchId> {
        let mut evicted = Vec::new();
        let mut freed = 0;
        while self.held.len() >= self.config.retain_batches {
            freed += self.evict_oldest(&mut evicted);
        }
        if !evicted.is_empty() {
            self.publish();
        }
        self.reclaim(bytes, DEAD_MANY);
        let need = self.short_by(bytes).min(bytes.saturating_sub(freed));
        let by_count = evicted.len();
        freed = 0;
        while freed < need && !self.held.is_empty() {
            freed += self.evict_oldest(&mut evicted);
        }
        if evicted.len() > by_count {
            self.publish();
        }
        self.reclaim(bytes, 1);
        evicted
    }

    /// Splits the groups that stand in the way of `bytes` more: with at least `dead` dead slots,
    /// oldest first.
    fn reclaim(&mut self, bytes: usize, dead: u32) {
        while self.short_by(bytes) > 0 {
            let Some(number) = self.oldest_with_dead_slots(dead) else { return };
            let work = match self.work.take() {
                Some(Work::Split(work)) if work.number == number => work,
                _ => steps::SplitChunk::new(number),
            };
            self.work_bytes = 0;
            self.finish_split(work);
        }
    }

    /// The chunk that is to be split before the next batch like the newest comes, if any is.
    pub(super) fn in_the_way(&self) -> Option<u64> {
        let newest = self.held.back()?;
        if self.short_by(newest.batch.filter_bytes()) == 0 {
            return None;
        }
        let oldest = self.held.front()?.chunk;
        let is_grouped = |at: usize| self.chunks[at].group_bytes > 0;
        let oldest = self.chunk_at(oldest).ok().filter(|&at| is_grouped(at)).map(|_| oldest);
        self.oldest_with_dead_slots(DEAD_MANY).or(oldest)
    }

    fn oldest_with_dead_slots(&self, dead: u32) -> Option<u64> {
        self.chunks.iter().find(|entry| entry.dead_slots() >= dead).map(|entry| entry.number)
    }

    /// Evicts the oldest; returns the bytes that it takes by itself. The caller publishes.
    fn evict_oldest(&mut self, evicted: &mut Vec<BatchId>) -> usize {
        let Some(oldest) = self.held.front() else { return 0 };
        let (id, bytes) = (oldest.batch.batch, oldest.batch.filter_bytes());
        self.remove(0);
        self.evicted += 1;
        self.remember(id, Absence::Evicted);
        evicted.push(id);
        bytes
    }

    /// Replaces columns of batches that the store holds by others with the same content (slot,
    /// column, digest of the filter), together with the group of that column. The caller
    /// publishes.
    pub(super) fn replace_columns(
        &mut self,
        number: u64,
        ordinal: usize,
        group: Option<ColumnGroup>,
        columns: Vec<(usize, Arc<SealedColumn>, u64)>,
    ) {
        let Ok(at) = self.chunk_at(number) else { return };
        let entry = &mut self.chunks[at];
        let old = entry.chunk.columns().get(ordinal).and_then(|column| column.group.clone());
        self.retired.extend(old.iter().map(Retiring::group));
        let first = self.held.partition_point(|held| held.chunk < number);
        let mut batches = Vec::with_capacity(columns.len());
        for held in self.held.iter_mut().skip(first).take_while(|held| held.chunk == number) {
            let Some((_, column, _)) = columns.iter().find(|column| column.0 == held.slot) else {
                continue;
            };
            self.plain_bytes -= own_bytes(&held.batch);
            self.retired.extend(held.batch.columns.get(ordinal).and_then(Retiring::column));
            let mut batch = SealedBatch::clone(&held.batch);
            if let Some(place) = batch.columns.get_mut(ordinal) {
                *place = Arc::clone(column);
            }
            held.batch = Arc::new(batch);
            self.plain_bytes += own_bytes(&held.batch);
            batches.push((held.slot, Arc::clone(&held.batch)));
        }
        let mut chunk = entry.chunk.with_group(ordinal, group.map(Arc::new), batches);
        for (slot, _, digest) in columns {
            chunk.set_filter_digest(slot, ordinal, digest);
        }
        entry.replace(chunk);
    }

    pub(super) fn reap(&mut self) {
        self.retired.retain(|retiring| retiring.bytes() > 0);
    }

    pub(super) fn retired_bytes(&self) -> usize {
        self.retired.iter().map(Retiring::bytes).sum()
    }
}

/// Groups are formed only where a chunk is at most this part of the arena: else the dead slots of
/// one group would be a large part of what the store holds.
const CHUNK_PART: usize = 8;
/// So many dead slots of a chunk (a quarter) are given back before anything is evicted; fewer are
/// not worth its groups.
const DEAD_MANY: u32 = 16;
