//! Batches that want a file.

use std::collections::{BTreeSet, VecDeque};

use crate::identity::BatchId;

/// Batches that want a file, in the order of their wish.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    order: VecDeque<BatchId>,
    wanted: BTreeSet<BatchId>,
}

impl Waiting {
    pub(super) fn push(&mut self, batch: BatchId) {
        if self.wanted.insert(batch) {
            self.order.push_back(batch);
        }
        // Those taken back leave holes.
        if self.order.len() > 2 * self.wanted.len() + HOLES_MAX {
            let mut kept = BTreeSet::new();
            self.order.retain(|batch| self.wanted.contains(batch) && kept.insert(*batch));
        }
    }

    pub(super) fn drop(&mut self, batch: BatchId) {
        self.wanted.remove(&batch);
    }

    pub(super) fn first(&mut self) -> Option<BatchId> {
        while let Some(first) = self.order.front() {
            if self.wanted.contains(first) {
                return Some(*first);
            }
            self.order.pop_front();
        }
        None
    }

    pub(super) fn len(&self) -> usize {
        self.wanted.len()
    }

    pub(super) fn clear(&mut self) {
        self.order.clear();
        self.wanted.clear();
    }
}

/// Taken-back wishes that may lie in the order.
const HOLES_MAX: usize = 64;
