//! The classic Bloom filter: k bits anywhere among m.
//!
//! The best rate for its bits of those that set bits, at k cache lines a key; any m up to 2^40.

use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::{Kernel, classic, words};

use crate::{Build, Inserted, Presence, SizeRefusal, Spec};

/// A classic Bloom filter that owns its words.
#[derive(Clone, Debug)]
pub struct Classic {
    kernel: Kernel,
    k: u32,
    bits: u64,
    capacity: u64,
    inserted: u64,
    words: Vec<u64>,
}

impl Classic {
    /// A filter of these parts, as a file tells them; `None` where they do not fit: `k` is 1 to
    /// 64, `words` are as many as `bits` take, and bits past the last are 0.
    #[must_use]
    pub fn from_parts(
        k: u32,
        bits: u64,
        words: Vec<u64>,
        capacity: u64,
        inserted: u64,
    ) -> Option<Self> {
        let is_whole = (1..=classic::K_MAX).contains(&k)
            && (1..=classic::BITS_MAX).contains(&bits)
            && words.len() as u64 == bits.div_ceil(64);
        let past = words.last().map_or(0, |word| word >> 1 >> ((bits.wrapping_sub(1)) % 64));
        let kernel = Kernel::best();
        (is_whole && past == 0).then_some(Classic { kernel, k, bits, capacity, inserted, words })
    }

    /// Probes for each item.
    #[must_use]
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Bits: the modulus of the probes.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// Its bits, least significant first; those past the last are 0.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

impl Build for Classic {
    fn build(spec: &Spec) -> Result<Self, SizeRefusal> {
        let classic::Shape { bits, k } =
            classic::shape_for(spec.items, spec.fpr).map_err(|why| match why {
                classic::ShapeError::Rate(rate) => SizeRefusal::Rate(rate),
                classic::ShapeError::NoItems => SizeRefusal::NoItems,
                classic::ShapeError::TooLarge { bits } => {
                    SizeRefusal::TooLarge { bits, most: classic::BITS_MAX }
                }
            })?;
        Ok(Classic {
            kernel: Kernel::best(),
            k,
            bits,
            capacity: spec.items,
            inserted: 0,
            words: vec![0; bits.div_ceil(64) as usize],
        })
    }
}

impl Presence for Classic {
    fn insert(&mut self, item: Hash128) -> Inserted {
        let is_new = classic::insert(self.k, self.bits, &mut self.words, item);
        self.inserted += u64::from(is_new);
        if is_new { Inserted::New } else { Inserted::Seen }
    }

    fn contains(&self, item: Hash128) -> bool {
        classic::contains(self.k, self.bits, &self.words, item)
    }

    fn insert_many(&mut self, items: &[Hash128]) -> usize {
        self.inserted +=
            classic::insert_many(self.kernel, self.k, self.bits, &mut self.words, items);
        0
    }

    fn contains_many(&self, items: &[Hash128], found: &mut [u64]) {
        classic::contains_many(self.kernel, self.k, self.bits, &self.words, items, found);
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn inserted(&self) -> u64 {
        self.inserted
    }

    fn fill(&self) -> f64 {
        words::ones(self.kernel, &self.words) as f64 / self.bits as f64
    }

    fn fpr(&self) -> f64 {
        self.fill().powi(self.k as i32)
    }

    fn estimate(&self) -> f64 {
        let empty = (1.0 - self.fill()).max(0.5 / self.bits as f64);
        -(self.bits as f64) / f64::from(self.k) * empty.ln()
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
    fn parts_that_do_not_fit_are_no_filter() {
        let of = |k, bits, words: &[u64]| Classic::from_parts(k, bits, words.to_vec(), 1, 1);
        for (k, bits, words) in [
            (0, 64, &[0][..]),
            (65, 64, &[0]),
            (7, 0, &[]),
            (7, 65, &[0]),
            (7, 64, &[0, 0]),
            (7, 65, &[0, 2]),
            (7, 63, &[1 << 63]),
            (7, u64::MAX, &[0]),
        ] {
            assert!(of(k, bits, words).is_none(), "{k} {bits} {words:?}");
        }
        assert!(of(7, 65, &[u64::MAX, 1]).is_some() && of(1, 64, &[u64::MAX]).is_some());
    }

    #[test]
    fn what_was_inserted_is_found_and_the_rate_is_about_what_was_asked_for() {
        let mut filter = Classic::build(&Spec { items: 10_000, fpr: 0.01 }).unwrap();
        let item = |i: u64| HashRule::Native { seed: 1 }.hash(&i.to_le_bytes());
        let items: Vec<Hash128> = (0..10_000).map(item).collect();
        assert_eq!(filter.insert_many(&items), 0);
        assert!(items.iter().all(|item| filter.contains(*item)));
        let others: Vec<Hash128> = (1 << 32..(1 << 32) + 100_000).map(item).collect();
        let mut found = vec![0; others.len().div_ceil(64)];
        filter.contains_many(&others, &mut found);
        let wrong: u32 = found.iter().map(|word| word.count_ones()).sum();
        assert!((850..1_150).contains(&wrong), "{wrong} of 100,000");
        assert!((filter.fpr() - 0.01).abs() < 5e-4);
        assert!((filter.estimate() - 10_000.0).abs() < 300.0);
    }
}
