//! Called when a column is set up or a batch is sealed, not per record.
//!
//! Which layers fit a column and a budget, and what false-positive rate to expect (the model).

use crate::size::WORDS_MAX;
use crate::{Layers, SizeError, block_model, blocked, split_block};

/// The memory budget of one record in one column: `bits_per_key x levels` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// `FERMIHDI_BLOOMRF_BITS_PER_KEY`, 1..=64.
    pub bits_per_key: u32,
    /// `FERMIHDI_BLOOMRF_LEVELS`, 1..=8. One means a plain blocked Bloom filter: equality only.
    pub levels: u32,
}

impl Budget {
    /// Bits of filter per record.
    #[must_use]
    pub fn bits_per_record(self) -> u32 {
        self.bits_per_key * self.levels
    }

    /// Fill up to which a filter of `layers` hashed layers is folded: `1 - e^(-layers / bits)`.
    #[must_use]
    pub fn fill_target(self, layers: usize) -> f64 {
        1.0 - (-(layers as f64) / f64::from(self.bits_per_record())).exp()
    }
}

/// The layer set for keys of `domain_bits` (32: with the exact top; 40..=64: eight layers).
///
/// Narrow layers near the ceiling put more hash functions above wide ranges; the ceiling lies
/// about `log2(records) + 2` bits below the domain, since higher levels are full and filter
/// nothing. Each set was picked among all sets of its size and ceiling by [`fpr`] at 32 bits a
/// record, for 200 to 245,760 records (rates at 65,536 uniform keys):
///
/// | bits | widths | point | 16 | 256 | 4K | 64K |
/// | --- | --- | --- | --- | --- | --- | --- |
/// | 64 | 7,7,7,7,4,4,2,2 | 5.8e-6 | 2.7e-5 | 6.1e-5 | 1.4e-4 | 3.8e-4 |
/// | 48 | 7,7,4,4,2,2,2,2 | 1.2e-5 | 5.7e-5 | 1.3e-4 | 2.9e-4 | 8.2e-4 |
/// | 32, exact top | 6,3,3,2,2 | 5.0e-4 | 3.3e-3 | 9.4e-3 | 4.4e-2 | 0.15 |
/// | (32, exact top) | 7,4,2,2,1 | 1.1e-3 | 7.6e-3 | 1.7e-2 | 4.5e-2 | 0.12 |
///
/// At 48 bits a narrower third layer would halve the point rate of large batches, but raise that of
/// a whole vendor prefix (2^24 addresses) from 1.3e-2 to 3.5e-2. At 32 bits, a range of 64K is as
/// a rule a /16, which the top answers exactly. Domains that no column type has get the nearest
/// set that fits.
#[must_use]
pub fn layers_for(domain_bits: u8, seed: u64) -> Layers {
    let domain_bits = domain_bits.clamp(1, 64);
    let (widths, exact_top): (&[u8], bool) = match domain_bits {
        57.. => (&[7, 7, 7, 7, 4, 4, 2, 2], false),
        40..57 => (&[7, 7, 4, 4, 2, 2, 2, 2], false),
        33..40 => (&[7, 4, 4, 2, 2, 2, 2, 1], false),
        32 => (&[6, 3, 3, 2, 2], true),
        17..32 => (&[7, 4, 2, 1, 1], false),
        // Columns this narrow are exact bitmaps; one narrow layer is right for any of them.
        _ => (&[1], false),
    };
    Layers::new(domain_bits, widths, exact_top, seed).expect("every set in the table is valid")
}

/// Expected false-positive rate of a random empty range of `width` keys (1: a point) in a filter
/// of `words` hashed words that holds `keys` uniform keys: the mean over its places in the domain.
#[must_use]
pub fn fpr(layers: &Layers, words: usize, keys: u64, width: u64) -> f64 {
    crate::model::fpr(layers, words, keys, width)
}

