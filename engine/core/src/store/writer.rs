//! The store's only writer: pending, verified, rejected, evicted. Readers get snapshots.
//!
//! Cost: an insert copies one chunk of pointers and the index (some microseconds at 512
//! batches); a verdict is one atomic OR. Bytes are counted until nobody can reach them: what a
//! reader's snapshot still holds counts against the arena.

mod entry;
mod restore;
mod room;
mod scrub;
mod steps;

use std::collections::VecDeque;
use std::sync::Arc;

use bloomrf_kernels::Kernel;
use bloomrf_kernels::arena::Arena;

use super::build::Workshop;
use super::current::Current;
use super::digest::ColumnDigest;
use super::resolve::IdRun;
use super::shape::ColumnPlan;
use super::{Absence, BatchState, InsertError, Place, Snapshot, StoreStats};
use crate::identity::BatchId;
use crate::seal::SealedBatch;
use crate::sync::Guard;
use crate::verify::BatchHash;
use crate::wire::stream::Verdict;

use entry::Entry;
use room::Retiring;
pub use scrub::Scrubbed;
use scrub::Scrubber;
use steps::Work;

/// Bounds of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreConfig {
    /// `FERMIHDI_BLOOMRF_RETAIN_BATCHES`, at least 1.
    pub retain_batches: usize,
    /// `FERMIHDI_SEASTAR_MEMORY`: bytes of filters.
    pub arena_bytes: usize,
}

/// A reader's handle: cheap to clone, wait-free to load.
#[derive(Clone, Debug)]
pub struct StoreReader {
    current: Current<Snapshot>,
}

impl StoreReader {
    /// The current snapshot.
    #[must_use]
    pub fn load(&self) -> Guard<Snapshot> {
        self.current.load()
    }
}

/// A batch that the store holds.
#[derive(Debug)]
struct Held {
    batch: Arc<SealedBatch>,
    verified: bool,
    /// Number of its chunk, counted from the first one ever.
    chunk: u64,
    slot: usize,
}

/// The writer.
#[derive(Debug)]
pub struct Store {
    config: StoreConfig,
    workshop: Workshop,
    current: Current<Snapshot>,
    /// Oldest first: ascending by chunk and slot.
    held: VecDeque<Held>,
    /// Bytes of the plain filters of `held`.
    plain_bytes: usize,
    /// Ascending by number. Only the last one takes batches.
    chunks: Vec<Entry>,
    chunks_ever: u64,
    /// A chunk that is being sliced or split.
    work: Option<Work>,
    /// Bytes that `work` holds.
    work_bytes: usize,
    /// There was no room for the next piece of work; looked at again after a change.
    is_stuck: bool,
    /// How the columns of the last chunk were sliced.
    last_plans: Vec<Option<ColumnPlan>>,
    /// Dropped here, perhaps still reachable through a reader's snapshot.
    retired: Vec<Retiring>,
    /// Oldest first, at most `GONE_MAX`.
    gone: VecDeque<(BatchId, Absence)>,
    rejected: u64,
    evicted: u64,
    scrubber: Scrubber,
}

impl Store {
    /// An empty store whose groups are built on the heap, by the best kernel set.
    ///
    /// # Panics
    /// Where no batch is to be retained.
    #[must_use]
    pub fn new(config: StoreConfig) -> Self {
        Self::on(config, Kernel::best(), None)
    }

    /// An empty store whose groups are built by `kernel`, of memory of `arena`.
    ///
    /// # Panics
    /// Where no batch is to be retained.
    #[must_use]
    pub fn on(config: StoreConfig, kernel: Kernel, arena: Option<Arena>) -> Self {
        assert!(config.retain_batches > 0, "a store retains at least one batch");
        Store {
            config,
            workshop: Workshop { kernel, arena },
            current: Current::new(Snapshot::default()),
            held: VecDeque::new(),
            plain_bytes: 0,
            chunks: Vec::new(),
            chunks_ever: 0,
            work: None,
            work_bytes: 0,
            is_stuck: false,
            last_plans: Vec::new(),
            retired: Vec::new(),
            gone: VecDeque::new(),
            rejected: 0,
            evicted: 0,
            scrubber: Scrubber::default(),
        }
    }

