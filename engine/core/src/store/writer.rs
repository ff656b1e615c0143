//! The store's only writer: pending, verified, rejected, evicted. Readers get snapshots.
//!
//! Cost: an insert copies one chunk of pointers and the index (some microseconds at 512
//! batches); a verdict is one atomic OR. Bytes are counted until nobody can reach them: what a
//! reader's snapshot still holds counts against the arena.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;

use super::resolve::IdRun;
use super::{Absence, CHUNK_SLOTS, Chunk, Place, Snapshot};
use crate::identity::BatchId;
use crate::seal::SealedBatch;
use crate::verify::BatchHash;
use crate::wire::stream::Verdict;

/// Bounds of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreConfig {
    /// `FERMIHDI_BLOOMRF_RETAIN_BATCHES`, at least 1.
    pub retain_batches: usize,
    /// `FERMIHDI_SEASTAR_MEMORY`: bytes of filters.
    pub arena_bytes: usize,
}

/// State of a batch, for `/batches` and explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BatchState {
    /// Sealed, not judged yet.
    Pending,
    /// May be consulted.
    Verified,
    /// The SCC's hash differs: never consulted. Its memory is given back at once, so
    /// [`Store::list`] does not show it; [`Snapshot::absence`] remembers it.
    Rejected,
}

/// Numbers for `/metrics`; `filters_*` count batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Verified batches held.
    pub verified: u64,
    /// Pending batches held.
    pub pending: u64,
    /// Rejected so far.
    pub rejected: u64,
    /// Evicted so far.
    pub evicted: u64,
    /// Bytes of filters held: by the store, and by snapshots of readers after an eviction.
    pub bytes: u64,
}

/// Why a sealed batch was not kept: it has no filter, and reads "found".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// Larger than the whole arena.
    #[error(
        "its filters take {bytes} B and the whole arena is {arena_bytes} B: raise \
         FERMIHDI_SEASTAR_MEMORY or send smaller batches"
    )]
    TooLarge {
        /// Bytes of its filters.
        bytes: usize,
        /// Bytes of the arena.
        arena_bytes: usize,
    },
    /// Its id was seen before: held with the same hash, evicted or rejected not long ago.
    #[error("its id was seen before, and ids are never reused within a cluster")]
    SeenBefore,
    /// Another batch was held under its id. Nobody knows which of the two is asked about: that
    /// one is rejected now.
    #[error("another batch was held under its id: neither has a filter from now on")]
    OtherContent,
    /// Readers hold evicted batches of more than a quarter of the arena.
    #[error(
        "lookups under way hold {retired_bytes} B of evicted batches, more than a quarter of the \
         arena: nothing is kept until they end"
    )]
    HeldByReaders {
        /// Bytes of evicted batches that readers still hold.
        retired_bytes: usize,
    },
}

/// A reader's handle: cheap to clone, wait-free to load.
#[derive(Clone, Debug)]
pub struct StoreReader {
    current: Arc<ArcSwap<Snapshot>>,
}

impl StoreReader {
    /// The current snapshot.
    #[must_use]
    pub fn load(&self) -> arc_swap::Guard<Arc<Snapshot>> {
        self.current.load()
    }
}

/// A batch that the store holds.
#[derive(Debug)]
struct Held {
    batch: Arc<SealedBatch>,
    bytes: usize,
    verified: bool,
    /// Number of its chunk, counted from the first one ever.
    chunk: u64,
    slot: usize,
}

/// The writer.
#[derive(Debug)]
pub struct Store {
    config: StoreConfig,
    current: Arc<ArcSwap<Snapshot>>,
    /// Oldest first.
    held: VecDeque<Held>,
    held_bytes: usize,
    /// Chunks with their numbers, ascending. Only the last one takes batches.
    chunks: Vec<(u64, Arc<Chunk>)>,
    chunks_ever: u64,
    /// Dropped here, perhaps still reachable through a reader's snapshot.
    retired: Vec<(Weak<SealedBatch>, usize)>,
    /// Oldest first, at most `GONE_MAX`.
    gone: VecDeque<(BatchId, Absence)>,
    rejected: u64,
    evicted: u64,
}

