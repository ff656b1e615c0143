//! A sharded filter that many threads insert into and ask at once, without a global lock.
//!
//! Each shard has a lock of its own for many readers or one writer. A batch is sorted by shard
//! outside of all locks and takes each shard's lock once. Every batch begins at another shard and
//! takes the shards that are free first, so that writers rarely wait for each other.
//!
//! Readers of a shard never wait for each other; they wait for at most the writers that are ahead
//! of them in that shard. [`ConcurrentSharded::try_contains`] never waits. Reads that never meet
//! a lock need a kind whose bits are atomic.
//!
//! An insertion that has returned is found by every question that begins after it. A writer that
//! panicked may have left half of an item: its shard then says *maybe* to everything and takes no
//! more.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{RwLock, TryLockError};

use bloomrf_kernels::hash::Hash128;

use super::{Partition, ShardRefusal, Sharded, shard_of};
use crate::{Build, Inserted, Presence, Spec};

/// A writer panicked in a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a writer panicked in shard {shard}: what it holds is in doubt; build the filter anew")]
pub struct Poisoned {
    /// Which shard.
    pub shard: usize,
}

/// One shard, alone in its cache lines: a lock that is taken does not slow its neighbours.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Shard<F>(pub(super) RwLock<F>);

/// A [`Sharded`] filter for many writers and readers.
#[derive(Debug)]
pub struct ConcurrentSharded<F> {
    capacity: u64,
    pub(super) shards: Box<[Shard<F>]>,
    /// Where the next batch begins.
    next: AtomicUsize,
}

impl<F: Build> ConcurrentSharded<F> {
    /// An empty filter of `shards` shards: some 16 for each writer keep them apart.
    ///
    /// # Errors
    /// Where there can be none.
    pub fn new(spec: &Spec, shards: usize) -> Result<Self, ShardRefusal> {
        Ok(ConcurrentSharded::from(Sharded::new(spec, shards)?))
    }
}

impl<F: Presence> From<Sharded<F>> for ConcurrentSharded<F> {
    fn from(sharded: Sharded<F>) -> Self {
        let capacity = sharded.capacity();
        let shards = sharded.into_shards().into_iter().map(|f| Shard(RwLock::new(f))).collect();
        ConcurrentSharded { capacity, shards, next: AtomicUsize::new(0) }
    }
}

impl<F: Presence> ConcurrentSharded<F> {
    /// Inserts one item. [`Inserted::Full`] also where a writer panicked.
    pub fn insert(&self, item: Hash128) -> Inserted {
        match self.shards[shard_of(item, self.shards.len())].0.write() {
            Ok(mut shard) => shard.insert(item),
            Err(_) => Inserted::Full,
        }
    }

    /// Whether the item may be there.
    #[must_use]
    pub fn contains(&self, item: Hash128) -> bool {
        self.shards[shard_of(item, self.shards.len())]
            .0
            .read()
            .map_or(true, |shard| shard.contains(item))
    }

    /// Whether the item may be there; `None` at once where a writer holds its shard.
    #[must_use]
    pub fn try_contains(&self, item: Hash128) -> Option<bool> {
        match self.shards[shard_of(item, self.shards.len())].0.try_read() {
            Ok(shard) => Some(shard.contains(item)),
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Poisoned(_)) => Some(true),
        }
    }

    /// Inserts many, in an order of its own; returns how many there was no room for.
    pub fn insert_many(&self, items: &[Hash128]) -> usize {
        self.insert_many_in(&mut Partition::new(), items)
    }

    /// The same, in room that the caller keeps.
    pub fn insert_many_in(&self, partition: &mut Partition, items: &[Hash128]) -> usize {
        items.chunks(Partition::ITEMS_MAX).map(|items| self.insert_sorted(partition, items)).sum()
    }

    fn insert_sorted(&self, partition: &mut Partition, items: &[Hash128]) -> usize {
        let count = self.shards.len();
        partition.sort(items, count);
        let mut busy = std::mem::take(&mut partition.busy);
        busy.clear();
        let mut refused = 0;
        // A stride that is far from every simple fraction keeps two writers apart.
        let start = self.next.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9) % count;
        for i in (start..count).chain(0..start) {
            let items = partition.items(i);
            if items.is_empty() {
                continue;
            }
            match self.shards[i].0.try_write() {
                Ok(mut shard) => refused += shard.insert_many(items),
                Err(TryLockError::WouldBlock) => busy.push(i as u16),
                Err(TryLockError::Poisoned(_)) => refused += items.len(),
            }
        }
        for i in &busy {
            let items = partition.items(usize::from(*i));
            refused += match self.shards[usize::from(*i)].0.write() {
                Ok(mut shard) => shard.insert_many(items),
                Err(_) => items.len(),
            };
        }
        partition.busy = busy;
        refused
    }

    /// Asks for many, as [`Presence::contains_many`].
    ///
    /// # Panics
    /// Unless `found` has a bit for every item.
    pub fn contains_many(&self, items: &[Hash128], found: &mut [u64]) {
        self.contains_many_in(&mut Partition::new(), items, found);
    }

    /// The same, in room that the caller keeps.
    ///
    /// # Panics
    /// Unless `found` has a bit for every item.
    pub fn contains_many_in(
        &self,
        partition: &mut Partition,
        items: &[Hash128],
        found: &mut [u64],
    ) {
        assert!(found.len() >= items.len().div_ceil(64), "one bit for every item");
        found.fill(0);
        for (items, found) in
            items.chunks(Partition::ITEMS_MAX).zip(found.chunks_mut(Partition::ITEMS_MAX / 64))
        {
            partition.sort(items, self.shards.len());
            for (i, shard) in self.shards.iter().enumerate() {
                if partition.items(i).is_empty() {
                    continue;
                }
                match shard.0.read() {
                    Ok(shard) => partition.ask(i, &*shard, found),
                    Err(_) => partition.all(i, found),
                }
            }
        }
    }

    /// Distinct items that it was sized for.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Items that were new, shard after shard; without those of a shard where a writer panicked.
    #[must_use]
    pub fn inserted(&self) -> u64 {
        self.shards.iter().filter_map(|shard| shard.0.read().ok()).map(|f| f.inserted()).sum()
    }

    /// The filter, when all writers are done.
    ///
    /// # Errors
    /// Where one of them panicked.
    pub fn into_sharded(self) -> Result<Sharded<F>, Poisoned> {
        let mut shards = Vec::with_capacity(self.shards.len());
        for (i, shard) in self.shards.into_vec().into_iter().enumerate() {
            shards.push(shard.0.into_inner().map_err(|_| Poisoned { shard: i })?);
        }
        Ok(Sharded { capacity: self.capacity, shards, partition: Partition::new() })
    }
}
