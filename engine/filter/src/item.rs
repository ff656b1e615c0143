//! From an item's bytes to the 128 bits that every kind works with.

use bloomrf_kernels::hash::Hash128;

use crate::foreign::Rule;

/// How encoded items are hashed. Part of every stored filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HashRule {
    /// xxh3-128 with a seed: the native rule.
    Native {
        /// Seed.
        seed: u64,
    },
    /// xxHash64 with seed 0 in `lo`, `hi` 0: what Parquet's split-block filters use.
    Parquet,
    /// The hash of another system, whose rule also finds the bits ([`crate::Imported`]).
    Foreign(Rule),
}

impl HashRule {
    /// The hash of an encoded item.
    #[must_use]
    pub fn hash(self, item: &[u8]) -> Hash128 {
        match self {
            HashRule::Native { seed } => {
                let wide = xxhash_rust::xxh3::xxh3_128_with_seed(item, seed);
                Hash128 { lo: wide as u64, hi: (wide >> 64) as u64 }
            }
            HashRule::Parquet => Hash128 { lo: bloomrf_kernels::hash::parquet(item), hi: 0 },
            HashRule::Foreign(rule) => rule.hash(item),
        }
    }
}
