//! What the cluster knows of each batch: stored (with which hash), given up, deleted, and what
//! the filter node was told about it. Shared by storage node, SCC and demo.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::verify::BatchHash;
use bloomrf_engine::wire::stream::Verdict;

use crate::storage::kept::KeptFrames;

/// What the storage side knows of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// In place, readable.
    Stored {
        /// Records.
        records: u64,
        /// Batch hash.
        hash: BatchHash,
    },
    /// Not whole, and never will be.
    GivenUp,
    /// Was stored, and is gone.
    Deleted,
}

/// The ledger.
#[derive(Debug, Default)]
pub struct Ledger {
    inner: Mutex<Inner>,
    changed: Condvar,
    kept: KeptFrames,
}

#[derive(Debug, Default)]
struct Inner {
    fates: BTreeMap<BatchId, Fate>,
    verdicts: BTreeMap<BatchId, Verdict>,
    /// In order of deletion; every connection reads it from its own position.
    deleted: Vec<BatchId>,
    /// Hashes that were verified and are no longer right, in order.
    revoked: Vec<(BatchId, BatchHash)>,
}

impl Ledger {
    /// An empty ledger.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty ledger that keeps at most `bytes_max` bytes of frames to be sent again; 0: none,
    /// and the SCC says that it repairs nothing.
    #[must_use]
    pub fn keeping(bytes_max: usize) -> Self {
        Ledger { kept: KeptFrames::new(bytes_max), ..Self::default() }
    }

    /// Frames of recent batches.
    #[must_use]
    pub fn kept(&self) -> &KeptFrames {
        &self.kept
    }

    /// A batch file is in place. Nodes that were told that another hash is right hear that it is
    /// not.
    pub fn store(&self, batch: BatchId, records: u64, hash: BatchHash) {
        let mut inner = self.lock();
        let before = inner.fates.insert(batch, Fate::Stored { records, hash });
        if let Some(Fate::Stored { hash: told, .. }) = before
            && told != hash
        {
            // Whatever was said last: it was said to one node, and others may have heard otherwise.
            inner.verdicts.remove(&batch);
            inner.revoked.push((batch, told));
        }
        drop(inner);
        self.changed.notify_all();
    }

    /// A batch will never be stored.
    pub fn give_up(&self, batch: BatchId) {
        self.lock().fates.entry(batch).or_insert(Fate::GivenUp);
        self.changed.notify_all();
    }

    /// Batches are gone; every connected node is told.
    pub fn delete(&self, batches: &[BatchId]) {
        let mut inner = self.lock();
        for &batch in batches {
            inner.fates.insert(batch, Fate::Deleted);
            inner.deleted.push(batch);
        }
        self.kept.forget(batches);
        self.changed.notify_all();
    }

    /// Drops all that is known of batches with an id below `first`, as a cluster does with what it
    /// keeps no longer; nobody is told. A node that still asks hears that they are unknown.
    pub fn forget_before(&self, first: BatchId) {
        let mut inner = self.lock();
        inner.fates = inner.fates.split_off(&first);
        inner.verdicts = inner.verdicts.split_off(&first);
    }

    /// What is known of a batch.
    #[must_use]
    pub fn fate(&self, batch: BatchId) -> Option<Fate> {
        self.lock().fates.get(&batch).copied()
    }

    /// Ids of stored batches, ascending.
    #[must_use]
    pub fn stored(&self) -> Vec<BatchId> {
        let inner = self.lock();
        let stored = |(&batch, fate): (&BatchId, &Fate)| {
            matches!(fate, Fate::Stored { .. }).then_some(batch)
        };
        inner.fates.iter().filter_map(stored).collect()
    }

    /// Batches whose fate is known, stored or not.
    #[must_use]
    pub fn settled(&self) -> usize {
        self.lock().fates.len()
    }

    /// Stored batches that no node has been told to be verified.
    #[must_use]
    pub fn unverified(&self) -> Vec<BatchId> {
        let inner = self.lock();
        let told = |batch: &BatchId| inner.verdicts.get(batch) == Some(&Verdict::Verified);
        let open = |(batch, fate): (&BatchId, &Fate)| {
            (matches!(fate, Fate::Stored { .. }) && !told(batch)).then_some(*batch)
        };
        inner.fates.iter().filter_map(open).collect()
    }

    /// Batches on which a verdict was given.
    #[must_use]
    pub fn judged(&self) -> usize {
        self.lock().verdicts.len()
    }

