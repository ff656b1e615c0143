//! A filter of bits from another system, asked by that system's own rule.
//!
//! Bits lie as in a classic filter; hash and probes are the other system's ([`Rule`]). The way from
//! their files, and back, is in [`crate::foreign`]; this form is what is kept in a file of ours.

use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::{Kernel, words};

use crate::foreign::Rule;
use crate::foreign::guava::{Guava, Strategy};
use crate::{Inserted, Presence};

/// Bits from another system that own their words. Items are hashed by
/// [`HashRule::Foreign`](crate::HashRule::Foreign) of the same rule.
#[derive(Clone, Debug)]
pub struct Imported {
    rule: Rule,
    k: u32,
    bits: u64,
    capacity: u64,
    inserted: u64,
    words: Vec<u64>,
}

impl Imported {
    /// A filter of these parts; `None` where they do not fit: `k` is 1 to 255, `words` are as many
    /// as `bits` take, and bits past the last are 0. Capacity and what was inserted are 0 where
    /// nobody knows.
    #[must_use]
    pub fn from_parts(
        rule: Rule,
        k: u32,
        bits: u64,
        words: Vec<u64>,
        capacity: u64,
        inserted: u64,
    ) -> Option<Self> {
        let is_whole = (1..=K_MAX).contains(&k)
            && (1..=BITS_MAX).contains(&bits)
            && words.len() as u64 == bits.div_ceil(64);
        let past = words.last().map_or(0, |word| word >> 1 >> (bits.wrapping_sub(1) % 64));
        let is_whole = is_whole && past == 0;
        is_whole.then_some(Imported { rule, k, bits, capacity, inserted, words })
    }

    /// Hash and probes.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.rule
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

impl From<&Guava> for Imported {
    fn from(filter: &Guava) -> Self {
        let rule = match filter.head().strategy {
            Strategy::Mitz32 => Rule::GuavaMitz32,
            Strategy::Mitz64 => Rule::GuavaMitz64,
        };
        let (k, bits) = (filter.head().k.into(), filter.bits().bits());
        let words = filter.bits().to_words();
        Imported { rule, k, bits, capacity: 0, inserted: 0, words }
    }
}

impl Presence for Imported {
    fn insert(&mut self, item: Hash128) -> Inserted {
        let mut is_new = false;
        for at in self.rule.probes(self.k, self.bits, item) {
            let (word, bit) = (&mut self.words[(at / 64) as usize], 1 << (at % 64));
            is_new |= *word & bit == 0;
            *word |= bit;
        }
        self.inserted += u64::from(is_new);
        if is_new { Inserted::New } else { Inserted::Seen }
    }

    fn contains(&self, item: Hash128) -> bool {
        let is_set = |at: u64| {
            let word = self.words.get((at / 64) as usize);
            word.is_none_or(|word| word >> (at % 64) & 1 == 1)
        };
        self.rule.probes(self.k, self.bits, item).all(is_set)
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn inserted(&self) -> u64 {
        self.inserted
    }

    fn fill(&self) -> f64 {
        words::ones(Kernel::best(), &self.words) as f64 / self.bits as f64
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

/// Most probes of an item.
pub const K_MAX: u32 = 255;
/// Most bits.
pub const BITS_MAX: u64 = 1 << 40;
