//! What the tests of chains, shards and windows share: a seed, items, and a kind that is exact.

use std::collections::HashMap;

use bloomrf_kernels::hash::Hash128;

use crate::{Build, HashRule, Inserted, Presence, Remove, Removed, SizeRefusal, Spec};

/// `SEED` of the environment, or 1; printed, so that a failure can be replayed.
pub(crate) fn seed() -> u64 {
    let seed = std::env::var("SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    println!("SEED={seed}");
    seed
}

/// Items `range` of the seed; ranges that do not meet are distinct items.
pub(crate) fn items(seed: u64, range: std::ops::Range<u64>) -> Vec<Hash128> {
    let rule = HashRule::Native { seed };
    range.map(|i| rule.hash(&i.to_le_bytes())).collect()
}

/// Numbers that look random, by splitmix64.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (x ^ (x >> 31)) % sides
    }
}

/// How many of `items` the filter says *maybe* to.
pub(crate) fn found(filter: &impl Presence, items: &[Hash128]) -> usize {
    let mut found = vec![0; items.len().div_ceil(64)];
    filter.contains_many(items, &mut found);
    found.iter().map(|word| word.count_ones() as usize).sum()
}

/// An exact multiset that has no room for more than `PERCENT` of its capacity.
#[derive(Clone, Debug)]
pub(crate) struct Tally<const PERCENT: u64> {
    capacity: u64,
    pub(crate) counts: HashMap<(u64, u64), u32>,
}

impl<const PERCENT: u64> Build for Tally<PERCENT> {
    fn build(spec: &Spec) -> Result<Self, SizeRefusal> {
        if spec.items == 0 {
            return Err(SizeRefusal::NoItems);
        }
        Ok(Tally { capacity: spec.items, counts: HashMap::new() })
    }

    fn bytes_least(spec: &Spec) -> u64 {
        16 * spec.items
    }
}

impl<const PERCENT: u64> Presence for Tally<PERCENT> {
    fn insert(&mut self, item: Hash128) -> Inserted {
        let is_new = !self.contains(item);
        if is_new && self.inserted() >= self.capacity * PERCENT / 100 {
            return Inserted::Full;
        }
        *self.counts.entry((item.lo, item.hi)).or_default() += 1;
        if is_new { Inserted::New } else { Inserted::Seen }
    }

    fn contains(&self, item: Hash128) -> bool {
        self.counts.contains_key(&(item.lo, item.hi))
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn inserted(&self) -> u64 {
        self.counts.len() as u64
    }

    fn fill(&self) -> f64 {
        self.inserted() as f64 / self.capacity as f64
    }

    fn fpr(&self) -> f64 {
        0.0
    }

    fn estimate(&self) -> f64 {
        self.inserted() as f64
    }

    fn bytes(&self) -> u64 {
        16 * self.capacity
    }
}

impl<const PERCENT: u64> Remove for Tally<PERCENT> {
    fn remove(&mut self, item: Hash128) -> Removed {
        let key = (item.lo, item.hi);
        match self.counts.get_mut(&key) {
            None => return Removed::Absent,
            Some(1) => {
                self.counts.remove(&key);
            }
            Some(count) => *count -= 1,
        }
        Removed::Done
    }
}
