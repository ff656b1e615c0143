//! One logical filter over 1 to [`SHARDS_MAX`] shards, by bits of the item's hash that no probe
//! uses: each shard can be built, stored, sent and merged alone.
//!
//! A shard is a whole filter of its kind, sized for the fullest of them. With n items over N shards
//! a shard gets n / N on average, with a variance below that; the fullest has, but for one chance
//! in a million, no more than `n / N + L / 3 + sqrt(L * L / 9 + 2 * L * n / N)` where
//! `L = ln(N * 1e6)` (Bernstein's bound, for all shards together). For 10^8 items and 64 shards
//! that is 0.5 % more than the average; for few items in many shards it is most of the filter.
//!
//! Cost: a question is one question to one shard. Many are sorted by shard first.

mod concurrent;
mod partition;
#[cfg(test)]
mod tests;

use bloomrf_kernels::hash::Hash128;

use crate::{Build, Inserted, Presence, SizeRefusal, Spec};

pub use concurrent::{ConcurrentSharded, Poisoned};
pub use partition::Partition;

/// Most shards.
pub const SHARDS_MAX: usize = 4_096;

/// The shard of an item, below `shards`; part of the stored format.
///
/// Mixed from all bits of the hash and apart from every kind's probes, so that the items of one
/// shard are spread in it as all items are.
#[inline]
#[must_use]
pub fn shard_of(item: Hash128, shards: usize) -> usize {
    let mut x = item.lo.rotate_left(32) ^ item.hi.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x = (x ^ (x >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^= x >> 33;
    ((u128::from(x) * shards as u128) >> 64) as usize
}

/// What each of `shards` shards is to be, so that all of them together are `spec`.
#[must_use]
pub fn shard_spec(spec: &Spec, shards: usize) -> Spec {
    if shards <= 1 || spec.items == 0 {
        return *spec;
    }
    let (mean, chances) = (spec.items as f64 / shards as f64, (shards as f64 * 1e6).ln());
    let margin = chances / 3.0 + (chances * chances / 9.0 + 2.0 * chances * mean).sqrt();
    Spec { items: spec.items.min((mean + margin).ceil() as u64), fpr: spec.fpr }
}

/// Why there can be no such filter.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardRefusal {
    /// No shards, or too many.
    #[error("a filter has 1 to {SHARDS_MAX} shards, not {0}")]
    Shards(usize),
    /// Shards that are not of one filter.
    #[error(
        "shard {shard} was made for {capacity} items and shard 0 for {first}: not of one filter"
    )]
    Unlike {
        /// Which shard.
        shard: usize,
        /// Its capacity.
        capacity: u64,
        /// That of the first.
        first: u64,
    },
    /// No shard can be made so.
    #[error("no such shard: {0}")]
    Size(SizeRefusal),
}

/// One logical filter over many.
#[derive(Clone, Debug)]
pub struct Sharded<F> {
    capacity: u64,
    shards: Vec<F>,
    partition: Partition,
}

impl<F: Build> Sharded<F> {
    /// An empty filter of `shards` shards.
    ///
    /// # Errors
    /// Where there can be none.
    pub fn new(spec: &Spec, shards: usize) -> Result<Self, ShardRefusal> {
        if !(1..=SHARDS_MAX).contains(&shards) {
            return Err(ShardRefusal::Shards(shards));
        }
        let each = shard_spec(spec, shards);
        let filters: Result<_, _> = (0..shards).map(|_| F::build(&each)).collect();
        let shards = filters.map_err(ShardRefusal::Size)?;
        Ok(Sharded { capacity: spec.items, shards, partition: Partition::new() })
    }
}

impl<F: Presence> Sharded<F> {
    /// A filter for `capacity` items of shards that were made or stored alone, in order.
    ///
    /// # Errors
    /// Where there are none or too many, or they were not made for the same number of items.
    /// Shards that are swapped, or of another filter of that size, cannot be told.
    pub fn with_shards(capacity: u64, shards: Vec<F>) -> Result<Self, ShardRefusal> {
        if !(1..=SHARDS_MAX).contains(&shards.len()) {
            return Err(ShardRefusal::Shards(shards.len()));
        }
        let first = shards[0].capacity();
        match shards.iter().position(|shard| shard.capacity() != first) {
            Some(shard) => {
                Err(ShardRefusal::Unlike { shard, capacity: shards[shard].capacity(), first })
            }
            None => Ok(Sharded { capacity, shards, partition: Partition::new() }),
        }
    }

    /// The shard of an item.
    #[must_use]
    pub fn shard_of(&self, item: Hash128) -> usize {
        shard_of(item, self.shards.len())
    }

    /// The shards, in order.
    #[must_use]
    pub fn shards(&self) -> &[F] {
        &self.shards
    }

    /// The shards, in order, to merge something into one of them.
    #[must_use]
    pub fn shards_mut(&mut self) -> &mut [F] {
        &mut self.shards
    }

    /// The shards, in order.
    #[must_use]
    pub fn into_shards(self) -> Vec<F> {
        self.shards
    }

    fn mean(&self, of: impl Fn(&F) -> f64) -> f64 {
        self.shards.iter().map(of).sum::<f64>() / self.shards.len() as f64
    }
}

impl<F: Presence> Presence for Sharded<F> {
    fn insert(&mut self, item: Hash128) -> Inserted {
        let shard = self.shard_of(item);
        self.shards[shard].insert(item)
    }

    fn contains(&self, item: Hash128) -> bool {
        self.shards[self.shard_of(item)].contains(item)
    }

    fn insert_many(&mut self, items: &[Hash128]) -> usize {
        let mut refused = 0;
        for items in items.chunks(Partition::ITEMS_MAX) {
            self.partition.sort(items, self.shards.len());
            for (i, shard) in self.shards.iter_mut().enumerate() {
                let items = self.partition.items(i);
                if !items.is_empty() {
                    refused += shard.insert_many(items);
                }
            }
        }
        refused
    }

    fn contains_many(&self, items: &[Hash128], found: &mut [u64]) {
        assert!(found.len() >= items.len().div_ceil(64), "one bit for every item");
        found.fill(0);
        if items.len() < 4 * self.shards.len() {
            for (i, item) in items.iter().enumerate() {
                found[i / 64] |= u64::from(self.contains(*item)) << (i % 64);
            }
            return;
        }
        let mut partition = Partition::new();
        for (items, found) in
            items.chunks(Partition::ITEMS_MAX).zip(found.chunks_mut(Partition::ITEMS_MAX / 64))
        {
            partition.sort(items, self.shards.len());
            for (i, shard) in self.shards.iter().enumerate() {
                partition.ask(i, shard, found);
            }
        }
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn inserted(&self) -> u64 {
        self.shards.iter().map(Presence::inserted).sum()
    }

    fn fill(&self) -> f64 {
        self.mean(Presence::fill)
    }

    /// Of an item that is in any shard with the same chance.
    fn fpr(&self) -> f64 {
        self.mean(Presence::fpr)
    }

    fn estimate(&self) -> f64 {
        self.shards.iter().map(Presence::estimate).sum()
    }

    fn bytes(&self) -> u64 {
        self.shards.iter().map(Presence::bytes).sum()
    }
}