/// Fewest hashed words that keep ranges of `width` keys (1: points) to a rate of `fpr`, by the
/// model of [`fpr`](fn@fpr), with `keys` uniform keys. An exact top's 1,024 words come on top.
///
/// Cost: some 25 calls of [`fpr`](fn@fpr), a few milliseconds.
///
/// # Errors
/// Where the rate is no probability, or no number of words up to [`WORDS_MAX`] keeps to it: ranges
/// wider than an interval of the highest layer are hardly filtered by any.
///
/// ```
/// use bloomrf_kernels::params;
///
/// let layers = params::layers_for(64, 7);
/// let words = params::words_for(&layers, 1_000_000, 1_000, 0.001)?;
/// assert!(params::fpr(&layers, words, 1_000_000, 1_000) <= 0.001);
/// assert!((10..32).contains(&(words * 64 / 1_000_000)), "bits per key");
/// # Ok::<(), bloomrf_kernels::SizeError>(())
/// ```
pub fn words_for(layers: &Layers, keys: u64, width: u64, fpr: f64) -> Result<usize, SizeError> {
    if !(fpr > 0.0 && fpr < 1.0) {
        return Err(SizeError::NoRate { fpr });
    }
    let within = |words: usize| self::fpr(layers, words, keys, width) <= fpr;
    // More words are never expected to do worse; `beyond` words do not keep to the rate.
    let (mut beyond, mut enough) = (0, WORDS_MAX as usize);
    if !within(enough) {
        return Err(SizeError::Range { fpr, width });
    }
    while enough - beyond > 1 {
        let middle = beyond + (enough - beyond) / 2;
        if within(middle) { enough = middle } else { beyond = middle }
    }
    Ok(enough)
}

/// Expected false-positive rate of a key in a blocked filter of `words` words that holds `keys`
/// distinct keys in `k` lanes each: the mean over the Poisson load of a block.
#[must_use]
pub fn fpr_blocked(k: u32, words: usize, keys: u64) -> f64 {
    fpr_of_blocks(k, words / blocked::BLOCK_WORDS, 512.0, keys)
}

/// The same of a split-block filter, where a key sets a bit in each of the eight lanes.
#[must_use]
pub fn fpr_split_block(words: usize, keys: u64) -> f64 {
    fpr_of_blocks(8, words / split_block::BLOCK_WORDS, 256.0, keys)
}

fn fpr_of_blocks(k: u32, blocks: usize, block_bits: f64, keys: u64) -> f64 {
    if blocks == 0 {
        return 1.0;
    }
    block_model::rate(block_bits, k, keys as f64 / blocks as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_domain_has_a_layer_set() {
        for bits in 0..=u8::MAX {
            let layers = layers_for(bits, 3);
            assert_eq!(layers.has_exact_top(), bits == 32);
            assert!(!layers.hashed().is_empty());
        }
        for bits in 40..=64 {
            assert_eq!(layers_for(bits, 3).hashed().len(), 8);
        }
    }

    #[test]
    fn fill_target_of_the_default_budget_is_about_a_fifth() {
        let budget = Budget { bits_per_key: 8, levels: 4 };
        assert_eq!(budget.bits_per_record(), 32);
        assert!((budget.fill_target(8) - 0.2212).abs() < 1e-4);
    }

    #[test]
    fn the_words_for_a_rate_are_the_fewest_that_keep_to_it() {
        for (bits, keys, width, rate) in
            [(64, 10_000, 1, 0.01), (64, 300, 4_096, 0.05), (32, 65_536, 16, 0.02), (48, 1, 1, 0.5)]
        {
            let layers = layers_for(bits, 3);
            let words = words_for(&layers, keys, width, rate).unwrap();
            assert!(fpr(&layers, words, keys, width) <= rate, "{bits} {keys}: {words}");
            assert!(fpr(&layers, words - 1, keys, width) > rate, "{bits} {keys}: {words}");
        }
        let layers = layers_for(64, 3);
        assert_eq!(words_for(&layers, 9, 1, 0.0), Err(SizeError::NoRate { fpr: 0.0 }));
        let whole = words_for(&layers, 9, u64::MAX, 0.1);
        assert_eq!(whole, Err(SizeError::Range { fpr: 0.1, width: u64::MAX }));
    }

    #[test]
    fn rates_grow_with_keys_and_width_and_stay_probabilities() {
        for bits in [20, 32, 48, 64] {
            let layers = layers_for(bits, 3);
            for keys in [0, 1, 100, 10_000] {
                let mut last = 0.0;
                for width in [1, 4, 1_000, 500_000, u64::MAX] {
                    let rate = fpr(&layers, 1_200, keys, width);
                    assert!((0.0..=1.0).contains(&rate), "{bits} {keys} {width}: {rate}");
                    assert!(rate >= last * 0.99, "{bits} {keys} {width}: {rate} after {last}");
                    last = rate;
                }
                assert!(fpr(&layers, 1_200, keys, 9) <= fpr(&layers, 1_200, keys + 99, 9));
            }
        }
        assert_eq!(fpr(&layers_for(64, 3), 0, 5, 1), 1.0);
    }
}