    /// A handle for lookups.
    #[must_use]
    pub fn reader(&self) -> StoreReader {
        StoreReader { current: self.current.clone() }
    }

    /// Keeps a sealed batch as pending. Evicts the oldest until it fits; returns the evicted ids,
    /// oldest first. On an error nothing was evicted.
    pub fn insert(&mut self, batch: Arc<SealedBatch>) -> Result<Vec<BatchId>, InsertError> {
        let id = batch.batch;
        let bytes = own_bytes(&batch);
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
        self.append(batch, bytes);
        self.publish();
        Ok(evicted)
    }

    /// Applies a verdict; false where the store does not hold the batch.
    pub fn judge(&mut self, batch: BatchId, verdict: Verdict) -> bool {
        let Some(at) = self.position(batch) else {
            match verdict {
                Verdict::Verified => {}
                Verdict::Mismatch => self.bar(batch, Absence::Rejected),
                Verdict::Unknown => self.bar(batch, Absence::NoFilter),
            }
            return false;
        };
        match verdict {
            Verdict::Verified => {
                let held = &mut self.held[at];
                held.verified = true;
                let (number, slot) = (held.chunk, held.slot);
                if let Ok(chunk) = self.chunk_at(number) {
                    self.chunks[chunk].chunk.raise(slot);
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
        held.is_none_or(|held| held == *hash) && self.judge(batch, verdict)
    }

    /// Drops batches that the SCC no longer holds.
    pub fn delete(&mut self, batches: &[BatchId]) {
        let before = self.held.len();
        for &batch in batches {
            match self.position(batch) {
                Some(at) => self.remove(at),
                None => self.bar(batch, Absence::NoFilter),
            }
        }
        if self.held.len() != before {
            self.publish();
        }
    }

    /// Discards everything (schema change).
    pub fn clear(&mut self) {
        self.drop_work();
        self.last_plans.clear();
        while !self.held.is_empty() {
            self.remove(0);
        }
        self.gone.clear();
        self.publish();
    }

    /// All batches held, oldest first, with their state. A filter that is in a group is
    /// [`Filter::Sliced`](crate::filter::Filter::Sliced) here.
    pub fn list(&self) -> Vec<(Arc<SealedBatch>, BatchState)> {
        let state = |h: &Held| if h.verified { BatchState::Verified } else { BatchState::Pending };
        self.held.iter().map(|h| (Arc::clone(&h.batch), state(h))).collect()
    }

    /// Numbers.
    #[must_use]
    pub fn stats(&self) -> StoreStats {
        let verified = self.held.iter().filter(|h| h.verified).count() as u64;
        let mut stats = StoreStats {
            verified,
            pending: self.held.len() as u64 - verified,
            rejected: self.rejected,
            evicted: self.evicted,
            corrupt: self.scrubber.corrupt,
            bytes: self.bytes() as u64,
            plain_bytes: self.plain_bytes as u64,
            ..StoreStats::default()
        };
        self.chunks.iter().for_each(|entry| entry.add_to(&mut stats));
        stats
    }

    /// Takes a batch out: first its live bit, then its slot. The caller publishes.
    fn remove(&mut self, at: usize) {
        let Some(held) = self.held.remove(at) else { return };
        self.is_stuck = false;
        self.plain_bytes -= own_bytes(&held.batch);
        if let Ok(at) = self.chunk_at(held.chunk) {
            let entry = &mut self.chunks[at];
            entry.chunk.lower(held.slot);
            self.retired.extend(entry.remove(held.slot).iter().map(Retiring::group));
        }
        self.retired.extend(held.batch.columns.iter().filter_map(Retiring::column));
    }

    fn reject(&mut self, at: usize) {
        let batch = self.held[at].batch.batch;
        self.remove(at);
        self.rejected += 1;
        self.remember(batch, Absence::Rejected);
        self.publish();
    }

    /// Puts a batch into the next slot. The caller publishes.
    fn append(&mut self, batch: Arc<SealedBatch>, bytes: usize) {
        if self.chunks.last().is_none_or(|entry| entry.chunk.is_full()) {
            self.chunks.push(Entry::new(self.chunks_ever));
            self.chunks_ever += 1;
        }
        let Some(entry) = self.chunks.last_mut() else { return };
        let kernel = self.workshop.kernel;
        let digests = batch.columns.iter().map(|column| ColumnDigest::of(kernel, column));
        let slot = entry.add(Arc::clone(&batch), digests.collect());
        let chunk = entry.number;
        self.held.push_back(Held { batch, verified: false, chunk, slot });
        self.plain_bytes += bytes;
        self.is_stuck = false;
    }

    /// Shows readers what the store holds now.
    fn publish(&mut self) {
        let last = self.chunks_ever.saturating_sub(1);
        self.chunks.retain(|entry| entry.chunk.occupied() != 0 || entry.number == last);
        let mut index = Vec::with_capacity(self.held.len());
        let mut chunk = 0;
        for held in &self.held {
            while self.chunks.get(chunk).is_some_and(|entry| entry.number < held.chunk) {
                chunk += 1;
            }
            let place = Place { chunk: chunk as u32, slot: held.slot as u32 };
            index.push((held.batch.batch, place));
        }
        index.sort_unstable_by_key(|entry| entry.0);
        let mut gone: Vec<_> = self.gone.iter().copied().collect();
        gone.sort_unstable_by_key(|entry| entry.0);
        let runs = IdRun::all(&index).into();
        let chunks = self.chunk_versions();
        let snapshot = Snapshot { chunks, index: index.into(), runs, gone: gone.into() };
        self.current.show(snapshot);
        self.reap();
    }

    /// Shows readers other versions of the same chunks with the same batches in their slots.
    fn publish_versions(&mut self) {
        let shown = Snapshot::clone(&self.current.load());
        let chunks = self.chunk_versions();
        self.current.show(Snapshot { chunks, ..shown });
        self.reap();
    }

    fn chunk_versions(&self) -> Vec<Arc<super::Chunk>> {
        self.chunks.iter().map(|entry| Arc::clone(&entry.chunk)).collect()
    }

    fn chunk_at(&self, number: u64) -> Result<usize, usize> {
        self.chunks.binary_search_by_key(&number, |entry| entry.number)
    }

    /// Where in `held` a batch is: found by the index that readers see, which may still know of
    /// batches that were taken out since.
    fn position(&self, batch: BatchId) -> Option<usize> {
        let place = self.current.load().place(batch)?;
        let number = self.chunks.get(place.chunk as usize)?.number;
        let place = (number, place.slot as usize);
        self.held.binary_search_by_key(&place, |held| (held.chunk, held.slot)).ok()
    }

    /// A batch that left because it had changed in memory is not to come back from its file.
    fn bar(&mut self, batch: BatchId, why: Absence) {
        let corrupt = (batch, Absence::Corrupt);
        if let Some(gone) = self.gone.iter_mut().find(|gone| **gone == corrupt) {
            gone.1 = why;
            self.publish();
        }
    }

    fn remember(&mut self, batch: BatchId, why: Absence) {
        if self.gone.len() == GONE_MAX {
            self.gone.pop_front();
        }
        self.gone.push_back((batch, why));
    }
}

/// Bytes of the plain filters of a batch.
fn own_bytes(batch: &SealedBatch) -> usize {
    batch.columns.iter().map(|column| column.filter.own_bytes()).sum()
}

/// Batches that left and are still remembered, for the reasons that explain shows.
const GONE_MAX: usize = 1_024;

#[cfg(test)]
mod tests;