impl Store {
    /// An empty store.
    ///
    /// # Panics
    /// Where no batch is to be retained.
    #[must_use]
    pub fn new(config: StoreConfig) -> Self {
        assert!(config.retain_batches > 0, "a store retains at least one batch");
        Store {
            config,
            current: Arc::new(ArcSwap::from_pointee(Snapshot::default())),
            held: VecDeque::new(),
            held_bytes: 0,
            chunks: Vec::new(),
            chunks_ever: 0,
            retired: Vec::new(),
            gone: VecDeque::new(),
            rejected: 0,
            evicted: 0,
        }
    }

    /// A handle for lookups.
    #[must_use]
    pub fn reader(&self) -> StoreReader {
        StoreReader { current: Arc::clone(&self.current) }
    }

    /// Keeps a sealed batch as pending. Evicts the oldest until it fits; returns the evicted ids,
    /// oldest first. On an error nothing was evicted.
    pub fn insert(&mut self, batch: Arc<SealedBatch>) -> Result<Vec<BatchId>, InsertError> {
        let id = batch.batch;
        let bytes = batch.filter_bytes();
        self.reap();
        if let Some(at) = self.position(id)
            && self.held[at].batch.hash != batch.hash
        {
            self.reject(at);
            return Err(InsertError::OtherContent);
        }
        if self.position(id).is_some() || self.gone.iter().any(|gone| gone.0 == id) {
            return Err(InsertError::SeenBefore);
        }
        let arena_bytes = self.config.arena_bytes;
        if bytes > arena_bytes {
            return Err(InsertError::TooLarge { bytes, arena_bytes });
        }
        let retired_bytes = self.retired_bytes();
        if retired_bytes > arena_bytes / 4 {
            return Err(InsertError::HeldByReaders { retired_bytes });
        }
        let evicted = self.make_room(bytes);
        let chunk = self.append(Arc::clone(&batch));
        self.held_bytes += bytes;
        let slot = chunk.1;
        self.held.push_back(Held { batch, bytes, verified: false, chunk: chunk.0, slot });
        self.publish();
        Ok(evicted)
    }

    /// Applies a verdict; false where the store does not hold the batch.
    pub fn judge(&mut self, batch: BatchId, verdict: Verdict) -> bool {
        let Some(at) = self.position(batch) else { return false };
        match verdict {
            Verdict::Verified => {
                let held = &mut self.held[at];
                held.verified = true;
                let (number, slot) = (held.chunk, held.slot);
                if let Ok(chunk) = self.chunk_at(number) {
                    self.chunks[chunk].1.raise(slot);
                }
            }
            Verdict::Mismatch => self.reject(at),
            Verdict::Unknown => {
                self.remove(at);
                self.publish();
            }
        }
        true
    }

    /// Applies a verdict on a report with `hash`; false where the store does not hold that very
    /// batch. What was sealed under the same id with another hash was not judged.
    pub fn judge_report(&mut self, batch: BatchId, hash: &BatchHash, verdict: Verdict) -> bool {
        let held = self.position(batch).map(|at| self.held[at].batch.hash);
        held == Some(*hash) && self.judge(batch, verdict)
    }

    /// Drops batches that the SCC no longer holds.
    pub fn delete(&mut self, batches: &[BatchId]) {
        let before = self.held.len();
        for &batch in batches {
            if let Some(at) = self.position(batch) {
                self.remove(at);
            }
        }
        if self.held.len() != before {
            self.publish();
        }
    }

    /// Discards everything (schema change).
    pub fn clear(&mut self) {
        while !self.held.is_empty() {
            self.remove(0);
        }
        self.gone.clear();
        self.publish();
    }

    /// All batches held, oldest first, with their state.
    pub fn list(&self) -> Vec<(Arc<SealedBatch>, BatchState)> {
        let state = |h: &Held| if h.verified { BatchState::Verified } else { BatchState::Pending };
        self.held.iter().map(|h| (Arc::clone(&h.batch), state(h))).collect()
    }

    /// Numbers.
    #[must_use]
    pub fn stats(&self) -> StoreStats {
        let verified = self.held.iter().filter(|h| h.verified).count();
        StoreStats {
            verified: verified as u64,
            pending: (self.held.len() - verified) as u64,
            rejected: self.rejected,
            evicted: self.evicted,
            bytes: (self.held_bytes + self.retired_bytes()) as u64,
        }
    }

