//! A sealed batch: everything the store keeps of it.

use std::sync::Arc;

use crate::filter::SealedColumn;
use crate::identity::BatchId;
use crate::verify::BatchHash;

/// A sealed batch. Immutable; shared in an `Arc`.
#[derive(Clone, Debug, PartialEq)]
pub struct SealedBatch {
    /// Batch.
    pub batch: BatchId,
    /// Records.
    pub records: u64,
    /// Batch hash, to be judged by the SCC.
    pub hash: BatchHash,
    /// Columns, in schema order. The store shares them between versions of a batch whose filters
    /// it slices one column after the other.
    pub columns: Vec<Arc<SealedColumn>>,
}

impl SealedBatch {
    /// Bytes of filters, without zone maps.
    #[must_use]
    pub fn filter_bytes(&self) -> usize {
        self.columns.iter().map(|c| c.filter.bytes()).sum()
    }
}
