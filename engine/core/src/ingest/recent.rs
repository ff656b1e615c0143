//! The batch ids heard of last, in fixed memory.
//!
//! Hot path: no allocation after `new`; one pass over at most the capacity.

use std::collections::VecDeque;

use crate::identity::BatchId;

/// A set that forgets its oldest member when it is full.
#[derive(Clone, Debug)]
pub(crate) struct RecentBatches {
    batches: VecDeque<BatchId>,
    count_max: usize,
}

impl RecentBatches {
    /// Room for `count_max` ids, at least one.
    pub(crate) fn new(count_max: usize) -> Self {
        RecentBatches { batches: VecDeque::with_capacity(count_max), count_max }
    }

    pub(crate) fn insert(&mut self, batch: BatchId) {
        if self.contains(batch) {
            return;
        }
        if self.batches.len() == self.count_max {
            self.batches.pop_front();
        }
        self.batches.push_back(batch);
    }

    pub(crate) fn remove(&mut self, batch: BatchId) {
        self.batches.retain(|&b| b != batch);
    }

    pub(crate) fn contains(&self, batch: BatchId) -> bool {
        self.batches.contains(&batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_is_forgotten_first_and_again_is_not_newer() {
        let mut recent = RecentBatches::new(3);
        for batch in [1, 2, 3, 1, 4] {
            recent.insert(batch);
        }
        assert!(!recent.contains(1));
        assert!(recent.contains(2) && recent.contains(3) && recent.contains(4));
        recent.remove(3);
        recent.insert(5);
        assert!(recent.contains(2) && !recent.contains(3) && recent.contains(5));
    }
}
