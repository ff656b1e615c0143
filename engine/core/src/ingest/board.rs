//! What all queues agree on when a batch opens: the record count that its filters are sized for.

use std::sync::atomic::AtomicU64;

use crate::identity::BatchId;

/// A small lock-free board, shared by all queues and the sealer. An entry is (batch, size class);
/// the first queue to open a batch writes it, every other reads it.
#[derive(Debug)]
pub struct OpenBoard {
    entries: [AtomicU64; 16],
    expected: AtomicU64,
}

impl OpenBoard {
    /// A board that expects `records` records in the first batch.
    #[must_use]
    pub fn new(records: u64) -> Self {
        let _ = records;
        todo!("ingest")
    }

    /// The record count to size `batch` for: the same on every queue, whoever asks first.
    #[must_use]
    pub fn agree(&self, batch: BatchId) -> u64 {
        let _ = (batch, &self.entries, &self.expected);
        todo!("ingest")
    }

    /// Told by the sealer after each batch: what the next one will probably hold.
    pub fn expect(&self, records: u64) {
        let _ = records;
        todo!("ingest")
    }
}
