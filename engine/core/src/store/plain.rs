//! A batch of a snapshot with every filter plain again, as it is written to disk.
//!
//! Cost: about 20 ns a word of each sliced filter, bit by bit; a digest of each plain one.

use std::sync::Arc;

use bloomrf_kernels::Kernel;

use super::{Chunk, Snapshot, split};
use crate::filter::{Filter, SealedColumn};
use crate::identity::BatchId;
use crate::seal::SealedBatch;

impl Snapshot {
    /// The batch with every sliced filter taken back out of its group; `None` where the snapshot
    /// does not hold it. Says nothing about its verdict.
    ///
    /// A filter comes out bit for bit as it was inserted; one that was folded to join its group
    /// comes out folded: it finds all that it found. One that has changed in memory, by its
    /// digest, is [`Filter::None`]; where flags or zone map have, the batch is `None`.
    #[must_use]
    pub fn plain(&self, batch: BatchId) -> Option<SealedBatch> {
        let place = self.place(batch)?;
        let chunk = self.chunks.get(place.chunk as usize)?;
        let slot = place.slot as usize;
        let mut plain = SealedBatch::clone(chunk.slot(slot)?);
        for (ordinal, column) in plain.columns.iter_mut().enumerate() {
            let digest = chunk.digest(slot, ordinal)?;
            if !digest.has_bounds_of(KERNEL, column) {
                return None;
            }
            let taken = taken_out(chunk, slot, ordinal, &column.filter);
            if !digest.is_of(KERNEL, taken.as_ref().unwrap_or(&column.filter)) {
                *column = with_filter(column, Filter::None);
            } else if let Some(filter) = taken {
                *column = with_filter(column, filter);
            }
        }
        Some(plain)
    }
}

fn with_filter(column: &SealedColumn, filter: Filter) -> Arc<SealedColumn> {
    let SealedColumn { flags, zone, .. } = *column;
    Arc::new(SealedColumn { flags, zone, filter })
}

/// What stands in the group instead of a filter that is plain already.
fn taken_out(chunk: &Chunk, slot: usize, ordinal: usize, filter: &Filter) -> Option<Filter> {
    let Filter::Sliced(kept) = filter else { return None };
    let group = chunk.columns().get(ordinal).and_then(|column| column.group());
    let filter = group.and_then(|group| split::take_out(group, slot, kept));
    Some(filter.unwrap_or(Filter::None))
}

/// Off the paths where it would matter, and the same bits by any.
const KERNEL: Kernel = Kernel::Scalar;
