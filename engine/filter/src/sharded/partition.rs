//! Items sorted by shard, by counting: two passes, order within a shard kept.

use bloomrf_kernels::hash::Hash128;

use super::shard_of;
use crate::Presence;

/// Room to sort a batch in; kept by whoever has many batches.
#[derive(Clone, Debug, Default)]
pub struct Partition {
    /// Shard of each item.
    shards: Vec<u16>,
    /// Where each shard's items end; those of the next begin there.
    ends: Vec<u32>,
    items: Vec<Hash128>,
    /// Place in the batch of each sorted item.
    places: Vec<u32>,
    answers: Vec<u64>,
    /// Shards that were busy.
    pub(super) busy: Vec<u16>,
}

impl Partition {
    /// Most items that are sorted together; larger batches are cut.
    pub const ITEMS_MAX: usize = 1 << 20;

    /// Room that grows with the first batches.
    #[must_use]
    pub fn new() -> Self {
        Partition::default()
    }

    /// Sorts at most [`Partition::ITEMS_MAX`] items.
    pub(super) fn sort(&mut self, items: &[Hash128], shards: usize) {
        debug_assert!(items.len() <= Partition::ITEMS_MAX, "{} items", items.len());
        self.shards.clear();
        self.shards.extend(items.iter().map(|item| shard_of(*item, shards) as u16));
        self.ends.clear();
        self.ends.resize(shards, 0);
        for shard in &self.shards {
            self.ends[usize::from(*shard)] += 1;
        }
        let mut start = 0;
        for end in &mut self.ends {
            let count = *end;
            *end = start;
            start += count;
        }
        self.items.resize(items.len(), Hash128 { lo: 0, hi: 0 });
        self.places.resize(items.len(), 0);
        // `ends` are starts here, and are ends when all have moved.
        for (place, (item, shard)) in items.iter().zip(&self.shards).enumerate() {
            let end = &mut self.ends[usize::from(*shard)];
            self.items[*end as usize] = *item;
            self.places[*end as usize] = place as u32;
            *end += 1;
        }
    }

    /// The items of a shard.
    pub(super) fn items(&self, shard: usize) -> &[Hash128] {
        &self.items[self.range(shard)]
    }

    /// Asks a shard for its items; sets the bits of the found ones by their places in the batch.
    pub(super) fn ask(&mut self, shard: usize, filter: &impl Presence, found: &mut [u64]) {
        let range = self.range(shard);
        let items = &self.items[range.clone()];
        self.answers.clear();
        self.answers.resize(items.len().div_ceil(64), 0);
        filter.contains_many(items, &mut self.answers);
        for (i, place) in self.places[range].iter().enumerate() {
            found[*place as usize / 64] |= (self.answers[i / 64] >> (i % 64) & 1) << (place % 64);
        }
    }

    /// Sets the bits of all items of a shard that nobody can be asked about.
    pub(super) fn all(&self, shard: usize, found: &mut [u64]) {
        for place in &self.places[self.range(shard)] {
            found[*place as usize / 64] |= 1 << (place % 64);
        }
    }

    fn range(&self, shard: usize) -> std::ops::Range<usize> {
        let start = if shard == 0 { 0 } else { self.ends[shard - 1] as usize };
        start..self.ends[shard] as usize
    }
}
