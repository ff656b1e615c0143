//! Ids that the SCC has deleted, in bounded memory: a deletion may come before its batch is sealed,
//! and still counts then.
//!
//! Order of work: whoever hears of a deletion notes it here *before* dropping the batch from the
//! store; whoever stores a batch looks here *afterwards*. Then neither misses the other.

use std::collections::{HashSet, VecDeque};

use crate::identity::BatchId;
use crate::limits::DELETED_BATCHES_MAX;

/// The ids deleted last, at most `DELETED_BATCHES_MAX`.
#[derive(Debug, Default)]
pub struct DeletedBatches {
    known: HashSet<BatchId>,
    /// Oldest first.
    order: VecDeque<BatchId>,
}

impl DeletedBatches {
    /// Notes that these batches are gone for ever: ids are never used again.
    pub fn note(&mut self, batches: &[BatchId]) {
        for &batch in batches {
            if !self.known.insert(batch) {
                continue;
            }
            self.order.push_back(batch);
            if self.order.len() > DELETED_BATCHES_MAX
                && let Some(oldest) = self.order.pop_front()
            {
                self.known.remove(&oldest);
            }
        }
    }

    /// Whether a batch is known to be gone.
    #[must_use]
    pub fn contains(&self, batch: BatchId) -> bool {
        self.known.contains(&batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_deletions_are_remembered_and_the_memory_is_bounded() {
        let mut deleted = DeletedBatches::default();
        let all: Vec<BatchId> = (0..DELETED_BATCHES_MAX as u64 + 3).collect();
        deleted.note(&all);
        deleted.note(&all[3..]);
        assert_eq!((deleted.known.len(), deleted.order.len()), (all.len() - 3, all.len() - 3));
        assert!(all[..3].iter().all(|batch| !deleted.contains(*batch)));
        assert!(all[3..].iter().all(|batch| deleted.contains(*batch)));
    }
}
