//! Stored batches come back at start, all at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Store, own_bytes};
use crate::identity::BatchId;
use crate::seal::SealedBatch;
use crate::store::Absence;

impl Store {
    /// Keeps batches that were verified before a restart, oldest first, as verified: readers see
    /// all of them at once. Where they are more than the store may hold, the newest are kept, as
    /// if they had come one after the other; returns the ids of the others, in the order given.
    ///
    /// A batch larger than the arena is left out and takes no other's place. Of two with one id
    /// the later one counts; one whose id the store knows already is passed over, unless it left
    /// because it had changed in memory and no verdict or deletion against it came since.
    pub fn restore(&mut self, batches: Vec<Arc<SealedBatch>>) -> Vec<BatchId> {
        let (kept, mut left_out) = self.newest_that_fit(batches);
        for batch in kept {
            let bytes = own_bytes(&batch);
            // What was damaged in memory comes back from its file.
            self.gone.retain(|gone| gone.0 != batch.batch);
            self.append(batch, bytes);
            if let Some(held) = self.held.back_mut() {
                held.verified = true;
                if let Some(entry) = self.chunks.last() {
                    entry.chunk.raise(held.slot);
                }
            }
        }
        self.publish();
        left_out.reverse();
        left_out
    }

    /// Those to keep, oldest first, and the ids of the others, newest first.
    fn newest_that_fit(
        &self,
        batches: Vec<Arc<SealedBatch>>,
    ) -> (Vec<Arc<SealedBatch>>, Vec<BatchId>) {
        let reserve = batches.last().map_or(0, |newest| self.group_bytes_like(newest));
        let mut free_bytes = self.free_bytes();
        let mut free_slots = self.config.retain_batches.saturating_sub(self.held.len());
        let mut ids = BTreeSet::new();
        let (mut kept, mut left_out) = (Vec::new(), Vec::new());
        for batch in batches.into_iter().rev() {
            let (id, bytes) = (batch.batch, own_bytes(&batch));
            let left = |gone: &(BatchId, Absence)| gone.0 == id && gone.1 != Absence::Corrupt;
            let is_known = self.position(id).is_some() || self.gone.iter().any(left);
            if is_known || !ids.insert(id) {
                continue;
            }
            if bytes > self.config.arena_bytes {
                left_out.push(id);
                continue;
            }
            // The newest alone may take what is kept free for slicing.
            let needed = if kept.is_empty() { bytes } else { bytes + reserve };
            if free_slots == 0 || needed > free_bytes {
                free_slots = 0;
                left_out.push(id);
                continue;
            }
            free_slots -= 1;
            free_bytes -= bytes;
            kept.push(batch);
        }
        kept.reverse();
        (kept, left_out)
    }
}

#[cfg(test)]
mod tests;
