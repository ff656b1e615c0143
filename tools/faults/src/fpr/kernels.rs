//! One filter of uniform keys, asked by the best kernel set; built larger and folded.

use bloomrf_kernels::params::{fpr, fpr_blocked, layers_for};
use bloomrf_kernels::scalar::bitmap;
use bloomrf_kernels::{Kernel, blocked, bloomrf, words};

use super::Shape;
use super::rate::Rate;
use crate::chance::Chance;

/// A bloomRF.
pub(super) struct Layered {
    /// Of a key: 32 (with the exact top), 48 or 64.
    pub(super) bits: u8,
    pub(super) keys: usize,
    /// Once it is folded.
    pub(super) bits_per_key: usize,
    /// Keys of a range; 1: points.
    pub(super) width: u64,
    pub(super) fold: usize,
}

/// A blocked Bloom filter, asked for points.
pub(super) struct Blocked {
    pub(super) keys: usize,
    /// Once it is folded.
    pub(super) bits_per_key: usize,
    pub(super) fold: usize,
}

impl Shape for Layered {
    fn name(&self) -> String {
        let Layered { bits, keys, bits_per_key, width, fold } = self;
        format!(
            "bloomRF {bits} bits, {keys} keys, {bits_per_key} bits/key, width {width}, fold {fold}"
        )
    }

    fn measure(&self, negatives: u64, seed: u64) -> Result<Rate, String> {
        let mut chance = Chance::new(seed ^ self.width << 32 ^ u64::from(self.bits));
        // Where few keys lie makes a difference: the model speaks of the mean.
        let filters = (KEYS_MIN / self.keys).max(1) as u64;
        let mut rate = Rate::default();
        for _ in 0..filters {
            self.filter(negatives.div_ceil(filters), &mut chance, &mut rate)?;
        }
        Ok(rate)
    }
}

impl Layered {
    /// One filter of keys of its own.
    fn filter(&self, negatives: u64, chance: &mut Chance, rate: &mut Rate) -> Result<(), String> {
        let kernel = Kernel::best();
        let layers = layers_for(self.bits, chance.draw());
        let unused = 64 - u32::from(self.bits);
        let mut keys: Vec<u64> = (0..self.keys).map(|_| chance.draw() >> unused).collect();
        let size = (self.keys * self.bits_per_key).div_ceil(64);
        let mut hashed = vec![0; size * self.fold];
        let mut top = vec![0; if layers.has_exact_top() { bitmap::WORDS_16 } else { 0 }];
        bloomrf::insert_many(kernel, &layers, &mut hashed, &mut top, &keys);
        words::fold(kernel, &mut hashed, self.fold);
        keys.sort_unstable();

        let (mut asked, mut held) = (0, 0);
        let mut ranges = vec![(0, 0); ASKED];
        let mut found = vec![0; ASKED / 64];
        while asked - held < negatives {
            self.draw(layers.key_max(), chance, &mut ranges);
            if self.width == 1 {
                let points: Vec<u64> = ranges.iter().map(|range| range.0).collect();
                bloomrf::contains_many(kernel, &layers, &hashed, &top, &points, &mut found);
            } else {
                bloomrf::range_many(kernel, &layers, &hashed, &top, &ranges, PROBES, &mut found);
            }
            asked += ASKED as u64;
            for (at, &(lo, hi)) in ranges.iter().enumerate() {
                let is_found = found[at / 64] >> (at % 64) & 1 == 1;
                let next = keys.partition_point(|&key| key < lo);
                let is_held = keys.get(next).is_some_and(|&key| key <= hi);
                match (is_held, is_found) {
                    (true, true) => held += 1,
                    (true, false) => return Err(format!("a key in {lo}..={hi} was lost")),
                    (false, true) => rate.found += 1,
                    (false, false) => {}
                }
            }
            if asked > 1_000 * negatives {
                return Err("hardly a range is empty".to_owned());
            }
        }
        let empty = asked - held;
        rate.negatives += empty;
        rate.expected += fpr(&layers, size, self.keys as u64, self.width) * empty as f64;
        Ok(())
    }

    /// Ranges anywhere in the domain.
    fn draw(&self, key_max: u64, chance: &mut Chance, ranges: &mut [(u64, u64)]) {
        let last = key_max - (self.width - 1);
        for (lo, hi) in ranges {
            *lo = if last == u64::MAX { chance.draw() } else { chance.below(last + 1) };
            *hi = *lo + (self.width - 1);
        }
    }
}

impl Shape for Blocked {
    fn name(&self) -> String {
        let Blocked { keys, bits_per_key, fold } = self;
        format!("blocked, {keys} keys, {bits_per_key} bits/key, fold {fold}")
    }

    fn measure(&self, negatives: u64, seed: u64) -> Result<Rate, String> {
        let mut chance = Chance::new(seed ^ self.bits_per_key as u64);
        let (kernel, k, seed) = (Kernel::best(), blocked::K_DEFAULT, chance.draw());
        let blocks = (self.keys * self.bits_per_key).div_ceil(512);
        let size = blocks * blocked::BLOCK_WORDS;
        let keys: Vec<u64> = (0..self.keys).map(|_| chance.draw() >> 1).collect();
        let mut large = vec![0; size * self.fold];
        blocked::insert_many(kernel, k, &mut large, seed, &keys);
        let mut filter = vec![0; size];
        words::merge_fold(kernel, &[&large], blocked::BLOCK_WORDS, self.fold, &mut filter);

        let mut rate = Rate::default();
        let mut found = vec![0; ASKED / 64];
        while rate.negatives < negatives {
            // The upper half of the domain holds no key.
            let asked: Vec<u64> = (0..ASKED).map(|_| chance.draw() | 1 << 63).collect();
            blocked::contains_many(kernel, k, &filter, seed, &asked, &mut found);
            rate.found += words::ones(kernel, &found);
            rate.negatives += ASKED as u64;
        }
        rate.expected = fpr_blocked(k, size, self.keys as u64) * rate.negatives as f64;
        Ok(rate)
    }
}

/// Keys of all filters of a shape together.
const KEYS_MIN: usize = 1 << 16;
/// Questions at a time.
const ASKED: usize = 1 << 14;
/// Words that a range may read: as a node is configured by default.
const PROBES: u32 = 256;