    /// The last verdict given on a batch.
    #[must_use]
    pub fn verdict(&self, batch: BatchId) -> Option<Verdict> {
        self.lock().verdicts.get(&batch).copied()
    }

    /// Waits until the fates of `batches` batches are known; false when time ran out.
    #[must_use]
    pub fn wait_settled(&self, batches: usize, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut inner = self.lock();
        while inner.fates.len() < batches {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            inner = match self.changed.wait_timeout(inner, left) {
                Ok((inner, _)) => inner,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        true
    }

    /// Judges what a node saw. `None`: storage does not know yet.
    pub(super) fn judge(&self, batch: BatchId, records: u64, hash: BatchHash) -> Option<Verdict> {
        let mut inner = self.lock();
        let verdict = match inner.fates.get(&batch)? {
            Fate::Stored { records: stored, hash: expected } => {
                if *stored == records && *expected == hash {
                    Verdict::Verified
                } else {
                    Verdict::Mismatch
                }
            }
            Fate::GivenUp | Fate::Deleted => Verdict::Unknown,
        };
        inner.verdicts.insert(batch, verdict);
        Some(verdict)
    }

    /// Notes a verdict that was given without knowledge.
    pub(super) fn note(&self, batch: BatchId, verdict: Verdict) {
        self.lock().verdicts.insert(batch, verdict);
    }

    /// Deletions from `position` on.
    pub(super) fn deleted_from(&self, position: usize) -> Vec<BatchId> {
        self.lock().deleted.get(position..).unwrap_or_default().to_vec()
    }

    /// Hashes that are no longer right, from `position` on.
    pub(super) fn revoked_from(&self, position: usize) -> Vec<(BatchId, BatchHash)> {
        self.lock().revoked.get(position..).unwrap_or_default().to_vec()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use bloomrf_engine::verify::HashAlgorithm;

    use super::*;

    fn hash(fill: u8) -> BatchHash {
        BatchHash { algorithm: HashAlgorithm::Xxh3, digest: [fill; 32] }
    }

    #[test]
    fn only_the_same_hash_and_count_verify() {
        let ledger = Ledger::new();
        assert_eq!(ledger.judge(1, 10, hash(1)), None);
        ledger.store(1, 10, hash(1));
        assert_eq!(ledger.unverified(), vec![1]);
        assert_eq!(ledger.judge(1, 10, hash(2)), Some(Verdict::Mismatch));
        assert_eq!(ledger.judge(1, 11, hash(1)), Some(Verdict::Mismatch));
        assert_eq!(ledger.unverified(), vec![1]);
        assert_eq!(ledger.judge(1, 10, hash(1)), Some(Verdict::Verified));
        assert!(ledger.unverified().is_empty());
    }

    #[test]
    fn lost_and_deleted_batches_are_unknown() {
        let ledger = Ledger::new();
        ledger.store(1, 10, hash(1));
        ledger.delete(&[1]);
        ledger.give_up(2);
        assert_eq!(ledger.judge(1, 10, hash(1)), Some(Verdict::Unknown));
        assert_eq!(ledger.judge(2, 10, hash(1)), Some(Verdict::Unknown));
        assert_eq!(ledger.deleted_from(0), vec![1]);
        assert!(ledger.deleted_from(1).is_empty());
        assert!(ledger.stored().is_empty());
    }

    #[test]
    fn what_was_forgotten_is_unknown_again_and_the_rest_is_not() {
        let ledger = Ledger::new();
        ledger.store(1, 10, hash(1));
        ledger.store(2, 10, hash(2));
        assert_eq!(ledger.judge(1, 10, hash(1)), Some(Verdict::Verified));
        ledger.forget_before(2);
        assert_eq!((ledger.fate(1), ledger.verdict(1), ledger.stored()), (None, None, vec![2]));
    }

    #[test]
    fn a_changed_hash_is_announced_even_where_another_node_was_told_of_a_mismatch_last() {
        let ledger = Ledger::new();
        ledger.store(1, 10, hash(1));
        assert_eq!(ledger.judge(1, 10, hash(1)), Some(Verdict::Verified));
        assert_eq!(ledger.judge(1, 10, hash(2)), Some(Verdict::Mismatch));
        ledger.store(1, 10, hash(3));
        assert_eq!(ledger.revoked_from(0), vec![(1, hash(1))]);
    }
}
