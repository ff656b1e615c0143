//! All (lo, hi) pairs of a 1,024-key window at the bottom, the middle and the top of the domain.

use bloomrf_kernels::plan::TopBits;
use bloomrf_kernels::scalar::{bitmap, bloomrf, words};
use bloomrf_kernels::{Answer, Layers, RangePlan};

use crate::seeded::Splitmix;

/// Keys of a window.
const WINDOW: u64 = 1024;

/// No budget.
const FREE: u32 = u32::MAX;

/// A filter and what belongs to it.
struct Built {
    layers: Layers,
    hashed: Vec<u64>,
    top: Vec<u64>,
    list: Vec<u16>,
}

impl Built {
    fn new(layers: Layers, words: usize, keys: &[u64]) -> Self {
        let mut hashed = vec![0; words];
        let mut top = vec![0; if layers.has_exact_top() { bitmap::WORDS_16 } else { 0 }];
        for &key in keys {
            bloomrf::insert(&layers, &mut hashed, &mut top, key);
        }
        let list = bitmap::keys(&top).collect();
        Built { layers, hashed, top, list }
    }

    fn folded(&self, factor: usize) -> Self {
        let mut hashed = self.hashed.clone();
        words::fold(&mut hashed, factor);
        Built { layers: self.layers, hashed, top: self.top.clone(), list: self.list.clone() }
    }

    fn range(&self, lo: u64, hi: u64) -> Answer {
        bloomrf::range(&self.layers, &self.hashed, &self.top, lo, hi, FREE)
    }

    /// Everything that must agree about one range, and be right if `truth`.
    fn check(&self, plan: &RangePlan, lo: u64, hi: u64, truth: bool) {
        let direct = self.range(lo, hi);
        assert_ne!(direct, Answer::OverBudget);
        assert!(!truth || direct == Answer::Maybe, "lost {lo:#x}..={hi:#x}: {:?}", self.layers);
        if self.layers.has_exact_top() {
            assert_eq!(plan.run(&self.hashed, TopBits::Bitmap(&self.top)), direct);
            assert_eq!(plan.run(&self.hashed, TopBits::List(&self.list)), direct);
        } else {
            assert_eq!(plan.run(&self.hashed, TopBits::None), direct, "{lo:#x}..={hi:#x}");
        }
        if lo == hi {
            let point = bloomrf::contains(&self.layers, &self.hashed, &self.top, lo);
            assert_eq!(point, direct == Answer::Maybe, "point {lo:#x}");
        }
    }
}

/// `count` keys of the window at `base`; two keys are its ends.
fn keys_in(random: &mut Splitmix, base: u64, count: usize) -> Vec<u64> {
    let mut keys: Vec<u64> = (0..count).map(|_| base + random.below(WINDOW)).collect();
    if count == 2 {
        keys = vec![base, base + (WINDOW - 1)];
    }
    keys
}

/// The windows of a domain: bottom, across the middle, top.
fn windows(layers: &Layers) -> [u64; 3] {
    let max = layers.key_max();
    [0, max / 2 - WINDOW / 2, max - (WINDOW - 1)]
}

/// For each key of the window, the first inserted key from it on (as an offset; past the end: none).
fn next_keys(base: u64, keys: &[u64]) -> Vec<u64> {
    let mut next = vec![WINDOW; WINDOW as usize + 1];
    for at in (0..WINDOW).rev() {
        let here = keys.contains(&(base + at));
        next[at as usize] = if here { at } else { next[at as usize + 1] };
    }
    next
}

/// Every pair of ends in every window, in filters of 0 to 40 keys, fresh and folded.
fn all_pairs(name: &str, domain_bits: u8, widths: &[u8], exact_top: bool) {
    let mut random = Splitmix::of(name);
    let layers = Layers::new(domain_bits, widths, exact_top, random.next()).expect("valid widths");
    let mut plan = RangePlan::default();
    for base in windows(&layers) {
        let cases: Vec<_> = [0, 1, 2, 5, 40]
            .map(|count| {
                let keys = keys_in(&mut random, base, count);
                let fresh = Built::new(layers, 60, &keys);
                let folded = fresh.folded(3);
                (next_keys(base, &keys), fresh, folded)
            })
            .into();
        for a in 0..WINDOW {
            for b in a..WINDOW {
                let (lo, hi) = (base + a, base + b);
                plan.build(&layers, lo, hi, FREE);
                for (next, fresh, folded) in &cases {
                    let truth = next[a as usize] <= b;
                    fresh.check(&plan, lo, hi, truth);
                    folded.check(&plan, lo, hi, truth);
                }
            }
        }
    }
}

#[test]
fn every_range_with_a_key_is_found_in_wide_layers() {
    all_pairs("every_range_with_a_key_is_found_in_wide_layers", 64, &[7, 7], false);
}

#[test]
fn every_range_with_a_key_is_found_under_an_exact_top() {
    all_pairs("every_range_with_a_key_is_found_under_an_exact_top", 32, &[7, 4, 2, 2, 1], true);
}
