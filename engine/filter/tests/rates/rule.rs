//! The index rules that are held against the tests: ours, and the one that must fail.

use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::scalar::classic::probe;

/// From an item, the number of a probe and the bits of a filter to a bit.
pub(crate) type Rule = fn(Hash128, u32, u64) -> u64;

pub(crate) const OURS: Rule = probe;

/// Plain double hashing modulo m.
pub(crate) const DOUBLED: Rule =
    |item, i, bits| item.lo.wrapping_add(u64::from(i).wrapping_mul(item.hi)) % bits;

/// A filter of a rule, bit by bit.
pub(crate) struct Bits {
    rule: Rule,
    k: u32,
    bits: u64,
    words: Vec<u64>,
}

impl Bits {
    pub(crate) fn new(rule: Rule, k: u32, bits: u64) -> Self {
        Bits { rule, k, bits, words: vec![0; bits.div_ceil(64) as usize] }
    }

    pub(crate) fn insert(&mut self, item: Hash128) {
        for i in 0..self.k {
            let at = (self.rule)(item, i, self.bits);
            self.words[(at / 64) as usize] |= 1 << (at % 64);
        }
    }

    /// The first probes of an item that are set: `k` where it is found.
    pub(crate) fn passed(&self, item: Hash128) -> usize {
        let is_set = |i: &u32| {
            let at = (self.rule)(item, *i, self.bits);
            self.words[(at / 64) as usize] >> (at % 64) & 1 == 1
        };
        (0..self.k).take_while(is_set).count()
    }

    pub(crate) fn fill(&self) -> f64 {
        let ones: u32 = self.words.iter().map(|word| word.count_ones()).sum();
        f64::from(ones) / self.bits as f64
    }
}

/// Those that passed the first j probes, of filters of several fills, and how far that is from
/// what each fill lets expect of those that passed j - 1.
pub(crate) struct Passes {
    counts: Vec<f64>,
    /// If all probes are independent, whatever passed before.
    expected: Vec<f64>,
    deviations: Vec<f64>,
    variances: Vec<f64>,
}

/// Standard deviations that chance does not reach in some thousand tests.
pub(crate) const SIGMAS: f64 = 5.5;

impl Passes {
    pub(crate) fn new(k: u32) -> Self {
        let zeros = || vec![0.0; k as usize + 1];
        Passes { counts: zeros(), expected: zeros(), deviations: zeros(), variances: zeros() }
    }

    /// Adds what was asked of one filter: `passed[j]` items passed the first j probes or more.
    pub(crate) fn add(&mut self, fill: f64, passed: &[u64]) {
        for j in 1..passed.len() {
            let (before, now) = (passed[j - 1] as f64, passed[j] as f64);
            self.counts[j] += now;
            self.expected[j] += passed[0] as f64 * fill.powi(j as i32);
            self.deviations[j] += now - fill * before;
            self.variances[j] += before * fill * (1.0 - fill);
        }
    }

    /// # Errors
    /// The first probe that passes more or fewer than its fill says, of those that passed the one
    /// before or of all: a floor shows in the latter, once there is little else.
    pub(crate) fn check(&self) -> Result<(), String> {
        for j in 1..self.counts.len() {
            // A Poisson number of few has a longer tail than its deviation tells.
            let limit = SIGMAS * self.variances[j].sqrt() + 4.0;
            if self.deviations[j].abs() > limit {
                return Err(format!(
                    "probe {j} passed {} items, {:+.1} from what the fill says; at most {limit:.1}",
                    self.counts[j], self.deviations[j]
                ));
            }
            let limit = SIGMAS * self.expected[j].sqrt() + 6.0;
            if (self.counts[j] - self.expected[j]).abs() > limit {
                return Err(format!(
                    "the first {j} probes passed {} items, {:.1} expected, within {limit:.1}",
                    self.counts[j], self.expected[j]
                ));
            }
        }
        Ok(())
    }

    /// Those that passed all.
    pub(crate) fn found(&self) -> f64 {
        self.counts.last().copied().unwrap_or(0.0)
    }
}

/// `passed[j]` of [`Passes::add`], from how many each item passed.
pub(crate) fn at_least(k: u32, each: impl Iterator<Item = usize>) -> Vec<u64> {
    let mut passed = vec![0; k as usize + 1];
    for first in each {
        passed[first] += 1;
    }
    for j in (0..k as usize).rev() {
        passed[j] += passed[j + 1];
    }
    passed
}