    /// Evicts the oldest until `bytes` more fit, but no more than the new batch itself needs:
    /// what readers hold is freed by their next lookup, not by emptying the store.
    fn make_room(&mut self, bytes: usize) -> Vec<BatchId> {
        let total = self.held_bytes + self.retired_bytes() + bytes;
        let need = total.saturating_sub(self.config.arena_bytes).min(bytes);
        let mut freed = 0;
        let mut evicted = Vec::new();
        while freed < need || self.held.len() >= self.config.retain_batches {
            let Some(oldest) = self.held.front() else { break };
            let id = oldest.batch.batch;
            freed += oldest.bytes;
            self.remove(0);
            self.evicted += 1;
            self.remember(id, Absence::Evicted);
            evicted.push(id);
        }
        evicted
    }

    /// Puts a batch into the next slot; returns the number of its chunk and the slot.
    fn append(&mut self, batch: Arc<SealedBatch>) -> (u64, usize) {
        let full = self.chunks.last().is_none_or(|(_, chunk)| chunk.used() == CHUNK_SLOTS);
        if full {
            self.chunks.push((self.chunks_ever, Arc::new(Chunk::default())));
            self.chunks_ever += 1;
        }
        let last = self.chunks.len() - 1;
        let (number, chunk) = &mut self.chunks[last];
        let slot = chunk.used();
        *chunk = Arc::new(chunk.with(batch));
        (*number, slot)
    }

    /// Takes a batch out: first its live bit, then its slot. The caller publishes.
    fn remove(&mut self, at: usize) {
        let Some(held) = self.held.remove(at) else { return };
        if let Ok(chunk) = self.chunk_at(held.chunk) {
            let chunk = &mut self.chunks[chunk].1;
            chunk.lower(held.slot);
            *chunk = Arc::new(chunk.without(held.slot));
        }
        self.held_bytes -= held.bytes;
        self.retired.push((Arc::downgrade(&held.batch), held.bytes));
    }

    fn reject(&mut self, at: usize) {
        let batch = self.held[at].batch.batch;
        self.remove(at);
        self.rejected += 1;
        self.remember(batch, Absence::Rejected);
        self.publish();
    }

    fn publish(&mut self) {
        let last = self.chunks_ever.saturating_sub(1);
        self.chunks.retain(|(number, chunk)| chunk.occupied() != 0 || *number == last);
        let mut index: Vec<_> = self
            .held
            .iter()
            .filter_map(|held| {
                let chunk = self.chunk_at(held.chunk).ok()? as u32;
                Some((held.batch.batch, Place { chunk, slot: held.slot as u32 }))
            })
            .collect();
        index.sort_unstable_by_key(|entry| entry.0);
        let mut gone: Vec<_> = self.gone.iter().copied().collect();
        gone.sort_unstable_by_key(|entry| entry.0);
        let chunks = self.chunks.iter().map(|(_, chunk)| Arc::clone(chunk)).collect();
        let runs = IdRun::all(&index);
        self.current.store(Arc::new(Snapshot { chunks, index, runs, gone: gone.into() }));
        self.reap();
    }

    fn chunk_at(&self, number: u64) -> Result<usize, usize> {
        self.chunks.binary_search_by_key(&number, |entry| entry.0)
    }

    fn position(&self, batch: BatchId) -> Option<usize> {
        self.held.iter().position(|held| held.batch.batch == batch)
    }

    fn remember(&mut self, batch: BatchId, why: Absence) {
        if self.gone.len() == GONE_MAX {
            self.gone.pop_front();
        }
        self.gone.push_back((batch, why));
    }

    fn reap(&mut self) {
        self.retired.retain(|(batch, _)| batch.strong_count() > 0);
    }

    fn retired_bytes(&self) -> usize {
        let held = self.retired.iter().filter(|(batch, _)| batch.strong_count() > 0);
        held.map(|(_, bytes)| bytes).sum()
    }
}

/// Batches that left and are still remembered, for the reasons that explain shows.
const GONE_MAX: usize = 1_024;

#[cfg(test)]
mod tests;
