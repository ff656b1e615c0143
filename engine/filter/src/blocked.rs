//! The blocked Bloom filter: k bits in one block of 64 bytes, a cache line.
//!
//! One line an item whatever the rate; below 1e-3 it wants fewer bits than split blocks do.

use bloomrf_kernels::blocked::{BLOCK_WORDS, BLOCKS_MAX, K_MAX, K_MIN, blocks_for};
use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::{Kernel, SizeError, blocked, words};

use crate::blocks::{STEP, estimate, lower, refusal};
use crate::{Build, Inserted, Presence, SizeRefusal, Spec};

/// A blocked filter that owns its words. It goes by the lower half of an item's hash.
#[derive(Clone, Debug)]
pub struct Blocked {
    kernel: Kernel,
    k: u32,
    capacity: u64,
    inserted: u64,
    words: Vec<u64>,
}

impl Blocked {
    /// A filter of these words; `None` unless they are whole blocks, at least one, and `k` is 4
    /// to 8.
    #[must_use]
    pub fn from_parts(k: u32, words: Vec<u64>, capacity: u64, inserted: u64) -> Option<Self> {
        let is_whole = !words.is_empty() && words.len().is_multiple_of(BLOCK_WORDS);
        let fits = (words.len() / BLOCK_WORDS) as u64 <= BLOCKS_MAX;
        let kernel = Kernel::best();
        let fits = fits && (K_MIN..=K_MAX).contains(&k);
        (is_whole && fits).then_some(Blocked { kernel, k, capacity, inserted, words })
    }

    /// Bits of each item, one in each of as many lanes.
    #[must_use]
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Its words, eight to a block.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    fn insert_hash(&mut self, hash: u64) -> Inserted {
        if blocked::contains(self.k, &self.words, hash) {
            return Inserted::Seen;
        }
        blocked::insert(self.k, &mut self.words, hash);
        self.inserted += 1;
        Inserted::New
    }
}

impl Build for Blocked {
    fn build(spec: &Spec) -> Result<Self, SizeRefusal> {
        if spec.items == 0 {
            return Err(SizeRefusal::NoItems);
        }
        let sizes = (K_MIN..=K_MAX).map(|k| (blocks_for(k, spec.items, spec.fpr), k));
        let fewest = sizes.clone().filter_map(|(blocks, k)| Some((blocks.ok()?, k))).min();
        let Some((blocks, k)) = fewest else {
            let why = sizes.filter_map(|(blocks, _)| blocks.err()).next_back();
            let why = why.unwrap_or(SizeError::NoRate { fpr: spec.fpr });
            return Err(refusal(why, 512, BLOCKS_MAX, |fpr| blocks_for(K_MAX, 1, fpr).is_ok()));
        };
        let words = vec![0; blocks as usize * BLOCK_WORDS];
        Ok(Blocked { kernel: Kernel::best(), k, capacity: spec.items, inserted: 0, words })
    }
}

impl Presence for Blocked {
    fn insert(&mut self, item: Hash128) -> Inserted {
        self.insert_hash(item.lo)
    }

    fn contains(&self, item: Hash128) -> bool {
        blocked::contains(self.k, &self.words, item.lo)
    }

    fn insert_many(&mut self, items: &[Hash128]) -> usize {
        let (mut hashes, mut found) = ([0; STEP], [0; STEP / 64]);
        for items in items.chunks(STEP) {
            lower(items, &mut hashes);
            let hashes = &hashes[..items.len()];
            // Brings the blocks near, all at once, and tells those that set no bit.
            blocked::contains_hashes_many(self.kernel, self.k, &self.words, hashes, &mut found);
            for (i, hash) in hashes.iter().enumerate() {
                if found[i / 64] >> (i % 64) & 1 == 0 {
                    self.insert_hash(*hash);
                }
            }
        }
        0
    }

    fn contains_many(&self, items: &[Hash128], found: &mut [u64]) {
        assert!(found.len() >= items.len().div_ceil(64), "one bit for every item");
        found.fill(0);
        let mut hashes = [0; STEP];
        for (items, found) in items.chunks(STEP).zip(found.chunks_mut(STEP / 64)) {
            lower(items, &mut hashes);
            let hashes = &hashes[..items.len()];
            blocked::contains_hashes_many(self.kernel, self.k, &self.words, hashes, found);
        }
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn inserted(&self) -> u64 {
        self.inserted
    }

    fn fill(&self) -> f64 {
        words::ones(self.kernel, &self.words) as f64 / (64 * self.words.len()) as f64
    }

    fn fpr(&self) -> f64 {
        blocked::fpr(self.k, &self.words)
    }

    fn estimate(&self) -> f64 {
        estimate::<BLOCK_WORDS>(&self.words, self.k)
    }

    fn bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HashRule;

    #[test]
    fn many_do_as_one_by_one_and_the_rate_is_what_was_asked_for() {
        let spec = Spec { items: 10_000, fpr: 0.01 };
        let mut filter = Blocked::build(&spec).unwrap();
        let item = |i: u64| HashRule::Native { seed: 3 }.hash(&i.to_le_bytes());
        // Each of them twice, close by.
        let items: Vec<Hash128> = (0..20_000).map(|i| item(i / 2)).collect();
        assert_eq!(filter.insert_many(&items), 0);
        let mut single = Blocked::build(&spec).unwrap();
        let new = items.iter().filter(|i| single.insert(**i) == Inserted::New).count() as u64;
        assert_eq!((single.words(), single.inserted()), (filter.words(), new));
        assert_eq!(filter.inserted(), new);
        let others: Vec<Hash128> = (1 << 32..(1 << 32) + 100_000).map(item).collect();
        let mut found = vec![u64::MAX; others.len().div_ceil(64) + 1];
        filter.contains_many(&others, &mut found);
        let wrong: u32 = found.iter().map(|word| word.count_ones()).sum();
        let singly = others.iter().filter(|i| filter.contains(**i)).count();
        assert_eq!(wrong as usize, singly);
        assert!((850..1_150).contains(&wrong), "{wrong} of 100,000");
        assert!((filter.fpr() - 0.01).abs() < 1e-3, "{}", filter.fpr());
        assert!((filter.estimate() - 10_000.0).abs() < 300.0, "{}", filter.estimate());
    }

    #[test]
    fn a_size_that_cannot_be_is_refused() {
        let build = |items, fpr| Blocked::build(&Spec { items, fpr }).map(|_| ()).unwrap_err();
        assert_eq!(build(0, 0.01), SizeRefusal::NoItems);
        assert_eq!(build(1, 1.0), SizeRefusal::Rate(1.0));
        let SizeRefusal::Unreachable { asked, lowest } = build(1_000, 1e-20) else {
            panic!("a rate below reach")
        };
        assert!(asked == 1e-20 && lowest > asked && blocks_for(8, 1_000, lowest).is_ok());
        assert!(matches!(build(1 << 50, 0.01), SizeRefusal::TooLarge { .. }));
        assert!(Blocked::from_parts(6, vec![], 0, 0).is_none());
        assert!(Blocked::from_parts(6, vec![0; 12], 0, 0).is_none());
        assert!(Blocked::from_parts(9, vec![0; 8], 0, 0).is_none());
    }
}
