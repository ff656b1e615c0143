//! The store's only writer: pending, verified, rejected, evicted. Readers get snapshots.

use std::sync::Arc;

use super::Snapshot;
use crate::identity::BatchId;
use crate::seal::SealedBatch;
use crate::wire::stream::Verdict;

/// Bounds of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreConfig {
    /// `FERMIHDI_BLOOMRF_RETAIN_BATCHES`.
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
    /// The SCC's hash differs: never consulted.
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
    /// Bytes of filters held, dead slots included.
    pub bytes: u64,
}

/// A reader's handle: cheap to clone, wait-free to load.
#[derive(Clone, Debug)]
pub struct StoreReader {
    current: Arc<arc_swap::ArcSwap<Snapshot>>,
}

impl StoreReader {
    /// The current snapshot.
    #[must_use]
    pub fn load(&self) -> arc_swap::Guard<Arc<Snapshot>> {
        self.current.load()
    }
}

/// The writer.
#[derive(Debug)]
pub struct Store {
    _private: (),
}

impl Store {
    /// An empty store.
    #[must_use]
    pub fn new(config: StoreConfig) -> Self {
        let _ = config;
        todo!("store")
    }

    /// A handle for lookups.
    #[must_use]
    pub fn reader(&self) -> StoreReader {
        todo!("store")
    }

    /// Keeps a sealed batch as pending. Evicts the oldest until it fits; returns the evicted ids.
    /// A batch larger than the whole arena is not kept (its own id is returned).
    pub fn insert(&mut self, batch: Arc<SealedBatch>) -> Vec<BatchId> {
        let _ = batch;
        todo!("store")
    }

    /// Applies a verdict; false where the store does not hold the batch.
    pub fn judge(&mut self, batch: BatchId, verdict: Verdict) -> bool {
        let _ = (batch, verdict);
        todo!("store")
    }

    /// Drops batches that the SCC no longer holds.
    pub fn delete(&mut self, batches: &[BatchId]) {
        let _ = batches;
        todo!("store")
    }

    /// Discards everything (schema change).
    pub fn clear(&mut self) {
        todo!("store")
    }

    /// All batches held, oldest first, with their state.
    pub fn list(&self) -> Vec<(Arc<SealedBatch>, BatchState)> {
        todo!("store")
    }

    /// Numbers.
    #[must_use]
    pub fn stats(&self) -> StoreStats {
        todo!("store")
    }
}
